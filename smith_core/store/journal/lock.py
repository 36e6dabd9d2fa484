"""Locks between processes that die with their process: `flock` on side files that are never removed."""

import contextlib
import errno
import fcntl
import os
import time
from pathlib import Path
from types import TracebackType

_POLL_S = 0.002


class LockHeldError(Exception):
    """Somebody else has the lock; `pid` is the holder's process id, 0 when it is not known."""

    def __init__(self, path: Path, pid: int) -> None:
        super().__init__(f"{path} is locked by process {pid or '?'}")
        self.path = path
        self.pid = pid


class FileLock:
    """An exclusive lock; as a context manager it waits `patience_s` seconds for others to let go.

    A forked child would keep the lock alive, so this program starts processes by `subprocess` only.
    """

    def __init__(self, path: Path, patience_s: float = 2.0) -> None:
        self.path = path
        self.patience_s = patience_s
        self._descriptor: int | None = None

    @property
    def is_held(self) -> bool:
        """Whether this object holds the lock."""
        return self._descriptor is not None

    def acquire(self, patience_s: float = 0.0) -> None:
        """Take the lock; raises LockHeldError after `patience_s` seconds, and OSError."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        deadline = time.monotonic() + patience_s
        try:
            while not _try_lock(descriptor):
                if time.monotonic() >= deadline:
                    raise LockHeldError(self.path, _read_pid(descriptor))
                time.sleep(_POLL_S)
            # The number only tells people who it is; the lock itself is the kernel's and needs no space on the disk.
            with contextlib.suppress(OSError):
                os.pwrite(descriptor, b"%-20d\n" % os.getpid(), 0)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor

    def release(self) -> None:
        """Let go; a second call does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> "FileLock":
        self.acquire(self.patience_s)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()


def holder_of(path: Path) -> int | None:
    """Return the process that has a lock, 0 when that is not known, None when nobody has it; raises nothing."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        # A shared lock, so that two who ask at once do not take each other for the holder.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _read_pid(descriptor)
    else:
        return None
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            return False
        raise
    return True


def _read_pid(descriptor: int) -> int:
    digits = os.pread(descriptor, 20, 0).strip()
    return int(digits) if digits.isdigit() else 0
