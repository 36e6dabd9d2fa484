"""A table of a journal as TinyDB reads it: documents are decoded afresh at each look, so that nobody shares them."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from smith_core.store.codec import decode_document

if TYPE_CHECKING:
    from smith_core.store.journal.storage import JournalStorage


class TableView(Mapping[str, dict[str, Any]]):
    """The documents of one table by their keys."""

    def __init__(self, storage: "JournalStorage", name: str) -> None:
        self._storage = storage
        self._name = name

    def __getitem__(self, key: str) -> dict[str, Any]:
        value = self._storage.value(self._name, key)
        if value is None:
            raise KeyError(key)
        return decode_document(value)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._storage.has(self._name, key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._storage.keys(self._name))

    def __len__(self) -> int:
        return len(self._storage.keys(self._name))
