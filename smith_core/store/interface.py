"""What the engine asks of whatever keeps conversations; every call may raise AgentFailure of kind persistence."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

import msgspec

from smith_core.messages import Message, TurnRecord, Usage

TITLE_LENGTH = 60
"""Most characters of a title that is made from the first prompt."""

TAIL_MESSAGES = 100
"""So many last messages are shown at once, before the rest of a long conversation is there."""


class ConversationMeta(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation without its messages; times in seconds since the epoch.

    size_bytes: of its file. deleted_at: 0 unless it was deleted and can still be restored. forked_from: the id of the
    conversation that this one began as a copy of. role: who took the last turn.
    """

    conversation_id: str
    title: str = ""
    created_at: float = 0.0
    updated_at: float = 0.0
    cwd: str = ""
    project_id: str = ""
    message_count: int = 0
    size_bytes: int = 0
    deleted_at: float = 0.0
    forked_from: str = ""
    role: str = ""


class StoredMessage(msgspec.Struct, frozen=True, gc=False):
    """A message and its number, which orders the conversation and never changes."""

    sequence: int
    message: Message


class MessageChange(msgspec.Struct, frozen=True):
    """What stood under a number before and what stands there afterwards; None for nothing."""

    sequence: int
    before: Message | None
    after: Message | None


class TurnUsage(msgspec.Struct, frozen=True, kw_only=True):
    """The tokens of a saved turn, or of a child of it, which has a job_id; role and model: of the turn."""

    usage: Usage
    role: str = ""
    model: str = ""
    job_id: str = ""


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """A text under a key: of the scratchpad of a conversation, or of the memory of a project."""

    key: str
    text: str
    created_at: float = 0.0
    updated_at: float = 0.0


class ConversationHeld(msgspec.Struct, frozen=True, kw_only=True):
    """Another process has the conversation; pid: its process id, 0 when it is not known."""

    conversation_id: str
    pid: int


class StoreNotice(msgspec.Struct, frozen=True, kw_only=True):
    """Something about the store that the person should know, in one sentence; kept_copy: where the original is."""

    level: Literal["info", "warning", "error"]
    text: str
    path: str = ""
    kept_copy: str = ""


