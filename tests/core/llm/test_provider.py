"""Calls through litellm, in this process: the cheap way and litellm's wrapper give the same, faults included."""

import asyncio
import gc
import time
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import pytest

from smith_core.llm import provider
from smith_core.llm.coalescer import INTERVAL_S, merge
from smith_core.llm.pacing import UNPACED_READS
from smith_core.llm.protocol import (
    AnyStreamPart,
    Completion,
    Endpoint,
    Timeouts,
    ToolDefinition,
)
from smith_core.llm.wire import MessageEncoder, request_body
from smith_core.messages import Message, ToolCall
from tests.support.model_server import ModelServer
from tests.support.model_steps import (
    Answer,
    Call,
    Calls,
    Cut,
    Delta,
    End,
    Finish,
    Headers,
    Ping,
    Raw,
    Reasoning,
    Stall,
    Status,
    StreamError,
    Text,
    Usage,
    call_tools,
    http_error,
    say,
)
from tests.support.provider_calls import KEY, Endpointed, Played

# litellm's and pydantic's own complaints about each other.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")

TOOLS = (ToolDefinition(name="read", description="d", parameters={"type": "object", "properties": {}}),)


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpointed]:
    async with ModelServer(strict=True) as server:
        yield Endpointed(server)


READ_A, READ_B = Call(name="read", arguments={"path": "a.txt"}), Call(name="read", arguments={"path": "b.txt"})
SPLIT_A, SPLIT_B = (Call(name=call.name, arguments=call.arguments, split=4) for call in (READ_A, READ_B))

RECORDED: dict[str, Answer] = {
    "text": say("hello wörld 😀", size=3),
    "reasoning": [Reasoning("let me see", size=4), Text("42", size=1), Finish(), Usage(reasoning_tokens=7)],
    "call": call_tools(READ_A, text="Let me look. "),
    "calls in turn": call_tools(SPLIT_A, SPLIT_B),
    "calls interleaved": call_tools(SPLIT_A, SPLIT_B, order="interleaved"),
    "calls without index": call_tools(SPLIT_A, SPLIT_B, index="missing", ids="every", order="interleaved"),
    "calls at index zero": call_tools(SPLIT_A, SPLIT_B, index="zero"),
    "arguments null": [
        Delta({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "read", "arguments": None}}]}),
        Finish("tool_calls"),
        Usage(),
    ],
    "arguments as object": [
        Delta({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "read", "arguments": {"path": "a"}}}]}),
        Finish("tool_calls"),
        Usage(),
    ],
    "cached tokens": [Text("x"), Finish(), Usage(prompt_tokens=120, completion_tokens=3, cached_tokens=100)],
    "no usage": [Text("x" * 40), Finish()],
    "length": [Text("half"), Finish("length"), Usage()],
    "150 equal chunks": [Text("same " * 150, size=5), Finish(), Usage()],
    "pings": [Text("a"), Ping(3), Text("b"), Finish(), Usage()],
    "cut": [Text("abc", size=1), Cut("fin")],
    "half a line": [Text("abc", size=1), Cut("half")],
    "reset": [Text("abc", size=1), Cut("rst")],
    "reset before headers": [Cut("rst")],
    "closed before headers": [Cut("fin")],
    "reset in a call": [Calls((SPLIT_A,)), Cut("rst")],
    "no finish marker": [Text("abc", size=1)],
    "no finish marker, no done": [Text("abc", size=1), End()],
    "broken JSON": [Text("abc", size=1), Raw("data: {not json\n\n"), Text("def"), Finish()],
    "error inside": [Text("abc", size=1), StreamError({"message": "upstream overloaded", "code": 503})],
    "stall inside": [Text("abc", size=1), Stall()],
    "stall before headers": [Stall()],
    "silence behind headers": [Headers(), Stall()],
    "nothing": [],
    "429": http_error(429, "slow down", headers={"Retry-After": "2"}),
    "quota": http_error(429, "You exceeded your current quota", "insufficient_quota"),
    "500": http_error(500, "boom"),
    "502 page": Status(502, "<html>Bad gateway</html>", content_type="text/html"),
    "503": http_error(503, "busy"),
    "529": http_error(529, "overloaded"),
    "401": http_error(401, "Incorrect API key provided", "invalid_api_key"),
    "403": http_error(403, "no"),
    "404": http_error(404, "no such model"),
    "400": http_error(400, "bad parameter"),
    "context": http_error(400, "This model's maximum context length is 8192 tokens.", "context_length_exceeded"),
}


