"""Frames survive the socket, and neighbouring parts are joined."""

import asyncio
from typing import Any

import pytest

from smith_core.errors import AgentError
from smith_core.frozen import freeze
from smith_core.llm.coalescer import Coalescer, merge
from smith_core.llm.frames import (
    LENGTH_BYTES,
    Ask,
    Attach,
    Cancel,
    Failed,
    Frame,
    Linger,
    ListModels,
    Models,
    Parts,
    Ready,
    StartStream,
    Status,
    Stop,
    Welcome,
    encode_frame,
    read_frame,
    to_app_decoder,
    to_host_decoder,
)
from smith_core.llm.host_stamp import HostStamp
from smith_core.llm.protocol import (
    AnyStreamPart,
    Completion,
    Endpoint,
    ModelInfo,
    ModelRequest,
    StreamDone,
    StreamReasoning,
    StreamText,
    StreamToolProgress,
    Timeouts,
    ToolDefinition,
)
from smith_core.llm.wire import MessageEncoder, request_body
from smith_core.messages import Message, ToolCall, ToolMetadata, Usage

ASKED = ModelRequest(
    model="m",
    messages=(
        Message(role="user", content="hello 😀"),
        Message(role="assistant", tool_calls=(ToolCall("c1", "read", '{"a":1}'),)),
        Message(role="tool", tool_call_id="c1", content="x", metadata=ToolMetadata(path="a", exit_code=1)),
    ),
    tools=(ToolDefinition(name="read", description="d", parameters={"type": "object", "properties": {"a": {}}}),),
    endpoint=Endpoint(api_url="http://x", api_key="k"),
    max_output_tokens=5,
)
REQUEST = MessageEncoder().encode(ASKED)
COMPLETION = Completion(text="a", tool_calls=(ToolCall("c1", "read"),), finish_reason="stop", usage=Usage(requests=1))


STAMP = HostStamp("install", "code", "environment")


@pytest.mark.parametrize(
    "frame",
    [
        StartStream(1, REQUEST),
        ListModels(2, Endpoint(), Timeouts()),
        Cancel(3),
        Attach(STAMP, 600.0),
        Linger(0.0),
        Ask(),
        Stop(when_idle=True),
    ],
)
def test_frames_to_the_host(frame: Frame) -> None:
    assert to_host_decoder.decode(encode_frame(frame)[LENGTH_BYTES:]) == frame


@pytest.mark.parametrize(
    "frame",
    [
        Ready(1.5),
        Welcome(STAMP, 7),
        Status(pid=7, age_s=1.5, rss_bytes=10**9, apps=2, streams=1, linger_s=600.0, is_ready=True),
        Parts(
            1,
            (StreamText(text="a"), StreamReasoning(text="b"), StreamToolProgress(index=0, name="x", argument_chars=3)),
        ),
        Parts(1, (StreamDone(completion=COMPLETION),)),
        Models(2, (ModelInfo(id="m", context_window=5),)),
        Failed(3, AgentError(kind="transport", code="x", message="y", data=freeze({"a": [1, {"b": None}]}))),
    ],
)
def test_frames_to_the_app(frame: Frame) -> None:
    assert to_app_decoder.decode(encode_frame(frame)[LENGTH_BYTES:]) == frame


def test_frozen_schemas_can_be_sent() -> None:
    tool = ToolDefinition(name="read", description="d", parameters=freeze({"type": "object", "required": ["a"]}))
    frame = StartStream(1, MessageEncoder().encode(ModelRequest(model="m", messages=(), tools=(tool,))))
    decoded: Any = to_host_decoder.decode(encode_frame(frame)[LENGTH_BYTES:])
    assert decoded.request.tools[0].parameters == {"type": "object", "required": ["a"]}


def test_b04_text_that_is_not_fit_for_utf_8_does_not_stop_a_request() -> None:
    messages = (Message(role="user", content="a\ud83d"), Message(role="user", content="\ud83d\ude00"))
    tool = ToolDefinition(name="read", description="\udc80", parameters={"type": "object", "properties": {"a": {}}})
    asked = ModelRequest(model="m", messages=messages, tools=(tool,), endpoint=ASKED.endpoint)
    frame = StartStream(7, MessageEncoder().encode(asked))
    decoded: Any = to_host_decoder.decode(encode_frame(frame)[LENGTH_BYTES:])
    assert [message["content"] for message in request_body(decoded.request)["messages"]] == ["a\ufffd", "😀"]
    assert decoded.request.tools[0].description == "\ufffd" and decoded.request.tools[0].name == "read"
    assert decoded.id == 7 and decoded.request.endpoint == ASKED.endpoint


