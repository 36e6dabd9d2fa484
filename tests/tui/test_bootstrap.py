"""Opening the engine: where full outputs go, on homes of every kind."""

import os
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from smith_core.store.persistence import open_disk_persistence
from smith_tui.bootstrap import KEPT_SESSIONS, open_engine

# A host that waits for the next start would outlive the test.
NO_ARGUMENTS = Namespace(config=os.devnull, overrides=["llm_config.host_linger_s=0"], role=None, model="m")


async def spill_dir_of_a_new_session(cache: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setenv("XDG_DATA_HOME", str(data))
    runtime = open_engine(NO_ARGUMENTS).open_runtime()
    spill_dir = runtime.session.spill_dir
    assert spill_dir.stat().st_mode & 0o777 == 0o700
    await runtime.stop_session("done")
    return spill_dir


async def test_a_cache_folder_that_cannot_be_used_is_replaced_by_a_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    spill_dir = await spill_dir_of_a_new_session(tmp_path / "file", tmp_path / "data", monkeypatch)
    assert not spill_dir.is_relative_to(tmp_path)
    assert not spill_dir.exists()


@pytest.fixture
def ended_pid() -> int:
    with subprocess.Popen(["true"]) as ended:
        return ended.pid


async def test_old_outputs_go_but_never_those_of_a_session_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ended_pid: int
) -> None:
    outputs = tmp_path / "smith" / "outputs"
    running = outputs / f"{os.getpid()}-running"
    running.mkdir(parents=True)
    os.utime(running, (1, 1))
    for number in range(KEPT_SESSIONS + 5):
        (outputs / f"{ended_pid}-{number}").mkdir()
        os.utime(outputs / f"{ended_pid}-{number}", (100 + number, 100 + number))
    spill_dir = await spill_dir_of_a_new_session(tmp_path, tmp_path / "data", monkeypatch)
    kept = {entry.name for entry in outputs.iterdir()} - {spill_dir.name}
    assert kept == {running.name, *(f"{ended_pid}-{number}" for number in range(5, KEPT_SESSIONS + 5))}


@pytest.mark.parametrize(
    ("given", "wish"),
    [
        ({}, ("last", "")),
        ({"command": "setup"}, ("last", "")),
        ({"new": True}, ("new", "")),
        ({"resume": ""}, ("pick", "")),
        ({"resume": "abc"}, ("named", "abc")),
        ({"command": "run"}, ("new", "")),
        ({"command": "doctor"}, ("new", "")),
        ({"is_temporary": True}, ("new", "")),
    ],
)
def test_only_the_app_goes_on_with_something(given: dict[str, object], wish: tuple[str, str]) -> None:
    assert open_engine(Namespace(**{**vars(NO_ARGUMENTS), **given})).wish == wish


def test_a_tour_keeps_nothing_and_a_session_keeps_its_data_where_the_rules_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert open_engine(NO_ARGUMENTS).store_folder == tmp_path / "smith"
    assert open_engine(Namespace(**vars(NO_ARGUMENTS), is_temporary=True)).store_folder is None


async def test_settings_kept_in_the_store_count_from_the_first_screen_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    store = open_disk_persistence(tmp_path / "smith")
    await store.write_overrides({"ui": {"motion": "reduced"}, "keys": {"help": "f2"}, "tool_step_budget": -1})
    await store.aclose()
    engine = open_engine(NO_ARGUMENTS)
    assert engine.config.ui.motion == "reduced"
    assert engine.config.keys["help"] == "f2"
    assert engine.config_message == "", "the store's own notice says what is wrong with it"
    temporary = open_engine(Namespace(**vars(NO_ARGUMENTS), is_temporary=True))
    assert temporary.config.ui.motion == "full"


def test_a_task_without_the_screen_waits_for_nothing_that_only_others_need() -> None:
    code = (
        "import sys, smith_tui.command_line, smith_tui.headless, smith_core.llm.client, smith_core.store.store\n"
        "others = {'difflib', 'random', 'tempfile', 'secrets', 'dataclasses', 'rich', 'smith_core.commands.table'}\n"
        "print(sorted(others & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
