"""The tour's endpoint as a client sees it: real events over HTTP, the listing, and requests that make no sense."""

import asyncio
import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from smith_core.embedded.label import SCRIPTED_MODEL
from smith_core.llm.listing import fetch_models
from smith_core.llm.protocol import Endpoint, ModelRequest, StreamDone, StreamReasoning, StreamText, Timeouts
from smith_core.llm.provider import complete
from smith_core.llm.wire import MessageEncoder
from smith_core.messages import Message
from smith_core.tour.server import CONTEXT_LENGTH, TourServer


@pytest.fixture
def server() -> Iterator[TourServer]:
    with TourServer(pace_s=0) as running:
        yield running


def post(url: str, body: bytes) -> tuple[int, bytes]:
    request = urllib.request.Request(f"{url}/chat/completions", body, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def asked(text: str, **fields: Any) -> bytes:
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": text}], **fields}).encode()


async def test_the_engines_own_client_reads_a_whole_answer(server: TourServer) -> None:
    parts: list[Any] = []
    request = ModelRequest(
        model=SCRIPTED_MODEL,
        messages=(Message(role="user", content="hello"),),
        endpoint=Endpoint(api_url=server.url),
    )
    done = await complete(MessageEncoder().encode(request), parts.extend)
    assert done.finish_reason == "stop"
    assert SCRIPTED_MODEL in done.text
    assert done.reasoning
    assert "".join(part.text for part in parts if isinstance(part, StreamText)) == done.text
    assert sum(isinstance(part, StreamReasoning) for part in parts) > 1
    assert not any(isinstance(part, StreamDone) for part in parts)


async def test_a_call_comes_with_whole_arguments(server: TourServer) -> None:
    request = ModelRequest(
        model=SCRIPTED_MODEL,
        messages=(Message(role="user", content="fix the price"),),
        endpoint=Endpoint(api_url=server.url),
    )
    done = await complete(MessageEncoder().encode(request), lambda parts: None)
    assert done.finish_reason == "tool_calls"
    assert [(call.name, json.loads(call.arguments)) for call in done.tool_calls] == [("read", {"path": "prices.py"})]


async def test_the_listing_names_the_script(server: TourServer) -> None:
    (listed,) = await fetch_models(Endpoint(api_url=server.url), Timeouts())
    assert (listed.id, listed.context_window) == (SCRIPTED_MODEL, CONTEXT_LENGTH)


def test_without_streaming_the_answer_is_the_same(server: TourServer) -> None:
    status, body = post(server.url, asked("hello"))
    assert status == 200
    assert SCRIPTED_MODEL in json.loads(body)["choices"][0]["message"]["content"]


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b'{"messages": 1}', b'{"messages": [1]}', b"[" * 100_000, b"\xff"]
)
def test_a_request_that_makes_no_sense_is_refused(server: TourServer, body: bytes) -> None:
    status, answer = post(server.url, body)
    assert status == 400
    assert json.loads(answer)["error"]["message"]


def test_a_client_that_goes_away_ends_its_answer_alone(server: TourServer) -> None:
    host, port = "127.0.0.1", int(server.url.split(":")[2].split("/")[0])
    body = asked("hello", stream=True)
    with socket.create_connection((host, port)) as client:
        head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
        client.sendall(head.encode() + body)
        client.recv(10)
    assert post(server.url, asked("hello"))[0] == 200


async def test_a_slow_answer_does_not_hold_up_the_end() -> None:
    with TourServer(pace_s=30) as server:
        reading = asyncio.create_task(asyncio.to_thread(post, server.url, asked("hello", stream=True)))
        await asyncio.sleep(0.2)
        started = time.monotonic()
    assert time.monotonic() - started < 5
    await reading
