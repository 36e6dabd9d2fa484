"""The inspect view and the pager in a real pseudo terminal: an edit in $EDITOR reaches every later request."""

from pathlib import Path

from tests.e2e.conftest import Place
from tests.support.model_steps import Call, Calls, Finish
from tests.support.processes import wait_for_file
from tests.support.server_thread import ServerThread
from tests.support.terminal import Terminal

ALT_I, ALT_H, UP, ESCAPE = "\x1bi", "\x1bh", "\x1b[A", "\x1b"


def program(folder: Path, name: str, body: str) -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o700)
    return str(path)


def say(terminal: Terminal, text: str, answer: str) -> None:
    terminal.type(f"{text}\r")
    terminal.wait_for(answer)
    terminal.wait_for("idle")


def results(server: ServerThread) -> list[str]:
    return [message["content"] for message in server.requests[-1].json["messages"] if message["role"] == "tool"]


def test_b16_an_edit_and_a_deletion_hold_in_a_real_terminal(place: Place, tmp_path: Path) -> None:
    paged = tmp_path / "paged"
    # Both take Ctrl+C, which is none of the app's business meanwhile.
    place.environ["EDITOR"] = program(tmp_path, "edit", 'kill -INT $PPID; printf "new\\ntext [/x]\\n" > "$1"')
    place.environ["PAGER"] = program(tmp_path, "page", f'kill -INT $PPID; cp "$1" {paged}')
    two = tuple(Call(name="bash", arguments={"command": f"echo {word}"}) for word in ("alpha", "beta"))
    answers = [[Calls(calls=two), Finish(reason="tool_calls")], "that is all", "answer two", "answer three"]
    with ServerThread(answers, strict=True) as server:
        with place.start(server.url) as terminal:
            terminal.wait_for("Smith")
            say(terminal, "prompt one", "that is all")
            terminal.type(ALT_I)
            terminal.wait_for("5 messages")
            terminal.type(f"{UP}o")
            terminal.wait_for("is changed, also for the next request")
            terminal.wait_for("new text [/x]")
            terminal.type(UP)
            terminal.wait_for("3  tool, bash")
            terminal.type("d")
            terminal.wait_for("the call is gone from message 2")
            terminal.type(ESCAPE)
            terminal.wait_for("Type a task")
            say(terminal, "prompt two", "answer two")
            assert results(server) == ["new\ntext [/x]"]
            terminal.type("/quit\r")
            assert terminal.wait_for_exit() == 0
        with place.start(server.url) as terminal:
            terminal.wait_for("answer two")
            say(terminal, "prompt three", "answer three")
            assert results(server) == ["new\ntext [/x]"]
            terminal.type(ALT_H)
            terminal.wait_for("8 messages")
            terminal.type("o")
            wait_for_file(paged)
            terminal.type("q")
            terminal.wait_for("Type a task")
            terminal.type("/quit\r")
            assert terminal.wait_for_exit() == 0
        assert "text [/x]" in paged.read_text() and "alpha" not in paged.read_text()
        assert server.server.violations == []
