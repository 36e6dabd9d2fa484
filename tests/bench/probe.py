"""A pseudo terminal that only takes time stamps: what was written when, without emulating the screen."""

import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

LINES, COLUMNS = 50, 200
SLOW_LINE = 150_000
"""Bytes per second of a slow line."""


class Probe:
    """Runs a program at 200×50 and reads all that it writes; times are of `time.perf_counter()`."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str], cwd: Path, columns: int = COLUMNS) -> None:
        self.command, self.environ, self.cwd = command, environ, cwd
        self._master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, columns, 0, 0))
        self.output = bytearray()
        self.started_at = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=cwd,
            env={**environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)

    def __enter__(self) -> "Probe":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            try:
                self.drain_until_exit(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait(10)
        os.close(self._master)

    def fileno(self) -> int:
        """Return the descriptor of our end, for `select`."""
        return self._master

    def send(self, keys: bytes) -> float:
        """Type keys; return the time."""
        at = time.perf_counter()
        os.write(self._master, keys)
        return at

    def mark(self) -> int:
        """Return a place in the output to wait from."""
        return len(self.output)

    def wait_for(self, wanted: bytes, since: int = 0, timeout: float = 30.0) -> float:
        """Return the time at which `wanted` was read behind the place `since`."""
        end = time.perf_counter() + timeout
        while self.output.find(wanted, since) < 0:
            # What was looked through is not again: it would hold up the server's thread the longer, the more there is.
            since = max(since, len(self.output) - len(wanted) + 1)
            left = end - time.perf_counter()
            if left <= 0 or (not self.read(left) and self.process.poll() is not None):
                raise TimeoutError(f"never written: {wanted!r}; last output {bytes(self.output[-300:])!r}")
        return time.perf_counter()

    def quiet(self, seconds: float = 0.3, timeout: float = 20.0) -> None:
        """Read until nothing has come for a while."""
        end = time.perf_counter() + timeout
        while time.perf_counter() < end and self.read(seconds):
            pass

    def read_for(self, seconds: float) -> int:
        """Read for so long, whatever comes, and return how many bytes came."""
        before, end = len(self.output), time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            self.read(left)
        return len(self.output) - before

    def drain_until_exit(self, timeout: float) -> None:
        """Read on until the program has ended."""
        end = time.perf_counter() + timeout
        while self.process.poll() is None:
            self.read(0.02)
            if time.perf_counter() > end:
                raise subprocess.TimeoutExpired(self.process.args, timeout)

    def read(self, timeout: float) -> bool:
        """Read what there is, or comes within so many seconds; return whether anything came."""
        readable, _, _ = select.select([self._master], [], [], timeout)
        if not readable:
            return False
        try:
            data = os.read(self._master, self.room())
        except OSError:
            # The program has closed its end.
            time.sleep(min(0.01, timeout))
            return False
        self.output += data
        return True

    def room(self) -> int:
        """Return how many bytes may be read now."""
        return 1 << 16


class SlowProbe(Probe):
    """A terminal at the end of a slow line: what is read in a second is bounded."""

    _filled_at = 0.0

    def room(self) -> int:
        """Wait until the line has room for something, and return for how much."""
        while (room := int(min(0.01, time.perf_counter() - self._filled_at) * SLOW_LINE)) < 1:
            time.sleep(0.001)
        self._filled_at = time.perf_counter()
        return room
