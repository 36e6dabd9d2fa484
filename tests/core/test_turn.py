"""The loop of a turn: four ways to stop, the budget, cancellation, and history that every provider accepts."""

import asyncio
import json
import re
from pathlib import Path

from smith_core.config.schema import to_config
from smith_core.embedded.label import EMBEDDED_PREFIX
from smith_core.errors import AgentError
from smith_core.events import (
    AnyEvent,
    MessageAdded,
    Notice,
    TextDelta,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from smith_core.llm.protocol import Completion, ModelRequest, StreamDone, StreamText
from smith_core.messages import ToolCall, Usage
from smith_core.turn import timeouts
from tests.support.engine import open_engine, run_turn, shape
from tests.support.scripted_client import Answer, ScriptedClient, calls

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


async def test_calls_beyond_the_budget_are_answered_but_not_run(tmp_path: Path) -> None:
    client = ScriptedClient(calls(*[("bash", {"command": f"touch {number}"}) for number in range(3)]))
    runtime = open_engine(tmp_path, client, {"tool_step_budget": 2})
    result = await run_turn(runtime, "go")
    assert result.stop_reason == "budget_exhausted"
    assert [path.name for path in sorted(tmp_path.glob("[0-9]"))] == ["0", "1"]
    last = runtime.services.conversation.messages[-1]
    assert last.tool_call_id == "c3"
    assert "not run" in last.content
    assert not last.cancelled, "nobody has cancelled it"


async def test_tool_output_that_is_left_out_comes_back_by_its_key_in_this_turn_and_in_later_ones(
    tmp_path: Path,
) -> None:
    def ask_for_it(request: ModelRequest) -> Answer:
        first = next(message for message in request.messages if message.role == "tool")
        found = re.search(r'recall\(key="([^"]+)"\)', first.content)
        assert found, first.content
        return calls(("recall", {"key": found[1]}))

    true = calls(("bash", {"command": "true"}))
    client = ScriptedClient(calls(("bash", {"command": "seq 5000"})), true, true, ask_for_it, "done", ask_for_it, "ok")
    settings = {"context_management": {"tool_output_keep_rounds": 1, "tool_output_elide_over_chars": 500}}
    runtime = open_engine(tmp_path, client, settings)
    await run_turn(runtime, "go")
    await run_turn(runtime, "and again")
    results = [message for message in runtime.services.conversation.messages if message.role == "tool"]
    whole = results[0].content
    assert whole.endswith("5000\n") or "\n5000" in whole
    assert [message.content for message in results if message.name == "recall"] == [whole, whole]


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


def test_calls_helper_numbers_its_ids() -> None:
    assert calls(("a", {}), ("b", {})).tool_calls == (ToolCall("c1", "a", "{}"), ToolCall("c2", "b", "{}"))


def test_a_model_that_smith_runs_itself_may_be_silent_as_long_as_an_answer_may_take() -> None:
    config = to_config({"llm_config": {"recv_timeout": 5, "timeout": 40}})
    assert timeouts(config, "gpt-x").recv_timeout == 5
    assert timeouts(config, f"{EMBEDDED_PREFIX}m").recv_timeout > timeouts(config, f"{EMBEDDED_PREFIX}m").timeout == 40
