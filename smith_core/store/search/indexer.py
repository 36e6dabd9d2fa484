"""Brings the index up to date with the journals; all of it may be repeated and broken off at any point."""

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from smith_core.errors import AgentError, AgentFailure, failure
from smith_core.store.search.documents import SearchDocument, document_of, is_searchable
from smith_core.store.search.index import SearchIndex, border
from smith_core.store.search.schema import Watermark, document_id, raw_term, to_document, to_watermark, watermark_id
from smith_core.store.search.source import GenerationChangedError, Journal, JournalEntry, JournalSource
from smith_core.text import clean_text

if TYPE_CHECKING:
    import tantivy

BATCH_ENTRIES = 2_000
"""Entries between two commits at most while a long journal is read."""

SyncResult = Literal["done", "again", "busy", "stopped"]
Progress = Callable[[int, int], None]
"""Called with the bytes of journals read so far and those to read in all."""


def no_progress(read_bytes: int, all_bytes: int) -> None:
    """Report to nobody."""


class Indexer:
    """Indexes the journals of every process whenever it gets the writer's lock; `lag_bytes` is for any thread."""

    def __init__(self, index: SearchIndex, source: JournalSource, should_stop: Callable[[], bool]) -> None:
        self._index = index
        self._source = source
        self._should_stop = should_stop
        self._listing = threading.Lock()
        self._read_to_end: dict[str, tuple[str, int, int]] = {}
        self.problem: AgentError | None = None

    def lag_bytes(self) -> int:
        """Return how many bytes of journals are not indexed. Raises AgentFailure."""
        marks = self._index.watermarks()
        return sum(_lag(journal, marks) for journal in self._journals() if not self._is_read(journal, marks))

    def sync(self, progress: Progress = no_progress) -> SyncResult:
        """Index what the journals have beyond the watermarks; a journal that cannot be read becomes `problem`.

        again: a journal changed meanwhile; busy: another process is indexing. Raises AgentFailure.
        """
        self.problem = None
        journals = {journal.name: journal for journal in self._journals()}
        if self._is_complete(journals, self._index.watermarks()):
            return "done"
        with self._index.writer() as writer:
            if writer is None:
                return "busy"
            marks = dict(self._index.watermarks())
            with border(self._index.folder):
                for name in marks.keys() - journals.keys():
                    _forget(writer, name)
            result = self._read_all(writer, journals, marks, progress)
            if result == "stopped":
                return result
            with border(self._index.folder):
                writer.commit()
                self._index.searcher()
                writer.wait_merging_threads()
        return result

    def _journals(self) -> list[Journal]:
        try:
            with self._listing:
                # A name that is not fit for UTF-8 is none of ours.
                return [journal for journal in self._source.journals() if clean_text(journal.name) == journal.name]
        except OSError as error:
            raise AgentFailure(_unreadable("the journals", error)) from error

    def _is_complete(self, journals: Mapping[str, Journal], marks: Mapping[str, Watermark]) -> bool:
        return marks.keys() <= journals.keys() and all(
            _lag(journal, marks) == 0 or self._is_read(journal, marks) for journal in journals.values()
        )

    def _is_read(self, journal: Journal, marks: Mapping[str, Watermark]) -> bool:
        """Whether the rest of the journal, as it still is, gave no whole entry behind its watermark."""
        mark = marks.get(journal.name)
        end = (journal.generation, journal.size, mark.offset if mark else 0)
        return self._read_to_end.get(journal.name) == end

    def _read_all(
        self,
        writer: "tantivy.IndexWriter",
        journals: Mapping[str, Journal],
        marks: Mapping[str, Watermark],
        progress: Progress,
    ) -> SyncResult:
        result: SyncResult = "done"
        behind = [journal for journal in journals.values() if _lag(journal, marks)]
        batch = _Batch(writer, self._index.folder, sum(_lag(journal, marks) for journal in behind), progress)
        for journal in behind:
            reader = _JournalReader(batch, journal, marks.get(journal.name))
            try:
                for entry in self._source.entries(journal, reader.mark.offset):
                    if self._should_stop():
                        return "stopped"
                    reader.add(entry)
                self._read_to_end[journal.name] = (journal.generation, journal.size, reader.mark.offset)
            except GenerationChangedError:
                result = "again"
            except OSError as error:
                self.problem = _unreadable(f"the journal {journal.name}", error)
            reader.save_mark()
            batch.count_journal(_lag(journal, marks))
        return result


