"""The official repository: a download goes on where it broke off, and a server that misbehaves is left for the next."""

import asyncio
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from smith_core.cancel import CancelToken, new_root
from smith_core.embedded.hub import HubRepository
from smith_core.embedded.progress import BytesMoved, InstallEvent, Meter
from smith_core.embedded.weights import ModelFiles, files_of
from smith_core.errors import AgentError, AgentFailure
from tests.support.weights_server import WeightsServer, make_model, make_weights

DATA = make_weights(3_000_000)
MODEL = make_model(DATA)


@pytest.fixture
def server() -> Iterator[WeightsServer]:
    with WeightsServer(MODEL, DATA) as server:
        yield server


@pytest.fixture
def files(tmp_path: Path) -> ModelFiles:
    return files_of(MODEL, tmp_path)


async def fetch(server: WeightsServer, files: ModelFiles, token: CancelToken | None = None) -> list[InstallEvent]:
    events: list[InstallEvent] = []
    hub = HubRepository(server.url, retry_wait_s=0.01)
    await hub.fetch(files, Meter("fetching", MODEL.size, events.append), token or new_root())
    return events


async def failure_of(server: WeightsServer, files: ModelFiles) -> AgentError:
    with pytest.raises(AgentFailure) as caught:
        await fetch(server, files)
    return caught.value.error


async def test_the_pinned_revision_is_asked_for(server: WeightsServer, files: ModelFiles) -> None:
    events = await fetch(server, files)
    assert files.partial.read_bytes() == DATA
    assert server.requests == [(f"/owner/tiny/resolve/abc123/{MODEL.file_name}", "")]
    assert isinstance(events[-1], BytesMoved)
    assert events[-1].done == MODEL.size


async def test_a_broken_download_goes_on_at_its_end(server: WeightsServer, files: ModelFiles) -> None:
    files.partial.write_bytes(DATA[:1_000_001])
    await fetch(server, files)
    assert files.partial.read_bytes() == DATA
    assert server.ranges() == ["bytes=1000001-"]


async def test_cut_connections_are_asked_again_while_they_bring_bytes(server: WeightsServer, files: ModelFiles) -> None:
    server.cuts = [1_200_000, 900_000]
    await fetch(server, files)
    assert files.partial.read_bytes() == DATA
    assert len(server.requests) == 3
    assert all(asked.startswith("bytes=") for asked in server.ranges()[1:])


async def test_connections_that_bring_nothing_are_not_repeated(server: WeightsServer, files: ModelFiles) -> None:
    server.cuts = [0, 0, 0]
    error = await failure_of(server, files)
    assert error.code == "unreachable"
    assert len(server.requests) == 1


async def test_connections_that_bring_next_to_nothing_are_given_up(server: WeightsServer, files: ModelFiles) -> None:
    server.cuts = [150_000] * 50
    assert (await failure_of(server, files)).code == "unreachable"
    assert len(server.requests) < 10


async def test_a_server_without_ranges_starts_over(server: WeightsServer, files: ModelFiles) -> None:
    server.has_ranges = False
    files.partial.write_bytes(b"something else" * 1000)
    await fetch(server, files)
    assert files.partial.read_bytes() == DATA
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "code"),
    [(404, "not_offered"), (401, "not_offered"), (403, "not_offered"), (503, "unreachable"), (429, "unreachable")],
)
async def test_a_refusal_is_told_with_its_status(
    server: WeightsServer, files: ModelFiles, status: int, code: str
) -> None:
    server.status = status
    error = await failure_of(server, files)
    assert error.code == code
    assert str(status) in error.message


@pytest.mark.parametrize("length", ["2999999", "3000001", ""])
async def test_a_page_in_the_place_of_the_file_does_not_spoil_what_is_there(
    server: WeightsServer, files: ModelFiles, length: str
) -> None:
    files.partial.write_bytes(DATA[:500])
    server.has_ranges = False
    server.headers["Content-Length"] = length
    assert (await failure_of(server, files)).code == "wrong_content"
    assert files.partial.read_bytes() == DATA[:500]


@pytest.mark.parametrize("described", ["bytes 2000-2999999/3000000", "", "lines 1-2"])
async def test_another_part_than_the_one_asked_for_is_refused(
    server: WeightsServer, files: ModelFiles, described: str
) -> None:
    files.partial.write_bytes(DATA[:500])
    server.headers["Content-Range"] = described
    assert (await failure_of(server, files)).code == "not_offered"
    assert files.partial.read_bytes() == DATA[:500]


async def test_more_bytes_than_promised_are_refused(server: WeightsServer, files: ModelFiles) -> None:
    files.partial.write_bytes(DATA[:500])
    server.files[MODEL.file_name] = DATA + b"more"
    assert (await failure_of(server, files)).code == "wrong_content"


async def test_a_closed_port_is_given_up_at_once(files: ModelFiles) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        hub = HubRepository(f"http://127.0.0.1:{unused.getsockname()[1]}")
        started = time.monotonic()
        with pytest.raises(AgentFailure) as caught:
            await hub.fetch(files, Meter("fetching", MODEL.size, lambda _: None), new_root())
    assert caught.value.error.code == "unreachable"
    assert time.monotonic() - started < 3


async def test_an_address_that_is_none_is_told(files: ModelFiles) -> None:
    hub = HubRepository("http://[broken")
    with pytest.raises(AgentFailure) as caught:
        await hub.fetch(files, Meter("fetching", MODEL.size, lambda _: None), new_root())
    assert caught.value.error.code == "unreachable"


async def test_cancelling_ends_a_slow_download_and_keeps_its_bytes(server: WeightsServer, files: ModelFiles) -> None:
    server.bytes_per_s = 1_000_000
    token = new_root()
    download = asyncio.ensure_future(fetch(server, files, token))
    async with asyncio.timeout(10):
        while files.partial_bytes() < 300_000:
            await asyncio.sleep(0.01)
    started = time.monotonic()
    token.request()
    with pytest.raises(AgentFailure) as caught:
        await download
    assert time.monotonic() - started < 1
    assert caught.value.error.kind == "cancelled"
    kept = files.partial.read_bytes()
    assert len(kept) >= 300_000
    assert DATA.startswith(kept)
