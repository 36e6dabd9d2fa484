"""The app in a real pseudo terminal over its store: killed and started again, quit in the middle, two at once."""

import json
import signal
import stat
from pathlib import Path

from tests.e2e.conftest import SMITH, Place
from tests.support.model_steps import Call, Calls, Finish
from tests.support.processes import wait_for_file
from tests.support.server_thread import ServerThread
from tests.support.terminal import Terminal


def say(terminal: Terminal, text: str, answer: str) -> None:
    terminal.type(f"{text}\r")
    terminal.wait_for(answer)
    terminal.wait_for("idle")


def sent(server: ServerThread) -> list[tuple[str, str]]:
    """Return roles and contents of the last request, without the system prompt."""
    messages = server.requests[-1].json["messages"][1:]
    return [(message["role"], message["content"]) for message in messages]


def modes(data: Path) -> dict[str, str]:
    """Return what others may see, by path: nothing when all is well.

    Files of the index get their mode when they are complete; until then their folder keeps others out.
    """
    return {
        str(path.relative_to(data)): f"{path.stat().st_mode:o}"
        for path in (data, *data.rglob("*"))
        if path.parent != data / "index" and stat.S_IMODE(path.stat().st_mode) & 0o077
    }


def test_b15_b28_a_killed_app_comes_back_where_it_was(place: Place) -> None:
    sleeping = [
        Calls(calls=(Call(name="bash", arguments={"command": "echo > begun; sleep 300"}),)),
        Finish(reason="tool_calls"),
    ]
    answers = ["answer one", "answer two", "answer three", sleeping, "hello yourself"]
    with ServerThread(answers, strict=True) as server:
        with place.start(server.url) as terminal:
            terminal.wait_for("Smith")
            for number in ("one", "two", "three"):
                say(terminal, f"prompt {number}", f"answer {number}")
            terminal.type("sleep a while\r")
            wait_for_file(place.project / "begun")
            terminal.process.send_signal(signal.SIGKILL)
            terminal.wait_for_exit()
        data = place.home / ".local/share/smith"
        assert modes(data) == {}
        for path in (data, *data.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        with place.start(server.url) as terminal:
            screen = terminal.wait_for("answer three")
            assert "prompt one" in screen and "sleep a while" in screen
            say(terminal, "hello", "hello yourself")
            assert sent(server) == [
                ("user", "prompt one"), ("assistant", "answer one"),
                ("user", "prompt two"), ("assistant", "answer two"),
                ("user", "prompt three"), ("assistant", "answer three"),
                ("user", "sleep a while\n\nhello"),
            ]  # fmt: skip
            terminal.type("/quit\r")
            assert terminal.wait_for_exit() == 0
        state = place.home / ".local/state/smith"
        assert modes(data) == modes(state) == {}
        typed = [json.loads(line)["text"] for line in (state / "prompts.jsonl").read_text().splitlines()]
        assert typed == [f"prompt {number}" for number in ("one", "two", "three")] + ["sleep a while", "hello", "/quit"]
        assert server.server.violations == []


def test_b15_quitting_while_a_command_runs_keeps_the_turn(place: Place) -> None:
    calls = tuple(
        Call(name="bash", arguments={"command": command})
        for command in ("echo real", "echo > begun; sleep 300", "echo no")
    )
    answers = [[Calls(calls=calls), Finish(reason="tool_calls")], "gone on"]
    with ServerThread(answers, strict=True) as server:
        with place.start(server.url) as terminal:
            terminal.wait_for("Smith")
            terminal.type("three calls\r")
            wait_for_file(place.project / "begun")
            terminal.type("/quit\r")
            assert terminal.wait_for_exit() == 0
        assert "went wrong" not in terminal.text() and "mistake" not in terminal.text()
        with place.start(server.url) as terminal:
            terminal.wait_for("three calls")
            say(terminal, "go on", "gone on")
        roles = [role for role, _ in sent(server)]
        assert roles == ["user", "assistant", "tool", "tool", "tool", "user"]
        contents = [content for role, content in sent(server) if role == "tool"]
        assert "real" in contents[0] and contents[2].startswith("not run")
        assert server.server.violations == []


def test_b14_a_second_app_says_who_has_the_conversation(place: Place) -> None:
    with (
        ServerThread(["answer one", "answer two", "answer three"], strict=True) as server,
        place.start(server.url) as first,
    ):
        first.wait_for("Smith")
        say(first, "prompt one", "answer one")
        with place.start(server.url) as second:
            screen = second.wait_for("/follow shows it read-only")
            assert f"process {first.process.pid}" in screen
            say(second, "prompt two", "answer two")
        say(first, "prompt three", "answer three")
        expected = [("user", "prompt one"), ("assistant", "answer one"), ("user", "prompt three")]
        assert sent(server) == expected


def test_run_saves_and_the_store_command_looks_at_it(place: Place) -> None:
    def smith(*arguments: str) -> str:
        with Terminal([SMITH, *arguments], cwd=place.project, environ=place.environ, columns=200) as terminal:
            assert terminal.wait_for_exit() == 0, terminal.text()
            return terminal.text()

    with ServerThread(["done it"], strict=True) as server:
        smith("--set", f"llm_config.api_url={server.url}", "run", "do it")
    assert "Everything is whole" in smith("store", "check")
    assert "2 documents" in smith("store", "rebuild-index")
    target = place.home / "out.jsonl"
    assert "1 conversations" in smith("store", "export", str(target))
    assert b"done it" in target.read_bytes() and stat.S_IMODE(target.stat().st_mode) == 0o600
