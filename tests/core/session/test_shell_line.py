"""Command lines of the person's own, through a whole engine."""

import asyncio
from pathlib import Path

import pytest

from smith_core.events import AnyEvent, Notice, PromptReturned, ToolEnded, ToolOutput, ToolStarted, TurnEnded
from smith_core.messages import shell_line_header
from smith_core.session.shell_line import KEPT_CHARS, own_shell
from tests.support.engine import command, open_engine, open_stored_engine, run_turn
from tests.support.scripted_client import ScriptedClient


async def test_it_runs_shows_live_output_and_joins_the_conversation(tmp_path: Path) -> None:
    client = ScriptedClient("I see")
    runtime = open_engine(tmp_path, client)
    events = await command(runtime, "!echo one; exit 3")
    kinds = [type(event) for event in events]
    assert kinds.index(ToolStarted) < kinds.index(ToolOutput) < kinds.index(ToolEnded) < kinds.index(TurnEnded)
    assert not client.requests
    await run_turn(runtime, "what was that?")
    sent = client.requests[0].messages
    assert [message.role for message in sent] == ["system", "user"]
    header = shell_line_header("echo one; exit 3")
    assert sent[1].content == f"{header}one\n[exit code 3]\n\nwhat was that?"


async def test_two_marks_keep_it_out(tmp_path: Path) -> None:
    runtime = open_stored_engine(tmp_path, ScriptedClient("x"))
    events = await command(runtime, "!!echo secret")
    assert any(isinstance(event, ToolEnded) and "secret" in event.result.content for event in events)
    assert runtime.services.conversation.messages == ()
    await runtime.stop_session("test")
    assert b"secret" not in b"".join(path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file())


async def test_it_is_there_after_a_restart(tmp_path: Path) -> None:
    runtime = open_stored_engine(tmp_path, ScriptedClient("x"))
    await command(runtime, "!printf kept")
    identity = runtime.services.conversation.conversation_id
    await runtime.stop_session("test")
    again = open_stored_engine(tmp_path, ScriptedClient("x"))
    await command(again, f"/load {identity}")
    (message,) = again.services.conversation.messages
    assert message.metadata is not None
    assert message.metadata.command == "printf kept"
    assert message.content.endswith("kept\n[exit code 0]")
    await again.stop_session("test")


async def test_it_is_cancelled_like_a_turn_and_excludes_one(tmp_path: Path) -> None:
    runtime = open_engine(tmp_path, ScriptedClient("x"))
    events: list[AnyEvent] = []

    async def run() -> None:
        async for event in runtime.process_raw_input("!echo begun; sleep 300"):
            events.append(event)
            if isinstance(event, ToolOutput):
                refused = await command(runtime, "another prompt")
                assert any(isinstance(other, Notice) and "a turn is running" in other.text for other in refused)
                runtime.cancel()

    await asyncio.wait_for(run(), 30)
    ended = [event.result for event in events if isinstance(event, TurnEnded)]
    assert [result.stop_reason for result in ended] == ["cancelled"]
    assert "begun" in runtime.services.conversation.messages[0].content


async def test_long_output_is_cut_and_says_so(tmp_path: Path) -> None:
    runtime = open_engine(tmp_path, ScriptedClient("x"))
    await command(runtime, "!seq 1 30000; echo LAST")
    content = runtime.services.conversation.messages[0].content
    assert len(content) <= KEPT_CHARS + 200
    assert "characters are left out here" in content
    assert content.endswith("LAST\n[exit code 0]")


@pytest.mark.parametrize("line", ["!", "!!", "!  "])
async def test_without_a_command_it_says_how(tmp_path: Path, line: str) -> None:
    runtime = open_engine(tmp_path, ScriptedClient("x"))
    assert any("usage: !command" in event.text for event in await command(runtime, line) if isinstance(event, Notice))


async def test_our_keys_are_not_in_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_API_KEY", "sk-SECRET123")
    runtime = open_engine(tmp_path, ScriptedClient("x"))
    await command(runtime, "!env")
    assert "SECRET123" not in runtime.services.conversation.messages[0].content


def test_the_persons_own_shell_is_used_when_it_can_be(tmp_path: Path) -> None:
    shell = tmp_path / "mysh"
    shell.write_text("#!/bin/sh\n")
    assert own_shell({"SHELL": str(shell), "PATH": "/bin"}) != str(shell)
    shell.chmod(0o755)
    assert own_shell({"SHELL": str(shell), "PATH": "/bin"}) == str(shell)
    assert (own_shell({"SHELL": "relative", "PATH": "/bin:/usr/bin"}) or "").endswith("sh")


async def test_a_shell_line_is_undone_as_it_was_typed_and_retried_in_the_shell(tmp_path: Path) -> None:
    runtime = open_engine(tmp_path, ScriptedClient())
    await command(runtime, "!echo x >> lines")
    await command(runtime, "/retry")
    assert (tmp_path / "lines").read_text() == "x\nx\n"
    assert len(runtime.services.conversation.messages) == 1
    events = await command(runtime, "/undo")
    assert [event.text for event in events if isinstance(event, PromptReturned)] == ["!echo x >> lines"]
