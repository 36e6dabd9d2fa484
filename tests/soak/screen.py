"""A terminal double for hours: it stamps the echo of a key when it is read, and emulates the screen only when asked."""

import os
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tests.support.pictures import Picture, PictureBox
from tests.support.terminal import Terminal

KEY = "§"
"""A sign that nothing else on any screen of the soak holds."""

_KEY_BYTES = KEY.encode()
_RAW_KEPT = 1 << 16
_NOTHING = Picture(0, 0, b"")


class FrameReader(PictureBox):
    """Reads and removes the frames of the rain as a terminal does, and keeps none."""

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """Take bytes; return those that are no graphics, and what the terminal answers."""
        result = super().feed(data)
        self.frames.clear()
        self.modes.clear()
        del self.log[:-100]
        return result

    def _picture(self, keys: dict[str, str], data: bytes) -> Picture | None:
        if keys.get("t") == "s":
            # The app may take it away at the same moment.
            with suppress(FileNotFoundError):
                return super()._picture(keys, data)
        return _NOTHING if self.direct else None


class SoakTerminal(Terminal):
    """Answers questions about pictures where there are some (box)."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        environ: Mapping[str, str],
        kind: str,
        columns: int,
        lines: int,
    ) -> None:
        self.box = FrameReader() if kind == "xterm-kitty" else FrameReader("", direct=False, memory=False)
        self._backlog: list[bytes] = []
        self._sending = threading.Lock()
        self._echoed_at = 0.0
        self.bytes_read = 0
        super().__init__(command, columns=columns, lines=lines, cwd=cwd, environ=environ, kind=kind)

    def send(self, data: bytes) -> None:
        """Send bytes all together, whatever else is sent at the time; those for a program that has ended are lost."""
        with self._sending:
            try:
                while data:
                    data = data[os.write(self._master, data) :]
            except OSError:
                return

    def echo(self, timeout: float) -> float | None:
        """Type the key and return the seconds until it was on the screen; None when it never came."""
        with self._changed:
            self._echoed_at = 0.0
        begin = time.perf_counter()
        self.send(_KEY_BYTES)
        with self._changed:
            self._changed.wait_for(lambda: self._echoed_at, timeout)
            return self._echoed_at - begin if self._echoed_at else None

    def text(self) -> str:
        """Return the screen as lines of text."""
        with self._changed:
            backlog, self._backlog = self._backlog, []
            for data in backlog:
                super()._feed(data)
        return super().text()

    def _feed(self, data: bytes) -> None:
        if _KEY_BYTES in data:
            self._echoed_at = time.perf_counter()
        self.bytes_read += len(data)
        others, answers = self.box.feed(data)
        if answers:
            self.send(answers)
        self._backlog.append(others)
        del self.raw[:-_RAW_KEPT]
