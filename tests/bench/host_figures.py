"""What the model host costs and saves: time to the first request, CPU per chunk, load of a stream, memory."""

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
import psutil

from smith_core.llm.host_control import running_hosts, stop_hosts
from smith_core.llm.protocol import Endpoint, ModelRequest
from smith_core.messages import Message
from tests.bench.figures import BIN, READY, Figure, smith
from tests.bench.probe import Probe
from tests.support.model_steps import Finish, Raw, Text
from tests.support.server_thread import ServerThread

BURST = 20_000
WRAPPED_BURST = 4_000
LAST_WORD = "#ALL#WRITTEN#"
"""No letter of it stands on the screen before, so that it is drawn whole."""


def _chunk(content: str, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": finish}
    entry = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: " + msgspec.json.encode(entry) + b"\n\n"


def _burst(count: int) -> list[Any]:
    """Return an answer of so many tokens, rendered before, one write for each."""
    words = (_chunk(f" tok{index}" + "\n" * (index % 12 == 11)) for index in range(count))
    return [Raw(data) for data in (*words, _chunk(f"\n{LAST_WORD}"), _chunk("", "stop"))]


@contextmanager
def _home(url: str) -> Iterator[tuple[list[str], dict[str, str]]]:
    with tempfile.TemporaryDirectory() as home:
        environ = {**os.environ, "HOME": home, "XDG_RUNTIME_DIR": ""}
        environ |= {f"XDG_{kind}_HOME": f"{home}/{kind}" for kind in ("CACHE", "CONFIG", "DATA", "STATE")}
        command = [str(BIN / "smith-tui"), "--set", f"llm_config.api_url={url}", "--model", "scripted", "run", "hello"]
        try:
            yield command, environ
        finally:
            stop_hosts(environ)


def first_request(rounds: int = 9) -> Figure:
    """exec of `smith-tui run` → its request on the wire, with a host waiting; and the first start, without."""
    backend = ServerThread(lambda request: "fine.")
    delays = []
    with _home(backend.url) as (command, environ):
        for number in range(1, rounds + 2):
            started = time.perf_counter()
            done = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            delays.append(backend.wait_for_requests(number).started_at - started)
            done.wait(30)
            if number == 1:
                # Warm means that nothing is left to be loaded.
                while not all(report.status and report.status.is_ready for report in running_hosts(environ)):
                    time.sleep(0.1)
    cold, warm = delays[0], statistics.median(delays[1:])
    return Figure(
        name="smith-tui run: exec → request on the wire, host waiting (none)",
        value=f"{warm * 1000:.0f} ms ({cold * 1000:.0f} ms)",
        goal="≤ 300 ms",
        good=warm <= 0.3,
    )


def first_request_of_the_app(rounds: int = 5) -> Figure:
    """exec of the app → the request of a prompt that was typed at once, with a host waiting."""
    backend = ServerThread(lambda request: "fine.")
    delays = []
    with smith(backend.url) as first:
        first.wait_for(READY)
        first.send(b"hello\r")
        backend.wait_for_requests(1)
        for number in range(2, rounds + 2):
            with Probe([*first.command, "--new"], first.environ, first.cwd) as probe:
                probe.wait_for(READY)
                probe.send(b"hello\r")
                delays.append(backend.wait_for_requests(number).started_at - probe.started_at)
    median = statistics.median(delays)
    return Figure(
        name="app: exec → request of a prompt that is typed at once, host waiting",
        value=f"{median * 1000:.0f} ms",
        goal="",
        good=True,
    )


def chunk_cost(rounds: int = 5) -> Figure:
    """CPU per chunk, from bytes to parts: the cheap way and litellm's wrapper, against a bare reader of the bytes."""
    answers = {"m": _burst(BURST), "wrapped": _burst(WRAPPED_BURST)}
    backend = ServerThread(lambda request: answers[request["model"]])
    return asyncio.run(_chunk_cost(backend.url, rounds))


async def _chunk_cost(url: str, rounds: int) -> Figure:
    from smith_core.llm import provider

    def request(model: str) -> ModelRequest:
        return ModelRequest(
            model=model, messages=(Message(role="user", content="x"),), endpoint=Endpoint(api_url=url, api_key="k")
        )

    async def cheap() -> None:
        await provider.complete(request("m"), lambda parts: None)

    async def wrapped() -> None:
        await provider.complete(request("wrapped"), lambda parts: None, use_wrapper=True)

    async def raw() -> None:
        body = {"model": "m", "messages": [], "stream": True}
        async with httpx.AsyncClient() as client, client.stream("POST", f"{url}/chat/completions", json=body) as answer:
            async for line in answer.aiter_lines():
                if line.startswith("data: {"):
                    msgspec.json.decode(line[6:])

    await wrapped()
    bare = await _microseconds(raw, BURST, rounds)
    ours = await _microseconds(cheap, BURST, rounds)
    theirs = await _microseconds(wrapped, WRAPPED_BURST, rounds)
    return Figure(
        name="host: CPU per chunk, cheap way / litellm's wrapper (bare reader)",
        value=f"{ours:.0f} µs / {theirs:.0f} µs ({bare:.0f} µs)",
        goal="≤ 40 / ≤ 600 µs",
        good=ours <= 40 and theirs <= 600,
    )


async def _microseconds(work: Callable[[], Awaitable[None]], count: int, rounds: int) -> float:
    costs = []
    for _ in range(rounds):
        before = time.thread_time()
        await work()
        costs.append((time.thread_time() - before) / count * 1e6)
    return statistics.median(costs)


class _Load:
    """CPU seconds that the app and its host have used."""

    def __init__(self, probe: Probe) -> None:
        (report,) = running_hosts(probe.environ)
        assert report.status is not None
        self.host = psutil.Process(report.status.pid)
        self.app = psutil.Process(probe.process.pid)

    def seconds(self) -> tuple[float, float]:
        """Return those of the app and those of the host."""
        times = (self.app.cpu_times(), self.host.cpu_times())
        return tuple(spent.user + spent.system for spent in times)  # type: ignore[return-value]


def burst(rounds: int = 5) -> Figure:
    """20,000 tokens as fast as they can be sent: from Enter to the last word, and the CPU of app and host."""
    answer = _burst(BURST)
    backend = ServerThread(lambda request: answer if "go" in request["messages"][-1]["content"] else "fine.")
    walls, apps, hosts = [], [], []
    with smith(backend.url) as probe:
        load = _warm(probe, backend)
        for _ in range(rounds):
            probe.send(b"/new\r")
            probe.quiet(0.5)
            before, mark = load.seconds(), probe.mark()
            sent = probe.send(b"go\r")
            walls.append(probe.wait_for(LAST_WORD.encode(), mark, 60) - sent)
            probe.quiet(0.3)
            app, host = (after - earlier for after, earlier in zip(load.seconds(), before, strict=True))
            apps.append(app)
            hosts.append(host)
    wall, cpu = statistics.median(walls), statistics.median(map(sum, zip(apps, hosts, strict=True)))
    return Figure(
        name="20,000 tokens as fast as sent: wall / CPU (app + host)",
        value=f"{wall:.2f} s / {cpu:.2f} s ({statistics.median(apps):.2f} + {statistics.median(hosts):.2f})",
        goal="≤ 1.2 s / ≤ 1.4 s",
        good=wall <= 1.2 and cpu <= 1.4,
    )


def first_character(rounds: int = 15) -> Figure:
    """The server's first byte → the first character on the screen; counted from the request, so a little too long."""
    backend = ServerThread(lambda request: f"{_marks(len(request['messages']))} is the answer")
    delays = []
    with smith(backend.url) as probe:
        _warm(probe, backend, _marks(2))
        for number in range(2, rounds + 2):
            mark = probe.mark()
            probe.send(b"hello\r")
            began = backend.wait_for_requests(number).started_at
            delays.append(probe.wait_for(_marks(2 * number).encode(), mark) - began)
            probe.quiet(0.3)
    median = statistics.median(delays)
    return Figure(
        name="server's first byte → first character on screen",
        value=f"{median * 1000:.0f} ms (slowest {max(delays) * 1000:.0f} ms)",
        goal="≤ 40 ms",
        good=median <= 0.04,
    )


def _marks(count: int) -> str:
    """Return a word that the screen has not shown before, so that it is drawn whole."""
    return f"#{count:03d}#"


def steady(seconds: float = 10.0) -> Figure:
    """200 tokens a second: the share of one core that app and host take together."""
    # Prose: a paragraph of sixty tokens every 300 ms.
    count = int(200 * seconds * 1.5)
    text = "".join(f"tok{index % 10_000:04d}" + ("\n" if index % 60 > 57 else " ") for index in range(count))
    backend = ServerThread(
        lambda request: (
            [Text(text, size=8, rate=200), Finish()] if "go" in request["messages"][-1]["content"] else "fine."
        )
    )
    with smith(backend.url) as probe:
        load = _warm(probe, backend)
        probe.send(b"go\r")
        probe.wait_for(b"tok0")
        probe.quiet(1.0, 1.0)
        before, began = load.seconds(), time.perf_counter()
        probe.quiet(seconds, seconds)
        took = time.perf_counter() - began
        app, host = ((after - earlier) / took for after, earlier in zip(load.seconds(), before, strict=True))
    return Figure(
        name="200 tokens/s: share of one core, app + host",
        value=f"{app + host:.0%} ({app:.0%} + {host:.0%})",
        goal="≤ 20 %",
        good=app + host <= 0.2,
    )


def memory() -> Figure:
    """Resident memory of the app with its host running, against an empty Textual app; and that of the host."""
    backend = ServerThread(lambda request: "fine.")
    with Probe([sys.executable, "-m", "tests.bench.empty_app"], dict(os.environ), Path.cwd()) as empty:
        empty.wait_for(b"READY-MARK")
        empty.quiet(1.0)
        base = psutil.Process(empty.process.pid).memory_info().rss
    with smith(backend.url) as probe:
        load = _warm(probe, backend)
        app, host = (process.memory_info().rss for process in (load.app, load.host))
    return Figure(
        name="app with host: resident memory, against an empty Textual app (host)",
        value=f"{app / base:.2f}× = {app / 1e6:.0f} MB ({host / 1e6:.0f} MB)",
        goal="≤ 1.6×",
        good=app / base <= 1.6,
    )


def _warm(probe: Probe, backend: ServerThread, answer: str = "fine.") -> _Load:
    probe.wait_for(READY)
    probe.send(b"hello\r")
    backend.wait_for_requests(1)
    probe.wait_for(answer.encode())
    probe.quiet(1.0)
    return _Load(probe)


HOST_FIGURES = (first_request, first_request_of_the_app, first_character, chunk_cost, burst, steady, memory)
