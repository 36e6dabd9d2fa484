"""Persistence, history integrity: every call has its result, whatever happened to either (B15, B16)."""

import asyncio
import json
import signal
import stat
from pathlib import Path
from typing import Any

from smith_core.events import (
    TextDelta,
    ToolStarted,
    TurnEnded,
)
from smith_core.llm.protocol import StreamReasoning, StreamText
from tests.e2e.test_orchestrator import JOBS, start
from tests.support.demo_task import TASK
from tests.support.engine import open_engine, run_turn, shape
from tests.support.model_steps import AnyStep, Call, Calls, Finish, Stall, Text, call_tools, say
from tests.support.place import Place, ask, sent
from tests.support.processes import wait_for_file
from tests.support.scripted_client import ScriptedClient, calls
from tests.support.server_thread import ServerThread

ALT_I, ALT_H, UP, ESCAPE = "\x1bi", "\x1bh", "\x1b[A", "\x1b"


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
                ask(terminal, f"prompt {number}", f"answer {number}")
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
            ask(terminal, "hello", "hello yourself")
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
            ask(terminal, "go on", "gone on")
        roles = [role for role, _ in sent(server)]
        assert roles == ["user", "assistant", "tool", "tool", "tool", "user"]
        contents = [content for role, content in sent(server) if role == "tool"]
        assert "real" in contents[0] and contents[2].startswith("not run")
        assert server.server.violations == []


def test_b15_a_kill_while_children_work_leaves_a_conversation_that_goes_on(place: Place) -> None:
    def team(request: dict[str, Any]) -> list[AnyStep]:
        if "You are Tank" not in request["messages"][0]["content"]:
            return [Text(text="looking"), Stall()]
        return call_tools(*JOBS) if request["messages"][-1]["content"] == TASK else say("hello yourself")

    with ServerThread(team, strict=True) as server:
        process = start(place, server.url)
        server.wait_for_requests(1 + len(JOBS))
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=20)
        with place.start(server.url, "--role", "orchestrator") as terminal:
            terminal.wait_for("prices.py prints 45.0")
            terminal.type("hello\r")
            terminal.wait_for("hello yourself")
        assert server.server.violations == []
        assert [message["role"] for message in server.requests[-1].json["messages"]] == ["system", "user"]


def program(folder: Path, name: str, body: str) -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o700)
    return str(path)


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
            ask(terminal, "prompt one", "that is all")
            terminal.type(ALT_I)
            terminal.wait_for("5 messages")
            terminal.type(f"{UP}o")
            terminal.wait_for("is changed, also for the next request")
            terminal.wait_for("text [/x]")
            terminal.type(UP)
            terminal.wait_for("3  tool, bash")
            terminal.type("d")
            terminal.wait_for("the call is gone from message 2")
            terminal.type(ESCAPE)
            terminal.wait_for("Type a task")
            ask(terminal, "prompt two", "answer two")
            assert results(server) == ["new\ntext [/x]"]
            terminal.type("/quit\r")
            assert terminal.wait_for_exit() == 0
        with place.start(server.url) as terminal:
            terminal.wait_for("answer two")
            ask(terminal, "prompt three", "answer three")
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


async def test_b15_a_cancel_in_the_second_of_three_calls_leaves_three_answers(tmp_path: Path) -> None:
    client = ScriptedClient(
        calls(*[("bash", {"command": command}) for command in ("echo first", "sleep 300", "touch third")]), "hello"
    )
    runtime = open_engine(tmp_path, client)
    started = 0
    async for event in runtime.process_raw_input("go"):
        started += isinstance(event, ToolStarted)
        if started == 2 and isinstance(event, ToolStarted):
            asyncio.get_running_loop().call_later(0.1, runtime.cancel)
    messages = runtime.services.conversation.messages
    assert shape(messages) == ["user", "assistant c1 c2 c3", "tool c1", "tool c2", "tool c3"]
    assert [message.cancelled for message in messages[2:]] == [False, True, True]
    assert "first" in messages[2].content
    assert "not run" in messages[4].content
    assert not (tmp_path / "third").exists()
    assert (await run_turn(runtime, "go on")).text == "hello"


async def test_b15_reasoning_alone_leaves_no_message(tmp_path: Path) -> None:
    client = ScriptedClient([StreamReasoning(text="hmm"), asyncio.Event()], "hello")
    runtime = open_engine(tmp_path, client)
    async for event in runtime.process_raw_input("go"):
        if event.__class__.__name__ == "ReasoningDelta":
            runtime.cancel()
    assert shape(runtime.services.conversation.messages) == ["user"]
    assert (await run_turn(runtime, "again")).text == "hello"


async def test_b15_partial_text_is_kept_once_and_marked(tmp_path: Path) -> None:
    client = ScriptedClient([StreamText(text="The answer "), asyncio.Event()])
    runtime = open_engine(tmp_path, client)
    ended: list[TurnEnded] = []
    async for event in runtime.process_raw_input("go"):
        if isinstance(event, TextDelta):
            runtime.cancel()
        if isinstance(event, TurnEnded):
            ended.append(event)
    assert ended[0].result.stop_reason == "cancelled"
    (partial,) = [message for message in runtime.services.conversation.messages if message.role == "assistant"]
    assert (partial.content, partial.interrupted) == ("The answer ", True)
    assert client.closed_streams == 1
