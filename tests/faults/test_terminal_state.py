"""TUI, terminal state and load: the terminal comes back as it was, and idle is idle (B23, B24)."""

import fcntl
import os
import signal
import struct
import sys
import termios
import time
from pathlib import Path

import psutil
import pytest

from smith_tui.graphics.glyphs import KATAKANA
from smith_tui.graphics.leftovers import DELETE
from tests.support.model_steps import Call, Calls, Finish, Status, Text
from tests.support.pictures import PictureBox, PictureTerminal
from tests.support.place import RESTORED, SMITH, Place, ready
from tests.support.processes import is_alive, wait_for_file
from tests.support.rainy import Children, app, assert_given_back, modes_left, rain, segments_of, send_out, until
from tests.support.seat import Seat
from tests.support.server_thread import ServerThread
from tests.support.terminal import Terminal

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)], ids=["SIGTERM", "SIGINT"])
def test_b23_a_signal_restores_the_terminal(place: Place, number: signal.Signals, status: int) -> None:
    call = Call(name="bash", arguments={"command": "echo $$ > pid; exec sleep 9875"})
    answer = [Calls(calls=(call,)), Finish(reason="tool_calls")]
    with ServerThread(lambda request: answer) as server, place.start(server.url) as terminal:
        ready(terminal).type("go\r")
        pid = int(wait_for_file(place.project / "pid"))
        terminal.process.send_signal(number)
        assert terminal.wait_for_exit() == status
        assert all(mode in terminal.raw for mode in RESTORED)
        assert terminal.attributes()[3] == terminal.attributes_before[3]
        assert not is_alive(pid)


@pytest.mark.parametrize("delay", [0.0, 0.02])
def test_b23_a_signal_during_the_start_restores_the_terminal(place: Place, delay: float) -> None:
    with place.start("http://127.0.0.1:9/v1") as terminal:
        while b"\x1b[?1049h" not in terminal.raw:
            assert terminal.process.poll() is None
            time.sleep(0.001)
        time.sleep(delay)
        terminal.process.terminate()
        assert terminal.wait_for_exit() == 143
        assert all(mode in terminal.raw for mode in RESTORED)
        assert terminal.attributes() == terminal.attributes_before


def test_b23_a_byte_that_is_no_utf_8_does_not_end_the_app_and_in_gnu_screen_the_mouse_is_left_alone(
    place: Place,
) -> None:
    place.environ["STY"] = "1.pts-0.host"
    with place.start("http://127.0.0.1:9/v1") as terminal:
        ready(terminal).send(b"caf\xe9 ole")
        terminal.wait_for("caf\ufffd ole")
        assert b"\x1b[?1000h" not in terminal.raw and b"\x1b[?2004h" in terminal.raw


def test_b23_a_hang_up_ends_the_app_and_what_it_runs(place: Place) -> None:
    with ServerThread(["x"]) as server, place.start(server.url) as terminal:
        ready(terminal)
        terminal.process.send_signal(signal.SIGHUP)
        assert terminal.wait_for_exit(5) == 129


def test_b23_the_screen_is_drawn_although_standard_error_goes_elsewhere(place: Place) -> None:
    command = ["sh", "-c", 'exec "$@" 2>/dev/null', "sh", SMITH]
    with Terminal(command, cwd=place.project, environ=place.environ) as terminal:
        ready(terminal)


@pytest.mark.parametrize(
    ("end", "status"),
    [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129), ("\x03", 0)],
    ids=["SIGTERM", "SIGINT", "SIGHUP", "Ctrl+C"],
)
def test_b23_however_it_ends_while_it_rains_nothing_is_left(
    rainy: Place, rain_model: tuple[Children, str], end: signal.Signals | str, status: int
) -> None:
    with app(rainy, rain_model[1]) as terminal:
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
    rainy: Place, rain_model: tuple[Children, str], is_read: bool
) -> None:
    with app(rainy, rain_model[1]) as terminal:
        rain(terminal)
        terminal.stands_still = not is_read
        time.sleep(0.3)
        terminal.hang_up()
        assert terminal.process.wait(10) == 129
        assert segments_of(terminal.process.pid) == []


def test_b23_a_stop_takes_the_picture_away_and_it_comes_back_with_the_whole_screen(
    rainy: Place, rain_model: tuple[Children, str]
) -> None:
    with app(rainy, rain_model[1]) as terminal:
        rain(terminal)
        terminal.process.send_signal(signal.SIGTSTP)
        os.waitid(os.P_PID, terminal.process.pid, os.WSTOPPED | os.WNOWAIT)
        until(terminal, lambda box: not box.images and not modes_left(bytes(terminal.raw)))
        terminal.screen.reset()
        frames = len(terminal.box.frames)
        terminal.process.send_signal(signal.SIGCONT)
        terminal.wait_for(lambda text: "2 children" in text and "Look, worker" in text)
        until(terminal, lambda box: len(box.frames) > frames + 2)


def test_b23_b28_the_start_after_a_kill_removes_picture_and_memory(
    rainy: Place, rain_model: tuple[Children, str]
) -> None:
    box = PictureBox()
    with app(rainy, rain_model[1], box) as terminal:
        rain(terminal)
        lost, box.memory = box.log.count("lost"), False
        # A segment that was only seen may be one that is being read and removed; this one is not read.
        terminal.wait_for(lambda _: box.log.count("lost") > lost and bool(segments_of(terminal.process.pid)))
        terminal.process.send_signal(signal.SIGKILL)
        terminal.process.wait(10)
        killed = terminal.process.pid
        # Looked at before all else: any start beside this test removes what a killed one has left.
        left = segments_of(killed)
    assert box.images and left
    with app(rainy, rain_model[1], box):
        until_gone = time.monotonic() + 10
        while (box.images or segments_of(killed)) and time.monotonic() < until_gone:
            time.sleep(0.02)
        assert not box.images and not segments_of(killed)


@pytest.mark.parametrize("key", ["w", "k", "r"], ids=["worker", "key handler", "reader"])
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
    rainy: Place, rain_model: tuple[Children, str], kind: str, name: str, environ: dict[str, str],
    has_cells: bool,
) -> None:  # fmt: skip
    box = PictureBox(name)
    with app(rainy, rain_model[1], box, kind=kind, **environ) as terminal:
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


@pytest.mark.parametrize("output", ["diff", "stock"])
def test_b24_a_terminal_that_stands_still_is_not_buried_and_goes_on(
    rainy: Place, rain_model: tuple[Children, str], output: str
) -> None:
    with app(rainy, rain_model[1], None, "--set", f"ui.output={output}") as terminal:
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


def test_b24_after_an_answer_an_error_and_a_cancel_nothing_burns(seat: Seat) -> None:
    seat.ask("one")
    seat.refused("two", Status(status=400, body={"error": {"message": "no such thing"}}), shows="no such thing")
    seat.ask("three")
    seat.begin("four", [Text(text="words " * 5_000, size=6, rate=200)])
    seat.terminal.wait_for("words words")
    seat.cancelled()
    time.sleep(1)
    process = psutil.Process(seat.terminal.process.pid)
    used, written = sum(process.cpu_times()[:2]), len(seat.terminal.raw)
    time.sleep(4)
    # 1.2 s and 60 KB a minute, and the grain of the clock.
    assert sum(process.cpu_times()[:2]) - used <= 0.08 + 0.02
    assert len(seat.terminal.raw) - written <= 4_000
