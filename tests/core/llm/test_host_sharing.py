"""A host for several apps: who is let in, what each gets, and when it ends; the calls are scripted."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from smith_core.errors import AgentFailure
from smith_core.llm import host_sharing
from smith_core.llm.client import HostClient
from smith_core.llm.coalescer import INTERVAL_S
from smith_core.llm.frames import (
    Attach,
    Cancel,
    Failed,
    Linger,
    Parts,
    Ready,
    StartStream,
    Status,
    Stop,
    Welcome,
)
from smith_core.llm.host_control import retire, running_hosts, stop_hosts
from smith_core.llm.host_service import MAX_REQUESTS, MAX_UNREAD_BYTES, ConnectedApp
from smith_core.llm.host_stamp import HostStamp
from smith_core.llm.protocol import Endpoint, ModelRequest, StreamDone, StreamText
from smith_core.llm.shared_host import SharedHost
from smith_core.llm.wire import MessageEncoder, WireRequest
from smith_core.messages import Message
from tests.support.shared_hosts import END, STAMP, Place, Raw, ScriptedCalls, hosting

OTHER = HostStamp("install", "newer", "environment")


def request(text: str) -> ModelRequest:
    messages = (Message(role="user", content=text),)
    return ModelRequest(model="m", messages=messages, endpoint=Endpoint(api_url="http://x", api_key="sk-SECRET"))


def wired(text: str) -> WireRequest:
    return MessageEncoder().encode(request(text))


async def ask(client: HostClient, text: str) -> str:
    parts = [part async for part in client.stream(request(text))]
    assert isinstance(parts[-1], StreamDone)
    return parts[-1].completion.text


@pytest.fixture(autouse=True)
def same_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the code of the host be what its stamp says, unless a test changes it."""
    monkeypatch.setattr(host_sharing, "code_digest", lambda: STAMP.code)


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    async with hosting() as made:
        yield made


@pytest.fixture
async def raw(place: Place) -> Raw:
    connection = await place.connect()
    connection.send(Attach(STAMP, 60.0))
    assert isinstance(await connection.next(), Welcome) and isinstance(await connection.next(), Ready)
    return connection


async def test_two_apps_have_streams_of_their_own(place: Place) -> None:
    first, second = HostClient(place.shared_host()), HostClient(place.shared_host())
    assert await asyncio.gather(ask(first, "one"), ask(second, "two"), ask(first, "three")) == ["one", "two", "three"]
    assert await first.wait_until_ready() == 0.5
    await first.aclose()
    assert await ask(second, "four") == "four"
    await second.aclose()


async def test_an_app_that_goes_takes_its_own_streams_only(place: Place, raw: Raw) -> None:
    staying = HostClient(place.shared_host())
    async with aclosing(staying.stream(request("wait"))) as stream:
        assert await anext(stream) == StreamText(text="begun")
        raw.send(*(StartStream(number, wired("wait")) for number in range(3)))
        while place.calls.running < 4:
            await asyncio.sleep(0)
        raw.writer.close()
        while place.calls.running > 1:
            await asyncio.sleep(0)
        assert await ask(staying, "still here") == "still here"
    await staying.aclose()


async def test_an_app_that_does_not_read_stalls_nobody_and_fills_no_buffer(place: Place, raw: Raw) -> None:
    raw.writer.transport.pause_reading()  # type: ignore[attr-defined]
    raw.send(StartStream(1, wired("much 5000")))
    (slow,) = place.listener.apps
    while slow.unread_bytes <= MAX_UNREAD_BYTES:
        await asyncio.sleep(0)
    full = slow.unread_bytes
    quick = HostClient(place.shared_host())
    for _ in range(20):
        assert await ask(quick, "quick") == "quick"
        await asyncio.sleep(INTERVAL_S)
        assert slow.unread_bytes == full
    raw.writer.transport.resume_reading()  # type: ignore[attr-defined]
    frames = []
    while not frames or END not in frames[-1].parts[-1].text:
        frames.append(await raw.next())
    assert sum(len(part.text) for frame in frames for part in frame.parts) == 5000 * 1024 + len(END)
    await quick.aclose()


async def test_nothing_is_asked_of_a_host_with_another_stamp(place: Place) -> None:
    class Stranger(SharedHost):
        def start_own(self) -> SharedHost:  # type: ignore[override]
            return place.shared_host()

    client = HostClient(Stranger(place.folder.connect(STAMP.file_name), OTHER, 60.0, ()))
    assert await ask(client, "from a host of its own") == "from a host of its own"
    await client.aclose()


