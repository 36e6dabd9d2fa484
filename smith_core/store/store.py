"""The store of one process, without threads: the global file, open conversations, and what is not saved yet."""

import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from smith_core.errors import AgentFailure
from smith_core.ids import new_id
from smith_core.messages import ChildTranscript, Message, TurnRecord, jobs_of
from smith_core.store.conversation_file import ConversationFile
from smith_core.store.cut import up_to_message
from smith_core.store.faults import no_conversation, no_message
from smith_core.store.global_file import GlobalFile, is_expired
from smith_core.store.interface import (
    ConversationHeld,
    ConversationMeta,
    MessageChange,
    Note,
    StoredMessage,
    StoreNotice,
    TurnUsage,
)
from smith_core.store.journal.lock import FileLock, LockHeldError, holder_of
from smith_core.store.journal.offsets import index_path
from smith_core.store.journal.options import JournalOptions
from smith_core.store.layout import StoreLayout
from smith_core.store.open_files import OpenConversations
from smith_core.store.repositories import ProjectMemoryRepository
from smith_core.store.schema import NOTES, SCRATCHPAD, WAITING, WaitingPrompts, check_id, is_id, note_key, usage_key

RESTORABLE_DAYS = 7
"""How long a deleted conversation can be restored."""

_CACHE_FAILURES = (OSError, LockHeldError, AgentFailure)
"""What may go wrong with the catalogue without any loss: it is made again from the conversations."""


