"""What a journal holds, as places in its file: nothing of it is decoded before it is asked for."""

from collections.abc import Iterator

from smith_core.store.journal.line import DELETED, Batch

Place = tuple[int, int]
"""Offset and length in bytes of a line."""


class Contents:
    """The live records of each table by their keys, in the order in which the keys first came.

    end: where the next batch goes. sequence: of the last batch. live_bytes: of the lines that still count.
    unindexed: lines since the offsets were saved.
    """

    def __init__(self, end: int = 0) -> None:
        self.tables: dict[str, dict[str, Place]] = {}
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
        records = self.tables.setdefault(table, {})
        old = records.get(key)
        if old is not None:
            self.live_bytes -= old[1]
        if is_deletion:
            records.pop(key, None)
        else:
            records[key] = place
            self.live_bytes += place[1]
        self.unindexed += 1

    def find(self, table: str, key: str) -> Place | None:
        """Return where a record is, None when there is none."""
        records = self.tables.get(table)
        return None if records is None else records.get(key)

    def records(self) -> Iterator[tuple[str, str]]:
        """Yield table and key of every live record."""
        for table, records in self.tables.items():
            for key in records:
                yield table, key
