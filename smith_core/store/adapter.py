"""Records in, records out: the one way from the repositories to the journal."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import msgspec

from smith_core.frozen import EMPTY_MAPPING, freeze, thaw
from smith_core.store.codec import InvalidRecordError, decode_document, decode_record, encode_document, encode_record
from smith_core.store.journal.database import JournalDatabase
from smith_core.store.schema import Keyspace

T = TypeVar("T", bound=msgspec.Struct)
_LAST_CHARACTER = chr(0x10FFFF)


class RecordAdapter:
    """Records of a database by keyspace and key; a stored value of another type counts as not there."""

    def __init__(self, database: JournalDatabase) -> None:
        self._storage = database.storage

    def batch(self, *, durable: bool = True) -> AbstractContextManager[None]:
        """Write everything inside in one step; see `JournalStorage.batch`."""
        return self._storage.batch(durable=durable)

    def get(self, keyspace: Keyspace[T], key: str) -> T | None:
        """Return a record, None when there is none."""
        value = self._storage.value(keyspace.name, key)
        return None if value is None else _decoded(value, keyspace)

    def items(self, keyspace: Keyspace[T], keys: Sequence[str]) -> Iterator[tuple[str, T]]:
        """Yield key and record of those keys that are there."""
        for key, value in self._storage.items(keyspace.name, keys):
            record = _decoded(value, keyspace)
            if record is not None:
                yield key, record

    def last_items(self, keyspace: Keyspace[T], count: int) -> Iterator[tuple[str, T]]:
        """Yield key and record of the last `count` records by the sorting of their keys."""
        for key, value in self._storage.last_items(keyspace.name, count):
            record = _decoded(value, keyspace)
            if record is not None:
                yield key, record

    def has(self, keyspace: Keyspace[Any], key: str) -> bool:
        """Say whether there is a record."""
        return self._storage.has(keyspace.name, key)

    def raw(self, table: str, key: str) -> bytes | None:
        """Return the JSON of a record of any type, None when there is none."""
        return self._storage.value(table, key)

    def get_document(self, table: str, key: str) -> Mapping[str, Any]:
        """Return a record that has no type of its own, empty when there is none."""
        value = self._storage.value(table, key)
        return EMPTY_MAPPING if value is None else freeze(decode_document(value))

    def put_document(self, table: str, key: str, document: Mapping[str, Any]) -> None:
        """Set a record that has no type of its own."""
        self._storage.set(table, key, encode_document(thaw(document)))

    def put(self, keyspace: Keyspace[T], key: str, record: T) -> None:
        """Set a record, as a batch of its own unless one is open."""
        self._storage.set(keyspace.name, key, encode_record(record))

    def put_all(self, keyspace: Keyspace[T], records: Iterable[tuple[str, T]]) -> None:
        """Set many records in one step."""
        self._storage.set_all(keyspace.name, {key: encode_record(record) for key, record in records})

    def discard(self, keyspace: Keyspace[Any], key: str) -> bool:
        """Delete a record; say whether there was one."""
        with self._storage.batch():
            there = self._storage.has(keyspace.name, key)
            if there:
                self._storage.put(keyspace.name, key, None)
        return there

    def keys(self, keyspace: Keyspace[Any], prefix: str = "") -> list[str]:
        """Return the keys that begin with `prefix`, sorted."""
        keys = sorted(self._storage.keys(keyspace.name))
        return keys[bisect_left(keys, prefix) : bisect_left(keys, prefix + _LAST_CHARACTER)]


def _decoded(value: bytes, keyspace: Keyspace[T]) -> T | None:
    try:
        return decode_record(value, keyspace.record_type)
    except InvalidRecordError:
        return None
