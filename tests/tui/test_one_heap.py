"""Threads share the heap of the C library; seen from outside, for it cannot be taken back in this process."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys
from threading import Thread, Event
from smith_tui.one_heap import share_one_heap
if "share" in sys.argv:
    share_one_heap()
over = Event()
threads = [Thread(target=lambda: (bytes(50_000), over.wait())) for _ in range(4)]
for thread in threads:
    thread.start()
begins = [int(line.split("-")[0], 16) for line in open("/proc/self/maps")]
over.set()
print(sum(begin % (64 << 20) == 0 for begin in begins))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only there each thread has a heap of its own")
def test_threads_have_no_heaps_of_their_own() -> None:
    def heaps(*arguments: str) -> int:
        done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=True)
        return int(done.stdout)

    assert heaps() >= 3
    assert heaps("share") == 0
