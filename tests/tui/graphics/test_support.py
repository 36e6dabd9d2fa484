"""What terminals are asked, what is made of their answers, and that no answer is ever typed."""

import os
import pty
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events

from smith_core.config.shape import UiConfig
from smith_tui.graphics.ask import ask_terminal
from smith_tui.graphics.desk import mode_of
from smith_tui.graphics.leftovers import DELETE, PREFIX, picture_remover, remove_stale
from smith_tui.graphics.segments import Segments
from smith_tui.graphics.support import Dialogue, Verdict
from smith_tui.paste_parser import PasteParser, listen, reports_in
from tests.support.pictures import PictureBox

KITTY = {"TERM": "xterm-kitty"}
XTERM = {"TERM": "xterm-256color"}


def talk(box: PictureBox, environ: Mapping[str, str], *, forced: bool = False) -> Verdict:
    dialogue = Dialogue(environ, forced=forced)
    question = dialogue.begin()
    while question and dialogue.verdict is None:
        reports, rest = reports_in(box.feed(question.encode())[1].decode())
        assert rest == ""
        question = "".join(filter(None, [dialogue.hear(report) for report in reports]))
    dialogue.give_up()
    assert dialogue.verdict is not None
    return dialogue.verdict


@pytest.mark.parametrize(
    ("name", "environ", "ways", "expected", "asked"),
    [
        ("kitty(0.26.5)", KITTY, "sd", "memory", ["pictures?", "pictures?"]),
        ("kitty(0.26.5)", KITTY, "d", "direct", ["pictures?", "pictures?"]),
        ("", KITTY, "", "none", []),
        ("", {**XTERM, "KITTY_WINDOW_ID": "1"}, "sd", "memory", ["pictures?", "pictures?"]),
        ("WezTerm 20240203", XTERM, "d", "direct", ["name?", "pictures?", "pictures?"]),
        ("ghostty 1.0.0", {"TERM": "xterm-ghostty"}, "sd", "memory", ["pictures?", "pictures?"]),
        ("XTerm(379)", XTERM, "", "none", ["name?"]),
        ("Konsole 22.12.3", {**XTERM, "KONSOLE_VERSION": "221203"}, "d", "none", ["name?"]),
        ("", XTERM, "sd", "none", ["name?"]),
        ("tmux 3.3a", {"TERM": "screen-256color", "TMUX": "/tmp/tmux-0/default,1,0"}, "", "none", []),
        ("", {**KITTY, "TMUX": "/tmp/tmux-0/default,1,0"}, "sd", "none", []),
        ("", {**KITTY, "STY": "1.pts"}, "sd", "none", []),
        ("", {"TERM": "dumb"}, "", "none", []),
        ("", {}, "", "none", []),
    ],
)
def test_b23_only_terminals_that_show_pictures_behind_text_are_asked_about_them(
    name: str, environ: Mapping[str, str], ways: str, expected: str, asked: list[str]
) -> None:
    box = PictureBox(name, direct="d" in ways, memory="s" in ways)
    verdict = talk(box, environ)
    assert (verdict.way, box.log) == (expected, asked)
    assert verdict.reason
    assert box.graphics_bytes > 0 or "pictures?" not in asked


def test_the_setting_asks_every_terminal_but_shows_nothing_in_one_that_says_no() -> None:
    assert talk(PictureBox("foot"), XTERM, forced=True).way == "memory"
    assert talk(PictureBox("foot", direct=False, memory=False), XTERM, forced=True).way == "none"
    assert talk(PictureBox(), {**KITTY, "TMUX": "x"}, forced=True).way == "none"


ANSWERS = "\x1bP>|kitty(0.26.5)\x1b\\\x1b_Gi=31;OK\x1b\\\x1b_Gi=32;EBADF:no such thing\x1b\\\x1b[?62;1;4c"


@given(st.lists(st.integers(0, len(ANSWERS) + 2), max_size=6))
def test_b23_no_answer_becomes_a_key_wherever_it_is_cut(cuts: list[int]) -> None:
    whole = f"a{ANSWERS}b"
    edges = [0, *sorted(cuts), len(whole)]
    heard: list[str] = []
    unlisten = listen(heard.append)
    parser = PasteParser()
    got = [event for start, end in pairwise(edges) if start < end for event in parser.feed(whole[start:end])]
    unlisten()
    assert [event.key for event in got if isinstance(event, events.Key)] == ["a", "b"]
    assert "".join(heard) == ANSWERS
    assert [*parser.feed("\x1b[?62;1c")] == []
    assert "".join(heard) == ANSWERS, "nobody listens any more"


