"""Writing a journal anew beside the old one and putting it in its place, for compaction, repair and migration."""

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from smith_core.store.journal.contents import Contents
from smith_core.store.journal.disk import Disk
from smith_core.store.journal.line import Header, encode_batch, encode_header, parse_header
from smith_core.store.version import SCHEMA_VERSION

Record = tuple[str, str, bytes]
"""Table, key and JSON value."""

_BATCH_LINES = 1000
_BATCH_BYTES = 4 << 20
_GENERATION_BYTES = 6


class Rewritten(NamedTuple):
    """A new file whose descriptor is open for reading and writing."""

    descriptor: int
    header: Header
    contents: Contents


def rewrite(path: Path, records: Iterable[Record], disk: Disk) -> Rewritten:
    """Replace the journal at `path` by one that holds just `records`; all or nothing. Raises OSError."""
    temporary = path.with_name(f"{path.name}.tmp{os.getpid()}")
    descriptor = disk.create(temporary)
    try:
        first_line = encode_header(SCHEMA_VERSION, int.from_bytes(os.urandom(_GENERATION_BYTES), "big"))
        header = parse_header(first_line)
        assert header is not None
        disk.write(descriptor, first_line, 0)
        contents = Contents(header.length)
        for part in _portions(records):
            _append(descriptor, part, contents, disk)
        disk.sync(descriptor)
        disk.replace(temporary, path)
        disk.sync_folder(path.parent)
    except BaseException:
        os.close(descriptor)
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    return Rewritten(descriptor, header, contents)


def _append(descriptor: int, records: list[Record], contents: Contents, disk: Disk) -> None:
    lines = encode_batch(contents.sequence + 1, records)
    disk.write(descriptor, b"".join(lines), contents.end)
    for (table, key, _), line in zip(records, lines, strict=True):
        contents.take_in_line(table, key, (contents.end, len(line)), is_deletion=False)
        contents.end += len(line)
    contents.sequence += 1


def _portions(records: Iterable[Record]) -> Iterator[list[Record]]:
    part: list[Record] = []
    size = 0
    for record in records:
        part.append(record)
        size += len(record[2])
        if len(part) >= _BATCH_LINES or size >= _BATCH_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part


def remove_leftovers(path: Path) -> None:
    """Delete what a killed rewriting left; only for whoever has the right to write to the journal."""
    for leftover in path.parent.glob(f"{_literal(path.name)}.*tmp*"):
        with contextlib.suppress(OSError):
            leftover.unlink()


def _literal(name: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)
