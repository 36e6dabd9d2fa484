"""TinyDB on a journal: its own tables and queries, but only what a change touches is written."""

from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

from tinydb import TinyDB
from tinydb.table import Table

from smith_core.ids import new_id
from smith_core.store.codec import encode_document
from smith_core.store.journal.storage import JournalStorage
from smith_core.store.journal.view import TableView


class _Touched(MutableMapping[str, dict[str, Any]]):
    """What TinyDB changes instead of a copy of the whole table; it remembers which documents were handed out."""

    def __init__(self, view: TableView) -> None:
        self._view = view
        self.documents: dict[str, dict[str, Any] | None] = {}

    def __getitem__(self, key: str) -> dict[str, Any]:
        if key not in self.documents:
            self.documents[key] = self._view[key]
        document = self.documents[key]
        if document is None:
            raise KeyError(key)
        return document

    def __setitem__(self, key: str, document: dict[str, Any]) -> None:
        self.documents[key] = document

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        self.documents[key] = None

    def __contains__(self, key: object) -> bool:
        if key in self.documents:
            return self.documents[str(key)] is not None
        return key in self._view

    def __iter__(self) -> Iterator[str]:
        return iter([key for key in dict.fromkeys((*self._view, *self.documents)) if key in self])

    def __len__(self) -> int:
        return sum(1 for _ in self)


class JournalTable(Table):
    """A table whose document ids are the record keys."""

    document_id_class = str  # type: ignore[assignment]
    default_query_cache_capacity = 0
    _storage: JournalStorage

    def __init__(self, storage: JournalStorage, name: str, cache_size: int = 0, persist_empty: bool = False) -> None:
        super().__init__(storage, name, cache_size, persist_empty)

    def _get_next_id(self) -> str:
        return new_id()

    def _update_table(self, updater: Callable[[Any], None]) -> None:
        with self._storage.batch():
            touched = _Touched(TableView(self._storage, self.name))
            updater(touched)
            for key, document in touched.documents.items():
                value = None if document is None else encode_document(document)
                if value != self._storage.value(self.name, key):
                    self._storage.put(self.name, key, value)
        self.clear_cache()


class JournalDatabase(TinyDB):
    """A TinyDB whose storage is a journal; takes the arguments of `JournalStorage`."""

    table_class = JournalTable  # type: ignore[assignment]
    default_storage_class = JournalStorage  # type: ignore[assignment]

    @property
    def storage(self) -> JournalStorage:
        """The journal."""
        assert isinstance(self._storage, JournalStorage)
        return self._storage
