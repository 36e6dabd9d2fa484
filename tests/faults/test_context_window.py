"""Context window: what is sent is valid and fits, and what matters of it stays (B17, B18)."""

import re
import time
from pathlib import Path
from typing import Any

import pytest

from smith_core.events import (
    AnyEvent,
    Notice,
)
from smith_core.messages import Message, ToolCall
from smith_core.model import ModelService
from smith_core.prompt import PromptService
from smith_core.runtime import Runtime
from smith_core.window import WindowLimits, fit
from tests.core.test_window import SYSTEM, tool_round, user
from tests.support.direct_client import DirectClient
from tests.support.engine import open_engine, run_turn
from tests.support.model_server import ModelServer
from tests.support.model_steps import Answer, call_tools
from tests.support.scripted_client import ScriptedClient
from tests.support.seat import Seat

# litellm's and pydantic's own complaints about each other.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")

PROMPT_TEXT = "s" * 400
LIMIT_CHARS = 6400


class FixedPrompt(PromptService):
    """A system prompt of 400 characters."""

    @staticmethod
    def build_system_prompt(*_: Any) -> str:
        return PROMPT_TEXT


def open_small(server: ModelServer, folder: Path, *, enabled: bool = True) -> Runtime:
    settings = {
        "llm_config": {"api_url": server.url},
        "context_management": {"enabled": enabled, "tool_output_elide_over_chars": 2000},
    }
    handles = {"model": ModelService(DirectClient(2000)), "prompt": FixedPrompt()}
    runtime = open_engine(folder, ScriptedClient(), settings, handles)
    runtime.services.conversation.reset("c", six_rounds())
    return runtime


def six_rounds() -> tuple[Message, ...]:
    messages: list[Message] = []
    for number in range(6):
        calls = tuple(ToolCall(f"h{number}c{index}", "read", "{}") for index in range(2))
        messages += [Message(role="user", content=str(number) * 50), Message(role="assistant", tool_calls=calls)]
        messages += [Message(role="tool", tool_call_id=call.id, content=f"{number} abc " * 250) for call in calls]
    return tuple(messages)


def chars(message: dict[str, Any]) -> int:
    calls = [call["function"] for call in message.get("tool_calls", [])]
    return len(message["content"]) + sum(len(call["name"]) + len(call["arguments"]) for call in calls)


async def test_b17_every_request_is_valid_small_and_made_of_the_newest_rounds(tmp_path: Path) -> None:
    def answer(request: dict[str, Any]) -> Answer:
        steps[0] += 1
        command = f"printf '%01500d' {steps[0]} | tr 0 z"
        return "done" if steps[0] > 12 else call_tools(("bash", {"command": command}), ("bash", {"command": command}))

    steps = [0]
    async with ModelServer(answer, strict=True) as server:
        runtime = open_small(server, tmp_path)
        assert (await run_turn(runtime, "n" * 50)).text == "done"
    assert server.violations == []
    assert len(server.requests) == 13
    for number, request in enumerate(server.requests):
        messages = request.json["messages"]
        assert messages[0] == {"role": "system", "content": PROMPT_TEXT}
        assert [message["content"] for message in messages if message["role"] == "user"][-1] == "n" * 50
        assert sum(map(chars, messages)) <= LIMIT_CHARS
        if number:
            results = [message["content"] for message in messages[-2:]]
            assert all(result.startswith("z") and "exit code 0" in result for result in results)
            assert all(1500 <= len(result) < 1600 for result in results), "the newest round is whole"
    first = server.requests[0].json["messages"]
    assert [message["role"] for message in first] == ["system", "user", "assistant", "tool", "tool", "user"]
    assert first[1]["content"] == "5" * 50
    stored = runtime.services.conversation.messages
    assert stored[:24] == six_rounds()
    assert sum(len(message.content) > 1500 for message in stored[24:]) == 24


async def test_b17_switched_off_nothing_is_left_out(tmp_path: Path) -> None:
    async with ModelServer(["fine"], strict=True) as server:
        runtime = open_small(server, tmp_path, enabled=False)
        assert (await run_turn(runtime, "n" * 50)).text == "fine"
    messages = server.requests[0].json["messages"]
    assert [message["content"] for message in messages[1:-1]] == [message.content for message in six_rounds()]


