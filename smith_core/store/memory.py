"""A store that lasts as long as the process; it keeps the same promises while that runs."""

from collections.abc import Mapping
from typing import Any

import msgspec

from smith_core.frozen import EMPTY_MAPPING, freeze
from smith_core.messages import Message, TurnRecord
from smith_core.store.interface import ConversationMeta
from smith_core.text import shorten

TITLE_LENGTH = 60


class MemoryPersistence:
    """Conversations and overrides in dictionaries."""

    def __init__(self) -> None:
        self._messages: dict[str, tuple[Message, ...]] = {}
        self._prompts: dict[tuple[str, str], Message] = {}
        self._metas: dict[str, ConversationMeta] = {}
        self._overrides: Mapping[str, Any] = EMPTY_MAPPING

    async def save_prompt(self, conversation_id: str, turn_id: str, message: Message) -> None:
        """Keep the prompt of a turn that has not ended."""
        self._prompts[conversation_id, turn_id] = message

    async def persist_turn(self, record: TurnRecord) -> None:
        """Append the turn's messages to its conversation."""
        key = record.conversation_id
        self._prompts.pop((key, record.turn_id), None)
        messages = self._messages.get(key, ()) + record.messages
        self._messages[key] = messages
        first_prompt = record.messages[0].content if record.messages else ""
        meta = self._metas.get(key) or ConversationMeta(
            conversation_id=key, title=shorten(first_prompt, TITLE_LENGTH), created_at=record.started_at
        )
        self._metas[key] = msgspec.structs.replace(
            meta,
            updated_at=record.started_at + record.result.duration_s,
            cwd=record.cwd,
            project_id=record.project_id,
            message_count=len(messages),
        )

    async def load_messages(self, conversation_id: str) -> tuple[Message, ...]:
        """Return the messages of all turns that ended, then prompts of turns that did not."""
        open_prompts = [prompt for (key, _), prompt in self._prompts.items() if key == conversation_id]
        return (*self._messages.get(conversation_id, ()), *open_prompts)

    async def list_conversations(self) -> tuple[ConversationMeta, ...]:
        """Return all conversations, the newest first."""
        return tuple(sorted(self._metas.values(), key=lambda meta: meta.updated_at, reverse=True))

    async def set_title(self, conversation_id: str, title: str) -> None:
        """Name a conversation."""
        meta = self._metas.get(conversation_id) or ConversationMeta(conversation_id=conversation_id)
        self._metas[conversation_id] = msgspec.structs.replace(meta, title=title)

    async def read_overrides(self) -> Mapping[str, Any]:
        """Return the patch."""
        return self._overrides

    async def write_overrides(self, patch: Mapping[str, Any]) -> None:
        """Replace the patch."""
        self._overrides = freeze(patch)
