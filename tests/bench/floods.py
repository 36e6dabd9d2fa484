"""Much output and many messages, in a real pseudo terminal."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.bench import histories
from tests.bench.probe import Probe
from tests.bench.programs import READY, smith
from tests.bench.reading import Reading
from tests.bench.start import LIVE
from tests.bench.timing import answered, echoes, exact_threads, median, p95, resident_bytes, timed
from tests.support.model_steps import Call, Calls, Finish
from tests.support.server_thread import ServerThread

MEGABYTE = 1e6
_EMPTY_LINE = b"\x15"
_PAGE_UP = b"\x1b[5~"


def cat_20_mb(rounds: int = 3) -> tuple[Reading, ...]:
    """A command that prints 20 MB: from Enter until its last line is on the screen, behind the command alone."""
    command = f"{sys.executable} -c \"print(('x' * 69 + chr(10)) * 285714, end='')\"; echo last-line-$((1+1))"
    with _running(command, rounds) as (_, run):
        walls = [run(b"last-line-2") for _ in range(rounds)]
    bare = [timed(lambda: os.system(f"({command}) > /dev/null")) for _ in range(rounds)]
    return (Reading(median(walls) - median(bare), f"{median(walls):.2f} s in all"),)


def flood_200_mb() -> tuple[Reading, ...]:
    """A command that prints 200 MB while keys are typed: how long it takes, the memory it takes, the slowest key."""
    exact_threads()
    delays: list[float] = []
    sizes: list[int] = []
    with _running("yes | head -c 200000000; echo last-line-$((1+1))", 1) as (probe, run):
        before = resident_bytes(probe.process.pid)

        def typing() -> None:
            delays.extend(echoes(probe, 0.5))
            sizes.append(resident_bytes(probe.process.pid))
            probe.send(_EMPTY_LINE)
            probe.quiet(0.3, 0.5)  # the next key must not meet its like on the screen

        wall = run(b"last-line-2", typing)
    return Reading(wall), Reading((max(sizes) - before) / MEGABYTE), Reading(max(delays) * 1000)


def many_messages(presses: int = 60) -> tuple[Reading, ...]:
    """A conversation of 100,000 messages: shown behind an empty start, memory, and a page up."""
    pages = []
    with smith() as probe:
        empty = probe.wait_for(LIVE) - probe.started_at
        probe.quiet(2.0)
        small = resident_bytes(probe.process.pid)
    with smith(prepare=histories.plain(100_000)) as probe:
        shown = probe.wait_for(histories.LAST_WORDS.encode()) - probe.started_at - empty
        probe.quiet(2.0)
        size = resident_bytes(probe.process.pid) - small
        for _ in range(presses):
            pages.append(answered(probe, _PAGE_UP))
            probe.quiet(0.05, 1.0)
    told = f"p50 {median(pages) * 1000:.0f} ms"
    return Reading(shown), Reading(size / MEGABYTE), Reading(p95(pages) * 1000, told)


@contextmanager
def _running(command: str, rounds: int) -> Iterator[tuple[Probe, Callable[..., float]]]:
    """Give a way to let the model run a command and to wait for a word on the screen, the output pane open."""
    call = Call(name="bash", arguments={"command": command})
    answers: list[Any] = []
    for number in range(rounds):
        answers += [[Calls(calls=(call,)), Finish(reason="tool_calls")], f"done-{number}"]
    numbers = iter(range(rounds))
    with ServerThread(answers) as backend, smith(backend.url) as probe:
        probe.wait_for(READY)
        probe.send(b"\x0f")
        probe.quiet(0.5)

        def run(wanted: bytes, meanwhile: Callable[[], None] | None = None) -> float:
            mark, sent = probe.mark(), probe.send(b"go\r")
            if meanwhile is not None:
                probe.quiet(0.2, 0.3)  # a key right behind Enter makes a paste of both
            while meanwhile is not None and probe.output.find(wanted, mark) < 0:
                meanwhile()
            shown = probe.wait_for(wanted, mark, 120) - sent
            probe.wait_for(f"done-{next(numbers)}".encode(), mark, 60)
            probe.quiet(0.3)
            probe.send(_EMPTY_LINE)
            return shown

        yield probe, run
