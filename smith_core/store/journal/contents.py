"""What a journal holds, as places in its file: nothing of it is decoded before it is asked for."""

import os
from array import array
from collections.abc import Iterator, Sequence

from smith_core.store.journal.line import DELETED, Batch, Line, parse_line

Place = tuple[int, int]
"""Offset and length in bytes of a line."""

_RUN_BYTES = 1 << 20
"""Most bytes of neighbouring lines that are read in one go."""


class Contents:
    """The live records of each table by their keys, in the order in which the keys first came.

    tables: key to slot, for each table; `offsets` and `lengths` hold the place of each slot. end: where the next batch
    goes. sequence: of the last batch. live_bytes: of the lines that still count. unindexed: lines since the offsets
    were saved.
    """

    def __init__(self, end: int = 0) -> None:
        self.tables: dict[str, dict[str, int]] = {}
        self.offsets = array("Q")
        self.lengths = array("Q")
        self.end = end
        self.sequence = 0
        self.live_bytes = 0
        self.unindexed = 0

    def take_in(self, batch: Batch) -> None:
        """Apply a batch that was read from the file."""
        for line, place in zip(batch.lines, batch.spans, strict=True):
            self.take_in_line(line.table, line.key, place, is_deletion=line.value == DELETED)
        self.end = batch.end
        self.sequence = batch.sequence

    def take_in_line(self, table: str, key: str, place: Place, *, is_deletion: bool) -> None:
        """Apply one line of a batch."""
        slots = self.tables.setdefault(table, {})
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

    def find(self, table: str, key: str) -> Place | None:
        """Return where a record is, None when there is none."""
        slot = self.tables.get(table, {}).get(key)
        return None if slot is None else (self.offsets[slot], self.lengths[slot])

    def records(self) -> Iterator[tuple[str, str]]:
        """Yield table and key of every live record."""
        for table, slots in self.tables.items():
            for key in slots:
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
