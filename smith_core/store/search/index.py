"""The opened index: tantivy behind a border that lets out only AgentFailure."""

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from smith_core.errors import AgentFailure, failure
from smith_core.paths import ensure_private_dir
from smith_core.store.search.folder import META, empty_folder, find_damage, make_private
from smith_core.store.search.schema import (
    DOCUMENT,
    WATERMARK,
    Watermark,
    register_analyzers,
    search_schema,
)

if TYPE_CHECKING:
    import tantivy

INDEX_FOLDER = "index"
WRITER_MEMORY = 30_000_000
"""Bytes that one batch may take before it becomes a segment; tantivy asks for 15,000,000 at least."""

_Version = tuple[int, int, int]


class SearchIndex:
    """One index folder, read by any thread and written by whoever gets its lock, of this process or another."""

    def __init__(self, data_dir: Path) -> None:
        self.folder = data_dir / INDEX_FOLDER
        self._meta = self.folder / META
        self._index: tantivy.Index | None = None
        self._loaded: _Version | None = None
        self._marks: tuple[_Version | None, Mapping[str, Watermark]] = (None, {})

    def open(self, should_stop: Callable[[], bool] = lambda: False) -> None:
        """Open the index, or an empty new one in place of one that is damaged or of another schema.

        Raises AgentFailure with code index_busy while another process is writing to a damaged one, and
        index_unusable when the folder cannot be used.
        """
        with border(self.folder):
            ensure_private_dir(self.folder)
            make_private(self.folder)
            if find_damage(self.folder, should_stop):
                self.empty()
            elif not should_stop():
                self._open_or_replace()
        make_private(self.folder)

    def _open_or_replace(self) -> None:
        try:
            self._open()
        except ValueError as error:
            # All files are whole here, so they are of another schema or version unless the system failed.
            if "IoError" in str(error):
                raise
            self.empty()

    def empty(self) -> None:
        """Throw the index away and open an empty one; raises AgentFailure as `open` does."""
        with border(self.folder):
            self._index = None
            ensure_private_dir(self.folder)
            if not empty_folder(self.folder):
                raise _busy(self.folder)
            self._open()
        make_private(self.folder)

    def close(self) -> None:
        """Let go of all files."""
        self._index = None

    def _open(self) -> None:
        import tantivy

        index = tantivy.Index(search_schema(), str(self.folder))
        register_analyzers(index)
        index.config_reader("manual")
        self._loaded = self._version()
        index.reload()
        self._index = index

    def searcher(self) -> "tantivy.Searcher":
        """Return a view of all that is committed, by this process or another. Raises AgentFailure."""
        with border(self.folder):
            index = self._opened()
            version = self._version()
            if version != self._loaded:
                index.reload()
                self._loaded = version
            return index.searcher()

    @contextlib.contextmanager
    def writer(self) -> Iterator["tantivy.IndexWriter | None"]:
        """Lend the writer, or None while another process has it; what is not committed is dropped.

        Raises AgentFailure.
        """
        try:
            with border(self.folder):
                writer = self._try_writer()
            yield writer
        finally:
            make_private(self.folder)

    def _try_writer(self) -> "tantivy.IndexWriter | None":
        try:
            return self._opened().writer(WRITER_MEMORY, 1)
        except ValueError as error:
            if "LockBusy" in str(error):
                return None
            raise

    def watermarks(self) -> Mapping[str, Watermark]:
        """Return how far each journal is indexed, by its name. Raises AgentFailure."""
        import tantivy

        with border(self.folder):
            # Taken first: what is read may be newer than its version says, but never older.
            version = self._version()
        if self._marks[0] == version:
            return self._marks[1]
        searcher = self.searcher()
        with border(self.folder):
            query = tantivy.Query.term_query(search_schema(), "entry", WATERMARK, "basic")
            addresses = searcher.search(query, max(1, searcher.num_docs), count=False).hits
            blobs = (searcher.doc(address).get_first("watermark") for _, address in addresses)
            marks = [msgspec.json.decode(bytes(blob), type=Watermark) for blob in blobs if blob is not None]
        self._marks = (version, {mark.journal: mark for mark in marks})
        return self._marks[1]

    def count(self) -> int:
        """Return the number of searchable documents. Raises AgentFailure."""
        import tantivy

        searcher = self.searcher()
        with border(self.folder):
            query = tantivy.Query.term_query(search_schema(), "entry", DOCUMENT, "basic")
            found: Any = searcher.search(query, 1, count=True)  # the stub knows no `count`
            return int(found.count)

    def _opened(self) -> "tantivy.Index":
        if self._index is None:
            raise failure("persistence", "index_unusable", "The search index is not open; try again in a moment.")
        return self._index

    def _version(self) -> _Version:
        """Return what changes with every commit: tantivy replaces its meta file then."""
        status = self._meta.stat()
        return status.st_ino, status.st_mtime_ns, status.st_size


@contextlib.contextmanager
def border(folder: Path) -> Iterator[None]:
    """Translate whatever the library or the file system raises into AgentFailure of code index_unusable."""
    try:
        yield
    except AgentFailure:
        raise
    except BaseException as error:
        # A panic of the Rust side is a BaseException, of a class that cannot be imported.
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise _unusable(folder, error) from error
        raise


def _unusable(folder: Path, error: BaseException) -> AgentFailure:
    text = str(error)
    existing = folder if folder.exists() else folder.parent
    if not os.access(existing, os.W_OK):
        advice = "the folder cannot be written to: change its permissions"
    elif existing.exists() and shutil.disk_usage(existing).free < WRITER_MEMORY:
        # tantivy does not say why one of its threads could not write.
        advice = "the disk is full: free some space"
    else:
        advice = "it will be rebuilt; if this stays, delete that folder"
    return failure(
        "persistence",
        "index_unusable",
        f"Search is off or out of date, as its index in {folder} cannot be used; {advice}.",
        retryable=True,
        origin="search",
        cause=text.splitlines()[0][:300] if text else type(error).__name__,
    )


def _busy(folder: Path) -> AgentFailure:
    return failure(
        "persistence",
        "index_busy",
        f"Another copy of the program is writing to the search index in {folder}; try again in a moment.",
        retryable=True,
        origin="search",
    )
