"""The rain in a pseudo terminal with pictures: when it falls, how it ends, and what is left of it: nothing."""

import asyncio
import fcntl
import os
import re
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from smith_tui.graphics.glyphs import KATAKANA
from smith_tui.graphics.leftovers import DELETE, IMAGE_ID, PREFIX
from tests.e2e.conftest import SMITH, Place
from tests.support.model_steps import AnyStep, call_tools, say
from tests.support.pictures import PictureBox, PictureTerminal
from tests.support.place import ModelHome
from tests.support.server_thread import ServerThread

MODES_AT_FIRST = {"25": "h", "7": "h"}
"""Modes that a terminal has set by itself; all others are off."""
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


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


@pytest.fixture(scope="module")
def rainy(tmp_path_factory: pytest.TempPathFactory, model_home: ModelHome) -> Place:
    """One place for all of these tests."""
    return Place(tmp_path_factory.mktemp("rain"), model_home)


@pytest.fixture(scope="module")
def model() -> Iterator[tuple[Children, str]]:
    children = Children()
    with ServerThread(children) as server:
        yield children, server.url


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


@pytest.mark.parametrize(
    ("end", "status"),
    [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129), ("\x03", 0)],
    ids=["SIGTERM", "SIGINT", "SIGHUP", "Ctrl+C"],
)
def test_b23_however_it_ends_while_it_rains_nothing_is_left(
    rainy: Place, model: tuple[Children, str], end: signal.Signals | str, status: int
) -> None:
    with app(rainy, model[1]) as terminal:
        rain(terminal)
        if isinstance(end, str):
            for _ in range(3):
                terminal.type(end)
                terminal.wait_for(lambda text: "cancelled" in text or "again to quit" in text)
                time.sleep(0.1)
        else:
            terminal.process.send_signal(end)
        assert terminal.wait_for_exit() == status
        assert segments_of(terminal.process.pid) == []
        if end != signal.SIGHUP:  # then there is no terminal any more
            assert_given_back(terminal)
            assert terminal.raw.rindex(b"a=d,d=I") < terminal.raw.rindex(b"\x1b[?1049l")


@pytest.mark.parametrize("is_read", [True, False], ids=["read to the end", "standing still"])
def test_b23_the_end_of_the_terminal_ends_the_app_and_leaves_no_memory(
    rainy: Place, model: tuple[Children, str], is_read: bool
) -> None:
    with app(rainy, model[1]) as terminal:
        rain(terminal)
        terminal.stands_still = not is_read
        time.sleep(0.3)
        terminal.hang_up()
        assert terminal.process.wait(10) == 129
        assert segments_of(terminal.process.pid) == []


def test_b23_a_stop_takes_the_picture_away_and_it_comes_back_with_the_whole_screen(
    rainy: Place, model: tuple[Children, str]
) -> None:
    with app(rainy, model[1]) as terminal:
        rain(terminal)
        terminal.process.send_signal(signal.SIGTSTP)
        os.waitid(os.P_PID, terminal.process.pid, os.WSTOPPED | os.WNOWAIT)
        until(terminal, lambda box: not box.images and not modes_left(bytes(terminal.raw)))
        terminal.screen.reset()
        frames = len(terminal.box.frames)
        terminal.process.send_signal(signal.SIGCONT)
        terminal.wait_for(lambda text: "2 children" in text and "Look, worker" in text)
        until(terminal, lambda box: len(box.frames) > frames + 2)


def test_b23_b28_the_start_after_a_kill_removes_picture_and_memory(rainy: Place, model: tuple[Children, str]) -> None:
    box = PictureBox()
    with app(rainy, model[1], box) as terminal:
        rain(terminal)
        box.memory = False
        terminal.wait_for(lambda _: bool(segments_of(terminal.process.pid)))
        terminal.process.send_signal(signal.SIGKILL)
        terminal.process.wait(10)
        killed = terminal.process.pid
    assert box.images and segments_of(killed)
    with app(rainy, model[1], box):
        until_gone = time.monotonic() + 10
        while (box.images or segments_of(killed)) and time.monotonic() < until_gone:
            time.sleep(0.02)
        assert not box.images and not segments_of(killed)


@pytest.mark.parametrize("key", ["w", "k"], ids=["worker", "key handler"])
def test_b23_an_exception_anywhere_gives_the_terminal_back_and_says_so(rainy: Place, key: str) -> None:
    command = [sys.executable, "-m", "tests.support.breaking_show"]
    root = {"PYTHONPATH": str(Path(__file__).parents[2])}
    environ = {**rainy.environ, **root}
    with PictureTerminal(command, box=PictureBox(), kind="xterm-kitty", cwd=rainy.project, environ=environ) as terminal:
        until(terminal, lambda box: len(box.frames) > 2)
        terminal.type(key)
        assert terminal.wait_for_exit() == 1
        assert_given_back(terminal)
        assert b"broken on purpose" in terminal.raw[terminal.raw.rindex(b"\x1b[?1049l") :]


