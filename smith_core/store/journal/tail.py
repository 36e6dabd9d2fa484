"""Reading a journal from a place on, without a lock: for the search index, for followers, and for quick looks."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from smith_core.store.journal.line import DELETED, Batch, Header, parse_header, scan
from smith_core.store.journal.opening import open_for_reading
from smith_core.store.version import SCHEMA_VERSION

HEADER_BYTES = 64
"""More than the longest header."""


class JournalEntry(NamedTuple):
    """One record as it was written; `value` is JSON, None for a deletion.

    generation: another number means that the file was rewritten and has to be read from offset 0 again.
    offset_after: where to go on when every entry so far is taken in; it moves at the end of each batch.
    """

    generation: int
    table: str
    key: str
    value: bytes | None
    offset_after: int


def read_header(stream: BinaryIO) -> Header | None:
    """Return the header of an open journal, None when there is no valid one; leaves the stream behind it."""
    stream.seek(0)
    header = parse_header(stream.read(HEADER_BYTES))
    stream.seek(header.length if header else 0)
    return header


def read_generation(path: Path) -> int | None:
    """Return the generation of a journal; None when there is no file, no valid header, or another schema version."""
    try:
        with open_for_reading(path) as stream:
            header = read_header(stream)
    except FileNotFoundError:
        return None
    return header.generation if header is not None and header.schema == SCHEMA_VERSION else None


def read_entries(path: Path, offset: int = 0) -> Iterator[JournalEntry]:
    """Yield the entries of all whole batches behind `offset`, which is 0 or an `offset_after`; raises OSError.

    Safe beside a process that writes: a batch appears as a whole or not at all. Damaged places are passed over. A
    file that is missing, foreign or of another schema version has no entries; one that is shorter than `offset` was
    cut and has to be read from 0 again.
    """
    try:
        stream = open_for_reading(path, buffering=1 << 18)
    except FileNotFoundError:
        return
    with stream:
        header = read_header(stream)
        if header is None or header.schema != SCHEMA_VERSION:
            return
        start = max(offset, header.length)
        stream.seek(start)
        for batch in scan(stream, start, previous=None):
            if isinstance(batch, Batch):
                last = len(batch.lines) - 1
                for position, line in enumerate(batch.lines):
                    value = None if line.value == DELETED else line.value
                    after = batch.end if position == last else batch.start
                    yield JournalEntry(header.generation, line.table, line.key, value, after)
