"""Shared memory for frames: one private segment each, which the terminal removes as soon as it has read it."""

import contextlib
import os
import secrets

from smith_tui.graphics.leftovers import PREFIX


class Segments:
    """The segments of one process. Raises OSError where there is no shared memory."""

    def __init__(self) -> None:
        try:
            # The module behind multiprocessing.shared_memory, which would start a process to watch over segments.
            import _posixshmem  # type: ignore[import-not-found]
        except ImportError as error:
            raise OSError("this Python has no shared memory") from error
        self._memory = _posixshmem
        # Shorter than the 31 characters that macOS allows.
        self._begin = f"/{PREFIX}{os.getpid():x}-{secrets.token_hex(2)}"
        self._count = 0
        self._unread: list[str] = []

    def put(self, data: bytes | bytearray) -> str:
        """Make a segment that nobody else can read, and return its name; OSError when there is no room."""
        self._count += 1
        name = f"{self._begin}{self._count:x}"
        # Noted first: a signal may end the program between two steps.
        self._unread.append(name)
        descriptor = self._memory.shm_open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        try:
            # Reserved at once: to write into memory that there is not would end the process.
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(descriptor, 0, len(data))
            else:
                os.ftruncate(descriptor, len(data))
            os.pwrite(descriptor, data, 0)
        except OSError:
            self.remove_all()
            raise
        finally:
            os.close(descriptor)
        return name

    @property
    def unread(self) -> int:
        """How many segments the terminal has not read yet."""
        self._unread = [name for name in self._unread if self._exists(name)]
        return len(self._unread)

    def remove_all(self) -> None:
        """Remove what the terminal has not read."""
        names, self._unread = self._unread, []
        for name in names:
            # The terminal may have read it a moment ago.
            with contextlib.suppress(OSError):
                self._memory.shm_unlink(name)

    def _exists(self, name: str) -> bool:
        try:
            os.close(self._memory.shm_open(name, os.O_RDONLY, 0))
        except OSError:
            return False
        return True
