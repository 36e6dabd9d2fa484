"""Requests that an endpoint finds too long, through the whole engine and over real HTTP: each time smaller."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from smith_core.events import AnyEvent, Notice
from smith_core.frozen import EMPTY_MAPPING
from smith_core.llm.context_sizes import ContextSizes, context_sizes
from smith_core.messages import Message, ToolCall
from smith_core.model import ModelService
from smith_core.runtime import Runtime
from tests.support.direct_client import DirectClient
from tests.support.engine import open_engine, run_turn
from tests.support.model_server import ModelServer
from tests.support.model_steps import Answer, StreamError, call_tools, http_error
from tests.support.scripted_client import ScriptedClient

# litellm's and pydantic's own complaints about each other.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")

Refuse = Callable[[int], Answer]


def bare(size: int) -> Answer:
    return http_error(400, "the context length was exceeded", "context_length_exceeded")


def in_stream(size: int) -> Answer:
    return [StreamError(error={"message": "prompt is too long", "type": "invalid_request_error"})]


def body_too_large(size: int) -> Answer:
    return http_error(413, "request entity too large")


def told(limit: int) -> Refuse:
    return lambda size: http_error(
        400, f"This model's maximum context length is {limit} tokens. However, your messages resulted in {size} tokens."
    )


def size_of(request: dict[str, Any]) -> int:
    """Return the characters of a request's messages, by which the servers here measure."""
    return len(json.dumps(request["messages"]))


def limited(most: int, refuse: Refuse, answer: Callable[[dict[str, Any]], Answer] = lambda _: "fine") -> ModelServer:
    """Return a strict server that refuses every request of more than `most` characters."""
    return ModelServer(
        lambda request: refuse(size_of(request)) if size_of(request) > most else answer(request), strict=True
    )


def open_against(
    server: ModelServer, folder: Path, settings: Mapping[str, Any] = EMPTY_MAPPING, window: int = 128_000
) -> Runtime:
    llm_config = {"api_url": server.url, "retry_backoff_ms": [1, 1]}
    handles = {"model": ModelService(DirectClient(window))}
    return open_engine(folder, ScriptedClient(), {"llm_config": llm_config, **settings}, handles)


def with_history(runtime: Runtime, turns: int = 30, size: int = 1000) -> tuple[Message, ...]:
    messages: list[Message] = []
    for number in range(turns):
        calls = tuple(ToolCall(f"h{number}c{index}", "read", "{}") for index in range(2))
        messages.append(Message(role="user", content=f"prompt {number}"))
        messages.append(Message(role="assistant", tool_calls=calls))
        messages += [Message(role="tool", tool_call_id=call.id, content=f"{number} " * (size // 3)) for call in calls]
        messages.append(Message(role="assistant", content="done"))
    runtime.services.conversation.reset("c", tuple(messages))
    return tuple(messages)


def sizes(server: ModelServer) -> list[int]:
    assert not server.violations
    return [size_of(request.json) for request in server.requests]


def notices(events: list[AnyEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, Notice)]


@pytest.mark.parametrize("refuse", [bare, in_stream, body_too_large])
async def test_each_request_is_a_quarter_smaller_until_it_is_taken(tmp_path: Path, refuse: Refuse) -> None:
    async with limited(40_000, refuse) as server:
        runtime = open_against(server, tmp_path)
        stored = with_history(runtime)
        events: list[AnyEvent] = []
        result = await run_turn(runtime, "and now?", events)
        first, second, third = sizes(server)
        assert result.text == "fine"
        assert second <= first * 0.75 and third <= second * 0.75
        assert len(notices(events)) == 2
        assert runtime.services.conversation.messages[:-2] == stored
        await run_turn(runtime, "again")
        assert len(server.requests) == 4, "what was learned holds for the next turn too"


async def test_after_three_requests_the_person_reads_what_to_do(tmp_path: Path) -> None:
    async with limited(0, bare) as server:
        runtime = open_against(server, tmp_path)
        with_history(runtime)
        result = await run_turn(runtime, "and now?")
        assert len(sizes(server)) == 3
        assert (result.stop_reason, result.error and result.error.code) == ("error", "context_too_long")
        assert result.error is not None
        assert "3 requests" in result.error.message and "/new" in result.error.message


async def test_the_endpoint_s_own_number_saves_requests(tmp_path: Path) -> None:
    async with limited(20_000, told(20_000)) as server:
        runtime = open_against(server, tmp_path)
        with_history(runtime)
        assert (await run_turn(runtime, "and now?")).text == "fine"
        assert len(sizes(server)) == 2


async def test_a_number_that_leaves_no_room_is_not_believed(tmp_path: Path) -> None:
    async with limited(70_000, told(600)) as server:
        runtime = open_against(server, tmp_path)
        with_history(runtime)
        assert (await run_turn(runtime, "and now?")).text == "fine"
        assert all(size > 10_000 for size in sizes(server))


@pytest.mark.parametrize(
    ("settings", "turns", "words"),
    [
        (EMPTY_MAPPING, 0, "cannot be made smaller"),
        ({"context_management": {"enabled": False}}, 30, "enabled is false"),
    ],
)
async def test_nothing_is_asked_again_that_would_not_be_smaller(
    tmp_path: Path, settings: Mapping[str, Any], turns: int, words: str
) -> None:
    async with limited(0, bare) as server:
        runtime = open_against(server, tmp_path, settings)
        with_history(runtime, turns)
        result = await run_turn(runtime, "x" * 5000)
        assert len(sizes(server)) == 1
        assert result.error is not None and words in result.error.message


async def test_a_turn_that_grows_too_long_goes_on_with_its_newest_rounds(tmp_path: Path) -> None:
    def answer(request: dict[str, Any]) -> Answer:
        steps[0] += 1
        command = f"seq {steps[0]}0000 {steps[0]}0400"
        return "done" if steps[0] > 20 else call_tools(("bash", {"command": command}))

    steps = [0]
    async with limited(30_000, bare, answer) as server:
        runtime = open_against(server, tmp_path, {"context_management": {"tool_output_keep_rounds": 50}})
        assert (await run_turn(runtime, "count")).text == "done"
        refused = [size for size in sizes(server) if size > 30_000]
        assert len(refused) <= 2, "the limit that was found holds for the rest of the turn"
        last = server.requests[-1].json["messages"]
        assert "200400" in last[-1]["content"]
        assert last[1]["content"] == "count"
        assert len(runtime.services.conversation.messages) == 42


@pytest.mark.parametrize(
    ("said", "limit", "counted"),
    [
        (
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 10,500 tokens.",
            8192,
            10500,
        ),
        ("You passed 5000 input tokens. However, the model's context length is only 4096 tokens", 4096, 5000),
        ("prompt is too long: 210000 tokens > 200000 maximum", 200000, 210000),
        ("request (5021 tokens) exceeds the available context size (4096 tokens), try increasing it", 4096, 5021),
        ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1048576, 1200000),
        ("Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 32768, 40000),
        ("Input is too long for requested model.", None, None),
        ("maximum context length is 12 tokens", None, None),
        ("maximum context length is 99999999999999999999 tokens", None, None),
    ],
)
def test_the_sizes_are_read_out_of_the_words(said: str, limit: int | None, counted: int | None) -> None:
    assert context_sizes(said) == ContextSizes(limit=limit, counted=counted)
