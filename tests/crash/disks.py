"""Disks that kill their process at a chosen moment, or keep a record of all that was done to them."""

import os
import signal
from pathlib import Path

from smith_core.store.journal.disk import Disk

POINTS = (
    "before_write",
    "within_write",
    "before_sync",
    "after_sync",
    "before_replace",
    "after_replace",
    "before_sync_folder",
    "after_sync_folder",
)


class KillingDisk(Disk):
    """Kills the process when `point` is reached for the `count`-th time; an empty point never comes."""

    def __init__(self, point: str = "", count: int = 1) -> None:
        self._point = point
        self._left = count

    def _reach(self, point: str) -> None:
        if point == self._point:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    def write(self, descriptor: int, data: bytes, offset: int) -> None:
        self._reach("before_write")
        half = len(data) // 2
        super().write(descriptor, data[:half], offset)
        self._reach("within_write")
        super().write(descriptor, data[half:], offset + half)

    def sync(self, descriptor: int) -> None:
        self._reach("before_sync")
        super().sync(descriptor)
        self._reach("after_sync")

    def replace(self, source: Path, target: Path) -> None:
        self._reach("before_replace")
        super().replace(source, target)
        self._reach("after_replace")

    def sync_folder(self, folder: Path) -> None:
        self._reach("before_sync_folder")
        super().sync_folder(folder)
        self._reach("after_sync_folder")


class RecordingDisk(Disk):
    """Keeps what was done, in order: ("create", name, file), ("write", file, offset, data), ("truncate", file, size),
    ("sync", file), ("replace", old name, new name) and ("sync_folder",); `file` is a number of its own for each file.
    """

    def __init__(self) -> None:
        self.operations: list[tuple[object, ...]] = []
        self._files: dict[int, int] = {}

    def _file(self, descriptor: int) -> int:
        return self._files[os.fstat(descriptor).st_ino]

    def create(self, path: Path) -> int:
        descriptor = super().create(path)
        self._files[os.fstat(descriptor).st_ino] = len(self.operations)
        self.operations.append(("create", path.name, len(self.operations)))
        return descriptor

    def write(self, descriptor: int, data: bytes, offset: int) -> None:
        super().write(descriptor, data, offset)
        self.operations.append(("write", self._file(descriptor), offset, bytes(data)))

    def sync(self, descriptor: int) -> None:
        self.operations.append(("sync", self._file(descriptor)))

    def truncate(self, descriptor: int, size: int) -> None:
        super().truncate(descriptor, size)
        self.operations.append(("truncate", self._file(descriptor), size))

    def replace(self, source: Path, target: Path) -> None:
        super().replace(source, target)
        self.operations.append(("replace", source.name, target.name))

    def sync_folder(self, folder: Path) -> None:
        self.operations.append(("sync_folder",))