def test_b17_whole_rounds_are_dropped_oldest_first() -> None:
    history = [SYSTEM]
    for number in range(6):
        history += [user(mark=str(number)), *tool_round(number)]
    history.append(user(mark="q"))
    fitted = fit(history, WindowLimits(context_window=2000, elide_over_chars=10_000))
    assert fitted.tokens <= 1600
    assert fitted.messages == (SYSTEM, *history[-5:])
    assert fitted.dropped == 20


def test_b17_a_long_turn_without_a_new_prompt_keeps_its_prompt_and_newest_rounds() -> None:
    history = [SYSTEM, user(mark="q")]
    for number in range(12):
        history += tool_round(number)
        fitted = fit(history, WindowLimits(context_window=2000, elide_over_chars=10_000))
        assert fitted.fits
        assert fitted.messages == (SYSTEM, user(mark="q"), *history[-3:])


async def test_b18_a_prompt_that_cannot_fit_is_refused_without_a_request(tmp_path: Path) -> None:
    client = ScriptedClient("hi")
    runtime = open_engine(tmp_path, client)
    result = await run_turn(runtime, "x" * 600_000)
    assert result.error is not None
    assert result.error.code == "context_too_long"
    assert "file" in result.error.message
    assert client.requests == []
    events: list[AnyEvent] = []
    assert (await run_turn(runtime, "a small one", events)).text == "hi"
    assert client.requests[0].messages[-1].content == "a small one"
    assert any("not sent" in event.text for event in events if isinstance(event, Notice))


def test_b18_huge_output_keeps_its_ends_and_the_app_takes_keys(seat: Seat) -> None:
    (seat.project / "big.js").write_text("x" * 600_000)
    endless = call_tools(
        ("read", {"path": "big.js"}),
        ("bash", {"command": "head -1 big.js"}),
        ("code_grep", {"pattern": "x"}),
        ("bash", {"command": "seq 1 300000; echo FAILED; exit 3"}),
        ("bash", {"command": r"yes '\033[31m' | head -c 3000000; printf '\r%.0s' $(seq 20000)"}),
    )
    seat.ask("all of it", endless, timeout=60)
    results = seat.results()
    assert all(len(result) <= 100_000 for result in results)
    for result in results[:2]:
        assert "600000" in re.sub("[^0-9]", "", result), re.sub("x{9,}", "x…", result)
    assert results[3].rstrip().split("\n")[-2:] == ["FAILED", "[exit code 3]"] or "FAILED" in results[3][-200:]
    assert results[3].startswith("1\n2\n")
    started = time.monotonic()
    seat.terminal.type("typed")
    seat.terminal.wait_for("> typed")
    assert time.monotonic() - started < 0.2
    seat.ask("")


def test_b18_a_prompt_that_can_never_fit_is_refused_and_the_next_one_goes(seat: Seat) -> None:
    asked = len(seat.server.requests)
    seat.terminal.type("\x1b[200~" + "y" * 600_000 + "\x1b[201~")
    seat.terminal.wait_for("600")
    seat.terminal.type("\r")
    seat.terminal.wait_for(lambda text: "context" in text or "fit" in text or "too long" in text)
    assert len(seat.server.requests) <= asked + 1
    seat.terminal.type("\x03")
    seat.ask("a small one")


def test_b17_a_long_conversation_is_trimmed_for_the_model_and_whole_for_the_person(seat: Seat) -> None:
    words = "word " * 4_000
    for number in range(6):
        both = call_tools(("bash", {"command": f"echo {number}"}), ("bash", {"command": f"echo '{words}'"}))
        seat.ask(f"round {number}", both)
    messages = seat.server.requests[-1].json["messages"]
    assert messages[0]["role"] == "system"
    assert "round 5" in [message["content"] for message in messages if message["role"] == "user"][-1]
    # The strict model has seen to the pairs; 80 % of its 32,768 tokens at four characters each.
    assert sum(len(message["content"] or "") for message in messages) <= 32_768 * 0.8 * 4
    assert not any(message["content"] == "round 0" for message in messages)
    seat.terminal.type("\x1bh")
    seat.terminal.wait_for("messages ─╯")
    seat.terminal.type("g")
    seat.terminal.wait_for("all of it")
    seat.terminal.type("q")
