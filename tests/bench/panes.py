"""What child panes cost: four children that stream at once, in a real pseudo terminal."""

import time
from typing import Any

from tests.bench.programs import BASELINE_READY, READY, baseline, paced, smith
from tests.bench.reading import Reading
from tests.bench.timing import cpu_seconds, echoes, exact_threads, in_ms, median, p95
from tests.support.model_steps import Call, Calls, Finish
from tests.support.server_thread import ServerThread

CHILDREN = 4


def four_children(seconds: float = 6.0) -> tuple[Reading, ...]:
    """Key echo and share of one core of the app while four children write at 200 tokens/s each."""
    exact_threads()
    delays, share = _while_streaming(CHILDREN, 200, seconds)
    alone, _ = _while_streaming(0, 200, seconds / 2)
    told = f"p50 {median(delays) * 1000:.0f} ms; beside one answer {in_ms(alone)}"
    return Reading(p95(delays) * 1000, told), Reading(share * 100)


def four_panes(seconds: float = 6.0, rate: float = 50.0) -> tuple[Reading, ...]:
    """Share of one core while four children write at 50 tokens/s each, against four Markdown widgets; nobody types."""
    _, ours = _while_streaming(CHILDREN, rate, seconds, types=False)
    with baseline("markdown_app", int(60 * rate), rate, CHILDREN) as probe:
        probe.wait_for(BASELINE_READY)
        probe.read_for(1.0)
        theirs = _share(probe.process.pid, lambda: probe.read_for(seconds))
    return (Reading(ours / theirs, f"{ours:.0%} against {theirs:.0%} of a core"),)


def _while_streaming(children: int, rate: float, seconds: float, *, types: bool = True) -> tuple[list[float], float]:
    """Return key echoes and the app's share of a core while so many children write, or the turn itself for none."""

    def answer(request: dict[str, Any]) -> Any:
        asked = next(message["content"] for message in request["messages"] if message["role"] == "user")
        if children and str(asked).startswith("go"):
            jobs = [Call(name="dispatch", arguments={"role": "explorer", "task": f"Task {n}"}) for n in range(children)]
            return [Calls(calls=tuple(jobs)), Finish(reason="tool_calls")]
        return paced(int(60 * rate), rate)

    delays: list[float] = []
    with ServerThread(answer) as backend, smith(backend.url) as probe:
        probe.wait_for(READY)
        probe.quiet(0.5, 3.0)
        probe.send(b"go\r")
        backend.wait_for_requests(1 + children)
        probe.wait_for(b"places that round")
        share = _share(
            probe.process.pid,
            lambda: delays.extend(echoes(probe, seconds)) if types else probe.read_for(seconds),
        )
    return delays, share


def _share(process_id: int, action: Any) -> float:
    """Return the share of one core that a process takes while something else is done."""
    spent, began = cpu_seconds(process_id), time.perf_counter()
    action()
    return (cpu_seconds(process_id) - spent) / (time.perf_counter() - began)
