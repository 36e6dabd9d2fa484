"""Counting what does not depend on the speed or load of a machine: calls, blocks of memory, syncs, bytes."""

import cProfile
import gc
import tracemalloc
from collections.abc import Callable

from smith_core.store.journal.disk import Disk


def calls_in(action: Callable[[], object]) -> int:
    """Return how many calls of functions an action makes on this thread, those of C included.

    It is the nearest to instructions that Python 3.11 counts cheaply.
    """
    profile = cProfile.Profile()
    # What a collection calls, such as the end of weak references, is none of the action's.
    gc.disable()
    try:
        profile.runcall(action)
    finally:
        gc.enable()
    return sum(entry.callcount for entry in profile.getstats())


def memory_in(action: Callable[[], object]) -> tuple[int, int]:
    """Return the kilobytes that an action leaves in memory while its result lives, and the most that it took."""
    gc.collect()
    tracemalloc.start()
    try:
        result = action()
        gc.collect()
        kept, most = tracemalloc.get_traced_memory()
        del result
    finally:
        tracemalloc.stop()
    return kept // 1000, most // 1000


class CountingDisk(Disk):
    """Writes for real, syncs nothing, and counts both."""

    def __init__(self) -> None:
        self.syncs = self.folder_syncs = self.writes = self.written = 0

    def write(self, descriptor: int, data: bytes, offset: int) -> None:
        """Write and count."""
        self.writes += 1
        self.written += len(data)
        super().write(descriptor, data, offset)

    def sync(self, descriptor: int) -> None:
        """Count."""
        self.syncs += 1

    def sync_folder(self, folder: object) -> None:
        """Count."""
        self.folder_syncs += 1
