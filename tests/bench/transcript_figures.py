"""What long output, long conversations and streaming cost the screen, in a real pseudo terminal."""

import asyncio
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from smith_core.messages import Message, TurnRecord, TurnResult
from smith_core.store.persistence import open_disk_persistence
from tests.bench.figures import READY, Figure, smith
from tests.bench.pane_figures import TOKEN_CHARS, _cpu_s, _echoes
from tests.bench.probe import Probe
from tests.support.children import PROSE
from tests.support.model_steps import Call, Calls, Finish, Text
from tests.support.server_thread import ServerThread

MEGABYTE = 1_000_000
STREAM_S = 8.0
MANY, LONG, SHORT = 100_000, 5_000, 100
_EMPTY_LINE = b"\x15"
_PAGE_UP = b"\x1b[5~"
_LAST_WORDS = b"these-were-the-last-words"


def cat_20_mb(rounds: int = 5) -> Figure:
    """A command that prints 20 MB: from its start until its last line is on the screen, the output pane open."""
    command = f"{sys.executable} -c \"print(('x' * 69 + chr(10)) * 285714, end='')\"; echo last-line-$((1+1))"
    walls = []
    with _running(command, rounds) as (_, run):
        for _ in range(rounds):
            walls.append(run(b"last-line-2"))
    bare = statistics.median(_bare(command) for _ in range(rounds))
    median = statistics.median(walls)
    return Figure(
        name="20 MB printed, until the last line is shown (the command alone)",
        value=f"{median:.2f} s ({bare:.2f} s)",
        goal="≤ 1.0 s more",
        good=median - bare <= 1.0,
    )


def flood_200_mb() -> Figure:
    """B18: a command that prints 200 MB while keys are typed: how long it takes, memory, the slowest key."""
    sys.setswitchinterval(0.0005)
    with _running("yes | head -c 200000000; echo last-line-$((1+1))", 1) as (probe, run):
        before = _rss(probe)
        delays: list[float] = []
        peak = before

        def typing() -> None:
            nonlocal peak
            delays.extend(_echoes(probe, time.perf_counter() + 0.5))
            peak = max(peak, _rss(probe))
            probe.send(_EMPTY_LINE)
            probe.quiet(0.05, 0.1)

        wall = run(b"last-line-2", typing)
    return Figure(
        name="200 MB printed while keys are typed: time, memory, slowest key",
        value=f"{wall:.1f} s, +{(peak - before) / MEGABYTE:.0f} MB, {max(delays) * 1000:.0f} ms",
        goal="≤ 20 s, < 300 MB, ≤ 200 ms",
        good=wall <= 20 and peak - before < 300 * MEGABYTE and max(delays) <= 0.2,
    )


def many_messages(rounds: int = 3, presses: int = 60) -> Figure:
    """A conversation of 100,000 messages: shown behind an empty start, memory, and a page up."""
    starts, empties, sizes, pages = [], [], [], []
    for _ in range(rounds):
        with smith("http://127.0.0.1:9/v1") as probe:
            probe.wait_for(READY)
            empties.append(probe.wait_for(b"idle") - probe.started_at)
            probe.quiet(2.0)
            sizes.append(-_rss(probe))
        with smith("http://127.0.0.1:9/v1", partial(_write_conversation, MANY)) as probe:
            starts.append(probe.wait_for(_LAST_WORDS) - probe.started_at)
            probe.quiet(2.0)
            sizes[-1] += _rss(probe)
            for _ in range(presses):
                mark = probe.mark()
                pressed = probe.send(_PAGE_UP)
                pages.append(probe.wait_for(b"\x1b[", mark) - pressed)
                probe.quiet(0.05)
    later = statistics.median(starts) - statistics.median(empties)
    page = statistics.quantiles(pages, n=20)[-1]
    return Figure(
        name=f"{MANY:,} messages: shown behind an empty start, memory, page up p95",
        value=f"{later:+.2f} s, +{statistics.median(sizes) / MEGABYTE:.0f} MB, {page * 1000:.0f} ms",
        goal="≤ 1.0 s, ≤ 300 MB, ≤ 30 ms",
        good=later <= 1.0 and statistics.median(sizes) <= 300 * MEGABYTE and page <= 0.03,
    )


def history(rounds: int = 3) -> Figure:
    """Processor time of a streamed answer behind 5,000 messages against 100, and memory against an empty start."""
    short, long, sizes = [], [], []
    for _ in range(rounds):
        with smith("http://127.0.0.1:9/v1") as probe:
            probe.wait_for(READY)
            probe.quiet(2.0)
            empty = _rss(probe)
        short.append(_stream_behind(SHORT)[0])
        spent, size = _stream_behind(LONG)
        long.append(spent)
        sizes.append(size / empty)
    ratio, memory = statistics.median(long) / statistics.median(short), statistics.median(sizes)
    return Figure(
        name=f"streaming behind {LONG:,} messages against {SHORT}: CPU; memory against an empty start",
        value=f"{ratio:.2f}× ({statistics.median(long) / STREAM_S:.0%} of a core), {memory:.2f}×",
        goal="≤ 1.2×, ≤ 1.6×",
        good=ratio <= 1.2 and memory <= 1.6,
    )


