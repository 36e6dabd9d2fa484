"""Whole turns: steps of tools as fast as they go, a thousand of them, and how soon a turn ends that is cancelled."""

import asyncio
import os
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tests.bench.probe import Probe
from tests.bench.programs import READY, paced, smith
from tests.bench.reading import Reading
from tests.bench.timing import echo, median
from tests.support.model_server import RecordedRequest
from tests.support.model_steps import Call, Calls, Finish, Text
from tests.support.server_thread import ServerThread

STEPS = 1_000
_EDGE = 50
_AT_ONCE = 25
_REDRAWN_S = 0.2


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
    """From an answer to the next request: the last fifty steps of a thousand against the first fifty of another app.

    The two apps take turns, 25 steps each, as fast as they go, and the other one is stopped meanwhile: the speed of a
    processor may change by more within seconds than what is looked for here.
    """
    pair = _Pair()
    wide = ("--set", "tool_step_budget=2000")
    with ServerThread(pair.answer) as backend, smith(backend.url, *wide) as long, smith(backend.url, *wide) as short:
        pair.processes = {"long": long.process.pid, "short": short.process.pid}
        for probe in (long, short):
            probe.wait_for(READY)
        try:
            long.send(b"long\r")
            _read_until(lambda: len(backend.requests) > STEPS - _EDGE, long, short)
            short.send(b"short\r")
            _read_until(lambda: pair.is_over, long, short)
        finally:
            pair.let_go()
    gaps = _gaps(backend.requests, pair.answered)
    own, last, first = gaps["long"][:_EDGE], gaps["long"][-_EDGE:], gaps["short"][-_EDGE:]
    told = f"{median(first) * 1000:.1f} → {median(last) * 1000:.1f} ms a step, its own first {median(own) * 1000:.1f}"
    return (Reading(median(last) / median(first), told),)


def _read_until(holds: Callable[[], bool], *probes: Probe, timeout: float = 140.0) -> None:
    end = time.perf_counter() + timeout
    while not holds():
        if time.perf_counter() > end:
            raise TimeoutError(f"still {[bytes(probe.output[-300:]) for probe in probes]}")
        for probe in select.select(probes, [], [], 0.01)[0]:
            probe.read(0.0)


class _Pair:
    """Answers two apps; as soon as the long turn is near its end, they take turns, and the other one is stopped.

    processes: their ids. answered: when the answers to each went out.
    """

    def __init__(self) -> None:
        self.processes: dict[str, int] = {}
        self.answered: dict[str, list[float]] = {"long": [], "short": []}
        self._left = {"long": STEPS, "short": _EDGE}
        self._may_go_on = {name: asyncio.Event() for name in self.answered}

    @property
    def is_over(self) -> bool:
        """Whether both got their last word."""
        return all(left < 0 for left in self._left.values())

    async def answer(self, request: dict[str, Any]) -> Any:
        """Return the next step, or the last word."""
        name = _name(request)
        left = self._left[name]
        if left <= _EDGE and left % _AT_ONCE == 0:
            await self._take_turns(name, "short" if name == "long" else "long")
        self._left[name] -= 1
        self.answered[name].append(time.perf_counter())
        if not left:
            return "done-1"
        return [Calls(calls=(Call(name="bash", arguments={"command": "true"}),)), Finish(reason="tool_calls")]

    async def _take_turns(self, name: str, other: str) -> None:
        self._may_go_on[other].set()
        if self._left[name] or self._left[other] > 0:
            os.kill(self.processes[name], signal.SIGSTOP)
            await self._may_go_on[name].wait()
            self._may_go_on[name].clear()
            os.kill(self.processes[name], signal.SIGCONT)
            # Whoever was stopped draws its screen again first.
            await asyncio.sleep(_REDRAWN_S)

    def let_go(self) -> None:
        """Let both run on; one that has ended is somebody else's to report."""
        for process_id in self.processes.values():
            with suppress(ProcessLookupError):
                os.kill(process_id, signal.SIGCONT)


def _name(request: dict[str, Any]) -> str:
    return str(next(message["content"] for message in request["messages"] if message["role"] == "user"))


def _gaps(requests: list[RecordedRequest], answered: dict[str, list[float]]) -> dict[str, list[float]]:
    """Return the seconds from each answer to the next request of the same app, without the first one.

    The request is there when all of it has come; what the server of the bench takes to read it as JSON, which
    grows with it, is no time of the app; to forget that again counts. The first answer waits for whatever is loaded.
    """
    came: dict[str, list[float]] = {name: [] for name in answered}
    for request in requests:
        came[_name(request.json)].append(request.received_at)
    return {
        name: [later - earlier for earlier, later in zip(times[1:], came[name][2:], strict=False)]
        for name, times in answered.items()
    }


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
