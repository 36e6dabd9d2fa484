"""One conversation on disk: its messages, turn records, usage, scratchpad and description in one journal."""

import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import msgspec

from smith_core.messages import Message, TurnRecord, jobs_of
from smith_core.store.adapter import RecordAdapter
from smith_core.store.faults import no_message
from smith_core.store.interface import TITLE_LENGTH, ConversationMeta, MessageChange, StoredMessage, TurnUsage
from smith_core.store.journal.database import JournalDatabase
from smith_core.store.journal.lock import FileLock
from smith_core.store.journal.options import JournalOptions
from smith_core.store.repositories import (
    ChildRepository,
    ConversationNoteRepository,
    ConversationRepository,
    UsageRepository,
)
from smith_core.store.schema import MESSAGES, message_key, sequence_of
from smith_core.text import shorten

_FEW = 50
"""Messages that are read at once while the first prompt is looked for."""


class ConversationFile:
    """An open conversation; with `lock`, which the caller has taken, it is for writing and closing lets go of it.

    prompts: the numbers of prompts whose turns are not on disk, by turn; the caller keeps it between openings.
    """

    def __init__(
        self,
        conversation_id: str,
        path: Path,
        options: JournalOptions,
        lock: FileLock | None = None,
        prompts: dict[str, int] | None = None,
    ) -> None:
        self.conversation_id = conversation_id
        self._lock = lock
        self._database = JournalDatabase(path, options, read_only=lock is None)
        self.adapter = RecordAdapter(self._database)
        self.conversations = ConversationRepository(self.adapter)
        self.notes = ConversationNoteRepository(self.adapter)
        self.usage = UsageRepository(self.adapter)
        self.children = ChildRepository(self.adapter)
        self._prompts: dict[str, int] = {} if prompts is None else prompts
        self._next_sequence = 0
        self._sequence_epoch = -1
        self._known_meta: tuple[tuple[int, int], ConversationMeta] | None = None

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self._database.storage.file.contents.end

    @property
    def meta(self) -> ConversationMeta:
        """The description; a bare one when there is none yet."""
        stored = self.conversations.meta(self.conversation_id)
        return stored or ConversationMeta(conversation_id=self.conversation_id)

    def refresh(self) -> None:
        """Take in what the process that has the conversation has written."""
        self._database.storage.refresh()

    def messages(self, since: int = 0) -> tuple[StoredMessage, ...]:
        """Return the messages from a number on, in order."""
        if not since:
            # The keys of a long conversation need not be unpacked for this.
            return self.conversations.tail(self._count())
        first = message_key(self.conversation_id, since)
        keys = self.conversations.message_keys(self.conversation_id)
        return self.conversations.messages([key for key in keys if key >= first])

    def tail(self, count: int) -> tuple[StoredMessage, ...]:
        """Return the last messages, in order."""
        return self.conversations.tail(count)

    def write_prompt(self, turn_id: str, message: Message, cwd: str, project_id: str) -> None:
        """Keep the prompt of a turn that has begun."""
        sequence = self._prompts.get(turn_id, self._next())
        meta = self._touched(self._meta_without_reading(), message, message.created_at or time.time())
        meta = msgspec.structs.replace(
            meta,
            cwd=meta.cwd or cwd,
            project_id=meta.project_id or project_id,
            message_count=self._count() + (turn_id not in self._prompts),
        )
        with self.adapter.batch():
            self.conversations.put(self.conversation_id, sequence, message)
            self.conversations.put_meta(meta)
        self._known_meta = (self._state, meta)
        self._prompts[turn_id] = sequence
        self._next_sequence = max(self._next_sequence, sequence + 1)

    def usages(self) -> tuple[TurnUsage, ...]:
        """Return the tokens of each saved turn, and of its children."""
        results = {note.turn_id: note.result for note in self.notes.turns(self.conversation_id)}
        return tuple(self.usage.of_turns(self.conversation_id, results))

    def write_turns(self, records: Sequence[TurnRecord]) -> None:
        """Keep finished turns, all in one batch; the first message of each takes the place of its saved prompt."""
        following = self._next()
        meta = self._meta_without_reading()
        count = self._count()
        with self.adapter.batch():
            for record in records:
                first = self._prompts.get(record.turn_id, following)
                end = first + len(record.messages)
                count += len(record.messages) - self._stored(first, min(end, following))
                self.conversations.put_all(self.conversation_id, first, record.messages)
                following = max(following, end)
                self.usage.put_turn(record)
                for child in record.children:
                    self.children.put(self.conversation_id, child)
                self.notes.put_turn(record, first)
                prompt = record.messages[0] if record.messages else None
                meta = self._touched(meta, prompt, record.started_at + record.result.duration_s)
                meta = msgspec.structs.replace(
                    meta, cwd=record.cwd, project_id=record.project_id, role=record.result.role
                )
            meta = msgspec.structs.replace(meta, message_count=count)
            self.conversations.put_meta(meta)
        self._known_meta = (self._state, meta)
        self._next_sequence = following
        for record in records:
            self._prompts.pop(record.turn_id, None)

    def change_meta(self, **fields: Any) -> ConversationMeta:
        """Change fields of the description."""
        meta = msgspec.structs.replace(self.meta, **fields)
        if not meta.created_at:
            now = time.time()
            meta = msgspec.structs.replace(meta, created_at=now, updated_at=meta.updated_at or now)
        self.conversations.put_meta(meta)
        return meta

    def replace_message(self, sequence: int, message: Message) -> bool:
        """Put another message in the place of one; say whether there was one."""
        key = message_key(self.conversation_id, sequence)
        there = bool(self.conversations.messages([key]))
        if there:
            self.conversations.put(self.conversation_id, sequence, message)
        return there

    def delete_message(self, sequence: int) -> bool:
        """Take one message out; say whether there was one."""
        self._next()
        with self.adapter.batch():
            there = self.conversations.discard(self.conversation_id, sequence)
            if there:
                self.change_meta(message_count=self._count())
        return there

    def change_messages(self, changes: Sequence[MessageChange]) -> None:
        """Make all of these changes, or none: AgentFailure when a message is not the one that was there before."""
        self._next()
        meta = self.meta
        first_prompt = self._first_prompt()
        has_own_title = meta.title != shorten(first_prompt, TITLE_LENGTH)
        with self.adapter.batch():
            for change in changes:
                key = message_key(self.conversation_id, change.sequence)
                stored = next((item.message for item in self.conversations.messages([key])), None)
                if not _is_same(stored, change.before):
                    raise no_message(change.sequence)
                if change.after is None:
                    self.conversations.discard(self.conversation_id, change.sequence)
                else:
                    self.conversations.put(self.conversation_id, change.sequence, change.after)
            self._follow_in_turns({change.sequence for change in changes})
            title = meta.title if has_own_title else shorten(self._first_prompt(), TITLE_LENGTH)
            self.change_meta(message_count=self._count(), title=title)

    def purge(self) -> None:
        """Write the file anew without what does not count any more: nor children whose results were deleted."""
        self.children.keep_only(self.conversation_id, jobs_of(item.message for item in self.messages()))
        self._database.storage.compact()

    def close(self) -> None:
        """Close the file and let go of the conversation."""
        self._database.close()
        if self._lock is not None:
            self._lock.release()

    def _first_prompt(self) -> str:
        keys = self.conversations.message_keys(self.conversation_id)
        for start in range(0, len(keys), _FEW):
            for item in self.conversations.messages(keys[start : start + _FEW]):
                if item.message.role == "user":
                    return item.message.content
        return ""

    def _follow_in_turns(self, sequences: Collection[int]) -> None:
        """Let the text of each turn's record be that of the last answer that is left of it."""
        for note in self.notes.turns(self.conversation_id):
            numbers = range(note.first_sequence, note.first_sequence + note.message_count)
            if any(sequence in numbers for sequence in sequences):
                found = self.conversations.messages([message_key(self.conversation_id, number) for number in numbers])
                answers = [item.message.content for item in found if item.message.role == "assistant"]
                result = msgspec.structs.replace(note.result, text=answers[-1] if answers else "")
                self.notes.replace_turn(msgspec.structs.replace(note, result=result))

    @staticmethod
    def _touched(meta: ConversationMeta, prompt: Message | None, now: float) -> ConversationMeta:
        title = meta.title or (shorten(prompt.content, TITLE_LENGTH) if prompt else "")
        # A clock that was set back must not make a conversation older than it was.
        return msgspec.structs.replace(
            meta, title=title, created_at=meta.created_at or now, updated_at=max(meta.updated_at, now)
        )

    def _count(self) -> int:
        return self._database.storage.count(MESSAGES.name)

    @property
    def _state(self) -> tuple[int, int]:
        """Another one after every change of the file."""
        file = self._database.storage.file
        return file.epoch, file.contents.sequence

    def _meta_without_reading(self) -> ConversationMeta:
        """Return the description; from memory when nothing else was written since."""
        if self._known_meta is not None and self._known_meta[0] == self._state:
            return self._known_meta[1]
        return self.meta

    def _stored(self, start: int, stop: int) -> int:
        """Return how many numbers of a range have a message."""
        return sum(self.adapter.has(MESSAGES, message_key(self.conversation_id, n)) for n in range(start, stop))

    def _next(self) -> int:
        epoch = self._database.storage.file.epoch
        if epoch != self._sequence_epoch:
            keys = self.conversations.message_keys(self.conversation_id)
            self._next_sequence = max(self._next_sequence, sequence_of(keys[-1]) + 1 if keys else 1)
            self._sequence_epoch = epoch
        return self._next_sequence


def _is_same(stored: Message | None, expected: Message | None) -> bool:
    """Say whether a stored message is the one that somebody has in mind, whatever became of its text in storing."""
    if stored is None or expected is None:
        return stored is expected
    return (stored.role, stored.tool_call_id, stored.created_at) == (
        expected.role,
        expected.tool_call_id,
        expected.created_at,
    )
