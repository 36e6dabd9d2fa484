"""The app in a terminal with pictures while it rains, and what it may leave behind: nothing."""

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from smith_tui.graphics.leftovers import PREFIX
from tests.e2e.conftest import SMITH, Place
from tests.support.model_steps import AnyStep, call_tools, say
from tests.support.pictures import PictureBox, PictureTerminal

MODES_AT_FIRST = {"25": "h", "7": "h"}
"""Modes that a terminal has set by itself; all others are off."""


class Children:
    """A model that sends out an explorer and a worker; they are answered when `answer` is called."""

    def __init__(self) -> None:
        self._asked: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def __call__(self, request: dict[str, Any]) -> list[AnyStep]:
        messages = request["messages"]
        if "You are Smith" in messages[0]["content"]:
            jobs = [("dispatch", {"role": role, "task": f"Look, {role}"}) for role in ("explorer", "worker")]
            return say("all is done") if messages[-1]["role"] == "tool" else call_tools(*jobs)
        waits = asyncio.Event()
        self._asked.append((asyncio.get_running_loop(), waits))
        await waits.wait()
        done = {"status": "ok", "summary": "found it", "findings": ["x"], "evidence": ["a:1"], "changes": ["a"]}
        return call_tools(("report", {**done, "verification": ["ran it"]}))

    def answer(self) -> None:
        """Let all who wait have their answer."""
        asked, self._asked = self._asked, []
        for loop, waits in asked:
            loop.call_soon_threadsafe(waits.set)


@contextmanager
def app(
    place: Place, url: str, box: PictureBox | None = None, *more: str, kind: str = "xterm-kitty", **environ: str
) -> Iterator[PictureTerminal]:
    """Run the app, with nothing sent yet."""
    command = [SMITH, "--new", "--set", f"llm_config.api_url={url}", "--model", "scripted", *more]
    options = {"columns": 110, "lines": 40, "cwd": place.project, "environ": {**place.environ, **environ}}
    with PictureTerminal(command, box=box or PictureBox(), kind=kind, **options) as terminal:
        terminal.wait_for("idle")
        yield terminal


def send_out(terminal: PictureTerminal) -> None:
    """Have two children sent out, and wait until both ask their model."""
    terminal.type("go\r")
    terminal.wait_for(lambda text: text.count("thinking") >= 2 and "2 children" in text, 60)


def until(terminal: PictureTerminal, holds: Callable[[PictureBox], bool]) -> None:
    """Wait until something is true of the pictures."""
    terminal.wait_for(lambda _: holds(terminal.box), 20)


def rain(terminal: PictureTerminal) -> int:
    """Have it rain, and wait until it is to be seen; return how much was written so far."""
    send_out(terminal)
    until(terminal, lambda box: len(box.frames) > 3)
    return len(terminal.raw)


def segments_of(pid: int) -> list[str]:
    return [path.name for path in Path("/dev/shm").glob(f"{PREFIX}{pid:x}-*")]


def modes_left(raw: bytes) -> dict[str, str]:
    """Return the modes that are not as a terminal has them at first, and whether the keyboard is."""
    state = {}
    for numbers, end in re.findall(rb"\x1b\[\?([\d;]+)([hl])", raw):
        state |= dict.fromkeys(numbers.decode().split(";"), end.decode())
    left = {number: end for number, end in state.items() if end != MODES_AT_FIRST.get(number, "l")}
    if raw.count(b"\x1b[>1u") > raw.count(b"\x1b[<u"):
        left["keyboard"] = "h"
    return left


def assert_given_back(terminal: PictureTerminal) -> None:
    assert modes_left(bytes(terminal.raw)) == {}
    assert terminal.attributes() == terminal.attributes_before
    assert not terminal.box.images and not terminal.box.placements
    assert segments_of(terminal.process.pid) == []
