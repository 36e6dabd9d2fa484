"""Streaming, malformed calls and odd bytes: neither ends a turn or poisons what is kept (B03, B04)."""

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from smith_core.messages import ToolCall
from smith_core.tools.base import ToolContext, ToolOutcome, succeeded
from tests.support.engine import open_engine, run_turn
from tests.support.gated_calls import NoArguments, run, spec
from tests.support.model_steps import Delta, call_tools
from tests.support.place import SMITH, Place
from tests.support.scripted_client import ScriptedClient, calls
from tests.support.seat import Seat, raw_calls
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


NAMES = ["search_everything", "", "READ", "functions.read", "a" * 300, "re\0ad", "[red]x", "\x1b]0;stolen\x07x", "漢字"]


def test_b03_calls_of_tools_that_do_not_exist_are_answered_with_those_that_do(seat: Seat) -> None:
    begun = len(seat.terminal.raw)
    calls = [
        {"index": at, "id": f"c{at}", "function": {"name": name, "arguments": "{}"}} for at, name in enumerate(NAMES)
    ]
    seat.ask("use them", raw_calls(*calls))
    answers = seat.results()
    assert len(answers) == len(NAMES)
    assert all("your tools are: bash, code_files" in answer for answer in answers)
    for name, answer in zip(NAMES, answers, strict=True):
        assert name in answer or not name.isprintable() or not name
    assert "[red]x" in seat.terminal.text()
    assert b"\x1b]0;stolen" not in seat.terminal.raw[begun:]


def test_b03_a_model_that_never_stops_calling_nonsense_is_stopped_by_one_key(seat: Seat) -> None:
    nonsense = raw_calls({"index": 0, "id": "c", "function": {"name": "search_everything", "arguments": "{}"}})
    asked = len(seat.server.requests)
    seat.begin("go on", *[nonsense] * 2_000)
    seat.server.wait_for_requests(asked + 20)
    started = time.monotonic()
    seat.cancelled()
    assert time.monotonic() - started < 1
    seat.server.server.forget_answers()
    seat.ask("and now")


ODD_COMMANDS = {
    r"printf 'a\000b\377c\n'": "a\ufffdb\ufffdc",
    r"printf '\200\201\000\n'": "\ufffd\ufffd\ufffd",
    r"printf 'caf\303'; sleep 0.3; printf '\251\n'": "café",
    r"printf '\355\240\275 \364\220\200\200 \300\257\n'": "\ufffd",
    r"printf 'x\302\205y\302\233z\n'": "x",
}


def test_b04_odd_bytes_poison_neither_the_history_nor_what_is_kept_of_it(seat: Seat) -> None:
    (seat.project / "picture.bin").write_bytes(b"\x89PNG\r\n\x1a\n\0" + bytes(range(256)) * 3 + bytes(247))
    results = seat.run(*ODD_COMMANDS)
    for result, words in zip(results, ODD_COMMANDS.values(), strict=True):
        assert words in result and "\0" not in result
    seat.ask("read it", call_tools(("read", {"path": "picture.bin"})))
    assert "binary" in seat.results()[0] and "1024" in seat.results()[0] and len(seat.results()[0]) <= 300
    halves = [Delta(delta={"content": text}) for text in ("x\ud83d", "\ude00y ", "\ud83d")]
    argument = '{"command": "echo \\\\ud83d\\\\u0000 \\ud83d"}'
    seat.ask("say it", [*halves, *call_tools(("bash", argument))])
    assert "x\U0001f600y \ufffd" in json.dumps(seat.sent(), ensure_ascii=False)
    assert "x\U0001f600y" in seat.terminal.text()
    seat.restart()
    seat.ask("still there")
    kept = seat.server.requests[-1].json["messages"]
    assert sum("caf\u00e9" in message["content"] for message in kept if message["role"] == "tool") == 1
    for message in kept:
        assert "\0" not in json.dumps(message, ensure_ascii=False).encode().decode()
    seat.terminal.type("/search café\r")
    seat.terminal.wait_for("1 result")
