"""The system calls that change files; tests put others in their place to kill the program between any two of them."""

import os
from pathlib import Path


class Disk:
    """Writes for real. Every method raises OSError."""

    def create(self, path: Path) -> int:
        """Make an empty file that only its owner can read, and return its descriptor."""
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)

    def write(self, descriptor: int, data: bytes, offset: int) -> None:
        """Put all of `data` at `offset`."""
        view = memoryview(data)
        while view:
            written = os.pwrite(descriptor, view, offset)
            view = view[written:]
            offset += written

    def sync(self, descriptor: int) -> None:
        """Return when the file's content is on the medium."""
        if hasattr(os, "fdatasync"):
            os.fdatasync(descriptor)
        else:
            os.fsync(descriptor)

    def truncate(self, descriptor: int, size: int) -> None:
        """Cut the file."""
        os.ftruncate(descriptor, size)

    def replace(self, source: Path, target: Path) -> None:
        """Give `source` the name of `target`, in one step."""
        source.replace(target)

    def sync_folder(self, folder: Path) -> None:
        """Return when the names in a folder are on the medium."""
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
