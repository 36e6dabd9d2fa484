"""The background thread that keeps the index up to date; nothing waits for it but a search before it is open."""

import contextlib
import os
import sys
import threading

from smith_core.errors import AgentError, AgentFailure, normalize
from smith_core.heap import give_back
from smith_core.store.search.index import SearchIndex
from smith_core.store.search.indexer import Indexer
from smith_core.store.search.source import JournalSource

_NICENESS = 10
_BUSY_DELAY_S = 1.0
_AGAIN_DELAY_S = 0.05
_FIRST_RETRY_S = 5.0
_LONGEST_RETRY_S = 300.0


class IndexWorker:
    """Opens the index, catches up whenever it is woken, and rebuilds what is damaged.

    notice: why the index is off or out of date, None when all is well.
    """

    def __init__(self, index: SearchIndex, source: JournalSource) -> None:
        self.notice: AgentError | None = None
        self.indexer = Indexer(index, source, self._is_stopping)
        self._index = index
        self._was_tried = threading.Event()
        self._woken = threading.Event()
        self._stopping = threading.Event()
        self._is_busy = False
        self._must_check = True
        self._retry_s = _FIRST_RETRY_S
        self._thread = threading.Thread(target=self._run, name="search-index", daemon=True)

    @property
    def is_working(self) -> bool:
        """Whether the thread is at it, or about to be."""
        return self._woken.is_set() or self._is_busy

    def start(self) -> None:
        """Begin with opening the index and catching up, unless that was done before."""
        if self._thread.ident is None and not self._stopping.is_set():
            self._woken.set()
            self._thread.start()

    def wake(self) -> None:
        """Let the thread look for something new."""
        self._woken.set()
        self.start()

    def check(self) -> None:
        """Let the thread look for damage, after a search has failed."""
        self._must_check = True
        self.wake()

    def wait_until_tried(self, timeout_s: float) -> None:
        """Wait until the index was opened, or could not be."""
        self._was_tried.wait(timeout_s)

    def stop(self, timeout_s: float) -> None:
        """End the thread; a merge that takes longer than `timeout_s` ends with the process and is done again."""
        self._stopping.set()
        self._woken.set()
        self._was_tried.set()
        if self._thread.ident is not None:
            self._thread.join(timeout_s)

    def _is_stopping(self) -> bool:
        return self._stopping.is_set()

    def _run(self) -> None:
        _lower_priority()
        while not self._stopping.is_set():
            self._is_busy = True
            self._woken.clear()
            try:
                delay_s = self._work()
            except AgentFailure as failure:
                delay_s = self._note_failure(failure.error)
            except Exception as error:  # noqa: BLE001 - a bug here must not end the session, and must be told
                delay_s = self._note_failure(normalize(error, "search"))
            finally:
                self._is_busy = False
                self._was_tried.set()
            self._woken.wait(delay_s)

    def _work(self) -> float | None:
        """Do what there is to do; return the seconds until there may be more, None for not before it is woken."""
        if self._must_check:
            self._index.open(self._is_stopping)
            self._must_check = False
            self._was_tried.set()
        result = self.indexer.sync()
        # The C library would keep some megabytes that the writer's threads have freed.
        give_back()
        self.notice = self.indexer.problem
        self._retry_s = _FIRST_RETRY_S
        return {"busy": _BUSY_DELAY_S, "again": _AGAIN_DELAY_S}.get(result)

    def _note_failure(self, error: AgentError) -> float:
        self.notice = error
        self._must_check = self._must_check or error.code == "index_unusable"
        delay_s = self._retry_s
        self._retry_s = min(2 * delay_s, _LONGEST_RETRY_S)
        return delay_s


def _lower_priority() -> None:
    """Let everything else go first: on Linux a thread and those it starts have a niceness of their own."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