async def test_who_asked_for_another_stamp_is_told_and_not_served(place: Place) -> None:
    connection = await place.connect()
    connection.send(Attach(OTHER, 60.0))
    assert (await connection.next()).stamp == STAMP
    connection.send(StartStream(1, wired("x")))
    assert await connection.next() is None
    assert place.calls.running == 0


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xff\xff\xff",
        b"\x00\x00\x00\x04junk",
        b"\x00\x00\x00\x00",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x00\x00\x00\x0c\x93\xa6attach\x91\xa1x\xc0",
    ],
)
async def test_garbage_closes_the_connection_and_nothing_else(data: bytes, place: Place) -> None:
    client = HostClient(place.shared_host())
    assert await ask(client, "before") == "before"
    connection = await place.connect()
    connection.writer.write(data)
    assert await connection.next() is None
    assert await ask(client, "after") == "after"
    await client.aclose()


async def test_the_same_number_twice_and_too_many_at_once(place: Place, raw: Raw) -> None:
    raw.send(*(StartStream(number, wired("wait")) for number in range(MAX_REQUESTS + 1)))
    frames = [await raw.next() for _ in range(MAX_REQUESTS + 1)]
    (refused,) = [frame for frame in frames if isinstance(frame, Failed)]
    assert (refused.id, refused.error.code, refused.error.retryable) == (MAX_REQUESTS, "host_busy", True)
    raw.send(Cancel(0), StartStream(1, wired("again")))
    assert await raw.next() is None


async def test_a_request_that_continues_an_unknown_one_closes_the_connection(raw: Raw) -> None:
    raw.send(StartStream(1, wired("x"), conversation=1, kept=1))
    assert await raw.next() is None


async def test_what_it_says_of_itself(place: Place, raw: Raw) -> None:
    raw.send(StartStream(1, wired("wait")))
    assert isinstance(await raw.next(), Parts)
    report = (await asyncio.to_thread(running_hosts, place.environ))[0]
    assert isinstance(report.status, Status) and not report.has_ended
    assert (report.status.apps, report.status.streams, report.status.linger_s) == (1, 1, 60.0)
    assert report.status.rss_bytes > 1_000_000


async def test_it_outlives_the_last_app_for_as_long_as_that_one_wished(place: Place) -> None:
    first, last = HostClient(place.shared_host(60.0)), HostClient(place.shared_host(0.05))
    assert await ask(first, "x") == await ask(last, "x")
    await first.aclose()
    await last.aclose()
    await asyncio.wait_for(place.ended, 5)
    assert place.folder.socket_names() == []


async def test_a_wait_of_zero_ends_it_at_once(place: Place) -> None:
    client = HostClient(place.shared_host(60.0), linger_s=lambda: 0.0)
    assert await ask(client, "x") == "x"
    await client.aclose()
    await asyncio.wait_for(place.ended, 5)
    assert place.folder.socket_names() == []


async def test_a_new_app_within_the_wait_keeps_it(place: Place) -> None:
    await (await attached(place, 0.2)).aclose()
    client = await attached(place, 60.0)
    await asyncio.sleep(0.3)
    assert not place.ended.done() and await ask(client, "x") == "x"
    await client.aclose()


