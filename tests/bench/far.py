"""The app at the far end of a slow line: 200 ms each way and 50 KB a second, as over ssh by a poor network."""

import os
import queue
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.bench.probe import COLUMNS, Probe
from tests.bench.programs import READY, new_home, smith, streaming
from tests.bench.reading import Reading
from tests.bench.start import LIVE, keep_picture
from tests.bench.timing import echo, echoes, exact_threads, in_ms, median, p95

DELAY_S = 0.2
LINE_MS = 2 * DELAY_S * 1000
"""What a key and its echo take on the way."""
RATE = 50_000
"""Bytes of output that the line carries in a second."""
_SENT_AHEAD = 16_384
"""Bytes that the near end takes while the line is busy, as ssh and the kernel do; then the program has to wait."""


class FarProbe(Probe):
    """A terminal whose keys and output are on their way for a while; what is read has arrived."""

    delay_s = DELAY_S

    def __init__(self, command: Sequence[str], environ: Mapping[str, str], cwd: Path, columns: int = COLUMNS) -> None:
        super().__init__(command, environ, cwd, columns)
        self._keys: queue.Queue[tuple[float, bytes]] = queue.Queue()
        self._arrived = threading.Condition()
        self._on_the_way: deque[tuple[float, bytes]] = deque()
        for carry in (self._carry_keys, self._carry_output):
            threading.Thread(target=carry, args=(os.dup(self._master),), daemon=True).start()

    def send(self, keys: bytes) -> float:
        """Type keys, which arrive later; return the time."""
        at = time.perf_counter()
        self._keys.put((at + self.delay_s, keys))
        return at

    def read(self, timeout: float) -> bool:
        """Read what has arrived, or arrives within so many seconds; return whether anything has."""
        end = time.perf_counter() + timeout
        with self._arrived:
            while True:
                now = time.perf_counter()
                due = self._on_the_way[0][0] if self._on_the_way else end
                if self._on_the_way and due <= now:
                    self.output += self._on_the_way.popleft()[1]
                    return True
                if now >= end:
                    return False
                self._arrived.wait(min(due, end) - now)

    def _carry_keys(self, master: int) -> None:
        try:
            while True:
                due, keys = self._keys.get()
                time.sleep(max(0.0, due - time.perf_counter()))
                os.write(master, keys)
        except OSError:
            os.close(master)

    def _carry_output(self, master: int) -> None:
        free_at = 0.0
        try:
            while data := os.read(master, 1024):
                free_at = max(free_at, time.perf_counter()) + len(data) / RATE
                with self._arrived:
                    self._on_the_way.append((free_at + self.delay_s, data))
                    self._arrived.notify()
                time.sleep(max(0.0, free_at - time.perf_counter() - _SENT_AHEAD / RATE))
        except OSError:
            pass  # the program has ended
        os.close(master)


def far_start(rounds: int = 5) -> tuple[Reading, ...]:
    """What the line adds to exec → first ink and → live paint, with the kept picture of an earlier start.

    Of the fastest starts: the line adds the same each time, and what other programs add is no figure of it.
    """
    times: dict[tuple[type[Probe], bytes], list[float]] = {}
    with new_home() as home:
        keep_picture(home)
        for _ in range(rounds):
            for kind in (Probe, FarProbe):
                with smith(home=home, kind=kind) as probe:
                    for sign in (READY, LIVE):
                        times.setdefault((kind, sign), []).append(probe.wait_for(sign) - probe.started_at)
                    size = probe.mark()
    ink, live = (min(times[FarProbe, sign]) - min(times[Probe, sign]) - DELAY_S for sign in (READY, LIVE))
    told = f"near {min(times[Probe, LIVE]) * 1000:.0f} ms; {size:,} bytes until then"
    return Reading(ink * 1000), Reading(live * 1000, told)


def far_echo(seconds: float = 6.0) -> tuple[Reading, ...]:
    """Key echo idle and while an answer comes: what the line adds to a near one, besides its own 400 ms.

    Then with pages turning, behind the line's own 400 ms; and what the answer writes in a second.
    """
    exact_threads()
    idle: dict[type[Probe], list[float]] = {}
    busy: dict[type[Probe], list[float]] = {}
    for kind in (Probe, FarProbe):
        with smith(kind=kind) as probe:
            probe.wait_for(READY)
            probe.quiet(1.0, 8.0)
            idle[kind] = echoes(probe, seconds)
    for kind in (Probe, FarProbe):
        with streaming(kind=kind) as probe:
            probe.read_for(1.0)
            began, mark = time.perf_counter(), probe.mark()
            busy[kind] = echoes(probe, seconds)
            written = (probe.mark() - mark) / (time.perf_counter() - began)
            turning = _with_pages_turning(probe)
    added = (_added(idle), _added(busy))
    return *added, Reading(p95(turning) * 1000 - LINE_MS, in_ms(turning)), Reading(written)


def _added(delays: dict[type[Probe], list[float]]) -> Reading:
    near, far = delays[Probe], delays[FarProbe]
    return Reading((p95(far) - p95(near)) * 1000 - LINE_MS, f"far {in_ms(far)}; near {in_ms(near)}")


def _with_pages_turning(probe: Probe, pages: int = 12) -> list[float]:
    delays = []
    for number in range(pages):
        probe.send(b"\x1b[6~" if number % 2 else b"\x1b[5~")
        delays.append(echo(probe))
        probe.read_for(0.3)
    return delays


def far_cancel(rounds: int = 3) -> tuple[Reading, ...]:
    """Ctrl+C while an answer comes → what says so, behind the line's own 400 ms."""
    exact_threads()
    delays = []
    for _ in range(rounds):
        with streaming(kind=FarProbe) as probe:
            probe.read_for(1.0)
            mark, sent = probe.mark(), probe.send(b"\x03")
            delays.append(probe.wait_for(b"cancelled", mark) - sent)
    told = f"slowest {max(delays) * 1000 - LINE_MS:.0f} ms"
    return (Reading(median(delays) * 1000 - LINE_MS, told),)