@pytest.mark.parametrize(
    ("kind", "name", "environ", "has_cells"),
    [
        ("xterm-256color", "XTerm(379)", {}, True),
        ("screen-256color", "tmux 3.3a", {"TMUX": "/tmp/tmux-0/default,1,0"}, True),
        ("dumb", "", {}, True),
        ("xterm-kitty", "kitty(0.26.5)", {"NO_COLOR": "1"}, False),
    ],
    ids=["xterm", "tmux", "dumb", "NO_COLOR"],
)
def test_b23_where_no_pictures_are_wanted_or_shown_none_is_written(
    rainy: Place, model: tuple[Children, str], kind: str, name: str, environ: dict[str, str],
    has_cells: bool,
) -> None:  # fmt: skip
    box = PictureBox(name)
    with app(rainy, model[1], box, kind=kind, **environ) as terminal:
        send_out(terminal)
        if has_cells:
            terminal.wait_for(lambda text: any(sign in text for sign in KATAKANA))
            assert any(sign in terminal.text() for sign in SPINNER)
        else:
            time.sleep(0.5)
            assert not any(sign in terminal.text() for sign in KATAKANA)
        assert "Gi=" not in terminal.text() and "[?62" not in terminal.text()
        # A start in kitty removes what a killed one may have left; nothing else is a picture.
        assert set(box.log) <= ({"delete"} if kind == "xterm-kitty" else {"name?"})
        assert box.graphics_bytes == len(DELETE) * box.log.count("delete")


def test_it_rains_behind_the_transcript_alone_until_the_first_output(rainy: Place, model: tuple[Children, str]) -> None:
    with app(rainy, model[1]) as terminal:
        until(terminal, lambda box: box.log == ["delete"])
        rain(terminal)
        box = terminal.box
        rows = terminal.text().split("\n")
        panes = next(y for y, row in enumerate(rows) if row.startswith("╭"))
        until(terminal, lambda box: box.placements[IMAGE_ID][:4] == (0, 0, 42, panes))
        assert set(box.modes) == {0o600}
        # The marks around one update, which this terminal does not have, take 16 more.
        assert max(frame.size for frame in box.frames) <= 130 - 16
        began, count = time.monotonic(), len(box.frames)
        time.sleep(1)
        assert 3 <= len(box.frames) - count <= 10 * (time.monotonic() - began) + 2
        terminal.type("\x1bOP")
        terminal.wait_for("─ Help ─")
        assert box.log[-1] == "delete" and not box.images
        terminal.type("\x1b[27u")
        terminal.wait_for(lambda text: "─ Help ─" not in text)
        until(terminal, lambda box: bool(box.images))
        model[0].answer()
        terminal.wait_for("all is done")
        assert not box.images and box.log[-1] == "delete"
        assert segments_of(terminal.process.pid) == []
        # Idle is idle again.
        terminal.wait_for("idle")
        time.sleep(0.5)
        written, log = len(terminal.raw), len(box.log)
        time.sleep(1)
        assert len(box.log) == log
        assert len(terminal.raw) - written < 500


@pytest.mark.parametrize("output", ["diff", "stock"])
def test_b24_a_terminal_that_stands_still_is_not_buried_and_goes_on(
    rainy: Place, model: tuple[Children, str], output: str
) -> None:
    with app(rainy, model[1], None, "--set", f"ui.output={output}") as terminal:
        rain(terminal)
        terminal.stands_still = True
        time.sleep(2.5)
        assert len(segments_of(terminal.process.pid)) <= 3
        terminal.type("still here")
        terminal.stands_still = False
        terminal.wait_for("still here")
        frames = len(terminal.box.frames)
        until(terminal, lambda box: len(box.frames) > frames + 2)


def test_b23_an_answer_that_comes_late_is_not_left_for_the_shell(rainy: Place) -> None:
    box = PictureBox(delay_s=0.15)
    options = {"cwd": rainy.project, "environ": rainy.environ, "kind": "xterm-kitty"}
    with PictureTerminal([SMITH, "rain"], box=box, **options) as terminal:
        until(terminal, lambda box: "pictures?" in box.log)
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.wait_for_exit() == 143
        time.sleep(0.2)
        waiting = fcntl.ioctl(terminal._slave, termios.FIONREAD, struct.pack("i", 0))
        assert struct.unpack("i", waiting) == (0,)
        assert_given_back(terminal)


def test_doctor_says_how_the_rain_is_shown(rainy: Place) -> None:
    for kind, box, words in (
        ("xterm-kitty", PictureBox(), "✓ rain         pictures behind the text, through shared memory"),
        ("xterm", PictureBox("XTerm(379)"), "✓ rain         dim characters in blank cells: this terminal is not known"),
    ):
        options = {"cwd": rainy.project, "environ": rainy.environ, "columns": 150}
        command = [SMITH, "doctor", "--set", "llm_config.api_url=http://127.0.0.1:9/v1", "--model", "m"]
        with PictureTerminal(command, box=box, kind=kind, **options) as seen:
            seen.wait_for(words)
            seen.wait_for("settings")
            assert "Gi=" not in seen.text()


def test_the_command_shows_the_rain_over_the_whole_screen_and_ends_by_any_key(rainy: Place) -> None:
    options = {"cwd": rainy.project, "environ": rainy.environ, "kind": "xterm-kitty"}
    with PictureTerminal([SMITH, "rain"], box=PictureBox(memory=False), **options) as terminal:
        until(terminal, lambda box: len(box.frames) > 2)
        assert terminal.box.frames[-1].placement == (0, 0, 78, 24, -10)
        assert {frame.way for frame in terminal.box.frames} == {"d"}
        terminal.type("x")
        assert terminal.wait_for_exit() == 0
        assert_given_back(terminal)
        assert "through the line of the terminal" in terminal.text()
