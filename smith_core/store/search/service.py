"""Full-text search as the rest of the engine sees it."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from smith_core.errors import AgentError, AgentFailure, failure
from smith_core.store.search.helper import IndexHelper
from smith_core.store.search.index import SearchIndex
from smith_core.store.search.indexer import Indexer, Progress, no_progress
from smith_core.store.search.results import SearchOrder, SearchPage, SearchStatus
from smith_core.store.search.source import JournalSource
from smith_core.store.search.worker import IndexWorker

_OPEN_TIMEOUT_S = 10.0
_STOP_TIMEOUT_S = 0.8


class SearchService:
    """Searches everything in the journals of `source`; the index lies in `<data_dir>/index`.

    No call blocks the event loop or raises for a bad index: what is wrong stands in the `notice` of the result.
    helper: who keeps the index up to date until this process itself searches.
    """

    def __init__(self, data_dir: Path, source: JournalSource, helper: IndexHelper | None = None) -> None:
        self._index = SearchIndex(data_dir)
        self._worker = IndexWorker(self._index, source)
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="search")
        self._is_closed = False
        self._helper = helper

    def wake(self) -> None:
        """Index what is new, in the background: call it once at the start and whenever a turn has been saved."""
        if self._is_closed:
            return
        if self._helper is not None:
            self._helper.wake()
        else:
            self._worker.wake()

    async def search(self, query: str, order: SearchOrder = "best", limit: int = 20, offset: int = 0) -> SearchPage:
        """Return hits for what a person or a model typed (see `query.py`), the best or the newest first.

        A call that is cancelled before its turn costs nothing. Pages end at the 10,000th hit.
        """
        if self._is_closed:
            return SearchPage(notice=_CLOSED)
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, self._search, query, order, limit, offset
        )

    async def status(self) -> SearchStatus:
        """Return how complete the index is."""
        if self._is_closed:
            return SearchStatus(notice=_CLOSED)
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._status)

    async def aclose(self) -> None:
        """Stop within a second; what is not indexed by then is indexed next time."""
        self._is_closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        await asyncio.to_thread(self._stop)
        self._index.close()

    def _stop(self) -> None:
        if self._helper is not None:
            self._helper.stop()
        self._worker.stop(_STOP_TIMEOUT_S)

    def _open(self) -> None:
        if self._helper is not None:
            self._helper.stop()
            self._helper = None
        self._worker.start()
        self._worker.wait_until_tried(_OPEN_TIMEOUT_S)

    def _search(self, query: str, order: SearchOrder, limit: int, offset: int) -> SearchPage:
        # Most sessions search nothing.
        from smith_core.store.search.searching import run_search

        self._open()
        try:
            page = run_search(self._index, query, order, limit, offset)
        except AgentFailure as caught:
            self._worker.check()
            return SearchPage(notice=self._worker.notice or caught.error)
        notice = self._worker.notice
        return SearchPage(hits=page.hits, total=page.total, problems=page.problems, notice=notice)

    def _status(self) -> SearchStatus:
        self._open()
        try:
            indexed, lag_bytes = self._index.count(), self._worker.indexer.lag_bytes()
        except AgentFailure as caught:
            return SearchStatus(is_working=self._worker.is_working, notice=self._worker.notice or caught.error)
        return SearchStatus(
            indexed=indexed, lag_bytes=lag_bytes, is_working=self._worker.is_working, notice=self._worker.notice
        )


def rebuild(data_dir: Path, source: JournalSource, progress: Progress = no_progress) -> int:
    """Make the index anew, in this thread, and return how many records can be found in it.

    Raises AgentFailure: code index_busy while another process is indexing, journal_unreadable, index_unusable.
    """
    index = SearchIndex(data_dir)
    index.empty()
    indexer = Indexer(index, source, lambda: False)
    while (result := indexer.sync(progress)) == "again":
        pass
    if result == "busy":
        raise failure(
            "persistence", "index_busy", "Another copy of the program is rebuilding the index already.", origin="search"
        )
    if indexer.problem is not None:
        raise AgentFailure(indexer.problem)
    return index.count()


_CLOSED = AgentError(kind="persistence", code="search_closed", message="Search has ended with its session.")
