"""The journals of a data folder as a source of the search index."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from smith_core.store.journal.tail import read_entries, read_generation
from smith_core.store.search.documents import is_searchable
from smith_core.store.search.source import GLOBAL_JOURNAL, GenerationChangedError, Journal, JournalEntry

_CATALOGUE_TABLE = "conversation_meta"
_SUFFIX = ".jrnl"
_Identity = tuple[int, int, int]


class JournalFiles:
    """Reads `<data_dir>/global.jrnl` and `<data_dir>/conv/*/*.jrnl`, of whichever process writes them; no locks."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._paths: dict[str, Path] = {}
        self._generations: dict[str, tuple[_Identity, int | None]] = {}
        self._projects = _Projects(data_dir / f"{GLOBAL_JOURNAL}{_SUFFIX}")

    def journals(self) -> list[Journal]:
        """Return all journals with a valid header; raises OSError."""
        self._projects.refresh()
        found = []
        for path in (self._data_dir / f"{GLOBAL_JOURNAL}{_SUFFIX}", *self._conversation_files()):
            journal = self._journal(path)
            if journal is not None:
                self._paths[journal.name] = path
                found.append(journal)
        return found

    def entries(self, journal: Journal, offset: int) -> Iterator[JournalEntry]:
        """Read whole batches; records that are not searched come without their content."""
        for entry in read_entries(self._paths[journal.name], offset):
            if str(entry.generation) != journal.generation:
                raise GenerationChangedError
            yield JournalEntry(
                table=entry.table,
                key=entry.key,
                record=None if entry.value is None else _decoded(entry.table, entry.key, entry.value),
                offset_after=entry.offset_after,
            )

    def _conversation_files(self) -> Iterator[Path]:
        """Yield all files of conversations; unlike a glob, a folder that cannot be read is an error, not empty."""
        try:
            folders = list((self._data_dir / "conv").iterdir())
        except FileNotFoundError:
            return
        for folder in folders:
            if folder.is_dir():
                yield from (path for path in folder.iterdir() if path.suffix == _SUFFIX)

    def _journal(self, path: Path) -> Journal | None:
        try:
            status = path.stat()
        except FileNotFoundError:
            return None
        name = path.stem
        identity = (status.st_ino, status.st_size, status.st_mtime_ns)
        known, generation = self._generations.get(name, (None, None))
        if known != identity:
            generation = read_generation(path)
            self._generations[name] = (identity, generation)
        if generation is None:
            return None
        return Journal(
            name=name, size=status.st_size, generation=str(generation), projects=self._projects.of_conversation(name)
        )


class _Projects:
    """What the catalogue says of the project of each conversation: its id, and the name of the folder."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._generation: int | None = None
        self._labels: dict[str, tuple[str, ...]] = {}

    def of_conversation(self, conversation_id: str) -> tuple[str, ...]:
        """Return the labels, none for a conversation that the catalogue does not have."""
        return self._labels.get(conversation_id, ())

    def refresh(self) -> None:
        """Read what was added to the catalogue; raises OSError."""
        generation = read_generation(self._path)
        if generation is None:
            return
        if generation != self._generation or self._path.stat().st_size < self._offset:
            self._generation, self._offset = generation, 0
        for entry in read_entries(self._path, self._offset):
            if entry.table == _CATALOGUE_TABLE and entry.value is not None:
                self._labels[entry.key] = _labels(_as_mapping(entry.value))
            self._offset = entry.offset_after


def _labels(meta: Mapping[str, Any]) -> tuple[str, ...]:
    values = (meta.get("project_id"), Path(str(meta.get("cwd") or "")).name)
    return tuple(value for value in values if isinstance(value, str) and value)


def _decoded(table: str, key: str, value: bytes) -> Mapping[str, Any]:
    return _as_mapping(value) if is_searchable(table, key) else {}


def _as_mapping(value: bytes) -> Mapping[str, Any]:
    try:
        record = msgspec.json.decode(value)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, Mapping) else {}
