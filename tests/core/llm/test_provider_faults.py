"""Endpoints that fail: limits, addresses, answers that are none, refusals, and keys that must not come back."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from smith_core.llm.protocol import Endpoint, Timeouts
from smith_core.messages import Message
from tests.support.model_server import ModelServer
from tests.support.model_steps import (
    Answer,
    Chunk,
    End,
    Finish,
    Headers,
    Ping,
    Raw,
    Stall,
    Status,
    StreamError,
    Text,
    Usage,
    Wait,
    http_error,
)
from tests.support.provider_calls import KEY, Endpointed

# litellm's and pydantic's own complaints about each other.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpointed]:
    async with ModelServer(strict=True) as server:
        yield Endpointed(server)


@pytest.mark.parametrize(
    ("answer", "code", "limit"),
    [
        ([Stall()], "timeout_first_byte", 0.4),
        ([Headers(), Stall()], "timeout_first_byte", 0.4),
        ([Headers(), Ping(100, every=0.05)], "timeout_first_byte", 0.4),
        ([Text("a"), Stall()], "stream_stalled", 0.4),
        ([Text("a"), Ping(100, every=0.05), Stall()], "stream_stalled", 0.4),
        ([Text("a"), *[Chunk({"choices": []}), Wait(0.05)] * 40], "stream_stalled", 0.4),
    ],
    ids=["headers", "first byte", "pings first", "stall", "stall with pings", "stall with empty chunks"],
)
async def test_silence_is_limited(answer: Answer, code: str, limit: float, endpoint: Endpointed) -> None:
    await check_limit(answer, code, limit, Timeouts(recv_timeout=0.4, stream_stall_timeout=0.4), endpoint)


@pytest.mark.parametrize(
    "answer", [[Stall()], [Headers(), Stall()], [Text("word " * 500, size=5, rate=20)]], ids=["headers", "body", "text"]
)
async def test_the_whole_call_is_limited(answer: Answer, endpoint: Endpointed) -> None:
    await check_limit(answer, "timeout_total", 0.5, Timeouts(timeout=0.5), endpoint)


LATE_START = [Wait(0.8), Text("ab"), Finish(), Usage()]
LONG_PAUSE = [Text("a"), Wait(0.8), Text("b"), Finish(), Usage()]


@pytest.mark.parametrize(
    ("answer", "recv", "stall", "code"),
    [
        (LATE_START, 5.0, 0.3, ""),
        (LATE_START, 0.3, 5.0, "timeout_first_byte"),
        (LONG_PAUSE, 0.3, 5.0, ""),
        (LONG_PAUSE, 5.0, 0.3, "stream_stalled"),
    ],
)
async def test_each_limit_rules_its_own_part(
    answer: Answer, recv: float, stall: float, code: str, endpoint: Endpointed
) -> None:
    played = await endpoint.play(answer, timeouts=Timeouts(recv_timeout=recv, stream_stall_timeout=stall))
    assert played.completion.text == "ab" if not code else played.error.code == code


async def check_limit(answer: Answer, code: str, limit: float, limits: Timeouts, endpoint: Endpointed) -> None:
    started = time.perf_counter()
    played = await endpoint.play(answer, timeouts=limits)
    took = time.perf_counter() - started
    assert (played.error.kind, played.error.code, played.error.retryable) == ("transport", code, True)
    assert limit - 0.01 <= took < limit + 1.5
    assert f"{limit:g} s" in played.error.message
    async with asyncio.timeout(1):
        await endpoint.server.requests[0].client_gone.wait()


async def test_pings_and_a_slow_start_do_no_harm_within_the_limits(endpoint: Endpointed) -> None:
    answer = [Wait(0.2), Headers(), Ping(5, every=0.04), Text("a"), Wait(0.3), Text("b"), Wait(0.3), Finish(), Usage()]
    assert (await endpoint.play(answer)).completion.text == "ab"


async def test_a_server_that_does_not_take_the_request(endpoint: Endpointed) -> None:
    kept = []

    async def never_read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        kept.append(writer)  # since Python 3.13 a writer that nobody has closes its connection

    server = await asyncio.start_server(never_read, "127.0.0.1", 0, limit=1)
    async with server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        played = await endpoint.play(
            "never",
            endpoint=Endpoint(api_url=address),
            messages=(Message(role="user", content="x" * 10_000_000),),
            timeouts=Timeouts(send_timeout=0.3, recv_timeout=5),
        )
        for writer in kept:
            writer.transport.abort()
    assert played.error.code == "timeout_send"


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("http://127.0.0.1:9/v1", "connect_failed"),
        ("http://no-such-host.invalid/v1", "connect_failed"),
        ("127.0.0.1:8080/v1", "bad_address"),
        ("ftp://127.0.0.1/v1", "bad_address"),
        ("nonsense", "bad_address"),
        ("http://", "bad_address"),
    ],
)
async def test_addresses_that_lead_nowhere(address: str, code: str, endpoint: Endpointed) -> None:
    played = await endpoint.play("never", endpoint=Endpoint(api_url=address, api_key=KEY))
    assert played.error.code == code and "api_url" in played.error.message
    assert endpoint.server.requests == []


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Status(200, "<!doctype html><title>Login</title>", content_type="text/html"), "bad_answer"),
        (Status(200, "<html>login</html>", content_type="text/event-stream"), "bad_answer"),
        (Status(200, "all is well"), "bad_answer"),
        (Status(200, {"status": "ok"}), "bad_answer"),
        (Status(200, [1]), "bad_answer"),
        (Status(200, ""), "stream_cut"),
        ([Raw("hello this is not sse\n\n"), End()], "bad_answer"),
        ([Raw('{"choices":[]}\n{"choices":[]}\n'), End()], "bad_answer"),
        ([Raw("data: 5\n\n")], "bad_answer"),
        ([Raw('data: {"type":"message_start","message":{}}\n\n')], "bad_answer"),
        ([Raw(b"data: \xff\xfe\n\n")], "bad_answer"),
        (Status(200, {"error": {"message": "busy", "code": 503}}), "server_error"),
        (Status(200, {"error": "model not loaded"}), "server_error"),
        ([Raw('event: error\ndata: {"message":"rate limited","type":"rate_limit_error"}\n\n')], "rate_limited"),
        ([Raw('error: {"code":400,"message":"x","type":"exceed_context_size_error"}\n\n')], "context_too_long"),
        ([Text("a"), Chunk({"choices": [{"delta": {}, "finish_reason": "error"}]})], "server_error"),
        ([Text("a"), Chunk({"error": {"code": 429, "message": "x"}, "choices": [{"delta": {}}]})], "rate_limited"),
        ([Headers(), End()], "stream_cut"),
    ],
)
async def test_answers_that_are_none(answer: Answer, code: str, endpoint: Endpointed) -> None:
    played = await endpoint.play(answer)
    assert played.error.code == code
    assert played.error.message.isprintable() and len(played.error.message) < 600


@pytest.mark.parametrize(
    ("answer", "code", "status"),
    [
        (http_error(408, "x"), "server_error", 408),
        (http_error(409, "x"), "server_error", 409),
        (http_error(413, "x"), "too_large", 413),
        (http_error(422, "x"), "bad_request", 422),
        (http_error(425, "x"), "server_error", 425),
        (http_error(503, "x", headers={"retry-after": "7"}), "server_error", 503),
    ],
)
async def test_statuses(answer: Answer, code: str, status: int, endpoint: Endpointed) -> None:
    played = await endpoint.play(answer)
    assert (played.error.code, played.error.data["status"]) == (code, status)
    assert len(endpoint.server.requests) == 1, "nobody but the turn layer retries"


async def test_retry_after_is_handed_on_and_not_waited_for(endpoint: Endpointed) -> None:
    started = time.perf_counter()
    played = await endpoint.play(http_error(429, "slow down", headers={"Retry-After": "20"}))
    assert played.error.data == {"status": 429, "retry_after_s": 20.0}
    assert time.perf_counter() - started < 1 and len(endpoint.server.requests) == 1


async def test_a_wait_that_only_the_body_names_is_handed_on_too(endpoint: Endpointed) -> None:
    said = "You exceeded your current quota, please check your plan and billing details. Please retry in 20.04s."
    played = await endpoint.play(Status(429, {"error": {"message": said, "status": "RESOURCE_EXHAUSTED"}}))
    assert (played.error.code, played.error.retryable) == ("rate_limited", True)
    assert played.error.data == {"status": 429, "retry_after_s": 20.04}


@pytest.mark.parametrize("status", [401, 429, 500])
async def test_b27_a_refusal_of_megabytes_takes_no_time_and_shows_no_key(status: int, endpoint: Endpointed) -> None:
    started = time.perf_counter()
    played = await endpoint.play(Status(status, {"error": {"message": f"bad {KEY} " * 200_000}}))
    assert played.error.data["status"] == status
    assert "SECRET" not in repr(played.error) and len(played.error.message) < 1000
    assert time.perf_counter() - started < 3


@pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 429, 500])
async def test_b27_a_server_that_repeats_the_key(status: int, endpoint: Endpointed) -> None:
    answer = Status(status, {"error": {"message": f"bad key {KEY}, Bearer {KEY}"}}, echo_key=True)
    played = await endpoint.play(answer)
    assert endpoint.server.requests[0].key == KEY
    text = repr(played.error)
    assert "SECRET" not in text and "sk-test" not in text
    inside = await endpoint.play([Text("a"), StreamError({"message": f"bad key {KEY}"})])
    assert "SECRET" not in repr(inside.error)
