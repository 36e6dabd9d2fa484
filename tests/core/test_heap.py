"""The heap of the C library, seen from outside: what is asked of it cannot be taken back in this process."""

import subprocess
import sys

import pytest

HEAPS = """
import sys
from threading import Thread, Event
from smith_core.heap import keep_little
if "little" in sys.argv:
    keep_little()
over = Event()
threads = [Thread(target=lambda: (bytes(50_000), over.wait())) for _ in range(4)]
for thread in threads:
    thread.start()
begins = [int(line.split("-")[0], 16) for line in open("/proc/self/maps")]
over.set()
print(sum(begin % (64 << 20) == 0 for begin in begins))
"""


END_OF_A_HEAP = """
import sys
from pathlib import Path
from threading import Event, Thread
from smith_core.heap import give_back, keep_little
has_a_heap, goes_on = Event(), Event()
def work():
    kept = bytes(1_000)
    has_a_heap.set()
    goes_on.wait()
    for size in (9_000_000, 20_000_000):
        bytes(size)
    many = [b"x" * 20_000 for _ in range(1_000)]
    many.clear()
thread = Thread(target=work)
thread.start()
has_a_heap.wait()
if "little" in sys.argv:
    keep_little()
goes_on.set()
thread.join()
give_back()
print(int(Path("/proc/self/statm").read_text().split()[1]) * 4096)
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
    assert said_by(HEAPS, "little") == 0


def test_what_is_free_is_given_back() -> None:
    assert said_by(RESIDENT) - said_by(RESIDENT, "back") > 15_000_000


def test_the_end_of_a_heap_is_given_back_after_a_large_text_too() -> None:
    assert said_by(END_OF_A_HEAP) - said_by(END_OF_A_HEAP, "little") > 3_000_000
