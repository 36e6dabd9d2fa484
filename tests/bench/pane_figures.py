"""What child panes cost: four children that stream at once, in a real pseudo terminal."""

import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any

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


def _dispatching(request: dict[str, Any]) -> Any:
    """The parent dispatches the children; each of them writes for longer than is measured."""
    asked = next(message["content"] for message in request["messages"] if message["role"] == "user")
    if not str(asked).startswith("go"):
        text = "\n\n".join([PROSE] * 60)
        return [Text(text=text, size=TOKEN_CHARS, rate=TOKENS_PER_SECOND), Finish()]
    jobs = [Call(name="dispatch", arguments={"role": "explorer", "task": f"Task {n}"}) for n in range(CHILDREN)]
    return [Calls(calls=tuple(jobs)), Finish(reason="tool_calls")]


def four_children(seconds: float = SECONDS) -> Figure:
    """Key echo and share of one core of the app while four children write; the model host is a process of its own."""
    # The server's thread must not hold up the one that takes the times; Python lets a thread run for 5 ms by default.
    sys.setswitchinterval(0.0005)
    backend = ServerThread(_dispatching)
    with smith(backend.url) as probe:
        probe.wait_for(READY)
        probe.quiet(0.5)
        probe.send(b"go\r")
        backend.wait_for_requests(1 + CHILDREN)
        probe.quiet(0.05, 2.0)
        written, used, began = probe.mark(), _cpu_s(probe), time.perf_counter()
        delays = _echoes(probe, began + seconds)
        wall = time.perf_counter() - began
        share = (_cpu_s(probe) - used) / wall
        rate = (probe.mark() - written) / wall / 1000
    empty = _empty_echo()
    p50, p95 = statistics.median(delays), statistics.quantiles(delays, n=20)[-1]
    print(f"  {len(delays)} keys, {rate:.0f} kB/s to the terminal, load {os.getloadavg()[0]:.1f}", file=sys.stderr)
    return Figure(
        name="four children at 200 tokens/s: key echo p95 (p50), share of a core",
        value=f"{p95 * 1000:.0f} ms ({p50 * 1000:.0f} ms, {p50 / empty:.1f}× empty app), {share:.0%}",
        goal="≤ 40 ms, ≤ 60 %",
        good=p95 <= 0.04 and share <= 0.6,
    )


def _echoes(probe: Probe, until: float) -> list[float]:
    """Type a key every 60 ms or so and return how long each took to come back; every tenth empties the prompt."""
    delays = []
    while time.perf_counter() < until:
        mark = probe.mark()
        sent = probe.send(KEY)
        delays.append(probe.wait_for(KEY, mark) - sent)
        # A key that is taken away again, so that the prompt stays one row high.
        probe.send(b"\x7f")
        probe.quiet(0.06, 0.06)
    return delays


def _empty_echo(keys: int = 40) -> float:
    """Median echo of an idle app of the toolkit with one input field, in seconds."""
    with smith("http://127.0.0.1:9/v1") as probe:
        probe.wait_for(READY)
        probe.quiet(2.0, 4.0)
        return statistics.median(_echoes(probe, time.perf_counter() + keys * 0.07))


def _cpu_s(probe: Probe) -> float:
    """Seconds of processor time that the app itself has used."""
    fields = Path(f"/proc/{probe.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


PANE_FIGURES = (four_children,)
