"""Indexing in a process of its own: what nobody searches in takes no memory for tantivy.

`python -m smith_core.store.search.helper FOLDER` brings the index of a data folder up to date, and ends.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from smith_core.errors import AgentFailure
from smith_core.log import LOGGER

FIRST_DELAY_S, NEXT_DELAY_S = 5.0, 30.0
"""How long the index may be behind: what a start does comes first, and turns that follow each other go together."""
_STOP_TIMEOUT_S = 0.5
_BUSY_TRIES = 60
_NICENESS = 10
_PACKAGE_ROOT = Path(__file__).resolve().parents[3]
_KEPT = ("HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "TMPDIR")


class IndexHelper:
    """Starts the process some seconds after it was woken, one at a time, until it is stopped."""

    def __init__(
        self, data_dir: Path, *, first_delay_s: float = FIRST_DELAY_S, next_delay_s: float = NEXT_DELAY_S
    ) -> None:
        self._data_dir = data_dir
        self._delays = (first_delay_s, next_delay_s)
        self._woken = threading.Event()
        self._stopping = threading.Event()
        self._starting = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._run, name="search-helper", daemon=True)

    def wake(self) -> None:
        """Have what is new indexed in a while."""
        self._woken.set()
        if self._thread.ident is None and not self._stopping.is_set():
            self._thread.start()

    def stop(self) -> None:
        """End the process, whatever it does: that may be broken off at any point. Blocks for some milliseconds."""
        self._stopping.set()
        self._woken.set()
        with self._starting:
            if self._process is not None:
                self._process.terminate()
        if self._thread.ident is not None:
            self._thread.join(_STOP_TIMEOUT_S)

    def _run(self) -> None:
        delay_s, next_delay_s = self._delays
        while self._woken.wait() and not self._stopping.wait(delay_s):
            self._woken.clear()
            delay_s = next_delay_s
            with self._starting:
                if not self._stopping.is_set():
                    self._process = _start(self._data_dir)
            if self._process is not None and (status := self._process.wait()) > 0:
                LOGGER.info("the search index was not brought up to date: exit status %s", status)


def _start(data_dir: Path) -> "subprocess.Popen[bytes] | None":
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
    try:
        # -P: nothing in the current folder, which may be anybody's repository, is ever imported.
        return subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, str(data_dir)],
            env=environment | {"PYTHONPATH": str(_PACKAGE_ROOT), "PYTHONUTF8": "1"},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        LOGGER.info("no process for the search index: %s", error)
        return None


def main(arguments: Sequence[str]) -> int:
    """Index what the journals of a data folder have beyond the index; the exit status is 1 when that failed."""
    from smith_core.store.search.index import SearchIndex
    from smith_core.store.search.indexer import Indexer
    from smith_core.store.search.journal_files import JournalFiles

    os.nice(_NICENESS)
    data_dir = Path(arguments[0])
    index = SearchIndex(data_dir)
    indexer = Indexer(index, JournalFiles(data_dir), lambda: False)
    try:
        index.open()
        for _ in range(_BUSY_TRIES):
            result = indexer.sync()
            if result == "done":
                return 0 if indexer.problem is None else 1
            time.sleep(1.0 if result == "busy" else 0.05)
    except AgentFailure:
        pass  # whoever searches finds out by itself, and is told
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
