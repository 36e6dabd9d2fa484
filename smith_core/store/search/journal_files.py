"""The journals of a data folder as a source of the search index."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from smith_core.store.journal.tail import read_entries, read_generation
from smith_core.store.search.documents import is_searchable
from smith_core.store.search.source import GLOBAL_JOURNAL, GenerationChangedError, Journal, JournalEntry

_META_TABLE = "conversation_meta"
_SUFFIX = ".jrnl"


class JournalFiles:
    """Reads `<data_dir>/global.jrnl` and `<data_dir>/conv/*/*.jrnl`, of whichever process writes them; no locks.

    A conversation that is marked as deleted is not there until it is restored.
    """

    def __init__(self, data_dir: Path) -> None:
        self._global = data_dir / f"global{_SUFFIX}"
        self._conversations = data_dir / "conv"
        self._known: dict[str, _KnownFile] = {}
        self._catalogue = _Catalogue(self._global)

    def journals(self) -> list[Journal]:
        """Return all journals with a valid header; raises OSError."""
        self._catalogue.refresh()
        found = (self._journal(path) for path in (self._global, *self._conversation_files()))
        return [journal for journal in found if journal is not None]

    def entries(self, journal: Journal, offset: int) -> Iterator[JournalEntry]:
        """Read whole batches; records that are not searched come without their content."""
        for entry in read_entries(self._known[journal.name].path, offset):
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
            folders = list(self._conversations.iterdir())
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
        name = GLOBAL_JOURNAL if path == self._global else path.stem
        identity = (status.st_ino, status.st_size, status.st_mtime_ns)
        known = self._known.get(name)
        if known is None or known.identity != identity:
            known = _KnownFile(path, identity, read_generation(path))
            self._known[name] = known
        meta = self._catalogue.metas.get(name)
        if meta is None and path != self._global:
            # Written a moment ago, or the catalogue was lost: the conversation itself knows as well.
            meta = known.read_meta()
        if known.generation is None or (meta is not None and meta.is_deleted):
            return None
        projects = () if meta is None else meta.projects
        return Journal(name=name, size=status.st_size, generation=str(known.generation), projects=projects)


class _Meta(msgspec.Struct, frozen=True):
    """What the description of a conversation says about where it belongs, and whether it is still there."""

    project_id: str = ""
    cwd: str = ""
    deleted_at: float = 0.0

    @property
    def is_deleted(self) -> bool:
        return self.deleted_at > 0

    @property
    def projects(self) -> tuple[str, ...]:
        """The id, and the name of the folder."""
        return tuple(label for label in (self.project_id, Path(self.cwd).name) if label)


class _KnownFile:
    """What was read of a file, for as long as the file is the same."""

    def __init__(self, path: Path, identity: tuple[int, int, int], generation: int | None) -> None:
        self.path = path
        self.identity = identity
        self.generation = generation
        self._meta: _Meta | None = None

    def read_meta(self) -> _Meta:
        """Return the newest description in the file itself; raises OSError."""
        if self._meta is None:
            values = [entry.value for entry in read_entries(self.path) if entry.table == _META_TABLE]
            self._meta = _decoded_meta(values[-1] if values else None) or _Meta()
        return self._meta


class _Catalogue:
    """The descriptions of all conversations, read from the global journal as it grows."""

    def __init__(self, path: Path) -> None:
        self.metas: dict[str, _Meta] = {}
        self._path = path
        self._offset = 0
        self._generation: int | None = None

    def refresh(self) -> None:
        """Read what was added; raises OSError."""
        generation = read_generation(self._path)
        if generation is None:
            return
        if generation != self._generation or self._path.stat().st_size < self._offset:
            self._generation, self._offset = generation, 0
            self.metas.clear()
        for entry in read_entries(self._path, self._offset):
            if entry.table == _META_TABLE:
                meta = _decoded_meta(entry.value)
                if meta is None:
                    self.metas.pop(entry.key, None)
                else:
                    self.metas[entry.key] = meta
            self._offset = entry.offset_after


def _decoded_meta(value: bytes | None) -> _Meta | None:
    try:
        return None if value is None else msgspec.json.decode(value, type=_Meta)
    except msgspec.DecodeError:
        return None


def _decoded(table: str, key: str, value: bytes) -> Mapping[str, Any]:
    if not is_searchable(table, key):
        return {}
    try:
        record = msgspec.json.decode(value)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, Mapping) else {}
