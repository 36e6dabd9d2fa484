"""`smith-tui model`: what a person sees of list, install, remove and verify, and the exit statuses."""

import argparse
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from smith_core.embedded.catalog import DEFAULT_MODEL, SMALL_MODEL
from smith_core.embedded.weights import files_of
from smith_tui.model_actions import model_to_install
from smith_tui.model_command import add_model_parser, run_model
from tests.support.weights_server import WeightsServer, make_model, make_weights


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the weights, which does not exist yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "smith" / "models"


def run(*words: object) -> int:
    parser = argparse.ArgumentParser()
    add_model_parser(parser.add_subparsers(dest="command"))
    return run_model(parser.parse_args(["model", *map(str, words)]))


def make_sparse(path: Path, size: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as stream:
        stream.truncate(size)


def test_list_names_both_models_with_state_size_and_path(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_sparse(files_of(DEFAULT_MODEL, models).partial, DEFAULT_MODEL.size // 4 + 1)
    make_sparse(files_of(SMALL_MODEL, models).weights, SMALL_MODEL.size)
    assert run("list") == 0
    shown = capsys.readouterr().out
    assert f"{DEFAULT_MODEL.name} (default): partial, 25 % are there" in shown
    assert f"{SMALL_MODEL.name} (small): a file is there that was not checked" in shown
    assert "1.12 GB" in shown
    assert str(models / DEFAULT_MODEL.file_name) in shown
    assert not models.joinpath(DEFAULT_MODEL.file_name).exists()


def test_remove_tells_what_was_freed(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_sparse(files_of(SMALL_MODEL, models).partial, 1000)
    assert run("remove", "small") == 0
    assert "1.00 kB freed" in capsys.readouterr().out
    assert run("remove", SMALL_MODEL.name) == 0
    assert "was not installed" in capsys.readouterr().out


def test_verify_without_weights_says_how_to_get_them(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("verify", "small") == 1
    shown = capsys.readouterr()
    assert f"smith-tui model install {SMALL_MODEL.name}" in shown.err
    assert shown.out == ""


@pytest.mark.parametrize("name", ["missing.gguf", ".", "short.gguf", "bad\x1b[31mname"])
def test_a_file_that_cannot_be_used_is_one_sentence(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (tmp_path / "short.gguf").write_bytes(b"GGUF")
    assert run("install", "--from", tmp_path / name) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert "cannot be used" in last
    assert "\x1b" not in last
    assert not files_of(DEFAULT_MODEL, models).weights.exists()


def test_a_named_file_is_the_model_that_has_its_size(tmp_path: Path) -> None:
    path = tmp_path / "some.gguf"
    for model in (DEFAULT_MODEL, SMALL_MODEL):
        make_sparse(path, model.size)
        assert model_to_install(None, path) == model
    assert model_to_install("default", path) == DEFAULT_MODEL
    assert model_to_install("small", None) == SMALL_MODEL


@pytest.mark.parametrize("words", [[], ["install", "gpt"], ["remove"], ["dance"]])
def test_wrong_usage_ends_with_2(words: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run(*words)
    assert caught.value.code == 2


DATA = make_weights(4_000_000)
MODEL = make_model(DATA)
INSTALLER = """
import asyncio, json, sys
from pathlib import Path
import msgspec
from smith_core.embedded.catalog import EmbeddedModel
from smith_core.embedded.hub import HubRepository
from smith_tui.model_actions import install_in_terminal

model = msgspec.convert(json.loads(sys.argv[1]), EmbeddedModel)
sys.exit(asyncio.run(install_in_terminal(model, [HubRepository(sys.argv[2])], folder=Path(sys.argv[3]))))
"""


def start(server: WeightsServer, folder: Path) -> subprocess.Popen[str]:
    row = json.dumps(msgspec.to_builtins(MODEL))
    return subprocess.Popen(
        [sys.executable, "-c", INSTALLER, row, server.url, str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_the_installation_and_the_next_one_goes_on(
    tmp_path: Path, number: signal.Signals, status: int
) -> None:
    files = files_of(MODEL, tmp_path)
    with WeightsServer(MODEL, DATA) as server:
        server.bytes_per_s = 2_000_000
        process = start(server, tmp_path)
        deadline = time.monotonic() + 30
        while files.partial_bytes() < 500_000:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(number)
        output, errors = process.communicate(timeout=10)
        assert process.returncode == status
        assert output == ""
        assert errors.splitlines()[-1] == "stopped; the next install goes on from here"
        assert "Traceback" not in errors
        server.bytes_per_s = 0
        process = start(server, tmp_path)
        output, errors = process.communicate(timeout=30)
        assert process.returncode == 0
        assert output.strip() == str(files.weights)
        assert "are there already" in errors
        assert "100 %" in errors
        assert server.ranges()[1].startswith("bytes=")
    assert files.weights.read_bytes() == DATA