@pytest.mark.parametrize("name", RECORDED)
async def test_both_ways_give_the_same(name: str, endpoint: Endpointed) -> None:
    cheap = await endpoint.play(RECORDED[name])
    wrapped = await endpoint.play(RECORDED[name], use_wrapper=True)
    assert cheap.parts == wrapped.parts
    if isinstance(cheap.result, Completion):
        assert cheap.result == wrapped.result
    else:
        assert (cheap.error.kind, cheap.error.code, cheap.error.retryable, cheap.error.data) == (
            wrapped.error.kind,
            wrapped.error.code,
            wrapped.error.retryable,
            wrapped.error.data,
        )
    assert endpoint.server.violations == []


async def test_a_long_answer_through_the_wrapper_is_not_kept_chunk_by_chunk(endpoint: Endpointed) -> None:
    endpoint.server.push([Text(text="word " * 400, size=5), Finish()])
    kept: list[int] = []

    def count(parts: list[AnyStreamPart]) -> None:
        is_counted = len(kept) in (10, 300)
        things = gc.get_objects() if is_counted else []
        kept.append(sum(type(thing).__name__ == "ModelResponseStream" for thing in things))

    await provider.complete(MessageEncoder().encode(endpoint.request(timeouts=Timeouts())), count, use_wrapper=True)
    assert kept[10] > 0
    assert kept[300] < kept[10] + 100


@pytest.mark.parametrize("name", ["calls in turn", "calls interleaved", "calls without index", "calls at index zero"])
async def test_b01_parallel_calls_stay_apart(name: str, endpoint: Endpointed) -> None:
    played = await endpoint.play(RECORDED[name])
    assert played.calls == [("read", '{"path": "a.txt"}'), ("read", '{"path": "b.txt"}')]
    assert [call.id for call in played.completion.tool_calls] == ["call_0", "call_1"]


async def test_b02_a_call_without_arguments(endpoint: Endpointed) -> None:
    assert (await endpoint.play(RECORDED["arguments null"])).calls == [("read", "{}")]


async def test_b04_surrogate_pairs_cut_in_two(endpoint: Endpointed) -> None:
    halves = [Delta({"content": "x\ud83d"}), Delta({"content": "\ude00y"}), Delta({"content": "\ud83d"}), Finish()]
    played = await endpoint.play(halves)
    assert played.text == played.completion.text == "x😀y\ufffd"


@pytest.mark.parametrize("name", ["cut", "half a line", "reset", "no finish marker", "no finish marker, no done"])
async def test_b06_what_ends_without_a_finish_marker_is_interrupted(name: str, endpoint: Endpointed) -> None:
    played = await endpoint.play(RECORDED[name])
    assert played.text == "abc"
    assert (played.error.kind, played.error.code, played.error.retryable) == ("transport", "stream_cut", True)


async def test_b06_a_half_received_call_never_surfaces(endpoint: Endpointed) -> None:
    played = await endpoint.play(RECORDED["reset in a call"])
    assert played.error.code == "stream_cut" and played.text == ""


@pytest.mark.parametrize("how", ["fin", "rst"])
async def test_a_cut_behind_the_finish_marker_loses_nothing(how: Any, endpoint: Endpointed) -> None:
    played = await endpoint.play([Text("whole"), Finish(), Cut(how)])
    assert played.completion.text == "whole" and played.completion.usage.estimated


async def test_usage_that_never_comes_does_not_hold_the_answer(endpoint: Endpointed) -> None:
    started = time.perf_counter()
    played = await endpoint.play([Text("whole"), Finish(), Stall()])
    assert played.completion.text == "whole" and time.perf_counter() - started < 1.5


async def test_usage_is_as_reported_or_marked(endpoint: Endpointed) -> None:
    usage = (await endpoint.play(RECORDED["cached tokens"])).completion.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.estimated) == (120, 3, 100, False)
    usage = (await endpoint.play(RECORDED["no usage"])).completion.usage
    assert usage.estimated and usage.output_tokens == 10


