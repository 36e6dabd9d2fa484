"""The whole store as one file of JSON lines, out of one machine and into another."""

import contextlib
import hashlib
import os
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from smith_core.errors import AgentFailure, failure
from smith_core.store.adapter import RecordAdapter
from smith_core.store.check import problem_of
from smith_core.store.codec import decode_record, encode_document
from smith_core.store.conversation_file import ConversationFile
from smith_core.store.interface import Note
from smith_core.store.journal.storage import JournalStorage
from smith_core.store.layout import StoreLayout
from smith_core.store.schema import (
    CHILD_MESSAGES,
    CONFIG,
    MESSAGES,
    METAS,
    NOTES,
    PROJECT_NOTES,
    RUNTIME_OVERRIDES,
    TURN_RECORD,
    USAGE,
    WAITING,
    Keyspace,
    is_id,
)
from smith_core.store.store import Store
from smith_core.store.version import SCHEMA_VERSION

_FORMAT = "smith-export"
_KEPT_OF_ID = 100
_TABLES = frozenset((MESSAGES.name, METAS.name, NOTES.name, USAGE.name, CHILD_MESSAGES.name, WAITING.name))


class ExportHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The first line; created_at in seconds since the epoch."""

    format: str
    schema: int
    created_at: float = 0.0


class ExportedRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One record; `conversation` is "" for records of the global journal."""

    conversation: str
    table: str
    key: str
    value: dict[str, Any]


