"""What the engine asks of whatever keeps conversations; every call may raise AgentFailure of kind persistence."""

from collections.abc import Mapping
from typing import Any, Literal, Protocol

import msgspec

from smith_core.messages import Message, TurnRecord


class ConversationMeta(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation without its messages; times in seconds since the epoch."""

    conversation_id: str
    title: str = ""
    created_at: float = 0.0
    updated_at: float = 0.0
    cwd: str = ""
    project_id: str = ""
    message_count: int = 0


class StoreNotice(msgspec.Struct, frozen=True, kw_only=True):
    """Something about the store that the person should know, in one sentence; kept_copy: where the original is."""

    level: Literal["info", "warning", "error"]
    text: str
    path: str = ""
    kept_copy: str = ""


class Persistence(Protocol):
    """The handle `persistence`; ids are free of `:`."""

    async def save_prompt(self, conversation_id: str, turn_id: str, message: Message) -> None:
        """Keep what the person typed, before the first request of the turn goes out."""
        ...

    async def persist_turn(self, record: TurnRecord) -> None:
        """Keep a finished turn, all of it or nothing; its prompt replaces the one kept by save_prompt."""
        ...

    async def load_messages(self, conversation_id: str) -> tuple[Message, ...]:
        """Return a conversation in order; empty when there is none of that id."""
        ...

    async def list_conversations(self) -> tuple[ConversationMeta, ...]:
        """Return all conversations, the newest first."""
        ...

    async def set_title(self, conversation_id: str, title: str) -> None:
        """Name a conversation."""
        ...

    async def read_overrides(self) -> Mapping[str, Any]:
        """Return the persisted patch of the configuration."""
        ...

    async def write_overrides(self, patch: Mapping[str, Any]) -> None:
        """Replace the persisted patch of the configuration."""
        ...
