"""A model with a window of 2,000 tokens, through the whole engine, against an endpoint that refuses loose ends."""

from pathlib import Path
from typing import Any

import pytest

from smith_core.messages import Message, ToolCall
from smith_core.model import ModelService
from smith_core.prompt import PromptService
from smith_core.runtime import Runtime
from tests.support.direct_client import DirectClient
from tests.support.engine import open_engine, run_turn
from tests.support.model_server import ModelServer
from tests.support.model_steps import Answer, call_tools
from tests.support.scripted_client import ScriptedClient

# litellm's and pydantic's own complaints about each other.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")

SYSTEM = "s" * 400
LIMIT_CHARS = 6400


class FixedPrompt(PromptService):
    """A system prompt of 400 characters."""

    @staticmethod
    def build_system_prompt(*_: Any) -> str:
        return SYSTEM


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
        assert messages[0] == {"role": "system", "content": SYSTEM}
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
