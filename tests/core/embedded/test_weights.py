"""The cheap look at weights: only a file that was checked and not touched since counts."""

import os
from pathlib import Path

import pytest

from smith_core.cancel import new_root
from smith_core.embedded.weights import (
    ModelFiles,
    files_of,
    installed_model,
    models_dir,
    sha256_of,
    state_of,
    write_record,
)
from smith_core.errors import AgentFailure
from tests.support.weights_server import make_model, make_weights

DATA = make_weights(5_000)
MODEL = make_model(DATA, "default")
OTHER = make_model(make_weights(3_000, seed=2), "other")


@pytest.fixture
def files(tmp_path: Path) -> ModelFiles:
    return files_of(MODEL, tmp_path)


def put_checked(files: ModelFiles, data: bytes = DATA) -> None:
    files.weights.write_bytes(data)
    write_record(files, files.weights.stat())


def test_the_states_in_the_order_of_an_installation(files: ModelFiles, tmp_path: Path) -> None:
    assert state_of(MODEL, tmp_path).kind == "missing"
    files.partial.write_bytes(DATA[:1234])
    assert (state_of(MODEL, tmp_path).kind, state_of(MODEL, tmp_path).present_bytes) == ("partial", 1234)
    files.partial.rename(files.weights)
    assert state_of(MODEL, tmp_path).kind == "unchecked"
    put_checked(files)
    assert (state_of(MODEL, tmp_path).kind, state_of(MODEL, tmp_path).present_bytes) == ("installed", len(DATA))


@pytest.mark.parametrize("damage", ["longer", "shorter", "touched", "other record", "broken record", "no record"])
def test_weights_that_changed_since_their_check_are_not_used(files: ModelFiles, damage: str, tmp_path: Path) -> None:
    put_checked(files)
    status = files.weights.stat()
    match damage:
        case "longer" | "shorter":
            files.weights.write_bytes(DATA + b"x" if damage == "longer" else DATA[:-1])
            os.utime(files.weights, ns=(status.st_atime_ns, status.st_mtime_ns))
        case "touched":
            os.utime(files.weights, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
        case "other record":
            files.record.write_bytes(files.record.read_bytes().replace(MODEL.sha256.encode(), b"0" * 64))
        case "broken record":
            files.record.write_bytes(files.record.read_bytes()[:-3])
        case "no record":
            files.record.unlink()
    assert state_of(MODEL, tmp_path).kind == "unchecked"
    assert installed_model(models=(MODEL,), folder=tmp_path) is None


def test_a_record_cannot_vouch_for_a_file_of_another_size(files: ModelFiles, tmp_path: Path) -> None:
    put_checked(files, DATA[:-1])
    assert installed_model(models=(MODEL,), folder=tmp_path) is None


def test_a_folder_in_the_place_of_the_file_is_not_weights(files: ModelFiles, tmp_path: Path) -> None:
    files.weights.mkdir()
    assert state_of(MODEL, tmp_path).kind == "missing"
    assert installed_model(models=(MODEL,), folder=tmp_path) is None


def test_a_named_model_is_the_only_one_wanted(files: ModelFiles, tmp_path: Path) -> None:
    put_checked(files)
    models = (OTHER, MODEL)
    assert installed_model("other", models=models, folder=tmp_path) is None
    found = installed_model("default", models=models, folder=tmp_path)
    assert found is not None
    assert (found.model, found.path) == (MODEL, files.weights)
    with pytest.raises(AgentFailure):
        installed_model("nothing like it", models=models, folder=tmp_path)


def test_without_a_name_any_installed_model_will_do(files: ModelFiles, tmp_path: Path) -> None:
    put_checked(files)
    found = installed_model(models=(OTHER, MODEL), folder=tmp_path)
    assert found is not None
    assert found.model == MODEL


def test_the_record_is_private_and_the_folder_is_the_cache(files: ModelFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    put_checked(files)
    assert files.record.stat().st_mode & 0o777 == 0o600
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert models_dir() == Path("/somewhere/smith/models")


def test_hashing_reports_bytes_and_stops_when_cancelled(files: ModelFiles) -> None:
    files.weights.write_bytes(DATA)
    seen: list[int] = []
    assert sha256_of(files.weights, seen.append, new_root()) == MODEL.sha256
    assert seen == [len(DATA)]
    token = new_root()
    token.request()
    with pytest.raises(AgentFailure) as caught:
        sha256_of(files.weights, seen.append, token)
    assert caught.value.error.kind == "cancelled"
