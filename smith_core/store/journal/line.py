"""One record as one line of text, and the reading of whole batches out of any bytes.

A journal begins with a header line, `smith-journal SCHEMA GENERATION CRC`, and goes on with records:

    SEQUENCE REMAINING KEYLEN VALUELEN CRC table id<TAB>{sorted json}

All numbers are hexadecimal, of 8, 6, 4, 8 and 8 digits. SEQUENCE counts the batches of a file from 1. REMAINING is the
number of lines that the batch still has behind this one; its top bit marks the first line, so that a batch whose
beginning is damaged is never taken for a whole one. The CRC-32 covers the line without the CRC itself and the blank
behind it. The value `null` deletes the record. JSON escapes line breaks, so a line break always ends a record.
"""

import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from zlib import crc32

from smith_core.patterns import later

FIRST_OF_BATCH = 0x800000
MAX_LINES = FIRST_OF_BATCH
MAX_KEY_BYTES = 0xFFFF
DELETED = b"null"

_MAGIC = b"smith-journal"
_HEADER = later(rb"smith-journal (\d{1,9}) ([0-9a-f]{12}) ([0-9a-f]{8})\n")
_NUMBERS = struct.Struct(">I3sHII")
_CHECKED_HEAD = 30
_KEY_START = 39
# Not compiled here: that takes a millisecond of the start, and only damaged files need it.
_LINE_START = rb"[0-9a-f]{8} [0-9a-f]{6} [0-9a-f]{4} [0-9a-f]{8} [0-9a-f]{8} "


class Header(NamedTuple):
    """What the first line says; `generation` is another number after each rewriting of the file."""

    schema: int
    generation: int
    length: int


class Line(NamedTuple):
    """One record; `value` is JSON, or `DELETED`."""

    sequence: int
    is_first: bool
    remaining: int
    table: str
    key: str
    value: bytes


class Batch(NamedTuple):
    """A whole batch; `spans` are the (offset, length in bytes) of its lines in the file."""

    sequence: int
    lines: list[Line]
    spans: list[tuple[int, int]]
    start: int
    end: int


class Damage(NamedTuple):
    """Bytes that belong to no whole batch; an empty range is a place where batches are missing."""

    start: int
    end: int


def encode_header(schema: int, generation: int) -> bytes:
    """Return the first line of a journal; `generation` is below 2**48."""
    body = b"%s %d %012x" % (_MAGIC, schema, generation)
    return b"%s %08x\n" % (body, crc32(body))


def parse_header(data: bytes) -> Header | None:
    """Read the header at the beginning of `data`, None when it is damaged or of something else."""
    match = _HEADER.match(data)
    if match is None or crc32(data[: match.end() - 10]) != int(match[3], 16):
        return None
    return Header(int(match[1]), int(match[2], 16), match.end())


def encode_batch(sequence: int, records: Sequence[tuple[str, str, bytes]]) -> list[bytes]:
    """Return the lines of one batch of (table, key, value); raises ValueError for a key that is not one line."""
    count = len(records)
    if count > MAX_LINES:
        raise ValueError(f"{count} records in one batch")
    return [
        _encode_line(sequence, (count - 1 - position) | (FIRST_OF_BATCH if position == 0 else 0), table, key, value)
        for position, (table, key, value) in enumerate(records)
    ]


def _encode_line(sequence: int, remaining: int, table: str, key: str, value: bytes) -> bytes:
    name = f"{table} {key}".encode()
    body = b"".join((name, b"\t", value, b"\n"))
    if body.find(b"\n") != len(body) - 1 or " " in table or len(name) > MAX_KEY_BYTES:
        raise ValueError(f"not a record key: {key[:80]!r}")
    head = b"%08x %06x %04x %08x " % (sequence, remaining, len(name), len(value))
    return b"".join((head, b"%08x " % crc32(body, crc32(head)), body))


def parse_line(raw: bytes) -> Line | None:
    """Read one line with its line break, None when anything in it is not as it was written."""
    try:
        sequence, remaining, key_length, value_length, crc = _NUMBERS.unpack(bytes.fromhex(raw[:38].decode("ascii")))
    except (ValueError, struct.error):
        return None
    value_start = _KEY_START + key_length + 1
    if len(raw) != value_start + value_length + 1:
        return None
    if crc32(raw[_KEY_START:], crc32(raw[:_CHECKED_HEAD])) != crc or raw[38:39] != b" ":
        return None
    table, _, key = raw[_KEY_START : value_start - 1].decode().partition(" ")
    count = int.from_bytes(remaining, "big")
    return Line(sequence, bool(count & FIRST_OF_BATCH), count & ~FIRST_OF_BATCH, table, key, raw[value_start:-1])


def scan(lines: Iterable[bytes], offset: int, previous: int | None) -> Iterator[Batch | Damage]:
    """Yield every whole batch and every damaged range of the raw `lines` that begin at `offset`.

    `previous` is the sequence of the batch before them, None when it is not known. A batch that is still being
    written is a Damage at the very end.
    """
    batch: list[Line] = []
    spans: list[tuple[int, int]] = []
    batch_start = unclaimed = offset
    for raw, line in _parsed(lines):
        start, offset = offset, offset + len(raw)
        if line is None or not (line.is_first or _continues(batch, line)):
            batch, spans = [], []
            continue
        if line.is_first:
            batch, spans, batch_start = [], [], start
        batch.append(line)
        spans.append((start, len(raw)))
        if line.remaining == 0:
            missing = previous is not None and line.sequence != previous + 1
            if unclaimed < batch_start or missing:
                yield Damage(unclaimed, batch_start)
            yield Batch(line.sequence, batch, spans, batch_start, offset)
            batch, spans, unclaimed, previous = [], [], offset, line.sequence
    if unclaimed < offset:
        yield Damage(unclaimed, offset)


def _continues(batch: list[Line], line: Line) -> bool:
    return bool(batch) and batch[-1].sequence == line.sequence and batch[-1].remaining == line.remaining + 1


def _parsed(lines: Iterable[bytes]) -> Iterator[tuple[bytes, Line | None]]:
    """Yield each line and what it says; one whose line break was lost is cut from the whole line that follows it."""
    for raw in lines:
        line = parse_line(raw)
        if line is None:
            for match in re.compile(_LINE_START).finditer(raw, 1):
                line = parse_line(raw[match.start() :])
                if line is not None:
                    yield raw[: match.start()], None
                    raw = raw[match.start() :]
                    break
        yield raw, line
