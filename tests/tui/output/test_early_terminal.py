"""The time between the first picture and the toolkit: keys wait, and whatever happens, the terminal comes back."""

import os
import signal
import sys
from pathlib import Path

import pytest

from tests.support.terminal import Terminal

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-m", "tests.support.early_start"]


def start(home: Path, what: str) -> Terminal:
    (home / ".cache" / "smith" / "pictures").mkdir(parents=True)
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "XDG_CACHE_HOME")}
    return Terminal([*COMMAND, what], cwd=ROOT, environ={**kept, "HOME": str(home)})


def given_back(terminal: Terminal) -> bool:
    screen_left = terminal.raw.rstrip().find(b"\x1b[?1049l") > terminal.raw.find(b"\x1b[?1049h") >= 0
    return screen_left and b"\x1b[?25h" in terminal.raw and terminal.attributes() == terminal.attributes_before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda number: number.name)
def test_b23_a_signal_gives_the_terminal_back(tmp_path: Path, number: signal.Signals) -> None:
    with start(tmp_path, "wait") as terminal:
        terminal.wait_for("the picture")
        assert terminal.attributes()[3] != terminal.attributes_before[3]
        terminal.process.send_signal(number)
        assert terminal.wait_for_exit() == -number
        assert given_back(terminal)


def test_ctrl_c_ends_a_start_and_ctrl_z_does_not_stop_it(tmp_path: Path) -> None:
    with start(tmp_path, "wait") as terminal:
        terminal.wait_for("the picture")
        terminal.type("\x1a\x1c")
        terminal.type("\x03")
        assert terminal.wait_for_exit() == -signal.SIGINT
        assert given_back(terminal)


def test_a_start_that_fails_says_so_on_the_usual_screen(tmp_path: Path) -> None:
    with start(tmp_path, "fail") as terminal:
        assert terminal.wait_for_exit() == 1
        assert given_back(terminal)
        assert terminal.raw.rfind(b"it went wrong") > terminal.raw.rfind(b"\x1b[?1049l")


def test_keys_typed_ahead_are_kept_as_they_were_typed_and_not_echoed(tmp_path: Path) -> None:
    with start(tmp_path, "read") as terminal:
        terminal.wait_for("the picture")
        terminal.type("ab\r")
        terminal.type("\x11\n")
        assert terminal.wait_for_exit() == 0
        assert b"typed b'ab\\r\\x11\\n'" in terminal.raw
        assert b"ab" not in terminal.raw.replace(b"typed b'ab", b"")
