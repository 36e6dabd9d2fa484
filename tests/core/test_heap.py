"""The heap of the C library, seen from outside: what is asked of it cannot be taken back in this process."""

import subprocess
import sys

import pytest

HEAPS = """
import sys
from threading import Thread, Event
from smith_core.heap import share_one_heap
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


RESIDENT = """
import sys
from pathlib import Path
from smith_core.heap import give_back
blocks = [b"x" * 20_000 for _ in range(1_000)]
del blocks[:-1]
if "back" in sys.argv:
    give_back()
print(int(Path("/proc/self/statm").read_text().split()[1]) * 4096)
"""
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other C libraries keep memory in other ways")


def said_by(program: str, *arguments: str) -> int:
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_threads_have_no_heaps_of_their_own() -> None:
    assert said_by(HEAPS) >= 3
    assert said_by(HEAPS, "share") == 0


def test_what_is_free_is_given_back() -> None:
    assert said_by(RESIDENT) - said_by(RESIDENT, "back") > 15_000_000
