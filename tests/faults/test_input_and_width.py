"""TUI, input and width: what is pasted waits for Enter, and no character hides another (B21, B22)."""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.model_steps import Text, call_tools
from tests.support.seat import Seat
from tests.support.terminal import Terminal

PASTE = "\x1b[200~{}\x1b[201~"


@pytest.fixture
def sent_file(tmp_path: Path) -> Path:
    return tmp_path / "sent"


@pytest.fixture
def terminal(sent_file: Path) -> Iterator[Terminal]:
    command = [sys.executable, "-m", "tests.support.prompt_in_terminal", str(sent_file)]
    with Terminal(command, cwd=Path(__file__).parents[2]) as terminal:
        terminal.wait_for("eady for input")
        yield terminal


def sent(sent_file: Path) -> list[str]:
    return [json.loads(line) for line in sent_file.read_text().splitlines()]


def test_b21_pastes_arrive_whole_and_only_enter_sends(terminal: Terminal, sent_file: Path) -> None:
    terminal.type(PASTE.format("l1\nl2\r\nl3"))
    terminal.wait_for(lambda text: "l3" in text and "sent 0" in text)
    assert not sent_file.exists()
    terminal.type("\r")
    terminal.wait_for("sent 1")
    terminal.type(PASTE.format("a\x1b\x00\x07\tb\x1b[31m, and a lot of text behind the escape character\n/clear\n"))
    terminal.wait_for(lambda text: "/clear" in text and "sent 1" in text)
    assert len(sent(sent_file)) == 1
    terminal.type("\r")
    terminal.wait_for("sent 2")
    terminal.type("u1\nu2\r\nu3")
    terminal.wait_for(lambda text: "u3" in text and "sent 2" in text)
    assert len(sent(sent_file)) == 2
    terminal.type("\r")
    terminal.wait_for("sent 3")
    assert sent(sent_file) == [
        "l1\nl2\nl3",
        "a\tb[31m, and a lot of text behind the escape character\n/clear\n",
        "u1\nu2\nu3",
    ]


@pytest.mark.parametrize("body", ["x" * 1_000_000, ("y" * 19 + "\n") * 20_000], ids=["one line", "20,000 lines"])
def test_b21_large_pastes_twice_are_quick_and_identical(terminal: Terminal, sent_file: Path, body: str) -> None:
    pasted = PASTE.format(body) * 2
    for start in range(0, len(pasted), 1024):
        terminal.type(pasted[start : start + 1024])
    started = time.monotonic()
    terminal.type("+")
    terminal.wait_for("+")
    assert time.monotonic() - started < 2
    terminal.type("\r")
    terminal.wait_for("sent 1")
    assert sent(sent_file) == [body * 2 + "+"]


def test_b21_whatever_is_pasted_into_the_running_app_waits_for_enter(seat: Seat) -> None:
    asked = len(seat.server.requests)
    pastes = [
        "l1\nl2\r\nl3",
        "a\x1b\x00\x07\tb\n/clear\n",
        "\x1b[200~nested\n",
        "!touch PWNED\n",
        "/quit\n",
        "\x9b2J\x85\u2028x\n",
    ]
    for number, paste in enumerate(pastes):
        seat.terminal.type(PASTE.format(f"{paste}{number}end"))
        seat.terminal.wait_for(f"{number}end")
    assert len(seat.server.requests) == asked
    seat.ask("")
    said = seat.server.requests[-1].json["messages"][-1]["content"]
    assert said.startswith("l1\nl2\nl3") and "\n/clear\n" in said and said.count("end") == len(pastes)
    assert not [character for character in said if not character.isprintable() and character not in "\n\t\u2028"]
    assert not (seat.project / "PWNED").exists()
    # Who puts the end of a paste into what is copied sends no more than one message by it.
    asked = len(seat.server.requests)
    seat.server.server.push("an answer of a kind.")
    seat.terminal.type(PASTE.format("safe\x1b[201~\r!touch PWNED\r"))
    seat.terminal.wait_for("> safe")
    seat.terminal.type("\r")
    seat.terminal.wait_for("an answer of a kind.")
    seat.ask("and on")
    assert len(seat.server.requests) <= asked + 2 and not (seat.project / "PWNED").exists()


WIDE = {
    "ok ❤️ done": "done", "👩‍💻 end": "end", "x​by z": "y z", "﻿start": "start", "漢字 fin": "fin",
    "éte word": "word", "1️⃣ key": "key", "👨‍👩‍👧‍👦 kin": "kin", "🇩🇪🇫🇷 flags": "flags", "👍🏽 skin": "skin",
    "한글 jamo": "jamo", "नमस्ते hindi": "hindi", "สวัสดี thai": "thai", "שלום hebrew": "hebrew",
    "Z̸̡̛̯̗͉͗̀a̶̧l̴g̷o zalgo": "zalgo", "⁦iso⁩ bidi": "bidi", "a­b soft": "soft", "\u3000ideo space": "space",
    "ＦＵＬＬ full": "full", "…‥ dots": "dots", "🏴󠁧󠁢󠁥󠁮󠁧󠁿 tags": "tags", "a‍b joined": "joined",
}  # fmt: skip


def test_b22_no_word_vanishes_behind_characters_of_odd_width(seat: Seat) -> None:
    text = "\n".join(WIDE)
    (seat.project / "wide.txt").write_text(text + "\n")
    table = "| text | word |\n| --- | --- |\n" + "\n".join(
        f"| {odd} | {word}! |" for odd, word in list(WIDE.items())[:10]
    )
    answer = [Text(text=f"{table}\n\n"), *call_tools(("bash", {"command": "cat wide.txt"}))]
    screen = seat.ask("show", answer)
    assert [word for word in list(WIDE.values())[:10] if f"{word}!" not in screen] == []
    assert [word for word in list(WIDE.values())[-8:] if word not in screen] == []
    assert text in seat.results()[0]
    for odd, word in WIDE.items():
        seat.terminal.type(odd.replace("\u3000", " "))
        seat.terminal.wait_for(word)
        seat.terminal.type("\x7f" * (len(odd) + 1))
    seat.command("/nothing", "nothing")
    seat.ask("after all of it")
