"""The one writer of the tty: a thread that never holds up who gives it text, and that tells when it is idle."""

import contextlib
import os
import select
import threading
from collections import deque
from collections.abc import Callable
from typing import TextIO

_STOP_S = 5.0
"""How long the end waits for a terminal that takes nothing: far more than a slow line needs for a whole frame."""


class FrameWriter(threading.Thread):
    """Writes in the order of the calls; stands in the place of Textual's writer thread, which blocks when it is full.

    Nothing that it was given is lost, so frames belong here only while `is_busy` is false.
    """

    def __init__(self, file: TextIO) -> None:
        super().__init__(daemon=True, name="terminal-output")
        self._file = file
        self._changed = threading.Condition()
        self._waiting: deque[str] = deque()
        self._is_writing = False
        self._is_over = False
        self._is_lost = False
        self._when_idle: Callable[[], object] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether the terminal has not yet taken all that was written."""
        with self._changed:
            return self._has_work

    @property
    def _has_work(self) -> bool:
        return self._is_writing or bool(self._waiting)

    def when_idle(self, callback: Callable[[], object]) -> None:
        """Call `callback` once, in the writer's thread, as soon as nothing waits; at once when that is so already."""
        with self._changed:
            if self._has_work:
                self._when_idle = callback
                return
        callback()

    def write(self, text: str) -> None:
        """Write text; returns at once."""
        with self._changed:
            if not self._is_lost:
                self._waiting.append(text)
                self._changed.notify_all()

    def isatty(self) -> bool:
        """Say that this is a terminal."""
        return True

    def fileno(self) -> int:
        """Return the descriptor that is written to."""
        return self._file.fileno()

    def flush(self) -> None:
        """Do nothing: the thread writes as soon as it can."""

    def stop(self) -> None:
        """Wait until all is written and end; a terminal that takes nothing is waited for a few seconds."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        self.join(_STOP_S)

    def run(self) -> None:
        """Write until `stop`."""
        while (text := self._take()) is not None:
            try:
                self._put(text.encode(self._file.encoding or "utf-8", self._file.errors or "backslashreplace"))
            except OSError:
                # The terminal is gone; the program learns that by the signal.
                self._is_lost = True
            callback = self._done()
            if callback is not None:
                # The loop that is to be told may have ended meanwhile.
                with contextlib.suppress(RuntimeError):
                    callback()

    def _take(self) -> str | None:
        with self._changed:
            while not self._waiting:
                if self._is_over:
                    return None
                self._changed.wait()
            self._is_writing = True
            text = "".join(self._waiting)
            self._waiting.clear()
            return text

    def _done(self) -> Callable[[], object] | None:
        with self._changed:
            self._is_writing = False
            if self._waiting:
                return None
            callback, self._when_idle = self._when_idle, None
            return callback

    def _put(self, data: bytes) -> None:
        descriptor, rest = self._file.fileno(), memoryview(data)
        while rest:
            try:
                rest = rest[os.write(descriptor, rest) :]
            except BlockingIOError:
                # Some other program on this terminal has made it non-blocking.
                select.select([], [descriptor], [], 1.0)
