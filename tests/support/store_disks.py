"""Disks for tests of the store: one that does not wait for the medium, one that is full."""

import errno
from pathlib import Path

from smith_core.store.journal.disk import Disk
from smith_core.store.journal.options import JournalOptions
from smith_core.store.persistence import DiskPersistence
from smith_core.store.store import Store


class UnsyncedDisk(Disk):
    """Writes for real and syncs nothing, for tests in which nothing is cut off."""

    def sync(self, descriptor: int) -> None:
        """Do nothing."""

    def sync_folder(self, folder: Path) -> None:
        """Do nothing."""


class FullDisk(UnsyncedDisk):
    """Has room for so many bytes; `sync_fails` breaks the next sync instead."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.sync_fails = False

    def write(self, descriptor: int, data: bytes, offset: int) -> None:
        """Write what there is room for; raises OSError with ENOSPC when that is not all."""
        super().write(descriptor, data[: self.room], offset)
        self.room -= len(data)
        if self.room < 0:
            self.room = 0
            raise OSError(errno.ENOSPC, "No space left on device")

    def sync(self, descriptor: int) -> None:
        """Fail once when told so."""
        if self.sync_fails:
            self.sync_fails = False
            raise OSError(errno.EIO, "Input/output error")


def open_store(folder: Path, disk: Disk | None = None) -> DiskPersistence:
    """Return the store on disk as the app opens it, but without waiting for the medium."""
    options = JournalOptions(disk=disk or UnsyncedDisk())
    persistence = DiskPersistence(lambda: Store(folder, "/work", "p" * 16, options), folder)
    persistence.begin()
    return persistence
