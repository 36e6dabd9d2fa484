"""Streaming, malformed calls and odd bytes: neither ends a turn or poisons what is kept (B03, B04)."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from smith_core.messages import ToolCall
from smith_core.tools.base import ToolContext, ToolOutcome, succeeded
from tests.support.engine import open_engine, run_turn
from tests.support.gated_calls import NoArguments, run, spec
from tests.support.place import SMITH, Place
from tests.support.scripted_client import ScriptedClient, calls
from tests.support.server_thread import ServerThread


@pytest.mark.parametrize("name", ["search_everything", "", "[red]x"])
async def test_b03_an_unknown_tool_lists_the_ones_that_exist(name: str) -> None:
    result = await run(ToolCall("c", name, "{}"), spec("read"), spec("bash"), spec("git"))
    assert not result.ok
    assert repr(name) in result.content or not name
    assert "bash, read" in result.content
    assert "git" not in result.content


async def test_b03_a_denied_tool_is_a_policy_error_and_does_not_run() -> None:
    ran: list[str] = []

    async def handler(arguments: Any, context: ToolContext) -> ToolOutcome:
        ran.append("ran")
        return succeeded("")

    result = await run(ToolCall("c", "bash", "{}"), spec("bash", NoArguments, handler=handler), role="orchestrator")
    assert result.error.kind == "policy"
    assert ran == []


async def test_b03_unknown_calls_stop_at_the_budget(tmp_path: Path) -> None:
    client = ScriptedClient(calls(("search_everything", {})))
    runtime = open_engine(tmp_path, client, {"tool_step_budget": 5})
    result = await run_turn(runtime, "go")
    assert (result.stop_reason, result.tool_calls) == ("budget_exhausted", 5)
    assert result.error is not None
    assert result.error.kind == "budget_exhausted"
    answers = [message for message in runtime.services.conversation.messages if message.role == "tool"]
    assert len(answers) == 5
    assert all("search_everything" in answer.content and "bash" in answer.content for answer in answers)


async def test_b04_surrogates_in_the_prompt_do_not_poison_history(tmp_path: Path) -> None:
    client = ScriptedClient("hi")
    runtime = open_engine(tmp_path, client)
    await run_turn(runtime, "x\ud83d\ude00 \ud83d \0")
    assert client.requests[0].messages[1].content == "x\U0001f600 \ufffd \ufffd"


async def test_b04_nul_in_arguments_does_not_poison_history(tmp_path: Path) -> None:
    arguments = r'{"path": "a\u0000\u0000b\\\u0000", "end_line": 1, "literal": "\\u0000"}'
    client = ScriptedClient(calls(("read", arguments)), "done")
    await run_turn(open_engine(tmp_path, client), "go")
    asked, refused = client.requests[1].messages[-2:]
    assert json.loads(asked.tool_calls[0].arguments) == {
        "path": "a\ufffd\ufffdb\\\ufffd",
        "end_line": 1,
        "literal": r"\u0000",
    }
    assert "NUL" in refused.content


def test_b04_a_task_from_standard_input_and_an_answer_may_be_odd_bytes(place: Place) -> None:
    place.environ |= {"PYTHONIOENCODING": "ascii"}
    with ServerThread(["caf\u00e9 ▸"]) as server:
        command = [SMITH, "run", "-", "--set", f"llm_config.api_url={server.url}"]
        done = subprocess.run(
            command, cwd=place.project, env=place.environ, input=b"hello\ncaf\xe9", capture_output=True, timeout=60
        )
        assert server.requests[0].json["messages"][-1]["content"] == "hello\ncaf\ufffd"
    assert (done.returncode, done.stdout) == (0, b"caf\\xe9 \\u25b8\n")
