"""One journal file: opening, repair, reading of records, appending of batches, compaction."""

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import islice
from pathlib import Path

from smith_core.store.journal.contents import Contents, Place, read_line, read_lines
from smith_core.store.journal.line import Batch, Damage, Header, Line, encode_batch, parse_header, scan
from smith_core.store.journal.lock import FileLock, LockHeldError
from smith_core.store.journal.offsets import load_offsets, save_offsets
from smith_core.store.journal.opening import open_descriptor
from smith_core.store.journal.options import JournalOptions
from smith_core.store.journal.recovery import check_schema, damaged, keep_copy, not_repaired, repaired
from smith_core.store.journal.rewrite import Record, remove_leftovers, rewrite
from smith_core.store.journal.tail import HEADER_BYTES
from smith_core.store.migrations import migrate
from smith_core.store.version import SCHEMA_VERSION

_READ_BUFFER = 1 << 18
_PART = 100
"""Records that are read in one go: all lines of a long journal take several times the room of what they hold."""
_UNKNOWN = Header(SCHEMA_VERSION, 0, 0)


class JournalFile:
    """What is on disk, used by one thread.

    lock: taken for each change where several processes write to the file; None where the caller has it for itself.
    read_only: nothing is changed, and another process may be writing. epoch: another number after the file was read
    anew, when whatever was derived from it is out of date. Opening and changing raise OSError, LockHeldError, and
    AgentFailure of kind persistence for a file of another schema version.
    """

    def __init__(self, path: Path, options: JournalOptions, lock: FileLock | None, *, read_only: bool) -> None:
        self.path = path
        self.epoch = 0
        self.contents = Contents()
        self._options = options
        self._lock = lock
        self._read_only = read_only
        self._descriptor = -1
        self._inode = -1
        self._header = _UNKNOWN
        self._is_doubtful = False
        self._owes_rollback = False
        self._tolerated_garbage = options.garbage_bytes
        self._open()

    @property
    def garbage(self) -> int:
        """Bytes of lines that do not count any more."""
        return self.contents.end - self._header.length - self.contents.live_bytes

    # Reading

    def value(self, table: str, key: str) -> bytes | None:
        """Return the JSON of a record, None when there is none; a damaged file is repaired on the way."""
        line = self._line(table, key)
        if line is None and self.contents.find(table, key) is not None:
            self._open(trust_index=False)
            line = self._line(table, key)
        return None if line is None else line.value

    def items(self, table: str, keys: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Yield key and JSON of many records, those that are missing left out; neighbours are read in one go."""
        places = ((key, place) for key in keys if (place := self.contents.find(table, key)) is not None)
        return self._read_all(table, places)

    def last_items(self, table: str, count: int) -> Iterator[tuple[str, bytes]]:
        """Yield key and JSON of the last `count` records by the sorting of their keys."""
        return self._read_all(table, self.contents.last(table, count))

    def refresh(self) -> bool:
        """Take in what other processes have written; say whether there was anything. Needs no lock."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return False
        if status.st_ino != self._inode or status.st_size < self.contents.end:
            self._load(repair=False)
            return True
        end = self.contents.end
        self._read_on()
        return self.contents.end != end

    # Writing

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Keep other writers out; inside, the file is what this object takes it for, and can be written."""
        if self._read_only:
            raise OSError(errno.EROFS, "opened for reading only", str(self.path))
        with self._locked():
            self._make_current()
            yield

    def append(self, records: Sequence[Record], *, durable: bool) -> None:
        """Add a batch of (table, key, value) at the end; only inside `exclusive`. After a failure none of it is there.

        durable: return when the batch is on the medium; without it a power cut may take it back.
        """
        contents = self.contents
        lines = encode_batch(contents.sequence + 1, records)
        self._write_at_end(b"".join(lines), durable=durable)
        contents.append(records, lines)
        limit = self._options.index_lines
        if limit and contents.unindexed >= limit:
            save_offsets(self.path, self._descriptor, self._header.generation, contents)

    def drop_garbage(self, *, always: bool = False) -> None:
        """Write the live records anew when the rest has grown large, or always; only inside `exclusive`."""
        if always:
            self._replace_file()
        elif self.garbage > max(self.contents.live_bytes, self._tolerated_garbage):
            try:
                self._replace_file()
            except OSError:
                # Everything is safe in the old file; only the space is not free yet.
                self._tolerated_garbage = 2 * self.garbage

    def close(self) -> None:
        """Close the file."""
        limit = self._options.index_lines
        is_long = limit and len(self.contents) >= limit
        if self._descriptor >= 0 and is_long and self.contents.unindexed and not self._read_only:
            save_offsets(self.path, self._descriptor, self._header.generation, self.contents)
        self._close_descriptor()

    # Opening and repair

    def _open(self, *, trust_index: bool = True) -> None:
        """Open for writing, or for reading alone as long as the file can be neither changed nor repaired."""
        if self._read_only:
            damage = self._load(repair=False, trust_index=trust_index)
            # What is unfinished at the very end is being written at this moment.
            if any(part.start < self.contents.end for part in damage) or (damage and not self._header.length):
                self._options.report(damaged(self.path))
            return
        try:
            with self._locked():
                self._load(repair=True, trust_index=trust_index)
        except (OSError, LockHeldError) as error:
            if not self.path.exists():
                raise
            damage = self._load(repair=False, trust_index=trust_index)
            self._is_doubtful = True
            if damage:
                self._options.report(not_repaired(self.path, error))

    def _load(self, *, repair: bool, trust_index: bool = True) -> list[Damage]:
        """Read the file from its beginning; return the damage that is left in it."""
        self._close_descriptor()
        if repair:
            self._make_sure_of_file()
        self._descriptor = open_descriptor(self.path, writable=repair)
        self._inode = os.fstat(self._descriptor).st_ino
        header = parse_header(os.pread(self._descriptor, HEADER_BYTES, 0))
        self._header = header or _UNKNOWN
        check_schema(self.path, self._header.schema, can_migrate=repair)
        saved = load_offsets(self.path, self._descriptor, header.generation) if header and trust_index else None
        self.contents = saved or Contents(self._header.length)
        damage = self._read_on()
        if damage and saved is not None:
            self.contents = Contents(self._header.length)
            damage = self._read_on()
        self.epoch += 1
        if header is None and not damage:
            damage = [Damage(0, 0)]
        if not repair:
            return damage
        if damage:
            self._repair(damage)
        if self._header.schema < SCHEMA_VERSION:
            self._replace_file()
        self._is_doubtful = False
        return []

    def _make_sure_of_file(self) -> None:
        remove_leftovers(self.path)
        if not self.path.exists():
            os.close(rewrite(self.path, (), self._options.disk).descriptor)
        # Whoever made the file may have died before its name was on the medium.
        self._options.disk.sync_folder(self.path.parent)

    def _read_on(self) -> list[Damage]:
        contents = self.contents
        if os.fstat(self._descriptor).st_size == contents.end:
            return []
        damage = []
        with open(self._descriptor, "rb", buffering=_READ_BUFFER, closefd=False) as stream:
            stream.seek(contents.end)
            for part in scan(stream, contents.end, contents.sequence):
                if isinstance(part, Batch):
                    contents.take_in(part)
                else:
                    damage.append(part)
        return damage

    def _repair(self, damage: list[Damage]) -> None:
        copy = keep_copy(self.path, self._descriptor, self._options.disk)
        only_tail = self._header.length > 0 and damage[0].start == self.contents.end
        if only_tail:
            self._options.disk.truncate(self._descriptor, self.contents.end)
            self._options.disk.sync(self._descriptor)
        else:
            self._replace_file()
        self._options.report(repaired(self.path, copy, damage, len(self.contents), only_tail=only_tail))

    def _make_current(self) -> None:
        if self._owes_rollback and self._lock is None:
            self._options.disk.truncate(self._descriptor, self.contents.end)
        self._owes_rollback = False
        try:
            inode = self.path.stat().st_ino
        except FileNotFoundError:
            # Somebody removed the file; what it held is still open here.
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._replace_file()
            return
        if self._is_doubtful or inode != self._inode:
            self._load(repair=True, trust_index=not self._is_doubtful)
        elif self._lock is not None:
            size = os.fstat(self._descriptor).st_size
            if size < self.contents.end or self._read_on():
                self._load(repair=True)

    def _locked(self) -> AbstractContextManager[object]:
        return nullcontext() if self._lock is None or self._lock.is_held else self._lock

    # Lines

    def _line(self, table: str, key: str) -> Line | None:
        place = self.contents.find(table, key)
        line = None if place is None else read_line(self._descriptor, place)
        return line if _is_of(line, table, key) else None

    def _read_all(self, table: str, places: Iterator[tuple[str, Place]]) -> Iterator[tuple[str, bytes]]:
        while part := tuple(islice(places, _PART)):
            lines = list(read_lines(self._descriptor, [place for _, place in part]))
            if all(_is_of(line, table, key) for line, (key, _) in zip(lines, part, strict=True)):
                yield from ((line.key, line.value) for line in lines if line is not None)
            else:
                # A place is damaged, or the file has been written anew since the places were looked up.
                yield from ((key, value) for key, _ in part if (value := self.value(table, key)) is not None)

    def _write_at_end(self, data: bytes, *, durable: bool) -> None:
        disk = self._options.disk
        try:
            disk.write(self._descriptor, data, self.contents.end)
            if durable:
                self._sync()
        except BaseException:
            self._owes_rollback = True
            disk.truncate(self._descriptor, self.contents.end)
            self._owes_rollback = False
            raise

    def _sync(self) -> None:
        try:
            self._options.disk.sync(self._descriptor)
        except BaseException:
            # After a failed sync nobody knows which pages are on the medium, so the file is read anew.
            self._is_doubtful = True
            raise

    def _replace_file(self) -> None:
        old = self._descriptor
        new = rewrite(self.path, migrate(self._header.schema, self._records()), self._options.disk)
        self._descriptor, self._header, self.contents = new
        os.close(old)
        self._inode = os.fstat(self._descriptor).st_ino
        self._tolerated_garbage = self._options.garbage_bytes

    def _records(self) -> Iterator[Record]:
        for table, key in self.contents.records():
            line = self._line(table, key)
            if line is None:
                # Found again by reading the whole file, which also repairs it.
                self._is_doubtful = True
                raise OSError(errno.EIO, "a damaged record", str(self.path))
            yield table, key, line.value

    def _close_descriptor(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _is_of(line: Line | None, table: str, key: str) -> bool:
    return line is not None and line.key == key and line.table == table
