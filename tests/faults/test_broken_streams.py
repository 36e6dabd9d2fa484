"""Retries and broken streams: nothing shows twice, runs by half or ends in silence (B05, B06)."""

from pathlib import Path

import pytest

from smith_core.errors import AgentError
from smith_core.events import (
    AnyEvent,
    OutputDiscarded,
    RetryWaiting,
    TextDelta,
)
from smith_core.llm.protocol import Completion, StreamText
from tests.support.engine import open_engine, run_turn, shape
from tests.support.scripted_client import ScriptedClient

CUT = AgentError(kind="transport", code="stream_cut", message="the connection broke off", retryable=True)


@pytest.mark.parametrize("empty", ["", "  \n", Completion(reasoning="hmm", finish_reason="stop")])
async def test_b05_an_empty_answer_is_asked_for_three_times_and_then_said(
    tmp_path: Path, empty: str | Completion
) -> None:
    client = ScriptedClient(empty)
    runtime = open_engine(tmp_path, client)
    events: list[AnyEvent] = []
    result = await run_turn(runtime, "go", events)
    assert len(client.requests) == 3
    assert result.stop_reason == "error"
    assert result.error is not None
    assert result.error.message
    waits = [event for event in events if isinstance(event, RetryWaiting)]
    assert [(wait.layer, wait.attempt, wait.max_attempts) for wait in waits] == [
        ("empty_response", 2, 3),
        ("empty_response", 3, 3),
    ]
    assert shape(runtime.services.conversation.messages) == ["user"]


async def test_b06_a_cut_after_output_is_not_retried(tmp_path: Path) -> None:
    client = ScriptedClient([StreamText(text="The answer "), StreamText(text="is "), CUT], "The answer is 42.")
    runtime = open_engine(tmp_path, client)
    result = await run_turn(runtime, "go")
    assert len(client.requests) == 1
    assert result.stop_reason == "error"
    assert result.error is not None
    assert result.error.kind == "transport"
    partial = runtime.services.conversation.messages[-1]
    assert (partial.content, partial.interrupted) == ("The answer is ", True)


async def test_b06_with_the_setting_the_partial_text_is_replaced(tmp_path: Path) -> None:
    client = ScriptedClient([StreamText(text="The answer "), CUT], "The answer is 42.")
    settings = {"llm_config": {"stream_retry_after_output": True, "retry_backoff_ms": [1], "api_url": "http://x/v1"}}
    runtime = open_engine(tmp_path, client, settings)
    events: list[AnyEvent] = []
    result = await run_turn(runtime, "go", events)
    assert result.text == "The answer is 42."
    kinds = [type(event) for event in events]
    assert kinds.index(OutputDiscarded) < len(kinds) - 1 - kinds[::-1].index(TextDelta)
    assert [message.content for message in runtime.services.conversation.messages] == ["go", "The answer is 42."]