async def test_a_plain_json_completion_is_an_answer(endpoint: Endpointed) -> None:
    message = {"role": "assistant", "content": "hey", "tool_calls": [{"id": "c1", "function": {"name": "read"}}]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    body = {"object": "chat.completion", "choices": [choice], "usage": {"prompt_tokens": 5, "completion_tokens": 6}}
    played = await endpoint.play(Status(200, body))
    assert played.text == played.completion.text == "hey" and played.calls == [("read", "{}")]
    assert played.completion.usage.input_tokens == 5


async def test_nothing_at_all_is_an_empty_answer(endpoint: Endpointed) -> None:
    completion = (await endpoint.play([])).completion
    assert (completion.text, completion.tool_calls, completion.finish_reason) == ("", (), "stop")


@pytest.mark.parametrize(
    "model",
    [
        "qwen/qwen3",
        "m",
        "openai/gpt-4o",
        "anthropic/claude-x",
        "gpt-5-codex",
        "o1-pro",
        "ollama/llama3",
        "/models/local.gguf",
        "mistral-large-latest",
        "a b/ü",
        "x" * 300,
    ],
)
async def test_with_an_address_the_model_id_goes_there_as_it_is(model: str, endpoint: Endpointed) -> None:
    played = await endpoint.play("hi", model=model, tools=TOOLS, max_output_tokens=9)
    assert played.text == "hi"
    request = endpoint.server.requests[0]
    assert request.path == "/v1/chat/completions" and request.json["model"] == model
    assert request.json["tools"][0]["function"]["name"] == "read"


@pytest.mark.parametrize("suffix", ["", "/", "/chat/completions", "/chat/completions/"])
async def test_addresses_may_end_as_people_write_them(suffix: str, endpoint: Endpointed) -> None:
    played = await endpoint.play("hi", endpoint=Endpoint(api_url=f" {endpoint.server.url}{suffix} ", api_key=KEY))
    assert played.text == "hi" and endpoint.server.requests[0].path == "/v1/chat/completions"


async def test_without_a_key_none_from_the_environment_is_sent(
    endpoint: Endpointed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    await endpoint.play("hi", endpoint=Endpoint(api_url=endpoint.server.url))
    assert endpoint.server.requests[0].key == "no-key"


@pytest.mark.parametrize(
    ("model", "code"),
    [("openai/gpt-4o", "missing_key"), ("anthropic/claude-x", "missing_key"), ("no-such-model", "unknown_provider")],
)
async def test_without_an_address_the_prefix_decides(
    model: str, code: str, endpoint: Endpointed, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    played = await endpoint.play("never", model=model, endpoint=Endpoint())
    assert (played.error.kind, played.error.code, played.error.retryable) == ("policy", code, False)


async def test_a_provider_of_another_kind_goes_through_the_wrapper(
    endpoint: Endpointed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_BASE", endpoint.server.url.removesuffix("/v1"))
    events = [
        {"type": "message_start", "message": {"id": "x", "type": "message", "role": "assistant", "content": [],
         "model": "c", "usage": {"input_tokens": 11, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Let me "}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "look."}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1,
         "content_block": {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"path":'}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '"a"}'}},
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]  # fmt: skip
    answer = [Raw(f"event: {event['type']}\ndata: {provider_json(event)}\n\n") for event in events]
    lenient = Endpointed(ModelServer([[*answer, End()]]))
    async with lenient.server as server:
        monkeypatch.setenv("ANTHROPIC_API_BASE", server.url.removesuffix("/v1"))
        request = lenient.request(model="anthropic/claude-x", endpoint=Endpoint(api_key=KEY), tools=TOOLS)
        parts: list[AnyStreamPart] = []
        completion = await provider.complete(MessageEncoder().encode(request), parts.extend)
    assert completion.text == "Let me look." and Played(parts, completion).text == "Let me look."
    assert completion.tool_calls == (ToolCall("toolu_1", "read", '{"path":"a"}'),)
    assert (completion.usage.input_tokens, completion.usage.output_tokens) == (11, 5)
    assert server.requests[0].headers["x-api-key"] == KEY


def provider_json(value: Any) -> str:
    import json

    return json.dumps(value)


@pytest.mark.parametrize("use_wrapper", [False, True])
@pytest.mark.parametrize("answer", [[Stall()], [Text("a"), Stall()]], ids=["before headers", "inside"])
async def test_cancelling_closes_the_connection(answer: Answer, use_wrapper: bool, endpoint: Endpointed) -> None:
    task = asyncio.ensure_future(endpoint.play(answer, use_wrapper=use_wrapper, timeouts=Timeouts()))
    request = await endpoint.server.wait_for_requests(1)
    await asyncio.sleep(0.05)
    cancelled_at = time.perf_counter()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(request.client_gone.wait(), 1)
    assert request.gone_at - cancelled_at < 0.03


async def test_an_answer_that_lasts_is_read_in_steps(endpoint: Endpointed) -> None:
    taken: list[tuple[float, list[AnyStreamPart]]] = []
    endpoint.server.push(say("word " * 200, size=5, rate=1000))
    request = MessageEncoder().encode(endpoint.request())
    await provider.complete(request, lambda parts: taken.append((time.perf_counter(), parts)))
    assert len(merge(part for _, parts in taken for part in parts)) == 1
    gaps = [after - before for (before, _), (after, _) in pairwise(taken)]
    waits = [gap for gap in gaps[UNPACED_READS:] if gap > INTERVAL_S / 4]
    assert len(waits) <= (taken[-1][0] - taken[0][0]) / INTERVAL_S + 1
    assert len(taken) > 100 and len(waits) >= 5


async def test_a_connection_is_used_again(endpoint: Endpointed) -> None:
    for _ in range(3):
        await endpoint.play(say("hi"))
        await asyncio.sleep(0.02)
    assert len({request.headers["host"] for request in endpoint.server.requests}) == 1
    assert endpoint.server.connections_opened == 1


async def test_a_whole_conversation_passes_a_strict_endpoint(endpoint: Endpointed) -> None:
    messages = (
        Message(role="system", content="s"),
        Message(role="user", content="go"),
        Message(role="assistant", tool_calls=(ToolCall("c1", "read", '{"path": "a'), ToolCall("c2", "", ""))),
        Message(role="tool", tool_call_id="c1", content="bad \0 \ud83d"),
        Message(role="tool", tool_call_id="c2", content=""),
        Message(role="assistant", content="half", interrupted=True),
        Message(role="user", content="go on"),
    )
    played = await endpoint.play("done", messages=messages, tools=TOOLS)
    assert played.text == "done" and endpoint.server.violations == []


@pytest.mark.parametrize("model", ["m1", "gpt-5", "o1", "deepseek-reasoner", "gemini-3-pro", "anthropic/claude"])
@pytest.mark.parametrize("tools", [(), TOOLS])
async def test_an_address_gets_the_messages_as_they_are(
    model: str, tools: tuple[ToolDefinition, ...], endpoint: Endpointed
) -> None:
    request = endpoint.request(model=model, tools=tools, messages=conversation("c1"))
    await endpoint.play("done", model=model, tools=tools, messages=request.messages)
    body = endpoint.server.requests[0].json
    assert body == {"model": model, **request_body(MessageEncoder().encode(request))}
    assert list(body)[:2] == ["model", "messages"]


async def test_a_redirect_gets_the_messages_too(endpoint: Endpointed) -> None:
    endpoint.server.push(Status(307, "", headers={"location": f"{endpoint.server.url}/chat/completions"}))
    await endpoint.play("done", messages=conversation("c1"))
    first, second = endpoint.server.requests
    assert first.body == second.body and len(first.json["messages"]) == len(conversation("c1"))


async def test_a_signature_of_gemini_in_an_id_goes_to_no_other_model(endpoint: Endpointed) -> None:
    await endpoint.play("done", messages=conversation("c1__thought__abc"))
    _, _, asked, answered, _ = endpoint.server.requests[0].json["messages"]
    assert asked["tool_calls"][0]["id"] == answered["tool_call_id"] == "c1"


def conversation(call_id: str) -> tuple[Message, ...]:
    return (
        Message(role="system", content="s"),
        Message(role="user", content="go"),
        Message(role="assistant", reasoning="hm", tool_calls=(ToolCall(call_id, "read", '{"cache_control": 1}'),)),
        Message(role="tool", tool_call_id=call_id, content="wörld"),
        Message(role="user", content="data:image/png;base64,AAAA"),
    )
