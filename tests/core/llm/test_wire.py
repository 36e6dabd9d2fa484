"""Requests as a strict endpoint accepts them, whatever the transcript holds."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.frozen import freeze
from smith_core.llm.protocol import ModelRequest, ToolDefinition
from smith_core.llm.wire import request_body
from smith_core.messages import Message, ToolCall
from tests.support.strict_requests import request_violations

HEADERS = {"content-type": "application/json"}


def violations(request: ModelRequest) -> list[str]:
    body = json.dumps({"model": request.model, **request_body(request)}, ensure_ascii=False).encode()
    return request_violations(body, HEADERS)


def round_of(call: ToolCall, result: str = "done") -> tuple[Message, ...]:
    return (
        Message(role="user", content="go"),
        Message(role="assistant", tool_calls=(call,), reasoning="hm"),
        Message(role="tool", tool_call_id=call.id, content=result, name=call.name),
    )


def test_a_whole_conversation_is_accepted() -> None:
    tool = ToolDefinition(
        name="read",
        description="reads",
        parameters=freeze({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
    )
    messages = (Message(role="system", content="s"), *round_of(ToolCall("c1", "read", '{"path":"a"}')))
    request = ModelRequest(model="m", messages=messages, tools=(tool,), max_output_tokens=50)
    assert violations(request) == []
    body = request_body(request)
    assert body["max_tokens"] == 50 and body["stream"] is True and body["stream_options"] == {"include_usage": True}
    assert body["messages"][2]["content"] == ""
    assert set(body["messages"][3]) == {"role", "content", "tool_call_id"}


@pytest.mark.parametrize("arguments", ["", "   ", "{", '{"a": NaN}', "[1]", "null", "5", '{"p":"\ud83d"}', "\0"])
@pytest.mark.parametrize("name", ["read", "", "search everything", "функция", "x" * 100])
def test_broken_calls_in_the_history_are_made_acceptable(arguments: str, name: str) -> None:
    request = ModelRequest(model="m", messages=round_of(ToolCall("c1", name, arguments)))
    assert violations(request) == []


def test_broken_arguments_are_still_there_to_be_read() -> None:
    request = ModelRequest(model="m", messages=round_of(ToolCall("c1", "read", '{"path": "a')))
    sent = request_body(request)["messages"][1]["tool_calls"][0]["function"]["arguments"]
    assert '{"path": "a' in json.loads(sent).values()


@given(st.text(), st.text(), st.text())
def test_b04_no_text_makes_a_request_unsendable(user: str, result: str, arguments: str) -> None:
    messages = (Message(role="user", content=user), *round_of(ToolCall("c1", "read", arguments), result)[1:])
    assert violations(ModelRequest(model="m", messages=messages)) == []


@pytest.mark.parametrize(("model", "has_it"), [("deepseek-reasoner", True), ("moonshotai/Kimi-K2", True), ("m", False)])
def test_reasoning_goes_back_to_models_that_insist_on_it(model: str, has_it: bool) -> None:
    message: dict[str, Any] = request_body(ModelRequest(model=model, messages=round_of(ToolCall("c1", "read"))))[
        "messages"
    ][1]
    assert ("reasoning_content" in message) == has_it