def test_b27_an_endpoint_shows_its_key_to_nobody() -> None:
    endpoint = Endpoint(api_url="http://x", api_key="SECRET123")
    assert "SECRET" not in f"{endpoint!r} {endpoint} {REQUEST!r} {list(endpoint.__rich_repr__())}"


async def test_frames_are_read_one_by_one_whatever_the_pieces() -> None:
    reader = asyncio.StreamReader()
    data = encode_frame(Cancel(1)) + encode_frame(Cancel(2))
    for at in range(len(data)):
        reader.feed_data(data[at : at + 1])
    reader.feed_data(b"\0\0")
    reader.feed_eof()
    assert [to_host_decoder.decode(await read_frame(reader) or b"") for _ in range(2)] == [Cancel(1), Cancel(2)]
    assert await read_frame(reader) is None


def test_neighbours_are_joined_in_order() -> None:
    parts: list[AnyStreamPart] = [
        StreamReasoning(text="a"),
        StreamReasoning(text="b"),
        StreamText(text="c"),
        StreamText(text="d"),
        StreamReasoning(text="e"),
        StreamToolProgress(index=0, name="x", argument_chars=1),
        StreamToolProgress(index=0, name="x", argument_chars=2),
        StreamToolProgress(index=1, name="y", argument_chars=1),
        StreamDone(completion=COMPLETION),
    ]
    assert merge(parts) == (
        StreamReasoning(text="ab"),
        StreamText(text="cd"),
        StreamReasoning(text="e"),
        StreamToolProgress(index=0, name="x", argument_chars=2),
        StreamToolProgress(index=1, name="y", argument_chars=1),
        StreamDone(completion=COMPLETION),
    )


async def test_the_first_part_goes_at_once_and_the_next_within_the_interval() -> None:
    sent: list[tuple[AnyStreamPart, ...]] = []
    arrived = asyncio.Event()

    def send(parts: tuple[AnyStreamPart, ...]) -> None:
        sent.append(parts)
        if len(sent) == 2:
            arrived.set()

    coalescer = Coalescer(send, interval_s=0.03)
    coalescer.add([StreamText(text="a")])
    await asyncio.sleep(0)
    assert sent == [(StreamText(text="a"),)]
    for text in "bc":
        coalescer.add([StreamText(text=text)])
    started = asyncio.get_running_loop().time()
    await asyncio.wait_for(arrived.wait(), 1)
    assert asyncio.get_running_loop().time() - started < 0.06
    assert sent[1] == (StreamText(text="bc"),)
    coalescer.add([StreamText(text="d")])
    coalescer.flush()
    assert sent[2] == (StreamText(text="d"),)
    coalescer.add([StreamText(text="e")])
    coalescer.drop()
    await asyncio.sleep(0.04)
    assert len(sent) == 3


async def test_who_is_behind_gets_nothing_more_until_it_has_read_and_then_all_at_once() -> None:
    sent: list[tuple[AnyStreamPart, ...]] = []
    arrived = asyncio.Event()
    is_behind = True
    coalescer = Coalescer(lambda parts: (sent.append(parts), arrived.set())[0], 0.001, lambda: is_behind)
    for _ in range(5000):
        coalescer.add([StreamText(text="x")])
    await asyncio.sleep(0.01)
    assert sent == []
    is_behind = False
    await asyncio.wait_for(arrived.wait(), 5)
    assert sent == [(StreamText(text="x" * 5000),)]
    is_behind = True
    coalescer.add([StreamText(text="the end")])
    coalescer.flush()
    assert sent[1:] == [(StreamText(text="the end"),)], "an answer that is complete does not wait"


async def test_a_frame_that_is_too_large_ends_the_connection_unread() -> None:
    reader = asyncio.StreamReader()
    reader.feed_data(encode_frame(Cancel(1)))
    assert await read_frame(reader, max_bytes=2) is None