def test_escape_is_quick_while_an_answer_is_awaited_and_the_rest_of_an_answer_is_still_no_key() -> None:
    heard: list[str] = []
    unlisten = listen(heard.append)
    parser = PasteParser()
    begun = time.monotonic()
    got = [*parser.feed("\x1b")]
    while not got:
        got = [*parser.tick()]
    took = time.monotonic() - begun
    later = [*parser.feed("[?62;1;4"), *parser.feed("c"), *parser.feed("[")]
    unlisten()
    assert [event.key for event in got if isinstance(event, events.Key)] == ["escape"]
    assert 0.09 < took < 0.3
    assert [event.key for event in later if isinstance(event, events.Key)] == ["left_square_bracket"]
    assert heard == ["\x1b[?62;1;4c"]


def test_doctor_asks_without_an_echo_and_leaves_nothing_behind() -> None:
    master, slave = pty.openpty()
    box, seen = PictureBox(), bytearray()

    def answer() -> None:
        while b"\x1b[c" not in seen:
            data = os.read(master, 4096)
            seen.extend(data)
            for byte in box.feed(data)[1]:
                os.write(master, bytes([byte]))

    terminal = threading.Thread(target=answer)
    terminal.start()
    verdict = ask_terminal(Dialogue(KITTY), slave, slave, timeout_s=20)
    terminal.join()
    os.set_blocking(master, False)
    with pytest.raises(BlockingIOError):
        os.read(master, 100)
    assert verdict.way == "memory"
    assert box.modes == [0o600]
    for descriptor in (master, slave):
        os.close(descriptor)


def test_a_terminal_that_says_nothing_is_not_waited_for() -> None:
    master, slave = pty.openpty()
    verdict = ask_terminal(Dialogue(KITTY), slave, slave, timeout_s=0.01)
    assert (verdict.way, verdict.reason) == ("none", "the terminal does not answer")
    for descriptor in (master, slave):
        os.close(descriptor)


def test_b28_segments_are_private_and_none_is_left() -> None:
    segments, box = Segments(), PictureBox()
    names = [segments.put(bytes([number]) * 16) for number in range(3)]
    assert segments.unread == 3
    assert all(len(name) <= 30 for name in names)
    assert box._from_memory(names[0], 16) == bytes(16)
    assert box.modes == [0o600]
    assert segments.unread == 2
    segments.remove_all()
    assert segments.unread == 0
    assert [box._from_memory(name, 16) for name in names] == [None] * 3


def test_b28_the_next_start_removes_what_a_killed_one_has_left_and_nothing_else(tmp_path: Path) -> None:
    code = (
        "import os; from smith_tui.graphics.segments import Segments; "
        "print(Segments().put(b'x'), flush=True); os._exit(9)"
    )
    name = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stdout.strip()
    assert name
    mine = Segments()
    kept = mine.put(b"y")
    box = PictureBox()
    assert remove_stale() >= 1
    assert box._from_memory(name, 1) is None
    assert box._from_memory(kept, 1) == b"y"
    others = [tmp_path / other for other in ("notes", f"{PREFIX}1-ff", f"{PREFIX}notes-ff", f"x{PREFIX}fffffff-ff")]
    for other in others:
        other.touch()
    assert remove_stale(tmp_path) == 0
    assert remove_stale(tmp_path / "nowhere") == 0
    assert all(other.exists() for other in others)
    assert picture_remover(KITTY) == DELETE
    assert picture_remover(XTERM) == picture_remover({**KITTY, "TMUX": "x"}) == ""


@pytest.mark.parametrize(
    ("ui", "environ", "mode"),
    [
        (UiConfig(), {}, "auto"),
        (UiConfig(), {"NO_COLOR": ""}, "auto"),
        (UiConfig(), {"NO_COLOR": "1"}, "off"),
        (UiConfig(rain="kitty", motion="reduced"), {}, "off"),
        (UiConfig(rain="off"), {}, "off"),
        (UiConfig(rain="cells"), {}, "cells"),
        (UiConfig(rain="kitty"), {}, "kitty"),
    ],
)
def test_settings_and_environment_decide_whether_it_rains(ui: UiConfig, environ: Mapping[str, str], mode: str) -> None:
    found, why = mode_of(ui, environ)
    assert found == mode
    assert bool(why) == (mode == "off")
