"""`smith-tui store`: its arguments, what it prints and its exit status."""

import argparse
from pathlib import Path

import pytest

from smith_core.store.layout import StoreLayout
from smith_tui.store_command import add_store_parser, run_store
from tests.core.store.test_transfer import fill


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    add_store_parser(parser.add_subparsers(dest="command"))
    return run_store(parser.parse_args(["store", *words]))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path / "smith"


async def test_check_export_and_import(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check") == 0
    await fill(folder, "one")
    assert run("export", str(tmp_path / "all.jsonl")) == 0
    assert "1 conversations" in capsys.readouterr().out
    assert run("import", str(tmp_path / "all.jsonl")) == 0
    assert "0 conversations were new, 0 records" in capsys.readouterr().out
    StoreLayout(folder).global_journal.unlink()
    assert run("import", str(tmp_path / "all.jsonl")) == 0
    assert "only with --with-settings: tool_step_budget" in capsys.readouterr().out
    assert run("import", "--with-settings", str(tmp_path / "all.jsonl")) == 0
    assert "settings left out" not in capsys.readouterr().out
    path = StoreLayout(folder).conversation("one")
    path.write_bytes(path.read_bytes()[:-9])
    assert run("check") == 1
    assert str(path) in capsys.readouterr().out


def test_errors_are_one_sentence(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("import", str(tmp_path / "none")) == 1
    assert run("export", str(tmp_path / "no" / "folder" / "x")) == 1
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_an_action_is_required() -> None:
    with pytest.raises(SystemExit):
        run()
