"""Reading every byte of the store and saying what is wrong with it; nothing is changed."""

from pathlib import Path

import msgspec

from smith_core.messages import Message, Usage
from smith_core.store.codec import InvalidRecordError, decode_document, decode_record
from smith_core.store.interface import ConversationMeta, Note
from smith_core.store.journal.line import DELETED, Batch, scan
from smith_core.store.journal.opening import open_for_reading
from smith_core.store.journal.recovery import reason
from smith_core.store.journal.tail import read_header
from smith_core.store.layout import StoreLayout
from smith_core.store.schema import (
    CHILD_MESSAGES,
    CONFIG,
    MESSAGES,
    METAS,
    NOTES,
    PROJECT_NOTES,
    SCRATCHPAD,
    USAGE,
    WAITING,
    TurnNote,
    WaitingPrompts,
)
from smith_core.store.version import SCHEMA_VERSION

_TYPES: dict[str, type[msgspec.Struct]] = {
    MESSAGES.name: Message,
    METAS.name: ConversationMeta,
    PROJECT_NOTES.name: Note,
    USAGE.name: Usage,
    CHILD_MESSAGES.name: Message,
    WAITING.name: WaitingPrompts,
}


class JournalReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was found in one journal; `problems` are sentences, empty when all is well."""

    path: Path
    size_bytes: int
    batches: int = 0
    records: int = 0
    problems: tuple[str, ...] = ()


class StoreReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was found in the store; kept_copies: damaged originals of earlier repairs."""

    journals: tuple[JournalReport, ...]
    kept_copies: tuple[Path, ...]

    @property
    def is_healthy(self) -> bool:
        """Whether nothing is wrong."""
        return not any(journal.problems for journal in self.journals)


def check_store(folder: Path) -> StoreReport:
    """Verify every checksum and decode every record below `folder`; raises OSError."""
    journals = tuple(map(_checked, StoreLayout(folder).journals()))
    return StoreReport(journals=journals, kept_copies=tuple(sorted(folder.rglob("*.corrupt-*"))))


def _checked(path: Path) -> JournalReport:
    try:
        return check_journal(path)
    except OSError as error:
        return JournalReport(path=path, size_bytes=0, problems=(f"it cannot be read: {reason(error)}",))


def check_journal(path: Path) -> JournalReport:
    """Verify one journal; raises OSError."""
    problems: list[str] = []
    live: set[tuple[str, str]] = set()
    batches = 0
    with open_for_reading(path) as stream:
        header = read_header(stream)
        if header is None:
            problems.append("the header is damaged, or the file is something else")
        elif header.schema != SCHEMA_VERSION:
            words = f"its form is {header.schema}, this smith-tui knows {SCHEMA_VERSION}"
            return JournalReport(path=path, size_bytes=path.stat().st_size, problems=(words,))
        start = header.length if header else 0
        for part in scan(stream, start, previous=0):
            if isinstance(part, Batch):
                batches += 1
                problems += [
                    problem for line in part.lines if (problem := problem_of(line.table, line.key, line.value))
                ]
                for line in part.lines:
                    (live.discard if line.value == DELETED else live.add)((line.table, line.key))
            elif part.start == part.end:
                problems.append(f"batches are missing at byte {part.start}")
            else:
                problems.append(f"bytes {part.start} to {part.end} belong to no whole batch")
        size = stream.seek(0, 2)
    return JournalReport(path=path, size_bytes=size, batches=batches, records=len(live), problems=tuple(problems))


def problem_of(table: str, key: str, value: bytes) -> str:
    """Say what is wrong with a record of this or that keyspace, "" when nothing is."""
    if value == DELETED:
        return ""
    try:
        if table in _TYPES:
            decode_record(value, _TYPES[table])
        elif table == NOTES.name:
            is_scratchpad = key.partition(":")[2].startswith(SCRATCHPAD)
            decode_record(value, Note if is_scratchpad else TurnNote)
        elif table == CONFIG:
            decode_document(value)
        else:
            return f"the keyspace {table!r} of {key!r} is not known"
    except InvalidRecordError as error:
        return f"the record {table} {key} cannot be read: {error}"
    return ""
