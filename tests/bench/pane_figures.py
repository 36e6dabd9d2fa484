"""What child panes cost: four children that stream at once, in a real pseudo terminal."""

import os
import statistics
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tests.bench.figures import READY, Figure, smith
from tests.bench.probe import Probe
from tests.support.children import PROSE
from tests.support.model_steps import Call, Calls, Finish, Text
from tests.support.server_thread import ServerThread

CHILDREN = 4
TOKENS_PER_SECOND = 200
TOKEN_CHARS = 4
SECONDS = 10.0
KEY = b"~"
"""A sign that no child writes and no escape sequence of the app holds."""
_TICKS = os.sysconf("SC_CLK_TCK")


class Load(NamedTuple):
    """What was measured while something streamed: seconds from key to echo, and the app's share of one core."""

    delays: list[float]
    share: float

    @property
    def p95(self) -> float:
        """The echo that one in twenty is slower than, in seconds."""
        return statistics.quantiles(self.delays, n=20)[-1]


def four_children(seconds: float = SECONDS) -> Figure:
    """Key echo and share of one core of the app while four children write; the model host is a process of its own."""
    # The server's thread must not hold up the one that takes the times; Python lets a thread run for 5 ms by default.
    sys.setswitchinterval(0.0005)
    four, one = _while_streaming(CHILDREN, seconds), _while_streaming(0, seconds / 2)
    median = statistics.median(four.delays)
    return Figure(
        name="four children at 200 tokens/s: key echo p95 (p50, p95 against one answer), CPU",
        value=f"{four.p95 * 1000:.0f} ms ({median * 1000:.0f} ms, {four.p95 / one.p95:.1f}×), {four.share:.0%}",
        goal="≤ 40 ms, ≤ 60 %",
        good=four.p95 <= 0.04 and four.share <= 0.6,
    )


def _while_streaming(children: int, seconds: float) -> Load:
    """Type while so many children write at once, or the answer of the turn itself when there are none."""
    backend = ServerThread(partial(_answer, children))
    with smith(backend.url) as probe:
        probe.wait_for(READY)
        probe.quiet(0.5)
        probe.send(b"go\r")
        backend.wait_for_requests(1 + children)
        probe.wait_for(b"places that round")
        used, began = _cpu_s(probe), time.perf_counter()
        delays = _echoes(probe, began + seconds)
        share = (_cpu_s(probe) - used) / (time.perf_counter() - began)
    backend.stop()
    return Load(delays, share)


def _answer(children: int, request: dict[str, Any]) -> Any:
    """Who was asked to go dispatches the children; anybody else writes for longer than is measured."""
    asked = next(message["content"] for message in request["messages"] if message["role"] == "user")
    if children and str(asked).startswith("go"):
        jobs = [Call(name="dispatch", arguments={"role": "explorer", "task": f"Task {n}"}) for n in range(children)]
        return [Calls(calls=tuple(jobs)), Finish(reason="tool_calls")]
    return [Text(text="\n\n".join([PROSE] * 60), size=TOKEN_CHARS, rate=TOKENS_PER_SECOND), Finish()]


def _echoes(probe: Probe, until: float) -> list[float]:
    """Type a key every 60 ms or so and return how long each took to come back, in seconds."""
    delays = []
    while time.perf_counter() < until:
        mark = probe.mark()
        sent = probe.send(KEY)
        delays.append(probe.wait_for(KEY, mark) - sent)
        probe.quiet(0.06, 0.06)
    return delays


def _cpu_s(probe: Probe) -> float:
    """Seconds of processor time that the app itself has used."""
    fields = Path(f"/proc/{probe.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


PANE_FIGURES = (four_children,)
