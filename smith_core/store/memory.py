"""A store that lasts as long as the process; it keeps the same promises while that runs."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from smith_core.frozen import EMPTY_MAPPING, freeze
from smith_core.ids import new_id
from smith_core.messages import Message, TurnRecord, jobs_of
from smith_core.store.cut import up_to_message
from smith_core.store.faults import no_message
from smith_core.store.interface import (
    TITLE_LENGTH,
    ConversationHeld,
    ConversationMeta,
    MessageChange,
    Note,
    StoredMessage,
    StoreNotice,
    TurnUsage,
)
from smith_core.text import shorten


class MemoryPersistence:
    """Conversations, notes and overrides in dictionaries."""

    unsaved_turns = 0

    def __init__(self) -> None:
        self._messages: dict[str, dict[int, Message]] = {}
        self._prompts: dict[tuple[str, str], int] = {}
        self._highest: dict[str, int] = {}
        self._metas: dict[str, ConversationMeta] = {}
        self._usage: dict[str, list[TurnUsage]] = {}
        self._children: dict[tuple[str, str], tuple[Message, ...]] = {}
        self._notes: dict[tuple[str, str], Note] = {}
        self._project_notes: dict[tuple[str, str], Note] = {}
        self._overrides: Mapping[str, Any] = EMPTY_MAPPING
        self._active = ""
        self._waiting: dict[str, tuple[str, ...]] = {}

    def take_notices(self) -> tuple[StoreNotice, ...]:
        """Return nothing: memory does not get damaged."""
        return ()

    async def hold(self, conversation_id: str) -> ConversationHeld | None:
        """Return None: nobody else can have a conversation of this process."""
        return None

    async def save_prompt(self, conversation_id: str, turn_id: str, message: Message) -> None:
        """Keep the prompt of a turn that has not ended."""
        messages = self._messages.setdefault(conversation_id, {})
        sequence = self._prompts.setdefault((conversation_id, turn_id), self._next(conversation_id))
        messages[sequence] = message

    async def persist_turn(self, record: TurnRecord) -> None:
        """Append the turn's messages to its conversation."""
        key = record.conversation_id
        messages = self._messages.setdefault(key, {})
        first = self._prompts.pop((key, record.turn_id), self._next(key))
        messages.update(enumerate(record.messages, first))
        first_prompt = record.messages[0].content if record.messages else ""
        meta = self._metas.get(key) or ConversationMeta(conversation_id=key, created_at=record.started_at)
        self._metas[key] = msgspec.structs.replace(
            meta,
            title=meta.title or shorten(first_prompt, TITLE_LENGTH),
            updated_at=max(meta.updated_at, record.started_at + record.result.duration_s),
            cwd=record.cwd,
            project_id=record.project_id,
            message_count=len(messages),
            role=record.result.role,
        )
        result = record.result
        self._usage.setdefault(key, []).extend(
            TurnUsage(usage=usage, role=result.role, model=result.model, job_id=job_id)
            for job_id, usage in (("", result.usage), *record.child_usage)
        )
        self._children.update({(key, child.job_id): child.messages for child in record.children})
        self._active = key

    async def load_messages(self, conversation_id: str) -> tuple[Message, ...]:
        """Return the messages, the prompts of turns that did not end included."""
        return tuple(stored.message for stored in self._stored(conversation_id))

    async def load_tail(self, conversation_id: str, count: int) -> tuple[StoredMessage, ...]:
        """Return the last messages."""
        return self._stored(conversation_id)[-count:] if count > 0 else ()

    async def load_stored(self, conversation_id: str, since: int = 0) -> tuple[StoredMessage, ...]:
        """Return the messages from a number on."""
        return tuple(stored for stored in self._stored(conversation_id) if stored.sequence >= since)

    async def follow(self, conversation_id: str, since: int) -> tuple[StoredMessage, ...]:
        """Return the messages from a number on."""
        return await self.load_stored(conversation_id, since)

    def _stored(self, conversation_id: str) -> tuple[StoredMessage, ...]:
        return tuple(StoredMessage(*item) for item in sorted(self._messages.get(conversation_id, {}).items()))

    async def load_child(self, conversation_id: str, job_id: str) -> tuple[Message, ...]:
        """Return what a dispatched child said."""
        return self._children.get((conversation_id, job_id), ())

    async def keep_waiting(self, conversation_id: str, texts: tuple[str, ...]) -> None:
        """Keep the prompts that wait."""
        self._waiting[conversation_id] = texts

    async def load_waiting(self, conversation_id: str) -> tuple[str, ...]:
        """Return the prompts that were kept."""
        return self._waiting.get(conversation_id, ())

    async def replace_message(self, conversation_id: str, sequence: int, message: Message) -> None:
        """Replace one message."""
        if sequence in self._messages.get(conversation_id, {}):
            self._messages[conversation_id][sequence] = message

    async def delete_message(self, conversation_id: str, sequence: int) -> None:
        """Delete one message."""
        self._messages.get(conversation_id, {}).pop(sequence, None)

    async def change_messages(self, conversation_id: str, changes: Sequence[MessageChange]) -> None:
        """Change messages, all at once."""
        messages = self._messages.setdefault(conversation_id, {})
        self._highest[conversation_id] = self._next(conversation_id) - 1
        for change in changes:
            if (change.sequence in messages) != (change.before is not None):
                raise no_message(change.sequence)
        for change in changes:
            if change.after is None:
                del messages[change.sequence]
            else:
                messages[change.sequence] = change.after
        self._change(conversation_id, message_count=len(messages))

    async def purge(self, conversation_id: str) -> None:
        """Do nothing: what is changed is gone."""

    def _next(self, conversation_id: str) -> int:
        messages = self._messages.get(conversation_id, {})
        return max(self._highest.get(conversation_id, 0), *messages, 0) + 1

    async def active_conversation_id(self) -> str:
        """Return the conversation of the last turn."""
        return self._active

    async def set_active_conversation_id(self, conversation_id: str) -> None:
        """Remember a conversation."""
        self._active = conversation_id

    async def list_conversations(self) -> tuple[ConversationMeta, ...]:
        """Return all conversations that are not deleted, the newest first."""
        there = [meta for meta in self._metas.values() if not meta.deleted_at]
        return tuple(sorted(there, key=lambda meta: meta.updated_at, reverse=True))

    async def list_deleted(self) -> tuple[ConversationMeta, ...]:
        """Return all conversations that are deleted, the last deleted first."""
        gone = [meta for meta in self._metas.values() if meta.deleted_at]
        return tuple(sorted(gone, key=lambda meta: meta.deleted_at, reverse=True))

    async def describe(self, conversation_id: str) -> ConversationMeta | None:
        """Return the description of one conversation."""
        return self._metas.get(conversation_id)

    async def usage_of(self, conversation_id: str) -> tuple[TurnUsage, ...]:
        """Return the tokens of the turns and of their children."""
        return tuple(self._usage.get(conversation_id, ()))

    async def held_conversations(self) -> Mapping[str, int]:
        """Return nothing: nobody else can have one."""
        return {}

    async def set_title(self, conversation_id: str, title: str) -> None:
        """Name a conversation."""
        self._change(conversation_id, title=title)

    async def delete_conversation(self, conversation_id: str) -> None:
        """Hide a conversation."""
        self._change(conversation_id, deleted_at=time.time())
        self._active = "" if self._active == conversation_id else self._active

    async def restore_conversation(self, conversation_id: str) -> None:
        """Show it again."""
        self._change(conversation_id, deleted_at=0.0)

    def _change(self, conversation_id: str, **fields: Any) -> None:
        meta = self._metas.get(conversation_id) or ConversationMeta(conversation_id=conversation_id)
        self._metas[conversation_id] = msgspec.structs.replace(meta, **fields)

    async def fork(self, conversation_id: str, up_to: int | None = None) -> str:
        """Copy messages and scratchpad."""
        copy = new_id()
        kept = up_to_message(await self.load_stored(conversation_id), up_to)
        self._messages[copy] = {stored.sequence: stored.message for stored in kept}
        for (owner, key), note in tuple(self._notes.items()):
            if owner == conversation_id:
                self._notes[copy, key] = note
        for job_id in jobs_of(self._messages[copy].values()):
            self._children[copy, job_id] = await self.load_child(conversation_id, job_id)
        meta = self._metas.get(conversation_id) or ConversationMeta(conversation_id=conversation_id)
        count = len(self._messages[copy])
        self._metas[copy] = msgspec.structs.replace(
            meta, conversation_id=copy, forked_from=conversation_id, message_count=count
        )
        return copy

    async def put_note(self, conversation_id: str, key: str, text: str) -> Note:
        """Set a note."""
        return _put(self._notes, (conversation_id, key), text)

    async def get_note(self, conversation_id: str, key: str) -> Note | None:
        """Return a note."""
        return self._notes.get((conversation_id, key))

    async def list_notes(self, conversation_id: str, prefix: str = "") -> tuple[Note, ...]:
        """Return notes by key."""
        return _of(self._notes, conversation_id, prefix)

    async def delete_note(self, conversation_id: str, key: str) -> bool:
        """Delete a note."""
        return self._notes.pop((conversation_id, key), None) is not None

    async def put_project_note(self, project_id: str, key: str, text: str) -> Note:
        """Set a note of a project."""
        return _put(self._project_notes, (project_id, key), text)

    async def get_project_note(self, project_id: str, key: str) -> Note | None:
        """Return a note of a project."""
        return self._project_notes.get((project_id, key))

    async def list_project_notes(self, project_id: str) -> tuple[Note, ...]:
        """Return the notes of a project by key."""
        return _of(self._project_notes, project_id, "")

    async def delete_project_note(self, project_id: str, key: str) -> bool:
        """Delete a note of a project."""
        return self._project_notes.pop((project_id, key), None) is not None

    async def read_overrides(self) -> Mapping[str, Any]:
        """Return the patch."""
        return self._overrides

    async def write_overrides(self, patch: Mapping[str, Any]) -> None:
        """Replace the patch."""
        self._overrides = freeze(patch)

    async def update_overrides(self, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Mapping[str, Any]:
        """Change the patch."""
        self._overrides = freeze(change(self._overrides))
        return self._overrides

    async def aclose(self) -> None:
        """Do nothing."""


def _put(notes: dict[tuple[str, str], Note], key: tuple[str, str], text: str) -> Note:
    old = notes.get(key)
    now = time.time()
    notes[key] = Note(key=key[1], text=text, created_at=old.created_at if old else now, updated_at=now)
    return notes[key]


def _of(notes: Mapping[tuple[str, str], Note], owner: str, prefix: str) -> tuple[Note, ...]:
    return tuple(note for (who, key), note in sorted(notes.items()) if who == owner and key.startswith(prefix))
