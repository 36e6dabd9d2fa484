"""Whole turns: steps of tools as fast as they go, a thousand of them, and how soon a turn ends that is cancelled."""

import time
from typing import Any

from tests.bench.programs import READY, paced, smith
from tests.bench.reading import Reading
from tests.bench.timing import echo, median
from tests.support.model_steps import Call, Calls, Finish, Text
from tests.support.server_thread import ServerThread

STEPS = 1_000
_EDGE = 50


def _steps(count: int) -> Any:
    """Return a script that asks for so many commands, each in an answer of its own, and then says done."""

    def script(request: dict[str, Any]) -> Any:
        turn = request["messages"][::-1]
        steps = next(index for index, message in enumerate(turn) if message["role"] == "user") // 2
        prompts = sum(message["role"] == "user" for message in turn)
        call = Call(name="bash", arguments={"command": "true"})
        return [Calls(calls=(call,)), Finish(reason="tool_calls")] if steps < count else f"done-{prompts}"

    return script


def twenty_steps(rounds: int = 7) -> tuple[Reading, ...]:
    """Twenty instant tool steps, from Enter to the last word on the screen."""
    walls = []
    with ServerThread(_steps(20)) as backend, smith(backend.url) as probe:
        probe.wait_for(READY)
        for number in range(1, rounds + 2):
            probe.quiet(0.3)
            sent = probe.send(b"go\r")
            walls.append(probe.wait_for(f"done-{number}".encode()) - sent)
    return (Reading(median(walls[1:]), f"slowest {max(walls[1:]):.2f} s"),)


def thousand_steps() -> tuple[Reading, ...]:
    """From an answer to the next request in a turn of a thousand steps: the last fifty against the first fifty.

    The first fifty of another app, right behind the last ones, count as much as its own: the speed of a processor may
    change by more within the turn than what is looked for here.
    """
    gaps = _gaps(STEPS)
    before, last, behind = (median(part) for part in (gaps[:_EDGE], gaps[-_EDGE:], _gaps(_EDGE + 2)[:_EDGE]))
    first = (before + behind) / 2
    told = f"{before * 1000:.0f} and {behind * 1000:.0f} → {last * 1000:.0f} ms a step"
    return (Reading(last / first, told),)


def _gaps(count: int) -> list[float]:
    """Return the seconds from each answer of a turn of so many steps to the next request, without the first one.

    The request is there when all of it has come; what the server of the bench takes to read it as JSON and to forget
    that again, which grows with it, is no time of the app.
    """
    answered = []
    held: list[Any] = []
    steps = _steps(count)

    def script(request: dict[str, Any]) -> Any:
        held[:] = [request]
        answer = steps(request)
        answered.append(time.perf_counter())
        return answer

    with ServerThread(script) as backend, smith(backend.url, "--set", "tool_step_budget=2000") as probe:
        probe.wait_for(READY)
        probe.send(b"go\r")
        probe.wait_for(b"done-1", timeout=140)
        came = [request.received_at for request in backend.requests]
    # The first answer waits for whatever is loaded with it.
    return [later - earlier for earlier, later in zip(answered[1:], came[2:], strict=False)]


def cancel_stream(rounds: int = 5) -> tuple[Reading, ...]:
    """Ctrl+C while an answer streams → the next prompt can be typed."""
    return _cancelled([Text(text="word " * 20_000, size=5, rate=200)], b"word", rounds)


def cancel_tool(rounds: int = 5) -> tuple[Reading, ...]:
    """Ctrl+C while a command runs → the next prompt can be typed."""
    command = Call(name="bash", arguments={"command": "echo begun; sleep 60"})
    return _cancelled([Calls(calls=(command,)), Finish(reason="tool_calls")], b"begun", rounds)


def _cancelled(answer: list[Any], running: bytes, rounds: int) -> tuple[Reading, ...]:
    delays = []
    with ServerThread(lambda request: answer) as backend, smith(backend.url) as probe:
        probe.wait_for(READY)
        for number in range(1, rounds + 1):
            mark = probe.mark()
            probe.send(b"go\r")
            backend.wait_for_requests(number)
            probe.wait_for(running, mark)
            probe.quiet(0.1, 0.3)
            mark, sent = probe.mark(), probe.send(b"\x03")
            cancelled = probe.wait_for(b"cancelled", mark) - sent
            delays.append(max(cancelled, echo(probe, b"x")))
            probe.send(b"\x7f")
            probe.quiet(0.2)
    return (Reading(median(delays) * 1000, f"slowest {max(delays) * 1000:.0f} ms"),)


def cancel_children(rounds: int = 3, children: int = 4) -> tuple[Reading, ...]:
    """Ctrl+C while four children write → the server has lost all of them; and the requests that still come."""
    delays, further = [], 0

    def script(request: dict[str, Any]) -> Any:
        asked = [str(message["content"]) for message in request["messages"] if message["role"] == "user"]
        if asked[-1].startswith("go"):
            jobs = [Call(name="dispatch", arguments={"role": "explorer", "task": f"Task {n}"}) for n in range(children)]
            return [Calls(calls=tuple(jobs)), Finish(reason="tool_calls")]
        return paced(20_000)

    with ServerThread(script) as backend, smith(backend.url, "--role", "orchestrator") as probe:
        probe.wait_for(READY)
        for _ in range(rounds):
            before = len(backend.requests)
            probe.quiet(0.3, 3.0)
            probe.send(b"go\r")
            backend.wait_for_requests(before + 1 + children)
            probe.read_for(1.0)
            running = backend.requests[before + 1 :]
            sent = probe.send(b"\x03")
            for request in running:
                backend.wait_until_gone(request)
            delays.append(max(request.gone_at for request in running) - sent)
            asked, until = len(backend.requests), time.perf_counter() + 1.0
            probe.read_for(until - time.perf_counter())
            further += len(backend.requests) - asked
    return Reading(max(delays) * 1000), Reading(further)
