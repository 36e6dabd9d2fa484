"""The journal as a TinyDB storage: a batch is on the medium before it is acknowledged, or not there at all."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tinydb.storages import Storage

from smith_core.store.codec import encode_document
from smith_core.store.journal.file import JournalFile
from smith_core.store.journal.line import DELETED
from smith_core.store.journal.lock import FileLock
from smith_core.store.journal.options import JournalOptions
from smith_core.store.journal.view import TableView


class JournalStorage(Storage):
    """A journal file and the batch that is open on it; see `JournalFile` for the arguments and what is raised."""

    def __init__(
        self,
        path: Path,
        options: JournalOptions | None = None,
        lock: FileLock | None = None,
        *,
        read_only: bool = False,
    ) -> None:
        self.file = JournalFile(path, options or JournalOptions(), lock, read_only=read_only)
        self._pending: dict[str, dict[str, bytes | None]] | None = None

    # Reading

    def keys(self, table: str) -> list[str]:
        """Return the keys of a table."""
        records = self.file.contents.slots(table)
        pending = self._pending_of(table)
        if not pending:
            return list(records)
        kept = [key for key in records if pending.get(key, b"") is not None]
        return kept + [key for key, value in pending.items() if value is not None and key not in records]

    def count(self, table: str) -> int:
        """Return how many records a table has."""
        if self._pending_of(table):
            return len(self.keys(table))
        return len(self.file.contents.tables.get(table, ()))

    def has(self, table: str, key: str) -> bool:
        """Say whether there is a record."""
        pending = self._pending_of(table)
        return pending[key] is not None if key in pending else self.file.contents.find(table, key) is not None

    def value(self, table: str, key: str) -> bytes | None:
        """Return the JSON of a record, None when there is none."""
        pending = self._pending_of(table)
        return pending[key] if key in pending else self.file.value(table, key)

    def items(self, table: str, keys: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Yield key and JSON of many records, those that are missing left out."""
        if self._pending_of(table):
            return ((key, value) for key in keys if (value := self.value(table, key)) is not None)
        return self.file.items(table, keys)

    def last_items(self, table: str, count: int) -> Iterator[tuple[str, bytes]]:
        """Yield key and JSON of the last `count` records by the sorting of their keys."""
        if self._pending_of(table):
            return self.items(table, sorted(self.keys(table))[-count:] if count > 0 else ())
        return self.file.last_items(table, count)

    def read(self) -> dict[str, Any]:
        """Return the tables that are not empty, each as a mapping that decodes a document when it is looked at."""
        names = dict.fromkeys((*self.file.contents.tables, *(self._pending or ())))
        return {name: TableView(self, name) for name in names if self.keys(name)}

    def refresh(self) -> bool:
        """Take in what other processes have written; say whether there was anything. Raises OSError."""
        return self.file.refresh()

    # Writing

    def write(self, data: Mapping[str, Mapping[str, Any]]) -> None:
        """Make the tables equal to `data`; only what differs is written."""
        with self.batch():
            for name in self.read():
                for key in self.keys(name):
                    if key not in data.get(name, ()):
                        self.put(name, key, None)
            for name, documents in data.items():
                if not isinstance(documents, TableView):
                    for key, document in documents.items():
                        self.put(name, str(key), encode_document(document))

    def put(self, table: str, key: str, value: bytes | None) -> None:
        """Set the JSON of a record, or delete it with None; only inside `batch`."""
        if self._pending is None:
            raise RuntimeError("a record can be changed in a batch only")
        self._pending.setdefault(table, {})[key] = value

    def set(self, table: str, key: str, value: bytes | None) -> None:
        """Set the JSON of a record, or delete it with None, as a batch of its own unless one is open."""
        self.set_all(table, {key: value})

    def set_all(self, table: str, values: Mapping[str, bytes | None]) -> None:
        """Set the JSON of many records, or delete them with None, as a batch of their own unless one is open."""
        if self._pending is None:
            with self.batch():
                self.set_all(table, values)
        else:
            self._pending.setdefault(table, {}).update(values)

    @contextmanager
    def batch(self, *, durable: bool = True) -> Iterator[None]:
        """Write all that is put inside in one step when the block ends, or nothing when it raises.

        durable: return when the batch is on the medium; without it a power cut may take it back. A batch inside a
        batch is a part of it. Raises OSError, LockHeldError and AgentFailure of kind persistence.
        """
        if self._pending is not None:
            yield
            return
        with self.file.exclusive():
            self._pending = {}
            try:
                yield
                self._commit(durable=durable)
            finally:
                self._pending = None
            self.file.drop_garbage()

    def compact(self) -> None:
        """Drop superseded lines now; raises OSError and leaves the old file then."""
        with self.file.exclusive():
            self.file.drop_garbage(always=True)

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def _pending_of(self, table: str) -> dict[str, bytes | None]:
        return (self._pending or {}).get(table) or {}

    def _commit(self, *, durable: bool) -> None:
        records = [
            (table, key, DELETED if value is None else value)
            for table, changes in (self._pending or {}).items()
            for key, value in changes.items()
            if value is not None or self.file.contents.find(table, key) is not None
        ]
        if records:
            self.file.append(records, durable=durable)