class Store:
    """Everything a process keeps; used by one thread. Raises OSError, LockHeldError and AgentFailure.

    cwd, project_id: where this process works, for conversations whose first turn has not ended.
    """

    def __init__(
        self, folder: Path, cwd: str = "", project_id: str = "", options: JournalOptions | None = None
    ) -> None:
        self.layout = StoreLayout(folder)
        self.notices: deque[StoreNotice] = deque()
        self._cwd = cwd
        self._project_id = project_id
        self._options = msgspec.structs.replace(options or JournalOptions(), report=self.notices.append)
        self._global: GlobalFile | None = None
        self._files = OpenConversations(self.layout, self._options)
        self._unsaved: dict[str, list[TurnRecord]] = {}

    @property
    def unsaved_turns(self) -> int:
        """Finished turns that are in memory only."""
        return sum(map(len, tuple(self._unsaved.values())))

    @property
    def global_file(self) -> GlobalFile:
        """The shared journal, opened at the first use."""
        if self._global is None:
            stubborn = self.layout.make_private()
            if stubborn:
                text = f"others may read {stubborn[0]}: its mode cannot be changed; make it yours with chown and chmod"
                self.notices.append(StoreNotice(level="warning", text=text, path=str(stubborn[0])))
            self._global = GlobalFile(self.layout, self._options)
        return self._global

    def close(self) -> None:
        """Save what is still unsaved if that is possible now, and let go of everything."""
        self._save_left_over()
        self._files.close()
        if self._global is not None:
            self._global.close()
            self._global = None

    # The conversation of the session

    def hold(self, conversation_id: str) -> ConversationHeld | None:
        """Take a conversation for this session and give up the one before; say who has it when it cannot be had."""
        return self._files.hold(conversation_id)

    def save_prompt(self, conversation_id: str, turn_id: str, message: Message) -> None:
        """Keep the prompt of a turn that has begun."""
        usage_key(conversation_id, turn_id)
        file = self._files.writing(conversation_id)
        self._save_into(file)
        file.write_prompt(turn_id, message, self._cwd, self._project_id)
        with suppress(*_CACHE_FAILURES):
            if not self.global_file.goes_on_with(conversation_id):
                # A start behind a kill shall find what was just said, not the conversation before or an empty one.
                self.note_in_catalogue()

    def persist_turn(self, record: TurnRecord) -> None:
        """Keep a finished turn; one that cannot be saved now stays in memory and goes along with the next."""
        for job_id in ("", *(job_id for job_id, _ in record.child_usage)):
            usage_key(record.conversation_id, record.turn_id, job_id)
        self._unsaved.setdefault(record.conversation_id, []).append(record)
        self._save_into(self._files.writing(record.conversation_id))
        self.note_in_catalogue()
        self._save_left_over()

    def note_in_catalogue(self) -> None:
        """Bring the catalogue entry of the session's conversation up to date, and go on with it after a restart."""
        held = self._files.held
        if held is not None:
            with suppress(*_CACHE_FAILURES):
                self.global_file.remember(held.meta, held.size, active=held.conversation_id)

    def _save_into(self, file: ConversationFile) -> None:
        records = self._unsaved.get(file.conversation_id)
        if records:
            file.write_turns(records)
            del self._unsaved[file.conversation_id]

    def _save_left_over(self) -> None:
        for conversation_id in tuple(self._unsaved):
            with suppress(*_CACHE_FAILURES), self._files.borrowed(conversation_id) as file:
                self._save_into(file)

    # Reading

    def messages(self, conversation_id: str, since: int = 0) -> tuple[StoredMessage, ...]:
        """Return the messages from a number on, those of unsaved turns included."""
        with self._files.reading(conversation_id) as file:
            stored = () if file is None else file.messages(since)
        everything = self._with_unsaved(conversation_id, stored)
        return tuple(item for item in everything if item.sequence >= since)

    def tail(self, conversation_id: str, count: int) -> tuple[StoredMessage, ...]:
        """Return the last messages."""
        with self._files.reading(conversation_id) as file:
            stored = () if file is None else file.tail(count)
        return self._with_unsaved(conversation_id, stored)[-count:] if count > 0 else ()

    def child_messages(self, conversation_id: str, job_id: str) -> tuple[Message, ...]:
        """Return what a dispatched child said, that of unsaved turns included; () when there is none of that id."""
        if not is_id(job_id):
            return ()
        for record in self._unsaved.get(conversation_id, ()):
            for child in record.children:
                if child.job_id == job_id:
                    return child.messages
        with self._files.reading(conversation_id) as file:
            return () if file is None else file.children.messages(conversation_id, job_id)

    def keep_waiting(self, conversation_id: str, texts: tuple[str, ...]) -> None:
        """Keep the prompts that wait, in place of those that were kept before."""
        key = check_id(conversation_id)
        if self.waiting(key) == texts:
            return
        with self._files.borrowed(key) as file:
            if texts:
                file.adapter.put(WAITING, key, WaitingPrompts(texts))
            else:
                file.adapter.discard(WAITING, key)

    def waiting(self, conversation_id: str) -> tuple[str, ...]:
        """Return the prompts that were kept."""
        with self._files.reading(conversation_id) as file:
            kept = None if file is None else file.adapter.get(WAITING, check_id(conversation_id))
        return () if kept is None else kept.texts

    def describe(self, conversation_id: str) -> ConversationMeta | None:
        """Return the description of one conversation, None when there is none."""
        with self._files.reading(conversation_id) as file:
            return None if file is None else file.meta

    def usage_of(self, conversation_id: str) -> tuple[TurnUsage, ...]:
        """Return the tokens of all saved turns of a conversation, and of each of their children."""
        with self._files.reading(conversation_id) as file:
            return () if file is None else file.usages()

    def held_elsewhere(self) -> dict[str, int]:
        """Return the conversations that other processes have: id to process id, 0 when that is not known."""
        held = self._files.held
        own = held.conversation_id if held is not None else ""
        holders = {path.stem: holder_of(path) for path in self.layout.locks() if path.stem != own}
        return {name: pid for name, pid in holders.items() if pid is not None}

    def follow(self, conversation_id: str, since: int) -> tuple[StoredMessage, ...]:
        """Return the messages from a number on; meant to be called again and again."""
        file = self._files.followed(conversation_id)
        return () if file is None else file.messages(since)

    def _with_unsaved(self, conversation_id: str, stored: tuple[StoredMessage, ...]) -> tuple[StoredMessage, ...]:
        records = self._unsaved.get(conversation_id)
        if not records:
            return stored
        numbered = {item.sequence: item.message for item in stored}
        prompts = self._files.prompts_of(conversation_id)
        for record in records:
            first = prompts.get(record.turn_id, max(numbered, default=0) + 1)
            numbered.update(enumerate(record.messages, first))
        return tuple(StoredMessage(*item) for item in sorted(numbered.items()))

    # Changes of one conversation

    def replace_message(self, conversation_id: str, sequence: int, message: Message) -> None:
        """Put another message in the place of one."""
        with self.changing(conversation_id) as file:
            if not file.replace_message(sequence, message):
                raise no_message(sequence)

    def delete_message(self, conversation_id: str, sequence: int) -> None:
        """Take one message out."""
        with self.changing(conversation_id) as file:
            if not file.delete_message(sequence):
                raise no_message(sequence)

    def change_messages(self, conversation_id: str, changes: Sequence[MessageChange]) -> None:
        """Make all of these changes of messages, or none; turns that are in memory only are saved before."""
        with self.changing(conversation_id) as file:
            self._save_into(file)
            file.change_messages(changes)

    def purge(self, conversation_id: str) -> None:
        """Write a conversation anew without what has been changed or deleted in it."""
        with self.changing(conversation_id) as file:
            file.purge()

    def set_title(self, conversation_id: str, title: str) -> None:
        """Name a conversation, which begins to exist by that."""
        with self.changing(conversation_id) as file:
            file.change_meta(title=title)

    def delete_conversation(self, conversation_id: str) -> None:
        """Mark a conversation as deleted."""
        self._require(conversation_id)
        with self.changing(conversation_id) as file:
            file.change_meta(deleted_at=time.time())

    def restore_conversation(self, conversation_id: str) -> None:
        """Take a deletion back."""
        self._require(conversation_id)
        with self.changing(conversation_id) as file:
            file.change_meta(deleted_at=0.0)

    def put_note(self, conversation_id: str, key: str, text: str) -> Note:
        """Set a note of the scratchpad."""
        with self._files.borrowed(conversation_id) as file:
            return file.notes.put(conversation_id, key, text)

    def delete_note(self, conversation_id: str, key: str) -> bool:
        """Delete a note of the scratchpad; say whether there was one."""
        with self._files.borrowed(conversation_id) as file:
            return file.notes.discard(conversation_id, key)

    def get_note(self, conversation_id: str, key: str) -> Note | None:
        """Return a note of the scratchpad."""
        with self._files.reading(conversation_id) as file:
            return None if file is None else file.notes.get(conversation_id, key)

    def list_notes(self, conversation_id: str, prefix: str) -> tuple[Note, ...]:
        """Return the notes of the scratchpad whose keys begin with `prefix`."""
        with self._files.reading(conversation_id) as file:
            return () if file is None else file.notes.list(conversation_id, prefix)

    def fork(self, conversation_id: str, up_to: int | None) -> str:
        """Copy messages and scratchpad into a new conversation; return its id."""
        self._require(conversation_id)
        kept = up_to_message(self.messages(conversation_id), up_to)
        notes = self.list_notes(conversation_id, "")
        children = [
            ChildTranscript(job_id=job_id, messages=self.child_messages(conversation_id, job_id))
            for job_id in jobs_of(stored.message for stored in kept)
        ]
        with self._files.reading(conversation_id) as source:
            assert source is not None
            meta = source.meta
        copy, now = new_id(), time.time()
        with self.changing(copy) as file, file.adapter.batch():
            for stored in kept:
                file.conversations.put(copy, stored.sequence, stored.message)
            for child in children:
                file.children.put(copy, child)
            for note in notes:
                file.adapter.put(NOTES, note_key(copy, SCRATCHPAD + note.key), note)
            file.conversations.put_meta(
                msgspec.structs.replace(
                    meta,
                    conversation_id=copy,
                    forked_from=conversation_id,
                    message_count=len(kept),
                    created_at=now,
                    updated_at=now,
                    deleted_at=0.0,
                )
            )
        return copy

    # All conversations

    def list_conversations(self) -> tuple[ConversationMeta, ...]:
        """Return all that are not deleted, the newest first."""
        metas, outdated = self.global_file.catalogue()
        if outdated:
            with suppress(*_CACHE_FAILURES):
                self.global_file.remember_all(outdated)
        there = [meta for meta in metas.values() if not meta.deleted_at]
        return tuple(sorted(there, key=lambda meta: (meta.updated_at, meta.conversation_id), reverse=True))

    def list_deleted(self) -> tuple[ConversationMeta, ...]:
        """Return all that are deleted and can be restored, the last deleted first."""
        metas = self.global_file.catalogue()[0].values()
        gone = [meta for meta in metas if meta.deleted_at and not is_expired(meta, RESTORABLE_DAYS)]
        return tuple(sorted(gone, key=lambda meta: (meta.deleted_at, meta.conversation_id), reverse=True))

    def remove_expired(self) -> None:
        """Delete the files of conversations that were deleted long ago; failures are left for the next time."""
        with suppress(*_CACHE_FAILURES):
            for conversation_id, meta in self.global_file.catalogue()[0].items():
                path = self.layout.conversation(conversation_id)
                if is_expired(meta, RESTORABLE_DAYS):
                    with suppress(*_CACHE_FAILURES), FileLock(self.layout.lock_of(path), patience_s=0):
                        path.unlink()
                        index_path(path).unlink(missing_ok=True)
                        self.global_file.forget(conversation_id)

    def fresh_project_memory(self) -> ProjectMemoryRepository:
        """Return the notes of projects, with what other processes have written."""
        self.global_file.refresh()
        return self.global_file.project_memory

    def _require(self, conversation_id: str) -> None:
        if not self.layout.conversation(conversation_id).exists():
            raise no_conversation(conversation_id)

    @contextmanager
    def changing(self, conversation_id: str) -> Iterator[ConversationFile]:
        """Have a conversation for writing for the time of a block, and note it in the catalogue then."""
        with self._files.borrowed(conversation_id) as file:
            yield file
            with suppress(*_CACHE_FAILURES):
                self.global_file.remember(file.meta, file.size)
