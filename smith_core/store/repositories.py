"""Typed repositories over one adapter: each knows its keyspaces and makes their keys."""

import itertools
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from smith_core.messages import ChildTranscript, Message, TurnRecord, TurnResult
from smith_core.store.adapter import RecordAdapter
from smith_core.store.interface import ConversationMeta, Note, StoredMessage, TurnUsage
from smith_core.store.schema import (
    ACTIVE_CONVERSATION,
    CHILD_MESSAGES,
    CONFIG,
    MESSAGES,
    METAS,
    NOTES,
    NUMBER_SETTINGS,
    PROJECT_NOTES,
    RUNTIME_OVERRIDES,
    SCRATCHPAD,
    SEQUENCE_DIGITS,
    STORED_VERSION,
    TEXT_SETTINGS,
    TURN_NOTES,
    TURN_RECORD,
    USAGE,
    Keyspace,
    NumberValue,
    TextValue,
    TurnNote,
    check_id,
    child_message_key,
    child_prefix,
    conversation_prefix,
    message_key,
    note_key,
    project_note_key,
    sequence_of,
    usage_key,
)


class ConversationRepository:
    """Messages and the description of the conversation of one journal, or descriptions of all in the global one."""

    def __init__(self, adapter: RecordAdapter) -> None:
        self._adapter = adapter

    def message_keys(self, conversation_id: str) -> list[str]:
        """Return the keys of all messages of a conversation, in order."""
        return self._adapter.keys(MESSAGES, conversation_prefix(conversation_id))

    def messages(self, keys: Sequence[str]) -> tuple[StoredMessage, ...]:
        """Return the messages of keys that are there."""
        found = self._adapter.items(MESSAGES, keys)
        return tuple(StoredMessage(sequence_of(key), message) for key, message in found)

    def tail(self, count: int) -> tuple[StoredMessage, ...]:
        """Return the last messages of the one conversation in this journal, in order."""
        found = self._adapter.last_items(MESSAGES, count)
        return tuple(StoredMessage(sequence_of(key), message) for key, message in found)

    def put(self, conversation_id: str, sequence: int, message: Message) -> None:
        """Set one message."""
        self._adapter.put(MESSAGES, message_key(conversation_id, sequence), message)

    def put_all(self, conversation_id: str, first: int, messages: Sequence[Message]) -> None:
        """Set messages whose numbers begin at `first`."""
        prefix = conversation_prefix(conversation_id)
        self._adapter.put_all(
            MESSAGES, ((f"{prefix}{number:0{SEQUENCE_DIGITS}d}", item) for number, item in enumerate(messages, first))
        )

    def discard(self, conversation_id: str, sequence: int) -> bool:
        """Delete one message; say whether there was one."""
        return self._adapter.discard(MESSAGES, message_key(conversation_id, sequence))

    def meta(self, conversation_id: str) -> ConversationMeta | None:
        """Return the description of a conversation."""
        return self._adapter.get(METAS, check_id(conversation_id))

    def metas(self) -> dict[str, ConversationMeta]:
        """Return all descriptions by conversation."""
        return dict(self._adapter.items(METAS, self._adapter.keys(METAS)))

    def put_meta(self, meta: ConversationMeta) -> None:
        """Set the description of a conversation."""
        self._adapter.put(METAS, check_id(meta.conversation_id), meta)

    def discard_meta(self, conversation_id: str) -> None:
        """Delete the description of a conversation."""
        self._adapter.discard(METAS, conversation_id)


class ConversationNoteRepository:
    """The scratchpad of a conversation, and the records of its turns."""

    def __init__(self, adapter: RecordAdapter) -> None:
        self._adapter = adapter

    def put(self, conversation_id: str, key: str, text: str) -> Note:
        """Set a note of the scratchpad."""
        return _put_note(self._adapter, NOTES, note_key(conversation_id, SCRATCHPAD + key), key, text)

    def get(self, conversation_id: str, key: str) -> Note | None:
        """Return a note of the scratchpad."""
        return self._adapter.get(NOTES, note_key(conversation_id, SCRATCHPAD + key))

    def list(self, conversation_id: str, prefix: str = "") -> tuple[Note, ...]:
        """Return the notes of the scratchpad whose keys begin with `prefix`, by key."""
        keys = self._adapter.keys(NOTES, f"{conversation_prefix(conversation_id)}{SCRATCHPAD}{prefix}")
        return tuple(note for _, note in self._adapter.items(NOTES, keys))

    def discard(self, conversation_id: str, key: str) -> bool:
        """Delete a note of the scratchpad; say whether there was one."""
        return self._adapter.discard(NOTES, note_key(conversation_id, SCRATCHPAD + key))

    def put_turn(self, record: TurnRecord, first_sequence: int) -> None:
        """Keep the record of a turn whose messages begin at a number."""
        note = TurnNote(
            turn_id=record.turn_id,
            conversation_id=record.conversation_id,
            project_id=record.project_id,
            cwd=record.cwd,
            started_at=record.started_at,
            first_sequence=first_sequence,
            message_count=len(record.messages),
            result=record.result,
            child_usage=record.child_usage,
        )
        key = note_key(record.conversation_id, TURN_RECORD + check_id(record.turn_id))
        self._adapter.put(TURN_NOTES, key, note)

    def turns(self, conversation_id: str) -> tuple[TurnNote, ...]:
        """Return the records of all turns."""
        keys = self._adapter.keys(TURN_NOTES, f"{conversation_prefix(conversation_id)}{TURN_RECORD}")
        return tuple(note for _, note in self._adapter.items(TURN_NOTES, keys))

    def replace_turn(self, note: TurnNote) -> None:
        """Put another record in the place of that of its turn."""
        self._adapter.put(TURN_NOTES, note_key(note.conversation_id, TURN_RECORD + check_id(note.turn_id)), note)

    def turn(self, conversation_id: str, turn_id: str) -> TurnNote | None:
        """Return the record of a turn."""
        return self._adapter.get(TURN_NOTES, note_key(conversation_id, TURN_RECORD + check_id(turn_id)))