def tokens_against_markdown(rounds: int = 2) -> Figure:
    """Processor time of the app for each token at 200 and 1,000 tokens/s, against Textual's Markdown widget."""
    ratios = []
    for rate in (200, 1000):
        ours = statistics.median(_stream_behind(0, rate)[0] for _ in range(rounds))
        theirs = statistics.median(_markdown_cpu(rate) for _ in range(rounds))
        ratios.append(ours / theirs)
    return Figure(
        name="CPU for each token at 200 / 1,000 tokens/s, against Markdown widgets",
        value=" / ".join(f"{ratio:.2f}×" for ratio in ratios),
        goal="≤ 0.3× / ≤ 0.15×",
        good=ratios[0] <= 0.3 and ratios[1] <= 0.15,
    )


@contextmanager
def _running(command: str, rounds: int) -> Iterator[tuple[Probe, Callable[..., float]]]:
    """Give a way to let the model run a command and to wait for a word on the screen, the output pane open."""
    call = Call(name="bash", arguments={"command": command})
    answers: list[Any] = ["The host is warm."]
    for number in range(rounds):
        answers += [[Calls(calls=(call,)), Finish(reason="tool_calls")], f"done-{number}"]
    backend = ServerThread(answers)
    numbers = iter(range(rounds))
    with smith(backend.url) as probe:
        probe.wait_for(READY)
        probe.send(b"hello\r")
        probe.wait_for(b"is warm", timeout=60)
        probe.send(b"\x0f")
        probe.quiet(0.5)

        def run(wanted: bytes, meanwhile: Callable[[], None] | None = None) -> float:
            number = next(numbers)
            mark = probe.mark()
            sent = probe.send(b"go\r")
            while meanwhile is not None and probe.output.find(wanted, mark) < 0:
                meanwhile()
            shown = probe.wait_for(wanted, mark, 60) - sent
            probe.wait_for(f"done-{number}".encode(), mark, 60)
            probe.quiet(0.3)
            probe.send(_EMPTY_LINE)
            return shown

        yield probe, run
    backend.stop()


def _bare(command: str) -> float:
    """Return how long a command takes whose output nobody shows."""
    began = time.perf_counter()
    os.system(f"({command}) > /dev/null")
    return time.perf_counter() - began


def _stream_behind(messages: int, rate: int = 200) -> tuple[float, int]:
    """Return the app's processor time while an answer streams behind a conversation, and its memory before."""
    backend = ServerThread(lambda request: [Text(text="\n\n".join([PROSE] * 200), size=TOKEN_CHARS, rate=rate)])
    prepare = partial(_write_conversation, messages) if messages else lambda home: None
    with smith(backend.url, prepare) as probe:
        probe.wait_for(_LAST_WORDS if messages else READY)
        probe.quiet(2.0)
        size = _rss(probe)
        probe.send(b"go\r")
        backend.wait_for_requests(1)
        probe.wait_for(b"places that round", timeout=60)
        used = _cpu_s(probe)
        _read_for(probe, STREAM_S)
        spent = _cpu_s(probe) - used
    backend.stop()
    return spent, size


def _markdown_cpu(rate: int) -> float:
    command = [sys.executable, "-m", "tests.bench.markdown_app", str(TOKEN_CHARS), str(rate)]
    with Probe(command, dict(os.environ), Path.cwd()) as probe:
        probe.wait_for(b"places that round")
        used = _cpu_s(probe)
        _read_for(probe, STREAM_S)
        return _cpu_s(probe) - used


def _read_for(probe: Probe, seconds: float) -> None:
    end = time.perf_counter() + seconds
    while (left := end - time.perf_counter()) > 0:
        probe.quiet(left, left)


def _rss(probe: Probe) -> int:
    return int(psutil.Process(probe.process.pid).memory_info().rss)


def _write_conversation(count: int, home: Path) -> None:
    """Keep a conversation of so many messages in a home; the last one ends with _LAST_WORDS."""
    texts = [f"message {number} " + "word " * 20 + "\n\n- one\n- `two`" for number in range(count - 1)]
    messages = [
        Message(role="assistant" if number % 2 else "user", content=text)
        for number, text in enumerate([*texts, _LAST_WORDS.decode()])
    ]
    result = TurnResult(turn_id="t", conversation_id="long", role="direct", stop_reason="completed")
    record = TurnRecord(
        turn_id="t",
        conversation_id="long",
        project_id="p",
        cwd="/work",
        started_at=1e9,
        messages=tuple(messages),
        result=result,
    )

    async def write() -> None:
        store = open_disk_persistence(home / "d" / "smith")
        await store.persist_turn(record)
        await store.set_active_conversation_id("long")
        await store.aclose()

    asyncio.run(write())


TRANSCRIPT_FIGURES = (cat_20_mb, flood_200_mb, many_messages, history, tokens_against_markdown)
"""The rows of this page."""
