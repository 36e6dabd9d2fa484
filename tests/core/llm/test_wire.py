"""Requests as a strict endpoint accepts them, whatever the transcript holds."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.frozen import freeze
from smith_core.llm.protocol import ModelRequest, ToolDefinition
from smith_core.llm.wire import MessageEncoder, request_body
from smith_core.messages import Message, ToolCall
from tests.bench.counting import calls_in, memory_in
from tests.support.strict_requests import request_violations

HEADERS = {"content-type": "application/json"}


def sent(request: ModelRequest) -> dict[str, Any]:
    return request_body(MessageEncoder().encode(request))


def violations(request: ModelRequest) -> list[str]:
    body = json.dumps({"model": request.model, **sent(request)}, ensure_ascii=False).encode()
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
    body = sent(request)
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
    arguments = sent(request)["messages"][1]["tool_calls"][0]["function"]["arguments"]
    assert '{"path": "a' in json.loads(arguments).values()


@given(st.text(), st.text(), st.text())
def test_b04_no_text_makes_a_request_unsendable(user: str, result: str, arguments: str) -> None:
    messages = (Message(role="user", content=user), *round_of(ToolCall("c1", "read", arguments), result)[1:])
    assert violations(ModelRequest(model="m", messages=messages)) == []


@pytest.mark.parametrize(("model", "has_it"), [("deepseek-reasoner", True), ("moonshotai/Kimi-K2", True), ("m", False)])
def test_reasoning_goes_back_to_models_that_insist_on_it(model: str, has_it: bool) -> None:
    message = sent(ModelRequest(model=model, messages=round_of(ToolCall("c1", "read"))))["messages"][1]
    assert ("reasoning_content" in message) == has_it


def test_messages_that_come_again_are_not_encoded_again() -> None:
    encoder = MessageEncoder()
    parent, child = (tuple(Message(role="user", content=f"{who} {n}") for n in range(50)) for who in ("p", "c"))
    for count, (model, history) in itertools.product((20, 50), (("m", parent), ("kimi", child), ("m", child))):
        wired = encoder.encode(ModelRequest(model=model, messages=history[:count]))
        assert [entry["content"] for entry in json.loads(wired.messages)] == [m.content for m in history[:count]]
        assert wired.message_chars == sum(len(message.content) for message in history[:count])
    again = ModelRequest(model="m", messages=(*parent, Message(role="user", content="one more")))
    assert calls_in(lambda: encoder.encode(again)) < 3 * len(parent)


def test_what_is_encoded_does_not_pile_up() -> None:
    encoder = MessageEncoder()

    def encode() -> None:
        for number in range(20):
            message = Message(role="user", content=f"{number % 10}" * 1_000_000)
            encoder.encode(ModelRequest(model="m", messages=(message,)))

    assert memory_in(encode)[1] < 20_000
