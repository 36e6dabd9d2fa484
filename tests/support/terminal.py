"""A terminal double: runs a program in a real pseudo terminal and keeps its screen with pyte.

with Terminal(["smith-tui"], columns=100, lines=30) as terminal:
    terminal.wait_for("Smith")
    terminal.type("hello\\r")
"""

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import pyte

from tests.support.exact_screen import ExactScreen

# pyte prints the bodies of these, or raises on them; no terminal does.
_UNKNOWN_TO_PYTE = re.compile(rb"\x1b[_P^X][^\x1b]*\x1b\\|\x1b\[[<=>?][0-9;]*[a-zA-Z$]+")
_UNFINISHED = re.compile(rb"\x1b(?:[_P^X\]][^\x1b]*)?$|\x1b\[[<=>?0-9;]*$")
_KEPT = re.compile(rb"\x1b\[\?[0-9;]+[hl]")


class Terminal:
    """The program, its screen, and all bytes that it ever wrote (`raw`)."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        columns: int = 80,
        lines: int = 24,
        cwd: Path | None = None,
        environ: Mapping[str, str] | None = None,
        kind: str = "xterm-256color",
    ) -> None:
        self.screen = ExactScreen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = bytearray()
        self._pending = b""
        self._changed = threading.Condition()
        self._closed = False
        self._master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.attributes_before = termios.tcgetattr(slave)
        self._slave = slave
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=cwd,
            env={**(os.environ if environ is None else environ), "TERM": kind, "COLORTERM": "truecolor"},
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(10)
        self.hang_up()

    def hang_up(self) -> None:
        """Close the terminal, as when its window is closed."""
        if not self._closed:
            self._closed = True
            self._reader.join(10)
            os.close(self._slave)
            os.close(self._master)

    def type(self, text: str) -> None:
        """Send keys as a person's terminal would."""
        self.send(text.encode())

    def send(self, data: bytes) -> None:
        """Send bytes, whatever they are."""
        os.write(self._master, data)

    def resize(self, columns: int, lines: int) -> None:
        """Change the size of the terminal, as a window manager does."""
        with self._changed:
            self.screen.resize(lines, columns)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        os.killpg(self.process.pid, signal.SIGWINCH)

    def text(self) -> str:
        """Return the screen as lines of text."""
        with self._changed:
            return "\n".join(line.rstrip() for line in self.screen.display)

    def wait_for(self, wanted: str | Callable[[str], bool], timeout: float = 30.0) -> str:
        """Wait until the screen shows a text, or satisfies a condition; return the screen."""
        holds = wanted if callable(wanted) else lambda text: wanted in text
        end = time.monotonic() + timeout
        while True:
            shown = self.text()
            if holds(shown):
                return shown
            left = end - time.monotonic()
            if left <= 0 or (self.process.poll() is not None and not self._drained()):
                state = self.process.poll()
                raise AssertionError(f"not on screen: {wanted!r} (exit status {state})\n{shown}")
            with self._changed:
                self._changed.wait(min(left, 0.5))

    def wait_for_exit(self, timeout: float = 15.0) -> int:
        """Wait for the program's end and all that it wrote; return its exit status."""
        status = self.process.wait(timeout)
        end = time.monotonic() + 2
        while self._drained() and time.monotonic() < end:
            with self._changed:
                self._changed.wait(0.05)
        return status

    def attributes(self) -> list[object]:
        """Return the terminal's attributes as they are now."""
        return termios.tcgetattr(self._slave)

    def _drained(self) -> bool:
        """Whether something more was read a moment ago or waits to be read."""
        readable, _, _ = select.select([self._master], [], [], 0.05)
        return bool(readable)

    def _read(self) -> None:
        while not self._closed:
            readable, _, _ = select.select([self._master], [], [], 0.1)
            if not readable:
                continue
            try:
                data = os.read(self._master, 65536)
            except OSError:
                return
            with self._changed:
                self.raw += data
                self._feed(data)
                self._changed.notify_all()

    def _feed(self, data: bytes) -> None:
        data = self._pending + data
        unfinished = _UNFINISHED.search(data[-200:])
        cut = len(data) - (len(data[-200:]) - unfinished.start()) if unfinished else len(data)
        data, self._pending = data[:cut], data[cut:]
        self._stream.feed(_UNKNOWN_TO_PYTE.sub(lambda found: found[0] if _KEPT.fullmatch(found[0]) else b"", data))


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