class ChildRepository:
    """What dispatched children said, in the journal of the conversation that dispatched them."""

    def __init__(self, adapter: RecordAdapter) -> None:
        self._adapter = adapter

    def put(self, conversation_id: str, child: ChildTranscript) -> None:
        """Keep the transcript of a child."""
        keys = (child_message_key(conversation_id, child.job_id, number) for number in itertools.count(1))
        self._adapter.put_all(CHILD_MESSAGES, zip(keys, child.messages, strict=False))

    def messages(self, conversation_id: str, job_id: str) -> tuple[Message, ...]:
        """Return the transcript of a child, () when there is none."""
        keys = self._adapter.keys(CHILD_MESSAGES, child_prefix(conversation_id, job_id))
        return tuple(message for _, message in self._adapter.items(CHILD_MESSAGES, keys))

    def keep_only(self, conversation_id: str, job_ids: Collection[str]) -> None:
        """Delete the transcripts of all other children."""
        with self._adapter.batch():
            for key in self._adapter.keys(CHILD_MESSAGES, conversation_prefix(conversation_id)):
                if key.split(":")[1] not in job_ids:
                    self._adapter.discard(CHILD_MESSAGES, key)


class UsageRepository:
    """Token counts of turns and of their children."""

    def __init__(self, adapter: RecordAdapter) -> None:
        self._adapter = adapter

    def put_turn(self, record: TurnRecord) -> None:
        """Keep the usage of a turn and of each child that it dispatched."""
        self._adapter.put(USAGE, usage_key(record.conversation_id, record.turn_id), record.result.usage)
        for job_id, usage in record.child_usage:
            self._adapter.put(USAGE, usage_key(record.conversation_id, record.turn_id, job_id), usage)

    def of_turns(self, conversation_id: str, results: Mapping[str, TurnResult]) -> Iterator[TurnUsage]:
        """Yield the counts of a conversation; results: of its turns by their ids, as far as they are known."""
        for key, usage in self._adapter.items(USAGE, self._adapter.keys(USAGE, conversation_prefix(conversation_id))):
            _, turn_id, *job = key.split(":")
            result = results.get(turn_id)
            role, model = ("", "") if result is None else (result.role, result.model)
            yield TurnUsage(usage=usage, role=role, model=model, job_id="".join(job))


class ProjectMemoryRepository:
    """Notes of projects, shared by all conversations."""

    def __init__(self, adapter: RecordAdapter) -> None:
        self._adapter = adapter

    def put(self, project_id: str, key: str, text: str) -> Note:
        """Set a note."""
        return _put_note(self._adapter, PROJECT_NOTES, project_note_key(project_id, key), key, text)

    def get(self, project_id: str, key: str) -> Note | None:
        """Return a note."""
        return self._adapter.get(PROJECT_NOTES, project_note_key(project_id, key))

    def list(self, project_id: str) -> tuple[Note, ...]:
        """Return the notes of a project, by key."""
        keys = self._adapter.keys(PROJECT_NOTES, f"{check_id(project_id)}:")
        return tuple(note for _, note in self._adapter.items(PROJECT_NOTES, keys))

    def discard(self, project_id: str, key: str) -> bool:
        """Delete a note; say whether there was one."""
        return self._adapter.discard(PROJECT_NOTES, project_note_key(project_id, key))


class ConfigRepository:
    """The persisted patch of the configuration, and what the store remembers about itself."""

    def __init__(self, adapter: RecordAdapter) -> None:
        self._adapter = adapter

    def overrides(self) -> Mapping[str, Any]:
        """Return the patch, empty without one."""
        return self._adapter.get_document(CONFIG, RUNTIME_OVERRIDES)

    def put_overrides(self, patch: Mapping[str, Any]) -> None:
        """Replace the patch."""
        self._adapter.put_document(CONFIG, RUNTIME_OVERRIDES, patch)

    def active_conversation(self) -> str | None:
        """Return the id of the conversation to go on with, "" for none, None when nothing was noted."""
        stored = self._adapter.get(TEXT_SETTINGS, ACTIVE_CONVERSATION)
        return stored.value if stored is not None else None

    def put_active_conversation(self, conversation_id: str) -> None:
        """Set the conversation to go on with."""
        self._adapter.put(TEXT_SETTINGS, ACTIVE_CONVERSATION, TextValue(conversation_id))

    def schema_version(self) -> int:
        """Return the schema version that the store says it has, 0 when it does not say."""
        stored = self._adapter.get(NUMBER_SETTINGS, STORED_VERSION)
        return stored.value if stored is not None else 0

    def put_schema_version(self, version: int) -> None:
        """Note the schema version."""
        self._adapter.put(NUMBER_SETTINGS, STORED_VERSION, NumberValue(version))


def _put_note(adapter: RecordAdapter, keyspace: Keyspace[Note], key: str, name: str, text: str) -> Note:
    with adapter.batch():
        old = adapter.get(keyspace, key)
        now = time.time()
        note = Note(key=name, text=text, created_at=old.created_at if old else now, updated_at=now)
        adapter.put(keyspace, key, note)
    return note
