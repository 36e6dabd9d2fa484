"""Taking times: of an action, of keys and their echoes, of processor time, and the usual summaries."""

import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.bench.probe import Probe

KEY = b"~"
"""A sign that no answer and no escape sequence of the app holds."""

KEY_PAUSE_S = 0.06
_SETTLED_S = 0.15
"""A screen on which nothing was written for so long is settled."""


def timed(action: Callable[[], object]) -> float:
    """Return the seconds that an action took."""
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def median(values: Iterable[float]) -> float:
    """Return the median."""
    return statistics.median(values)


def p95(values: list[float]) -> float:
    """Return what one in twenty is greater than."""
    return statistics.quantiles(values, n=20)[-1]


def p99(values: list[float]) -> float:
    """Return what one in a hundred is greater than."""
    return sorted(values)[int(len(values) * 0.99)]


def in_ms(values: list[float]) -> str:
    """Return median and p95 of seconds, in words."""
    return f"p50 {median(values) * 1000:.0f} ms, p95 {p95(values) * 1000:.0f} ms"


def exact_threads() -> None:
    """Let the thread of a scripted server not hold up the one that takes the times; Python's default is 5 ms."""
    sys.setswitchinterval(0.0005)


def cpu_seconds(process_id: int) -> float:
    """Return the processor time that a process has used, in hundredths of a second, with ended threads."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_bytes(process_id: int) -> int:
    """Return the resident memory of a process."""
    return int(Path(f"/proc/{process_id}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def echo(probe: Probe, key: bytes = KEY) -> float:
    """Return the seconds from a key to its sign on the screen."""
    mark = probe.mark()
    sent = probe.send(key)
    return probe.wait_for(key, mark) - sent


def echoes(probe: Probe, seconds: float, pause: float = KEY_PAUSE_S) -> list[float]:
    """Type a key again and again for a while, and return how long each took to come back."""
    end = time.perf_counter() + seconds
    delays = []
    while time.perf_counter() < end:
        delays.append(echo(probe))
        probe.read_for(pause)
    return delays


def answered(probe: Probe, keys: bytes, wanted: bytes = b"\x1b[") -> float:
    """Return the seconds from keys to what they put on the screen, to anything at all without `wanted`."""
    mark = probe.mark()
    sent = probe.send(keys)
    return probe.wait_for(wanted, mark) - sent


def settled(probe: Probe, keys: bytes) -> float:
    """Return how long after some keys the last of what they change was written."""
    sent = last = probe.send(keys)
    while probe.read(_SETTLED_S):
        last = time.perf_counter()
    return last - sent