class ExportEnd(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The last line; without it the file is not whole."""

    records: int


class TransferSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What went out, or came in and was not there before.

    copies: conversations that had gone on differently here, and so came in under an id of their own.
    settings_left: stored settings that the file holds and that were not taken over.
    """

    conversations: int = 0
    records: int = 0
    copies: tuple[str, ...] = ()
    settings_left: tuple[str, ...] = ()


def export_store(folder: Path, target: Path) -> TransferSummary:
    """Write everything below `folder` into the file `target`, all or nothing, for its owner only; raises OSError."""
    layout = StoreLayout(folder)
    encode = msgspec.json.Encoder(order="deterministic").encode
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}.tmp")
    records = conversations = 0
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            header = ExportHeader(format=_FORMAT, schema=SCHEMA_VERSION, created_at=time.time())
            stream.write(encode(header) + b"\n")
            for journal in layout.journals():
                conversation = "" if journal == layout.global_journal else journal.stem
                conversations += bool(conversation)
                for record in _records_of(journal, conversation):
                    stream.write(encode(record) + b"\n")
                    records += 1
            stream.write(encode(ExportEnd(records=records)) + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(target)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()  # it is gone when it was put in place
    return TransferSummary(conversations=conversations, records=records)


def _records_of(journal: Path, conversation: str) -> Iterator[ExportedRecord]:
    storage = JournalStorage(journal, read_only=True)
    try:
        for table, view in storage.read().items():
            for key, value in view.items():
                yield ExportedRecord(conversation=conversation, table=table, key=key, value=value)
    finally:
        storage.close()


def import_store(folder: Path, source: Path, *, with_settings: bool = False) -> TransferSummary:
    """Add what an export holds to the store below `folder`; doing it again changes nothing.

    What is here already stays; of a note that is on both sides the newer one counts. Settings say where prompts go and
    what commands may do, so a file brings them only `with_settings`, and only where none are stored. Raises OSError,
    and AgentFailure of kind persistence for a file that is not a whole export (nothing is changed then) and for a
    conversation that another process has.
    """
    for _ in _read_export(source):
        pass
    store = Store(folder)
    summary = TransferSummary()
    try:
        for conversation, group in groupby(_read_export(source), key=lambda record: record.conversation):
            records = list(group)
            if conversation:
                added = _add_conversation(store, conversation, records)
            else:
                added = _add_global(store, records, with_settings)
            summary = TransferSummary(
                conversations=summary.conversations + added.conversations,
                records=summary.records + added.records,
                copies=summary.copies + added.copies,
                settings_left=summary.settings_left + added.settings_left,
            )
    finally:
        store.close()
    return summary


def _read_export(source: Path) -> Iterator[ExportedRecord]:
    """Yield the records; raises AgentFailure for whatever is wrong with the file."""
    count = 0
    with source.open("rb") as stream:
        try:
            header = msgspec.json.decode(stream.readline(), type=ExportHeader)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise _refused(source, "it is no export of smith-tui") from error
        if header.format != _FORMAT:
            raise _refused(source, "it is no export of smith-tui")
        if header.schema != SCHEMA_VERSION:
            raise _refused(source, f"its form is {header.schema}, this smith-tui knows {SCHEMA_VERSION}; update both")
        for number, line in enumerate(stream, 2):
            record = _parse(source, number, line)
            if isinstance(record, ExportEnd):
                if record.records != count:
                    raise _refused(source, f"{record.records} records were written and {count} are there")
                return
            count += 1
            yield record
    raise _refused(source, "its end is missing; export again")


def _parse(source: Path, number: int, line: bytes) -> ExportedRecord | ExportEnd:
    with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
        return msgspec.json.decode(line, type=ExportEnd)
    try:
        record = msgspec.json.decode(line, type=ExportedRecord)
        if record.conversation and not _is_of_conversation(record):
            raise _refused(source, f"line {number} is no record of a conversation")
        problem = problem_of(record.table, record.key, encode_document(record.value))
        if problem:
            raise _refused(source, f"line {number}: {problem}")
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _refused(source, f"line {number} is damaged") from error
    return record


def _is_of_conversation(record: ExportedRecord) -> bool:
    owner = record.key.partition(":")[0]
    return is_id(record.conversation) and record.table in _TABLES and owner == record.conversation


def _refused(source: Path, why: str) -> AgentFailure:
    return failure("persistence", "bad_export", f"{source} was not imported: {why}", origin="store")


def _add_global(store: Store, records: Sequence[ExportedRecord], with_settings: bool) -> TransferSummary:
    added = 0
    left: tuple[str, ...] = ()
    adapter = store.global_file.adapter
    with adapter.batch():
        for record in records:
            if record.table == PROJECT_NOTES.name:
                added += _put_newer_note(adapter, PROJECT_NOTES, record.key, record.value)
            elif record.key == RUNTIME_OVERRIDES:
                stored = adapter.raw(CONFIG, RUNTIME_OVERRIDES)
                if with_settings and stored in (None, encode_document({})):
                    adapter.put_document(CONFIG, RUNTIME_OVERRIDES, record.value)
                    added += 1
                elif stored != encode_document(record.value):
                    left = tuple(_setting_paths(record.value))
    return TransferSummary(records=added, settings_left=left)


def _setting_paths(patch: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in sorted(patch.items()):
        if isinstance(value, dict) and value:
            yield from _setting_paths(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


def _add_conversation(store: Store, conversation_id: str, records: Sequence[ExportedRecord]) -> TransferSummary:
    with store.changing(conversation_id) as file:
        if not _differ(file, records):
            is_new = not file.messages()
            added = _merge(file, records)
            return TransferSummary(conversations=int(is_new and added > 0), records=added)
    copy = _id_of_copy(conversation_id, records)
    with store.changing(copy) as file:
        added = _merge(file, [_renamed(record, copy) for record in records])
    return TransferSummary(conversations=int(added > 0), records=added, copies=(copy,) if added else ())


def _differ(file: ConversationFile, records: Sequence[ExportedRecord]) -> bool:
    """Say whether a message here is another one than the message of the same number that comes in."""
    return any(
        file.adapter.raw(record.table, record.key) not in (None, encode_document(record.value))
        for record in records
        if record.table == MESSAGES.name
    )


def _id_of_copy(conversation_id: str, records: Sequence[ExportedRecord]) -> str:
    """Return the same id for the same messages, so that a second import finds the copy of the first."""
    digest = hashlib.sha256()
    for record in records:
        if record.table == MESSAGES.name:
            digest.update(encode_document({"key": record.key, "value": record.value}))
    return f"{conversation_id[:_KEPT_OF_ID]}-{digest.hexdigest()[:8]}"


def _renamed(record: ExportedRecord, conversation_id: str) -> ExportedRecord:
    rest = record.key.partition(":")[1:]
    value = dict(record.value)
    if "conversation_id" in value:
        value["conversation_id"] = conversation_id
    return msgspec.structs.replace(
        record, conversation=conversation_id, key="".join((conversation_id, *rest)), value=value
    )


def _merge(file: ConversationFile, records: Sequence[ExportedRecord]) -> int:
    added = 0
    adapter = file.adapter
    with adapter.batch():
        for record in records:
            if record.table == NOTES.name and not record.key.partition(":")[2].startswith(TURN_RECORD):
                added += _put_newer_note(adapter, NOTES, record.key, record.value)
            elif adapter.raw(record.table, record.key) is None:
                adapter.put_document(record.table, record.key, record.value)
                added += 1
        if added:
            _settle_meta(file, records)
    return added


def _settle_meta(file: ConversationFile, records: Sequence[ExportedRecord]) -> None:
    updated = [record.value.get("updated_at", 0.0) for record in records if record.table == METAS.name]
    newest = max([file.meta.updated_at, *(time for time in updated if isinstance(time, int | float))])
    file.change_meta(message_count=len(file.conversations.message_keys(file.conversation_id)), updated_at=newest)


def _put_newer_note(adapter: RecordAdapter, keyspace: Keyspace[Note], key: str, value: Mapping[str, Any]) -> bool:
    old = adapter.get(keyspace, key)
    new = decode_record(encode_document(value), Note)
    if old is not None and (old.updated_at, old.text) >= (new.updated_at, new.text):
        return False
    adapter.put(keyspace, key, new)
    return True
