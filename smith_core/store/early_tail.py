"""The end of the conversation to go on with, before anything else is ready: no TinyDB, no lock kept, no change."""

from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from smith_core.errors import AgentFailure
from smith_core.store.codec import InvalidRecordError, decode_record
from smith_core.store.interface import ConversationMeta, StoredMessage
from smith_core.store.journal.file import JournalFile
from smith_core.store.journal.line import parse_header
from smith_core.store.journal.lock import holder_of
from smith_core.store.journal.offsets import index_path
from smith_core.store.journal.opening import open_for_reading
from smith_core.store.journal.options import JournalOptions
from smith_core.store.layout import StoreLayout
from smith_core.store.peek import newest_line
from smith_core.store.schema import ACTIVE_CONVERSATION, MESSAGES, METAS, TEXT_SETTINGS, Keyspace, sequence_of
from smith_core.store.version import SCHEMA_VERSION

T = TypeVar("T", bound=msgspec.Struct)

MAX_UNINDEXED_BYTES = 1 << 20
"""Of a journal without its side file: a longer one would take as long to read as it does to open the store."""


class EarlyTail(NamedTuple):
    """The last messages of a conversation, in order."""

    conversation_id: str
    title: str
    messages: tuple[StoredMessage, ...]


def read_tail(folder: Path, count: int) -> EarlyTail | None:
    """Return the last `count` messages of the conversation that was noted to be gone on with; raises nothing.

    None when there is none, when another process has it, or when this cannot be read in no time. It is a first look:
    only the store itself knows what counts after a crash.
    """
    layout = StoreLayout(folder)
    try:
        with open_for_reading(layout.global_journal) as stream:
            data = stream.read()
        header = parse_header(data)
        noted = _newest(data, TEXT_SETTINGS, ACTIVE_CONVERSATION)
        if header is None or header.schema != SCHEMA_VERSION or noted is None or not noted.value:
            return None
        meta = _newest(data, METAS, noted.value) or ConversationMeta(conversation_id=noted.value)
        journal = layout.conversation(noted.value)
        if meta.deleted_at or holder_of(layout.lock_of(journal)) is not None:
            return None
        messages = _last_messages(journal, count)
    except (OSError, AgentFailure, InvalidRecordError):
        return None
    return EarlyTail(noted.value, meta.title, messages) if messages else None


def _newest(data: bytes, keyspace: Keyspace[T], key: str) -> T | None:
    line = newest_line(data, keyspace.name, key)
    return None if line is None else decode_record(line.value, keyspace.record_type)


def _last_messages(journal: Path, count: int) -> tuple[StoredMessage, ...]:
    if journal.stat().st_size > MAX_UNINDEXED_BYTES and not index_path(journal).exists():
        return ()
    file = JournalFile(journal, JournalOptions(), None, read_only=True)
    try:
        found = list(file.last_items(MESSAGES.name, count))
    finally:
        file.close()
    return tuple(StoredMessage(sequence_of(key), decode_record(value, MESSAGES.record_type)) for key, value in found)
