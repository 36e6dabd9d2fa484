"""The side file `.idx`: where the records of a journal are, so that opening a long one need not read it all.

It is derived, checksummed and not synced: when it is missing, damaged or older, the journal itself is read.
"""

import contextlib
import os
from array import array
from pathlib import Path
from zlib import crc32

import msgspec

from smith_core.store.journal.contents import Contents, KeyTable
from smith_core.store.journal.opening import open_for_reading

_MARK_BYTES = 64
"""How much of the journal before the saved place is compared, to see that it is still the same file."""


class _Table(msgspec.Struct, frozen=True, array_like=True):
    name: str
    length: int
    keys: bytes


class _Saved(msgspec.Struct, frozen=True, array_like=True):
    generation: int
    end: int
    sequence: int
    live_bytes: int
    mark: bytes
    tables: list[_Table]
    offsets: bytes
    lengths: bytes


_DECODER = msgspec.msgpack.Decoder(_Saved)


def index_path(journal: Path) -> Path:
    """Return the path of the side file."""
    return journal.with_name(f"{journal.name}.idx")


def load_offsets(journal: Path, descriptor: int, generation: int) -> Contents | None:
    """Return what the side file knows of an open journal, None when it is of no use."""
    try:
        with open_for_reading(index_path(journal)) as stream:
            data = stream.read()
        if crc32(data[4:]) != int.from_bytes(data[:4], "big"):
            return None
        saved = _DECODER.decode(data[4:])
        if saved.generation != generation or _mark(descriptor, saved.end) != saved.mark:
            return None
        contents = Contents(saved.end)
        contents.offsets.frombytes(saved.offsets)
        contents.lengths.frombytes(saved.lengths)
        first = 0
        for table in saved.tables:
            contents.tables[table.name] = KeyTable(table.keys, first, table.length)
            first += table.length
    except (OSError, msgspec.MsgspecError, ValueError):
        return None
    contents.sequence = saved.sequence
    contents.live_bytes = saved.live_bytes
    return contents


def save_offsets(journal: Path, descriptor: int, generation: int, contents: Contents) -> None:
    """Write the side file; a failure is of no consequence and raises nothing."""
    # Sorted, so that the end of a table can be read without unpacking all of it.
    ordered = {name: sorted(table.slots) for name, table in contents.tables.items()}
    slots = [contents.tables[name].slots[key] for name, keys in ordered.items() for key in keys]
    offsets = array("Q", map(contents.offsets.__getitem__, slots))
    lengths = array("Q", map(contents.lengths.__getitem__, slots))
    tables = [_Table(name, len(keys), "\n".join(keys).encode()) for name, keys in ordered.items()]
    contents.unindexed = 0
    with contextlib.suppress(OSError):
        mark = _mark(descriptor, contents.end)
        saved = _Saved(
            generation,
            contents.end,
            contents.sequence,
            contents.live_bytes,
            mark,
            tables,
            offsets.tobytes(),
            lengths.tobytes(),
        )
        data = msgspec.msgpack.encode(saved)
        temporary = journal.with_name(f"{journal.name}.idx.tmp")
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as stream:
            stream.write(crc32(data).to_bytes(4, "big") + data)
        temporary.replace(index_path(journal))


def _mark(descriptor: int, end: int) -> bytes:
    return os.pread(descriptor, min(_MARK_BYTES, end), max(0, end - _MARK_BYTES))
