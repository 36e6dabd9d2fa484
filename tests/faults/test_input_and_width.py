"""Pastes through a real pseudo terminal, the way a terminal sends them."""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

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
