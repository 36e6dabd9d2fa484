"""Retries and broken streams: nothing shows twice, runs by half or ends in silence (B05, B06)."""

from itertools import pairwise
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
from tests.support.model_steps import (
    Answer,
    Call,
    Calls,
    Cut,
    Delta,
    End,
    Finish,
    Reasoning,
    StreamError,
    Text,
    Usage,
    call_tools,
)
from tests.support.scripted_client import ScriptedClient
from tests.support.seat import Seat

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


EMPTY: dict[str, Answer] = {
    "nothing": [Finish(), Usage()],
    "blanks": [Text(text="  \n"), Finish()],
    "thought alone": [Reasoning(text="hm"), Finish()],
    "usage alone": [Usage()],
    "an empty call list": [Delta(delta={"content": "", "tool_calls": []}), Finish()],
    "zero-width": [Text(text="\u200b\ufeff"), Finish()],
}


def test_b05_empty_answers_end_in_words_that_can_be_seen_and_the_next_prompt_works(seat: Seat) -> None:
    before = len(seat.server.requests)
    seat.refused("say nothing", EMPTY["nothing"], EMPTY["blanks"], EMPTY["thought alone"], shows="answered 3 times")
    times = [request.received_at for request in seat.server.requests[before:]]
    assert len(times) == 3
    first, second = (later - earlier for earlier, later in pairwise(times))
    assert first >= 0.5 and second >= 1.0
    seat.ask("again", call_tools(("bash", {"command": "echo"})), EMPTY["usage alone"], EMPTY["an empty call list"])
    assert not [message for message in seat.sent() if message["role"] == "assistant" and not message.get("tool_calls")]


HALF_CALL = Calls(calls=(Call(name="write", arguments='{"path": "half.txt", "content": "ha'),))
BROKEN: dict[str, tuple[list[object], str]] = {
    "reset": ([Text(text="The answer "), Text(text="is "), Cut(how="rst")], "The answer is"),
    "early end": ([Text(text="The answer is "), Cut(how="fin")], "The answer is"),
    "half a line": ([Text(text="The answer is "), Cut(how="half")], "The answer is"),
    "no finish marker": ([Text(text="The answer is "), End()], "The answer is"),
    "an error inside": (
        [Text(text="The answer is "), StreamError(error={"message": "gone", "code": 502})],
        "The answer is",
    ),
    "half a call": ([HALF_CALL, Cut(how="rst")], ""),
    "half a call, said to be done": ([HALF_CALL, Cut(how="fin")], ""),
}


@pytest.mark.parametrize("way", BROKEN)
def test_b06_a_stream_that_breaks_shows_once_and_runs_nothing(seat: Seat, way: str) -> None:
    steps, words = BROKEN[way]
    seat.command("/new")
    before = len(seat.server.requests)
    seat.refused(f"now {way}", steps, shows=words or f"now {way}")  # type: ignore[arg-type]
    assert len(seat.server.requests) == before + 1 or not words
    seat.server.server.forget_answers()
    seat.ask("go on")
    assert seat.terminal.text().count("The answer is") == (1 if words else 0)
    told = seat.server.requests[-1].json["messages"]
    assert sum("The answer is" in (message["content"] or "") for message in told) == (1 if words else 0)
    assert not (seat.project / "half.txt").exists()


def test_b06_with_the_setting_the_answer_is_whole_and_there_once(seat: Seat) -> None:
    seat.command("/new")
    seat.command("/config set llm_config.stream_retry_after_output true", "is now true")
    seat.ask(
        "once",
        [Text(text="The answer "), Text(text="is "), Cut(how="rst")],
        [Text(text="The answer is 42."), *call_tools(("bash", {"command": "true"}))],
    )
    assert seat.terminal.text().count("The answer is") == 1
    assert [message["content"] for message in seat.sent() if message.get("tool_calls")] == ["The answer is 42."]