class Persistence(Protocol):
    """The handle `persistence`; ids are free of `:`."""

    @property
    def unsaved_turns(self) -> int:
        """How many finished turns are in memory only; they are written with the next turn that can be."""
        ...

    def take_notices(self) -> tuple[StoreNotice, ...]:
        """Return what has come up since the last call."""
        ...

    async def hold(self, conversation_id: str) -> ConversationHeld | None:
        """Take a conversation for this session, giving up the one before; say who has it when it cannot be had."""
        ...

    async def save_prompt(self, conversation_id: str, turn_id: str, message: Message) -> None:
        """Keep what the person typed, before the first request of the turn goes out."""
        ...

    async def persist_turn(self, record: TurnRecord) -> None:
        """Keep a finished turn, all of it or nothing; its prompt replaces the one kept by save_prompt."""
        ...

    async def load_messages(self, conversation_id: str) -> tuple[Message, ...]:
        """Return a conversation in order; empty when there is none of that id."""
        ...

    async def load_tail(self, conversation_id: str, count: int) -> tuple[StoredMessage, ...]:
        """Return the last `count` messages, in order."""
        ...

    async def load_stored(self, conversation_id: str, since: int = 0) -> tuple[StoredMessage, ...]:
        """Return the messages from number `since` on, in order."""
        ...

    async def follow(self, conversation_id: str, since: int) -> tuple[StoredMessage, ...]:
        """Return what another process has added to a conversation from number `since` on."""
        ...

    async def load_child(self, conversation_id: str, job_id: str) -> tuple[Message, ...]:
        """Return what a child that a saved turn dispatched said, in order; empty when there is none of that id."""
        ...

    async def keep_waiting(self, conversation_id: str, texts: tuple[str, ...]) -> None:
        """Keep the prompts that no turn has taken yet, in place of those that were kept before."""
        ...

    async def load_waiting(self, conversation_id: str) -> tuple[str, ...]:
        """Return the prompts that were kept."""
        ...

    async def replace_message(self, conversation_id: str, sequence: int, message: Message) -> None:
        """Put another message in the place of one."""
        ...

    async def delete_message(self, conversation_id: str, sequence: int) -> None:
        """Take one message out; the others keep their numbers."""
        ...

    async def change_messages(self, conversation_id: str, changes: Sequence[MessageChange]) -> None:
        """Make all of these changes, or none when a message is not the one that was there before.

        What was made from the messages follows: the title that the first prompt gave, and the texts of turn records.
        """
        ...

    async def purge(self, conversation_id: str) -> None:
        """Remove from the medium what has been changed or deleted in a conversation."""
        ...

    async def active_conversation_id(self) -> str:
        """Return the conversation to go on with after a restart, "" without one."""
        ...

    async def set_active_conversation_id(self, conversation_id: str) -> None:
        """Say which conversation to go on with, "" for none."""
        ...

    async def list_conversations(self) -> tuple[ConversationMeta, ...]:
        """Return all conversations that are not deleted, the newest first."""
        ...

    async def list_deleted(self) -> tuple[ConversationMeta, ...]:
        """Return all conversations that are deleted and can be restored, the last deleted first."""
        ...

    async def describe(self, conversation_id: str) -> ConversationMeta | None:
        """Return the description of one conversation, deleted ones included; None when there is none."""
        ...

    async def usage_of(self, conversation_id: str) -> tuple[TurnUsage, ...]:
        """Return the tokens of all saved turns of a conversation, and of each of their children."""
        ...

    async def held_conversations(self) -> Mapping[str, int]:
        """Return the conversations that other processes have: id to process id, 0 when that is not known."""
        ...

    async def set_title(self, conversation_id: str, title: str) -> None:
        """Name a conversation."""
        ...

    async def delete_conversation(self, conversation_id: str) -> None:
        """Delete a conversation so that it can be restored for some days."""
        ...

    async def restore_conversation(self, conversation_id: str) -> None:
        """Take a deletion back."""
        ...

    async def fork(self, conversation_id: str, up_to: int | None = None) -> str:
        """Copy a conversation up to and with message number `up_to`, or all of it; return the id of the copy.

        The results of a call go along with it, and those of the calls beside it.
        """
        ...

    async def put_note(self, conversation_id: str, key: str, text: str) -> Note:
        """Set a note of the scratchpad."""
        ...

    async def get_note(self, conversation_id: str, key: str) -> Note | None:
        """Return a note of the scratchpad."""
        ...

    async def list_notes(self, conversation_id: str, prefix: str = "") -> tuple[Note, ...]:
        """Return the notes of the scratchpad whose keys begin with `prefix`, by key."""
        ...

    async def delete_note(self, conversation_id: str, key: str) -> bool:
        """Delete a note of the scratchpad; say whether there was one."""
        ...

    async def put_project_note(self, project_id: str, key: str, text: str) -> Note:
        """Set a note of a project."""
        ...

    async def get_project_note(self, project_id: str, key: str) -> Note | None:
        """Return a note of a project."""
        ...

    async def list_project_notes(self, project_id: str) -> tuple[Note, ...]:
        """Return the notes of a project, by key."""
        ...

    async def delete_project_note(self, project_id: str, key: str) -> bool:
        """Delete a note of a project; say whether there was one."""
        ...

    async def read_overrides(self) -> Mapping[str, Any]:
        """Return the persisted patch of the configuration."""
        ...

    async def write_overrides(self, patch: Mapping[str, Any]) -> None:
        """Replace the persisted patch of the configuration."""
        ...

    async def update_overrides(self, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Mapping[str, Any]:
        """Change the patch as it is now, while no other process can; what `change` raises leaves it as it was."""
        ...

    async def aclose(self) -> None:
        """Write what is still unsaved if that is possible now, and let go of everything."""
        ...
