"""Contents of files as they were last seen, kept while the session lasts, in case that a command changes them."""

import hashlib
import os
import stat
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from smith_core.plainfile import NotRegularFileError, open_regular
from smith_core.tools.changes.states import FileState

MAX_COPIED_BYTES = 8 * 1024 * 1024
"""Largest file that is copied in case that a command changes it."""

MAX_COPIES_BYTES = 512 * 1024 * 1024
"""Most bytes of such copies in one session."""

_LONGEST_TICK_S = 0.05

Stamp = tuple[int, int, int, int, int]
"""Times of change in nanoseconds, size, inode and mode: another content has another stamp."""


class Known(NamedTuple):
    """A file as it was last seen.

    state: None as long as its content is only known as git's. copy: where the copy of the content begins, and its
    length. identity: of the content in git.
    """

    stamp: Stamp
    state: FileState | None
    copy: tuple[int, int] | None = None
    identity: str = ""


def stamp_of(status: os.stat_result) -> Stamp:
    """Return the stamp of what was looked at."""
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_mode)


class Contents:
    """One file without a name that takes the copies; it goes with the program."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._stream = tempfile.TemporaryFile(dir=scratch)  # noqa: SIM115 - closed below
        self._size = 0

    def know(self, path: str, status: os.stat_result, refusal: str = "") -> Known | None:
        """Copy what is at a path; None for what is no file and no link. refusal: why no copy is to be made."""
        mode = stat.S_IMODE(status.st_mode)
        stamp = stamp_of(status)
        if stat.S_ISLNK(status.st_mode):
            return Known(stamp, FileState("link", target=_link_text(path)))
        if not stat.S_ISREG(status.st_mode):
            return None
        if status.st_size > MAX_COPIED_BYTES:
            refusal = f"it is larger than {MAX_COPIED_BYTES >> 20} MB"
        elif self._size + status.st_size > MAX_COPIES_BYTES:
            refusal = "too many files have been copied in this session"
        data = b"" if refusal else _read(path)
        if data is None:
            refusal = "it could not be read"
        if refusal or data is None:
            return Known(stamp, FileState("file", mode=mode, lost=refusal))
        place = (self._size, len(data))
        self._stream.seek(self._size)
        self._stream.write(data)
        self._size += len(data)
        return Known(stamp, FileState("file", hashlib.sha256(data).hexdigest(), mode), place)

    def read(self, known: Known) -> bytes | None:
        """Return the content that was copied, None when there was none."""
        if known.copy is None:
            return None
        start, length = known.copy
        self._stream.seek(start)
        return self._stream.read(length)

    def next_tick(self) -> int:
        """Wait until the clock of the file system goes on; return where it stood, so that what comes now is younger."""
        before = self._tick()
        deadline = time.monotonic() + _LONGEST_TICK_S
        while self._tick() == before and time.monotonic() < deadline:
            time.sleep(0.001)
        return before

    def _tick(self) -> int:
        os.utime(self._stream.fileno())
        return os.fstat(self._stream.fileno()).st_ctime_ns

    def close(self) -> None:
        """Let all copies go."""
        self._stream.close()


def _read(path: str) -> bytes | None:
    try:
        with os.fdopen(open_regular(Path(path), follow_symlink=False), "rb") as stream:
            return stream.read(MAX_COPIED_BYTES)
    except (OSError, NotRegularFileError):
        return None


def _link_text(path: str) -> str:
    try:
        return os.readlink(path)  # noqa: PTH115 - a path of bytes that are no text
    except OSError:
        return ""