class _Batch:
    """What is added between two commits, and how far all of it has come."""

    def __init__(self, writer: "tantivy.IndexWriter", folder: Path, all_bytes: int, progress: Progress) -> None:
        self.writer = writer
        self.folder = folder
        self._all_bytes = all_bytes
        self._read_bytes = 0
        self._pending = 0
        self._progress = progress

    def count_journal(self, size: int) -> None:
        """Take note of a journal that is read."""
        self._read_bytes += size
        self._progress(self._read_bytes, self._all_bytes)

    def count_entry(self, reader: "_JournalReader", journal_bytes: int) -> None:
        """Take note of an entry, and commit when there are enough of them."""
        # Lets go of the interpreter, so that the event loop never waits for more than one entry.
        time.sleep(0)
        self._pending += 1
        if self._pending >= BATCH_ENTRIES:
            self._pending = 0
            reader.save_mark()
            with border(self.folder):
                self.writer.commit()
            self._progress(self._read_bytes + journal_bytes, self._all_bytes)


class _JournalReader:
    """Adds the entries of one journal, and how far it came, so that both are committed together."""

    def __init__(self, batch: _Batch, journal: Journal, mark: Watermark | None) -> None:
        self._batch = batch
        self._journal = journal
        self._known: set[str] | None = None
        if mark is None or mark.generation != journal.generation or mark.offset > journal.size:
            with border(batch.folder):
                _forget(batch.writer, journal.name)
            mark = Watermark(journal=journal.name, generation=journal.generation)
            # Nothing of this journal is in the index: only what is added from here on can need a deletion.
            self._known = set()
        self.mark = mark
        self._start = self._saved = mark.offset

    def add(self, entry: JournalEntry) -> None:
        """Add what is searchable of an entry, in place of what its key had before."""
        if is_searchable(entry.table, entry.key):
            document = document_of(self._journal, entry)
            with border(self._batch.folder):
                self._put(document_id(self._journal.name, entry.table, entry.key), document)
        self.mark = msgspec.structs.replace(self.mark, offset=entry.offset_after)
        self._batch.count_entry(self, entry.offset_after - self._start)

    def save_mark(self) -> None:
        """Add the watermark behind the last entry."""
        if self.mark.offset == self._saved:
            return
        with border(self._batch.folder):
            self._batch.writer.delete_documents_by_term("id", watermark_id(self._journal.name))
            self._batch.writer.add_document(to_watermark(self.mark))
        self._saved = self.mark.offset

    def _put(self, identity: str, document: SearchDocument | None) -> None:
        writer = self._batch.writer
        if self._known is None or identity in self._known:
            writer.delete_documents_by_term("id", identity)
        if document is None:
            return
        newest = document.time
        if not document.job_id and document.sequence > self.mark.last_sequence:
            newest = max(newest, self.mark.last_time + 1)
            self.mark = msgspec.structs.replace(self.mark, last_sequence=document.sequence, last_time=newest)
        writer.add_document(to_document(identity, self._journal.name, document, newest))
        if self._known is not None:
            self._known.add(identity)


def _forget(writer: "tantivy.IndexWriter", journal: str) -> None:
    writer.delete_documents_by_term("journal", raw_term(journal))


def _lag(journal: Journal, marks: Mapping[str, Watermark]) -> int:
    mark = marks.get(journal.name)
    if mark is None or mark.generation != journal.generation or mark.offset > journal.size:
        return journal.size
    return journal.size - mark.offset


def _unreadable(what: str, error: OSError) -> AgentError:
    return failure(
        "persistence",
        "journal_unreadable",
        f"Search leaves out {what}, which cannot be read ({error.strerror or error}); check its permissions.",
        retryable=True,
        origin="search",
    ).error
