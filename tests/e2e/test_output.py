"""The output layer in a real pseudo terminal: the same screens as Textual's own way, and whole ones when it matters."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.conftest import Place
from tests.support.model_steps import Call, Calls, Finish
from tests.support.server_thread import ServerThread
from tests.support.terminal import Terminal

ANSWER = """\
# A heading 漢字

| name | value |
| --- | --- |
| 🙂 emoji | ok |
| wide 漢字 | done |

```python
def greet(name):
    return f"Hello, {name}"  # a comment
```

""" + "\n\n".join(f"Paragraph {number} with a few words of **text** in it." for number in range(40))


def answers(request: dict[str, object]) -> object:
    messages = request["messages"]
    assert isinstance(messages, list)
    if messages[-1]["role"] == "user" and "run" in messages[-1]["content"]:
        call = Call(name="bash", arguments={"command": "seq 1 60; printf 'ok \\u2764\\ufe0f 漢字 e\\u0301\\n'"})
        return [Calls(calls=(call,)), Finish(reason="tool_calls")]
    return "done with it" if messages[-1]["role"] == "tool" else ANSWER


TIMED = ("✓ bash", "○ Smith", "⠋ Smith", "🔎")
"""In rows that run with a clock, or have a caret that blinks."""


def differences(ours: Terminal, stock: Terminal) -> list[tuple[object, ...]]:
    """Return (row, column, ours, theirs) of each cell that differs."""
    found: list[tuple[object, ...]] = []
    for y, rows in enumerate(zip(ours.screen.cells(), stock.screen.cells(), strict=True)):
        if not any(word in "".join(cell.data for cell in row) for row in rows for word in TIMED):
            found += [(y, x, *pair) for x, pair in enumerate(zip(*rows, strict=True)) if pair[0] != pair[1]]
    return found


LOOKS = 3
"""How often both screens have to be found alike, a tenth of a second apart."""

UNORDERED = "Search for commands"
"""On the screen with the whole list of commands, whose parts come in any order."""

STEPS: list[tuple[str | Callable[[Terminal], None], str, str]] = [
    ("", "Type a task", ""),
    ("\x1bOP", "Send the prompt", ""),
    ("\x1b[6~", "Ctrl+F", ""),
    ("\x1bOP", "Type a task", "Send the prompt"),
    ("\x10", UNORDERED, ""),
    ("undelete", "take the last deletion back", "/new"),
    ("\x1b", "Type a task", "take the last"),
    ("\x03", "again to quit", ""),
    ("e\u0301 漢字 🙂 x", "漢字", ""),
    ("\x1b[D\x1b[D", "漢字", ""),
    ("\x0atwo\x0athree", "three", "again to quit"),
    ("\r", "Paragraph 39", ""),
    ("\x1b[5~", "more below", ""),
    ("\x1b[5~", "Paragraph 9", "Paragraph 30"),
    ("\x06", "Find:", ""),
    ("\x1b", "Paragraph", "Find:"),
    ("\x1b[6~", "Paragraph", ""),
    ("run it\r", "done with it", ""),
    ("\x0f", "60", ""),
    (lambda terminal: terminal.resize(70, 24), "F1 help", "Ctrl+J newline"),
    (lambda terminal: terminal.resize(130, 34), "Ctrl+J newline", ""),
    ("\x0f", "Paragraph 33", ""),
    ("\x0c", "run it", ""),
]
"""What a person does, and what is then on the screen and what is not."""


def wait_until_alike(ours: Terminal, stock: Terminal, step: object) -> None:
    """Wait until both screens are the same and stay so; at once they are, for neither has changed yet."""
    alike, end = 0, time.monotonic() + 20
    while alike < LOOKS:
        found = differences(ours, stock)
        alike = 0 if found else alike + 1
        assert not found or time.monotonic() < end, (step, found)
        time.sleep(0.1)


def test_all_screens_look_as_textual_itself_draws_them(place: Place) -> None:
    with (
        ServerThread(answers) as server,
        place.start(server.url, "--new", "--set", "ui.output=diff") as ours,
        place.start(server.url, "--new", "--set", "ui.output=stock") as stock,
    ):
        for action, wanted, unwanted in STEPS:
            for terminal in (ours, stock):
                if isinstance(action, str):
                    terminal.type(action)
                else:
                    action(terminal)
            for terminal in (ours, stock):
                terminal.wait_for(lambda text: wanted in text and (not unwanted or unwanted not in text), 30)  # noqa: B023
            if wanted != UNORDERED:
                wait_until_alike(ours, stock, action)
        assert len(ours.raw) < len(stock.raw) / 2


@pytest.mark.parametrize("number", [signal.SIGTSTP, signal.SIGSTOP], ids=lambda number: number.name)
def test_b23_after_a_stop_the_whole_screen_comes_back_and_the_terminal_at_the_end(
    place: Place, number: signal.Signals
) -> None:
    with place.start("http://127.0.0.1:9/v1") as terminal:
        terminal.wait_for("cannot reach")
        terminal.type("half a thought")
        before = terminal.wait_for("half a thought")
        terminal.process.send_signal(number)
        os.waitid(os.P_PID, terminal.process.pid, os.WSTOPPED | os.WNOWAIT)
        terminal.screen.reset()
        terminal.process.send_signal(signal.SIGCONT)
        terminal.wait_for(lambda text: text == before)
        terminal.type(" more")
        terminal.wait_for("half a thought more")
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.wait_for_exit() == 143
        assert terminal.attributes() == terminal.attributes_before


def test_the_next_start_shows_its_frame_at_once_and_takes_what_was_typed_ahead(place: Place) -> None:
    with ServerThread(["the answer"], strict=True) as server:
        with place.start(server.url, "--new") as terminal:
            terminal.wait_for("idle")
            (picture,) = wait_for_pictures(place.home, 1)
            terminal.process.send_signal(signal.SIGTERM)
            terminal.wait_for_exit()
        assert picture.stat().st_mode & 0o777 == 0o600
        kept = picture_in(picture)
        assert b"ype a task" in kept and b"Enter" in kept
        # The folder, the model and the words of the transcript belong to one start alone.
        words = (b"/project", b"scripted", b"Smith  ", b"Agent Smith reads")
        assert [
            (word, kept[max(0, kept.find(word) - 80) : kept.find(word) + 80]) for word in words if word in kept
        ] == []
        with place.start(server.url, "--new") as terminal:
            terminal.wait_for("ype a task")
            assert "idle" not in terminal.text() and "Smith" not in terminal.text()
            terminal.type("typed ahead\r")
            terminal.wait_for("the answer")
            assert "▌ typed ahead" in terminal.text()
            # The alternate screen was entered once: some terminals clear it when that is asked for again.
            assert terminal.raw.count(b"\x1b[?1049h") == 1
            terminal.process.send_signal(signal.SIGTERM)
            assert terminal.wait_for_exit() == 143
            assert terminal.attributes() == terminal.attributes_before
        with place.start(server.url, columns=101) as terminal:
            terminal.wait_for("the answer")
            first_ink = terminal.raw.find(b"ype a task")
            assert b"\x1b[?2004h" in terminal.raw[:first_ink]
            # It is kept while the end of the conversation is to be seen.
            kept = b"".join(map(picture_in, wait_for_pictures(place.home, 2)))
            assert kept.count(b"ype a task") == 2 and b"typed ahead" not in kept and b"the answer" not in kept


def picture_in(file: Path) -> bytes:
    """The picture alone: the files that it depends on, which stand before it, may be named like a word of a start."""
    head, _, rest = file.read_bytes().partition(b"\n")
    key_length, marks_length, _ = map(int, head.split())
    return rest[key_length + marks_length :]


def wait_for_pictures(home: Path, count: int) -> list[Path]:
    folder, end = home / ".cache" / "smith" / "pictures", time.monotonic() + 15
    while time.monotonic() < end:
        kept = [entry for entry in folder.glob("*") if not entry.name.startswith(".")]
        if len(kept) == count:
            return kept
        time.sleep(0.02)
    raise AssertionError("no picture was kept")
