"""The pseudo terminal that a command writes to, read on the event loop and handed on in step with it."""

import asyncio
import contextlib
import os
import termios
import time
from collections.abc import Callable

ROWS, COLUMNS = 40, 120
"""Size of the pseudo terminal."""

_READ_SIZE = 65_536
_TURN_BYTES = 65_536
_TURN_S = 0.002
_LIVE_INTERVAL_S = 1 / 30
_LIVE_BYTES = 65_536

OpenEnds = Callable[[], tuple[int, int]]
"""Opens a reading and a writing end, in this order."""


class TerminalReader:
    """Reads what arrives at a pseudo terminal until `close`, giving every chunk to `on_data` on the running loop.

    One turn of the loop takes at most 64 KB or 2 ms of reading; a program that writes faster waits in its write call,
    so that endless output neither grows our memory nor keeps the loop from other work. Nothing is ever written back.
    writer_fd: what the program gets as standard output and error; it can be written to, but not read from.
    """

    def __init__(self, on_data: Callable[[bytes], None], open_ends: OpenEnds | None = None) -> None:
        """Open the terminal, or what `open_ends` opens instead; raise OSError if no descriptor is left."""
        self._on_data = on_data
        self._loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        self._reader_fd, self.writer_fd = (open_ends or _open_terminal)()
        os.set_blocking(self._reader_fd, False)
        self._loop.add_reader(self._reader_fd, self._read_turn)

    @property
    def has_ended(self) -> bool:
        """Whether no process holds the writing end any more and all output was read."""
        return self._ended.is_set()

    def close_writer(self) -> None:
        """Give up our own copy of the writing end, after the program has got its own."""
        if self.writer_fd >= 0:
            os.close(self.writer_fd)
            self.writer_fd = -1

    async def drain(self, limit_s: float) -> None:
        """Read on until the end, or for `limit_s` seconds if some process keeps the writing end open."""
        if self.has_ended:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._ended.wait()
        # What had arrived in time counts, even if the loop was too busy to read it.
        self._read_turn()

    def close(self) -> None:
        """Stop reading and close both ends."""
        self.close_writer()
        self._end()
        if self._reader_fd >= 0:
            os.close(self._reader_fd)
            self._reader_fd = -1

    def _read_turn(self) -> None:
        if self.has_ended:
            return
        pieces: list[bytes] = []
        room = _TURN_BYTES
        deadline = time.monotonic() + _TURN_S
        is_over = False
        while room > 0 and not is_over and time.monotonic() < deadline:
            try:
                data = os.read(self._reader_fd, _READ_SIZE)
            except BlockingIOError:
                break
            except OSError:  # EIO: the last writer has gone
                data = b""
            pieces.append(data)
            room -= len(data)
            is_over = not data
        # A terminal gives 4 KB at a time; taken apart one by one they would cost several times as much.
        if taken := b"".join(pieces):
            self._on_data(taken)
        if is_over:
            self._end()

    def _end(self) -> None:
        if not self.has_ended:
            self._loop.remove_reader(self._reader_fd)
            self._ended.set()


class LiveOutput:
    """Hands output on for the screen, at most 30 times a second or in pieces of 64 KB, the first one at once."""

    def __init__(self, emit: Callable[[bytes], None]) -> None:
        self._emit = emit
        self._loop = asyncio.get_running_loop()
        self._waiting = bytearray()
        self._next_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def add(self, data: bytes) -> None:
        """Take a chunk as the program wrote it."""
        self._waiting += data
        now = self._loop.time()
        if len(self._waiting) >= _LIVE_BYTES or now >= self._next_at:
            self.flush()
        elif self._timer is None:
            self._timer = self._loop.call_at(self._next_at, self.flush)

    def flush(self) -> None:
        """Hand on what waits, with the line ends that a terminal expects."""
        self.close()
        if self._waiting:
            self._next_at = self._loop.time() + _LIVE_INTERVAL_S
            data = bytes(self._waiting)
            self._waiting.clear()
            self._emit(data.replace(b"\n", b"\r\n"))

    def close(self) -> None:
        """Hand nothing on any more by itself."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _open_terminal() -> tuple[int, int]:
    """Return the reading and the writing end of a new terminal, or of a pipe where there are no terminals."""
    try:
        reader, both_ways = os.openpty()
    except OSError:
        return os.pipe()
    try:
        attributes = termios.tcgetattr(both_ways)
        # Without output processing bytes arrive as they were written, six times as fast.
        attributes[1] &= ~termios.OPOST
        termios.tcsetattr(both_ways, termios.TCSANOW, attributes)
        termios.tcsetwinsize(both_ways, (ROWS, COLUMNS))
        # A program that would read an answer from its output gets an error at once instead of waiting for ever.
        writer = os.open(os.ttyname(both_ways), os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except (OSError, termios.error):
        return reader, both_ways
    os.close(both_ways)
    return reader, writer
