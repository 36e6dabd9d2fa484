"""Keeps of an output of any length what fits into a result: its head, its tail, and the whole of it on disk."""

import contextlib
import os
from pathlib import Path

import msgspec

from smith_core.ids import new_id
from smith_core.tools.base import MODEL_TEXT_LIMIT

SPILL_LIMIT = 256 * 1024 * 1024
"""Most bytes of one output that are kept on disk."""

_WRITE_BYTES = 256 * 1024
"""So much waits before it is written, or a flood would be one of system calls as well."""

_HEAD_SHARE = 0.3
_LINE_SEARCH = 2_000


class Excerpt(msgspec.Struct, frozen=True, kw_only=True):
    """What was kept of a text: all of it in `head`, or its two ends with `omitted` characters between them."""

    head: str
    tail: str = ""
    omitted: int = 0


class HeadAndTail:
    """Takes a text piece by piece and remembers only its two ends, at most `limit` characters."""

    def __init__(self, limit: int = MODEL_TEXT_LIMIT, *, head_share: float = _HEAD_SHARE) -> None:
        self._head_limit = int(limit * head_share)
        self._tail_limit = limit - self._head_limit
        self._head = ""
        self._tail: list[str] = []
        self._tail_length = 0
        self.length = 0

    def add(self, text: str) -> None:
        """Append to the text."""
        self.length += len(text)
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += text[:room]
            text = text[room:]
        if text:
            self._tail.append(text)
            self._tail_length += len(text)
            if self._tail_length > 2 * self._tail_limit:
                self._tail = [self._joined_tail()]
                self._tail_length = len(self._tail[0])

    def excerpt(self, reserved: int = 0) -> Excerpt:
        """Return what is kept, `reserved` characters below the limit; a cut is made at a line's end if one is near."""
        tail = self._joined_tail()
        whole = self._head_limit + self._tail_limit
        if self.length <= whole - reserved:
            return Excerpt(head=self._head + tail)
        head = self._head
        tail = (head + tail)[-(self._tail_limit - reserved) :]
        line_end = head.rfind("\n", max(0, len(head) - _LINE_SEARCH))
        head = head[: line_end + 1] or head
        line_start = tail.find("\n", 0, _LINE_SEARCH) + 1
        tail = tail[line_start:] or tail
        return Excerpt(head=head, tail=tail, omitted=self.length - len(head) - len(tail))

    def _joined_tail(self) -> str:
        return "".join(self._tail)[-self._tail_limit :]


class Spill:
    """Keeps a raw output on disk once it is longer than a result may be; until then in memory.

    The file (mode 0600) is made in `folder`, and `close` removes it if nobody asked to keep it. A full disk or
    SPILL_LIMIT ends the writing, never the program.
    """

    def __init__(self, folder: Path, *, start_at: int = MODEL_TEXT_LIMIT, limit: int = SPILL_LIMIT) -> None:
        self.path = folder / f"output-{new_id()}.log"
        self._start_at = start_at
        self._limit = limit
        self._waiting = bytearray()
        self._fd: int | None = None
        self._created = False
        self._is_kept = False
        self._written = 0
        self._problem = ""
        self.size = 0

    def add(self, data: bytes) -> None:
        """Append to the output."""
        self.size += len(data)
        if self._problem:
            return
        self._waiting += data
        if len(self._waiting) > (self._start_at if self._fd is None else _WRITE_BYTES):
            self._write()

    def keep(self) -> str:
        """Let the file stay; return half a sentence that says how much of the output is in it."""
        self._write()
        self._is_kept = True
        if not self._problem:
            return f"the raw output, {self.size} bytes, is in {self.path}"
        if self._written:
            return f"the first {self._written} of {self.size} bytes of raw output are in {self.path} ({self._problem})"
        return f"the raw output, {self.size} bytes, could not be saved ({self._problem})"

    @property
    def kept_path(self) -> str:
        """The file that `keep` left behind, or an empty string."""
        return str(self.path) if self._is_kept and self._written else ""

    def close(self) -> None:
        """Close the file, and remove it unless it is to be kept and holds something."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
        if self._created and not (self._is_kept and self._written):
            self._created = False
            with contextlib.suppress(OSError):
                self.path.unlink()

    def _write(self) -> None:
        try:
            if self._fd is None and not self._problem:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                self._fd = os.open(self.path, flags, 0o600)
                self._created = True
            while self._waiting and self._fd is not None:
                room = self._limit - self._written
                if room <= 0:
                    self._stop(f"more than {self._limit} bytes are not kept")
                    return
                with memoryview(self._waiting) as waiting:
                    count = os.write(self._fd, waiting[:room])
                self._written += count
                del self._waiting[:count]
        except OSError as error:
            self._stop(error.strerror or str(error))

    def _stop(self, problem: str) -> None:
        self._problem = problem
        self._waiting.clear()
