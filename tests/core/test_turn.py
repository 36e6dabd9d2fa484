"""The loop of a turn: four ways to stop, the budget, cancellation, and history that every provider accepts."""

import asyncio
import json
from pathlib import Path

import pytest

from smith_core.errors import AgentError
from smith_core.events import (
    AnyEvent,
    MessageAdded,
    Notice,
    OutputDiscarded,
    RetryWaiting,
    TextDelta,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from smith_core.llm.protocol import Completion, StreamDone, StreamReasoning, StreamText
from smith_core.messages import ToolCall, Usage
from tests.support.engine import open_engine, run_turn, shape
from tests.support.scripted_client import ScriptedClient, calls

CUT = AgentError(kind="transport", code="stream_cut", message="the connection broke off", retryable=True)
REFUSED = AgentError(kind="transport", code="unauthorized", message="the key was refused")


async def test_a_task_goes_through_read_edit_bash_and_answer(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    client = ScriptedClient(
        calls(("read", {"path": "a.txt"})),
        lambda request: calls(
            (
                "edit",
                {
                    "path": "a.txt",
                    "operation": "replace",
                    "start_line": 2,
                    "end_line": 2,
                    "text": "TWO",
                    "hash": _hash_in(request.messages[-1].content),
                },
            )
        ),
        calls(("bash", {"command": "cat a.txt"})),
        "done",
    )
    runtime = open_engine(tmp_path, client)
    events: list[AnyEvent] = []
    result = await run_turn(runtime, "make it loud", events)
    assert (result.stop_reason, result.text, result.tool_calls) == ("completed", "done", 3)
    assert (tmp_path / "a.txt").read_text() == "one\nTWO\n"
    messages = runtime.services.conversation.messages
    assert [message.role for message in messages] == ["user", *["assistant", "tool"] * 3, "assistant"]
    assert "TWO" in messages[6].content
    assert isinstance(events[0], TurnStarted)
    assert isinstance(events[-1], TurnEnded)


def _hash_in(text: str) -> str:
    return next(word for word in text.replace(":", " ").split() if len(word) == 64)


async def test_ids_that_a_provider_counts_anew_stay_unique_in_history(tmp_path: Path) -> None:
    client = ScriptedClient(calls(("bash", {"command": "true"})), calls(("bash", {"command": "true"})), "done")
    runtime = open_engine(tmp_path, client)
    await run_turn(runtime, "go")
    ids = [call.id for message in runtime.services.conversation.messages for call in message.tool_calls]
    assert len(ids) == len(set(ids)) == 2


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


async def test_calls_beyond_the_budget_are_answered_but_not_run(tmp_path: Path) -> None:
    client = ScriptedClient(calls(*[("bash", {"command": f"touch {number}"}) for number in range(3)]))
    runtime = open_engine(tmp_path, client, {"tool_step_budget": 2})
    result = await run_turn(runtime, "go")
    assert result.stop_reason == "budget_exhausted"
    assert [path.name for path in sorted(tmp_path.glob("[0-9]"))] == ["0", "1"]
    last = runtime.services.conversation.messages[-1]
    assert last.tool_call_id == "c3"
    assert "not run" in last.content


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


async def test_an_error_that_no_retry_helps_ends_the_turn_at_once(tmp_path: Path) -> None:
    client = ScriptedClient(REFUSED, "hello")
    runtime = open_engine(tmp_path, client)
    result = await run_turn(runtime, "go")
    assert (result.stop_reason, len(client.requests)) == ("error", 1)
    assert (await run_turn(runtime, "again")).text == "hello"
    assert client.requests[1].messages[1].content == "go\n\nagain"


async def test_malformed_arguments_go_back_as_an_error_and_history_stays_valid(tmp_path: Path) -> None:
    client = ScriptedClient(calls(("read", '{"path": "a')), "sorry")
    runtime = open_engine(tmp_path, client)
    result = await run_turn(runtime, "go")
    assert result.text == "sorry"
    sent = client.requests[1].messages
    assert isinstance(json.loads(sent[2].tool_calls[0].arguments), dict)
    assert "not valid JSON" in sent[3].content


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


async def test_an_answer_cut_at_the_output_limit_is_said_to_be(tmp_path: Path) -> None:
    client = ScriptedClient(Completion(text="half an ans", finish_reason="length"))
    runtime = open_engine(tmp_path, client)
    events: list[AnyEvent] = []
    assert (await run_turn(runtime, "go", events)).stop_reason == "completed"
    assert any(isinstance(event, Notice) and "output limit" in event.text for event in events)


async def test_usage_is_summed_over_the_turn_and_the_session(tmp_path: Path) -> None:
    answer = Completion(text="ok", finish_reason="stop", usage=Usage(input_tokens=7, output_tokens=3, requests=1))
    client = ScriptedClient(calls(("bash", {"command": "true"})), answer)
    runtime = open_engine(tmp_path, client)
    result = await run_turn(runtime, "go")
    assert (result.usage.input_tokens, result.usage.output_tokens, result.usage.requests) == (17, 8, 2)
    assert runtime.session.usage.total == result.usage


async def test_a_bug_in_the_client_loses_nothing_that_was_said(tmp_path: Path) -> None:
    def broken(request: object) -> Completion:
        raise ZeroDivisionError("surprise")

    client = ScriptedClient(calls(("bash", {"command": "echo kept"})), broken, "hello")
    runtime = open_engine(tmp_path, client)
    result = await run_turn(runtime, "go")
    assert result.stop_reason == "error"
    assert shape(runtime.services.conversation.messages) == ["user", "assistant c1", "tool c1"]
    assert (await run_turn(runtime, "again")).text == "hello"


async def test_every_message_is_reported_once_in_order(tmp_path: Path) -> None:
    client = ScriptedClient(calls(("bash", {"command": "true"}), text="first "), "done")
    runtime = open_engine(tmp_path, client)
    events: list[AnyEvent] = []
    await run_turn(runtime, "go", events)
    reported = tuple(event.message for event in events if isinstance(event, MessageAdded))
    assert reported == runtime.services.conversation.messages
    assert [type(event) for event in events if isinstance(event, ToolStarted | ToolEnded)] == [ToolStarted, ToolEnded]


async def test_reasoning_and_text_arrive_before_the_end(tmp_path: Path) -> None:
    gate = asyncio.Event()
    completion = Completion(text="ab", finish_reason="stop")
    client = ScriptedClient([StreamText(text="a"), gate, StreamText(text="b"), StreamDone(completion=completion)])
    runtime = open_engine(tmp_path, client)
    texts: list[str] = []
    async for event in runtime.process_raw_input("go"):
        if isinstance(event, TextDelta):
            texts.append(event.text)
            gate.set()
    assert texts == ["a", "b"]


async def test_b12_two_edits_with_one_hash_in_one_answer(tmp_path: Path) -> None:
    target = tmp_path / "f.txt"
    target.write_text("1\n2\n3\n4\n")
    import hashlib

    digest = hashlib.sha256(target.read_bytes()).hexdigest()
    edits = [
        (
            "edit",
            {
                "path": "f.txt",
                "operation": "replace",
                "start_line": line,
                "end_line": line,
                "text": text,
                "hash": digest,
            },
        )
        for line, text in ((1, "ONE"), (3, "THREE"))
    ]
    runtime = open_engine(tmp_path, ScriptedClient(calls(*edits), "done"))
    await run_turn(runtime, "go")
    assert target.read_text() == "ONE\n2\n3\n4\n"
    first, second = [message for message in runtime.services.conversation.messages if message.role == "tool"]
    assert first.ok
    assert not second.ok
    assert "changed" in second.content
    assert hashlib.sha256(target.read_bytes()).hexdigest() in second.content


def test_calls_helper_numbers_its_ids() -> None:
    assert calls(("a", {}), ("b", {})).tool_calls == (ToolCall("c1", "a", "{}"), ToolCall("c2", "b", "{}"))