async def test_who_has_connected_and_says_nothing_yet_keeps_it(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    client = HostClient(place.shared_host(0.05))
    while not place.listener.apps:
        await asyncio.sleep(0)
    place.listener.expire()
    await asyncio.sleep(0.05)
    assert not place.ended.done() and place.folder.socket_names() == [STAMP.file_name]
    assert await ask(client, "after an hour") == "after an hour"
    await client.aclose()
    await asyncio.wait_for(place.ended, 5)


async def test_an_app_that_leaves_without_a_word_leaves_the_host_waiting(place: Place) -> None:
    client = HostClient(place.shared_host(0.0))
    while not place.listener.apps:
        await asyncio.sleep(0)
    await client.aclose()
    while place.listener.apps:
        await asyncio.sleep(0)
    await asyncio.sleep(0.05)
    assert not place.ended.done()


async def test_a_host_that_ended_before_the_first_word_is_looked_for_again() -> None:
    async with hosting() as first, hosting() as second:

        class Restarted(SharedHost):
            def start_again(self) -> SharedHost:
                return second.shared_host()

        client = HostClient(Restarted(first.folder.connect(STAMP.file_name), STAMP, 60.0, ()))
        first.listener.stop()
        await asyncio.wait_for(first.ended, 5)
        assert await ask(client, "elsewhere") == "elsewhere"
        await client.aclose()


async def attached(place: Place, linger_s: float) -> HostClient:
    client = HostClient(place.shared_host(linger_s))
    await client.wait_until_ready()
    return client


async def test_other_code_on_disk_ends_it_with_its_last_app(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    client = await attached(place, 60.0)
    monkeypatch.setattr(host_sharing, "code_digest", lambda: "newer")
    await client.aclose()
    await asyncio.wait_for(place.ended, 5)


async def test_a_host_of_old_code_serves_its_apps_to_their_end_and_no_new_ones(place: Place) -> None:
    client = await attached(place, 60.0)
    with place.folder.locked():
        retire(place.folder, STAMP.file_name)
    while place.folder.socket_names():
        await asyncio.sleep(0)
    assert await ask(client, "x") == "x"
    await client.aclose()
    await asyncio.wait_for(place.ended, 5)


async def test_stopping_ends_it_and_its_streams_with_an_error_that_is_tried_again(place: Place) -> None:
    client = await attached(place, 60.0)
    async with aclosing(client.stream(request("wait"))) as stream:
        await anext(stream)
        (report,) = await asyncio.to_thread(stop_hosts, place.environ)
        assert report.has_ended and report.status is not None and report.status.apps == 1
        with pytest.raises(AgentFailure) as caught:
            await anext(stream)
    assert (caught.value.error.code, caught.value.error.retryable) == ("host_died", True)
    await asyncio.wait_for(place.ended, 5)
    assert await asyncio.to_thread(stop_hosts, place.environ) == ()
    await client.aclose()


async def test_the_socket_of_a_successor_is_left_alone(place: Place) -> None:
    with place.folder.listen(STAMP.file_name):
        place.listener.stop()
        await asyncio.wait_for(place.ended, 5)
        assert place.folder.socket_names() == [STAMP.file_name]


async def test_a_host_that_cannot_be_found_any_more_ends_before_its_time(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_sharing, "LOOK_EVERY_S", 0.05)
    client = await attached(place, 600.0)
    await client.aclose()
    await asyncio.sleep(0.15)
    assert not place.ended.done()
    place.folder.remove(STAMP.file_name)
    await asyncio.wait_for(place.ended, 5)


async def test_who_comes_at_the_last_moment_is_served(place: Place) -> None:
    client = await attached(place, 60.0)
    await client.aclose()
    while place.listener.apps:
        await asyncio.sleep(0)
    late = place.shared_host(60.0)
    place.listener.expire()
    assert place.folder.socket_names() == []
    served = HostClient(late)
    assert await ask(served, "in time") == "in time"
    await served.aclose()
    await asyncio.wait_for(place.ended, 5)


async def test_what_an_app_wishes_is_bounded(place: Place, raw: Raw) -> None:
    raw.send(Linger(-1.0))
    assert await raw.next() is None
    connection = await place.connect()
    connection.send(Attach(STAMP, float("inf")))
    assert await connection.next() is None


async def test_a_host_of_one_app_takes_no_orders_of_the_other_kind() -> None:
    ours, theirs = socket.socketpair()
    serving = ConnectedApp(*await asyncio.open_connection(sock=ours), ScriptedCalls())  # type: ignore[arg-type]
    ended = asyncio.ensure_future(serving.serve())
    connection = Raw(*await asyncio.open_connection(sock=theirs))
    assert isinstance(await connection.next(), Ready)
    connection.send(Stop(when_idle=False))
    assert await connection.next() is None
    await ended
    connection.writer.close()


async def test_closing_while_the_host_is_being_attached_is_no_mistake() -> None:
    """A person may quit before the host has said a word; the socket is closed under who waits for that word."""
    ours, theirs = socket.socketpair()
    client = HostClient(SharedHost(ours, STAMP, 60.0, ()))
    asking = asyncio.create_task(ask(client, "hello"))
    theirs.setblocking(False)
    await asyncio.get_running_loop().sock_recv(theirs, 1)
    await client.aclose()
    theirs.close()
    with pytest.raises(AgentFailure) as caught:
        await asking
    assert caught.value.error.code == "client_closed"
