"""Opens and locks regular files, and nothing that could block: no pipe, device or socket."""

import errno
import fcntl
import os
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK_WAIT_S = 5.0
"""How long a change waits for another one of the same file; changes take milliseconds."""
_POLL_S = 0.01
_THREAD_LOCKS = tuple(threading.Lock() for _ in range(64))

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe (FIFO)"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
)


class NotRegularFileError(Exception):
    """The path leads to something else than a regular file; `what` names it."""

    def __init__(self, mode: int) -> None:
        self.is_folder = stat.S_ISDIR(mode)
        self.what = next((name for matches, name in _KINDS if matches(mode)), "a special file")
        super().__init__(self.what)


class FileBusyError(Exception):
    """Another program holds the lock of the file for too long."""


def check_regular(path: Path, *, follow_symlink: bool = True) -> os.stat_result:
    """Return the status of the file that `path` leads to; raises OSError, or NotRegularFileError."""
    status = path.stat(follow_symlinks=follow_symlink)
    if not stat.S_ISREG(status.st_mode):
        raise NotRegularFileError(status.st_mode)
    return status


def open_regular(path: Path, *, follow_symlink: bool = True) -> int:
    """Return a descriptor for reading, never waiting for a writer; raises OSError, or NotRegularFileError."""
    check_regular(path, follow_symlink=follow_symlink)
    # The kind is looked at again on the open file: between stat and open somebody may have put a pipe there.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | (0 if follow_symlink else os.O_NOFOLLOW)
    descriptor = os.open(path, flags)
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise NotRegularFileError(mode)
    return descriptor


def read_regular(path: Path) -> bytes:
    """Return all bytes of a regular file; raises OSError, or NotRegularFileError."""
    with os.fdopen(open_regular(path), "rb") as stream:
        return stream.read()


@contextmanager
def exclusively(target: Path, wait_s: float = LOCK_WAIT_S) -> Iterator[None]:
    """Keep every other change of `target` (links already followed) out, of this process and of others that use flock.

    Blocks for at most `wait_s` seconds on other processes, so call it in a thread. A file that does not exist or
    cannot be opened is locked against this process only. Raises FileBusyError.
    """
    with _THREAD_LOCKS[hash(target) % len(_THREAD_LOCKS)]:
        descriptor = _lock_across_processes(target, time.monotonic() + wait_s)
        try:
            yield
        finally:
            if descriptor is not None:
                os.close(descriptor)


def _lock_across_processes(target: Path, deadline: float) -> int | None:
    while True:
        try:
            descriptor = open_regular(target)
        except (OSError, NotRegularFileError):
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN):
                return descriptor  # a file system without locks
            os.close(descriptor)
            if time.monotonic() > deadline:
                raise FileBusyError(str(target)) from error
            time.sleep(_POLL_S)
            continue
        if _is_still(target, descriptor):
            return descriptor
        os.close(descriptor)


def _is_still(target: Path, descriptor: int) -> bool:
    """Say whether `target` is the file that was locked: a change by rename puts another one in its place."""
    try:
        return os.path.samestat(target.stat(), os.fstat(descriptor))
    except OSError:
        return False
