"""What is measured: each function drives the real program in a pseudo terminal and returns one figure."""

import asyncio
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from smith_core.llm.host_control import stop_hosts
from smith_core.messages import Message, TurnRecord, TurnResult
from smith_core.store.persistence import open_disk_persistence
from tests.bench.probe import Probe
from tests.support.model_steps import Call, Calls, Finish, Text
from tests.support.server_thread import ServerThread

BIN = Path(sys.executable).parent
READY = b"ype a task"
"""What the empty prompt shows behind the caret; it is drawn when the app takes keys."""


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table; `good` is whether the goal was met."""

    name: str
    value: str
    goal: str
    good: bool


@contextmanager
def smith(url: str, prepare: Callable[[Path], None] = lambda home: None) -> Iterator[Probe]:
    """Run the app against an address, in an empty project and a home that is empty but for what `prepare` makes."""
    with tempfile.TemporaryDirectory() as home:
        project = Path(home) / "project"
        project.mkdir()
        prepare(Path(home))
        environ = {**os.environ, "HOME": home, "XDG_CACHE_HOME": f"{home}/c", "XDG_CONFIG_HOME": f"{home}/k"}
        environ |= {"XDG_DATA_HOME": f"{home}/d", "XDG_STATE_HOME": f"{home}/s", "XDG_RUNTIME_DIR": ""}
        command = [str(BIN / "smith-tui"), "--set", f"llm_config.api_url={url}", "--model", "scripted"]
        try:
            with Probe(command, environ, project) as probe:
                yield probe
        finally:
            stop_hosts(environ)


def start_up(rounds: int = 7) -> Figure:
    """exec → full live paint, against an empty Textual app."""
    ratios, ours = [], []
    for _ in range(rounds):
        with Probe([sys.executable, "-m", "tests.bench.empty_app"], dict(os.environ), Path.cwd()) as empty:
            base = empty.wait_for(b"READY-MARK") - empty.started_at
        with smith("http://127.0.0.1:9/v1") as probe:
            took = probe.wait_for(READY) - probe.started_at
        ratios.append(took / base)
        ours.append(took)
    ratio = statistics.median(ratios)
    return Figure(
        name="exec → full live paint, against an empty Textual app",
        value=f"{ratio:.2f}× ({statistics.median(ours) * 1000:.0f} ms)",
        goal="≤ 1.3×",
        good=ratio <= 1.3,
    )


def keys_while_the_host_starts(seconds: float = 6.0) -> Figure:
    """The slowest echo of a key while the model host imports its library."""
    slowest: list[float] = []
    with smith("http://127.0.0.1:9/v1") as probe:
        ready = probe.wait_for(READY)
        delays = []
        while time.perf_counter() - ready < seconds:
            delays.append(_echo(probe))
            probe.quiet(0.03, 0.05)
        slowest.append(max(delays))
        median = statistics.median(delays)
    return Figure(
        name="key echo while the model host starts, slowest (median)",
        value=f"{slowest[0] * 1000:.0f} ms ({median * 1000:.0f} ms)",
        goal="≤ 50 ms",
        good=slowest[0] <= 0.05,
    )


def _echo(probe: Probe) -> float:
    mark = probe.mark()
    sent = probe.send(b"x")
    return probe.wait_for(b"x", mark) - sent


def enter_to_request(rounds: int = 15) -> Figure:
    """Enter → request on the wire, with the host warm."""
    backend = ServerThread(lambda request: "fine.")
    delays = []
    with smith(backend.url) as probe:
        _warm(probe, backend)
        for number in range(2, rounds + 2):
            probe.quiet(0.2)
            probe.send(b"hello")
            probe.quiet(0.1)
            sent = probe.send(b"\r")
            delays.append(backend.wait_for_requests(number).started_at - sent)
    median = statistics.median(delays)
    return Figure(
        name="Enter → request on the wire, host warm",
        value=f"{median * 1000:.0f} ms",
        goal="≤ 30 ms",
        good=median <= 0.03,
    )


def _warm(probe: Probe, backend: ServerThread) -> None:
    probe.wait_for(READY)
    probe.send(b"warm up\r")
    backend.wait_for_requests(1)
    probe.wait_for(b"fine.")


def cancel_stream(rounds: int = 5) -> Figure:
    """Ctrl+C while an answer streams → the next prompt can be sent."""
    backend = ServerThread(lambda request: [Text(text="word " * 20_000, size=5, rate=200)])
    return _cancel_figure("Ctrl+C → prompt takes keys, stream running", backend, b"word", rounds)


def cancel_tool(rounds: int = 5) -> Figure:
    """Ctrl+C while a command runs → the next prompt can be sent."""
    command = Call(name="bash", arguments={"command": "echo begun; sleep 60"})
    backend = ServerThread(lambda request: [Calls(calls=(command,)), Finish(reason="tool_calls")])
    return _cancel_figure("Ctrl+C → prompt takes keys, tool running", backend, b"begun", rounds)


def _cancel_figure(name: str, backend: ServerThread, running: bytes, rounds: int) -> Figure:
    delays = []
    with smith(backend.url) as probe:
        probe.wait_for(READY)
        for number in range(1, rounds + 1):
            mark = probe.mark()
            probe.send(b"go\r")
            backend.wait_for_requests(number)
            probe.wait_for(running, mark)
            probe.quiet(0.1, 0.3)
            mark = probe.mark()
            sent = probe.send(b"\x03")
            cancelled = probe.wait_for(b"cancelled", mark) - sent
            delays.append(max(cancelled, _echo(probe)))
            probe.send(b"\x7f")
            probe.quiet(0.2)
    median = statistics.median(delays)
    return Figure(name=name, value=f"{median * 1000:.0f} ms", goal="≤ 300 ms", good=median <= 0.3)


def twenty_steps(rounds: int = 5) -> Figure:
    """Twenty instant tool steps, from Enter to the last word on the screen."""

    def script(request: dict[str, Any]) -> Any:
        turn = request["messages"][::-1]
        steps = next(index for index, message in enumerate(turn) if message["role"] == "user") // 2
        call = Call(name="bash", arguments={"command": "true"})
        return [Calls(calls=(call,)), Finish(reason="tool_calls")] if steps < 20 else f"done-{_prompts(request)}"

    backend = ServerThread(script)
    walls = []
    with smith(backend.url) as probe:
        probe.wait_for(READY)
        for number in range(1, rounds + 2):
            probe.quiet(0.3)
            sent = probe.send(b"go\r")
            walls.append(probe.wait_for(f"done-{number}".encode()) - sent)
    median = statistics.median(walls[1:])
    return Figure(name="20 instant tool steps", value=f"{median:.2f} s", goal="≤ 1.0 s", good=median <= 1.0)


def _prompts(request: dict[str, Any]) -> int:
    return sum(message["role"] == "user" for message in request["messages"])


RESUMED_MESSAGES = 20_000
LAST_WORDS = "these-were-the-last-words"


def resume(rounds: int = 5) -> Figure:
    """The last words of a conversation of 20,000 messages on the screen, against an empty start."""
    later, shown = [], []
    with tempfile.TemporaryDirectory() as made:
        asyncio.run(_long_conversation(Path(made)))
        for _ in range(rounds):
            with smith("http://127.0.0.1:9/v1") as probe:
                empty = probe.wait_for(READY) - probe.started_at
            copy = partial(shutil.copytree, made, dirs_exist_ok=True)
            with smith("http://127.0.0.1:9/v1", lambda home, copy=copy: copy(home)) as probe:
                later.append(probe.wait_for(READY) - probe.started_at - empty)
                shown.append(probe.wait_for(LAST_WORDS.encode()) - probe.started_at - empty)
    painted, told = statistics.median(later), statistics.median(shown)
    return Figure(
        name="resume of 20,000 messages: paint (last words) behind an empty start",
        value=f"{painted * 1000:+.0f} ms ({told * 1000:+.0f} ms)",
        goal="≤ 50 ms",
        good=painted <= 0.05,
    )


async def _long_conversation(home: Path) -> None:
    store = open_disk_persistence(home / "d" / "smith")
    half = RESUMED_MESSAGES // 200
    for number in range(100):
        texts = [f"message {number}-{index} " + "word " * 20 for index in range(half * 2)]
        texts[-1] = LAST_WORDS if number == 99 else texts[-1]
        messages = tuple(
            Message(role="assistant" if index % 2 else "user", content=text) for index, text in enumerate(texts)
        )
        result = TurnResult(turn_id=f"t{number}", conversation_id="long", role="direct", stop_reason="completed")
        record = TurnRecord(
            turn_id=result.turn_id,
            conversation_id="long",
            project_id="p",
            cwd="/",
            started_at=float(number),
            messages=messages,
            result=result,
        )
        await store.persist_turn(record)
    await store.aclose()


FIGURES = (start_up, keys_while_the_host_starts, enter_to_request, cancel_stream, cancel_tool, twenty_steps, resume)
