"""What a journal holds, as places in its file: nothing of it is decoded before it is asked for."""

import os
from array import array
from collections.abc import Iterator, Sequence

from smith_core.store.journal.line import DELETED, Batch, Line, parse_line

Place = tuple[int, int]
"""Offset and length in bytes of a line."""

_RUN_BYTES = 1 << 20
"""Most bytes of neighbouring lines that are read in one go."""


class KeyTable:
    """The keys of one table with their slots, unpacked when more than the end of it is asked for.

    packed: the keys in order, separated by line breaks, whose slots count up from `first_slot`.
    """

    def __init__(self, packed: bytes = b"", first_slot: int = 0, length: int = 0) -> None:
        self._packed = packed
        self._first_slot = first_slot
        self._length = length
        self._slots: dict[str, int] | None = None if length else {}

    def __len__(self) -> int:
        return self._length if self._slots is None else len(self._slots)

    @property
    def slots(self) -> dict[str, int]:
        """Slots by key, in the order in which the keys first came."""
        if self._slots is None:
            keys = self._packed.decode().split("\n")
            self._slots = dict(zip(keys, range(self._first_slot, self._first_slot + self._length), strict=True))
            self._packed = b""
        return self._slots

    def last(self, count: int) -> Iterator[tuple[str, int]]:
        """Yield the last keys by their sorting, with their slots, in order."""
        if self._slots is None:
            keys = self._packed.rsplit(b"\n", count)[-count:]
            end = self._first_slot + self._length
            return zip((key.decode() for key in keys), range(end - len(keys), end), strict=True)
        slots = self._slots
        return ((key, slots[key]) for key in sorted(slots)[-count:])


class Contents:
    """The live records of each table by their keys.

    `offsets` and `lengths` hold the place of each slot. end: where the next batch goes. sequence: of the last batch.
    live_bytes: of the lines that still count. unindexed: lines since the offsets were saved.
    """

    def __init__(self, end: int = 0) -> None:
        self.tables: dict[str, KeyTable] = {}
        self.offsets = array("Q")
        self.lengths = array("Q")
        self.end = end
        self.sequence = 0
        self.live_bytes = 0
        self.unindexed = 0

    def __len__(self) -> int:
        return sum(map(len, self.tables.values()))

    def take_in(self, batch: Batch) -> None:
        """Apply a batch that was read from the file."""
        for line, place in zip(batch.lines, batch.spans, strict=True):
            self.take_in_line(line.table, line.key, place, is_deletion=line.value == DELETED)
        self.end = batch.end
        self.sequence = batch.sequence

    def append(self, records: Sequence[tuple[str, str, bytes]], lines: Sequence[bytes]) -> None:
        """Apply a batch of (table, key, value) that was written at the end as `lines`."""
        for (table, key, value), line in zip(records, lines, strict=True):
            self.take_in_line(table, key, (self.end, len(line)), is_deletion=value == DELETED)
            self.end += len(line)
        self.sequence += 1

    def take_in_line(self, table: str, key: str, place: Place, *, is_deletion: bool) -> None:
        """Apply one line of a batch."""
        if table not in self.tables:
            self.tables[table] = KeyTable()
        slots = self.tables[table].slots
        old = slots.get(key)
        if old is not None:
            self.live_bytes -= self.lengths[old]
        if is_deletion:
            slots.pop(key, None)
        else:
            slots[key] = len(self.offsets)
            self.offsets.append(place[0])
            self.lengths.append(place[1])
            self.live_bytes += place[1]
        self.unindexed += 1

    def slots(self, table: str) -> dict[str, int]:
        """Return the slots of a table by key, empty when there is no such table."""
        return self.tables[table].slots if table in self.tables else {}

    def find(self, table: str, key: str) -> Place | None:
        """Return where a record is, None when there is none."""
        slot = self.slots(table).get(key)
        return None if slot is None else (self.offsets[slot], self.lengths[slot])

    def last(self, table: str, count: int) -> Iterator[tuple[str, Place]]:
        """Yield where the last records by the sorting of their keys are."""
        found = self.tables[table].last(count) if table in self.tables and count > 0 else ()
        return ((key, (self.offsets[slot], self.lengths[slot])) for key, slot in found)

    def records(self) -> Iterator[tuple[str, str]]:
        """Yield table and key of every live record."""
        for table, keys in self.tables.items():
            for key in keys.slots:
                yield table, key


def read_line(descriptor: int, place: Place) -> Line | None:
    """Return the line at a place, None when it is damaged; raises OSError."""
    return parse_line(os.pread(descriptor, place[1], place[0]))


def read_lines(descriptor: int, places: Sequence[Place]) -> Iterator[Line | None]:
    """Yield the lines at many places; those that lie side by side are read together. Raises OSError."""
    position = 0
    while position < len(places):
        start, end = places[position][0], sum(places[position])
        last = position + 1
        while last < len(places) and places[last][0] == end and end - start < _RUN_BYTES:
            end += places[last][1]
            last += 1
        data = os.pread(descriptor, end - start, start)
        for offset, length in places[position:last]:
            yield parse_line(data[offset - start : offset - start + length])
        position = last
