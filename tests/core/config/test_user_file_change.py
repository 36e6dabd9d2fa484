"""Changes to the settings file: merged, atomic, private when new, and never over a file that is not understood."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.config.user_file import UserFile, read_user_file
from smith_core.config.user_file_change import change_user_file
from smith_core.errors import AgentFailure

CHANGES = {"default_model": "m", "llm_config": {"api_url": "http://h/v1"}}


def file_in(folder: Path, text: str | None = None) -> UserFile:
    path = folder / "config.json"
    if text is not None:
        path.write_text(text)
    return UserFile(path=path)


def test_a_new_file_is_private_and_so_is_its_folder(tmp_path: Path) -> None:
    file = UserFile(path=tmp_path / "new" / "smith" / "config.json")
    change_user_file(file, CHANGES)
    assert json.loads(file.path.read_text()) == CHANGES
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700
    assert [entry.name for entry in file.path.parent.iterdir()] == ["config.json"]


def test_the_folder_of_a_named_file_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    file = UserFile(path=tmp_path / "mine.json", is_named=True)
    change_user_file(file, CHANGES)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    assert json.loads(file.path.read_text()) == CHANGES


def test_everything_else_in_the_file_stays_and_its_mode_too(tmp_path: Path) -> None:
    before = {"unknown": [1, {"a": None}], "llm_config": {"timeout": 5, "api_url": "old", "odd": "ü"}, "ui": {}}
    file = file_in(tmp_path, json.dumps(before))
    file.path.chmod(0o644)
    change_user_file(file, CHANGES)
    llm_config = {"timeout": 5, "api_url": "http://h/v1", "odd": "ü"}
    assert json.loads(file.path.read_text()) == {**before, "llm_config": llm_config, "default_model": "m"}
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o644


def test_null_takes_a_value_away_and_nothing_beside_it(tmp_path: Path) -> None:
    file = file_in(tmp_path, '{"llm_config": {"api_url": "old", "timeout": null}}')
    change_user_file(file, {"default_model": "m", "llm_config": {"api_url": None}})
    assert json.loads(file.path.read_text()) == {"llm_config": {"timeout": None}, "default_model": "m"}


def test_a_table_that_loses_its_last_value_goes_too(tmp_path: Path) -> None:
    file = file_in(tmp_path, '{"llm_config": {"api_url": "old"}, "ui": {}}')
    change_user_file(file, {"llm_config": {"api_url": None, "api_key_env": None}})
    assert json.loads(file.path.read_text()) == {"ui": {}}


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    real = tmp_path / "dotfiles" / "smith.json"
    real.write_text("{}")
    link = tmp_path / "config.json"
    link.symlink_to(real)
    change_user_file(UserFile(path=link), CHANGES)
    assert link.is_symlink()
    assert json.loads(real.read_text()) == CHANGES


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[1]",
        '"text"',
        '{"a": 1, "a": 2}',
        '{"a": {"b": 1, "b": 2}}',
        '{"a": [{"b": 1, "b": 2}]}',
        '{"a": 1,}',
        "// comment\n{}",
        '{"a": ' + "9" * 1200 + "}",
        '{"a": NaN}',
        r'{"a": "\ud800"}',
        "not json at all",
    ],
)
def test_a_file_that_is_not_understood_is_never_overwritten(tmp_path: Path, text: str) -> None:
    file = file_in(tmp_path, text)
    with pytest.raises(AgentFailure) as caught:
        change_user_file(file, CHANGES)
    assert file.path.read_text() == text
    assert '"default_model": "m"' in caught.value.error.message
    assert "by hand" in caught.value.error.message
    assert [entry.name for entry in tmp_path.iterdir()] == ["config.json"]


def test_bytes_that_are_no_text_are_left_alone(tmp_path: Path) -> None:
    file = file_in(tmp_path)
    file.path.write_bytes(b"\xff\xfe{}")
    with pytest.raises(AgentFailure, match="by hand"):
        change_user_file(file, CHANGES)
    assert file.path.read_bytes() == b"\xff\xfe{}"


@pytest.mark.parametrize("kind", ["folder", "pipe", "devnull", "below_a_file"])
def test_what_is_no_file_is_named_and_left_alone(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "config.json"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "devnull":
        path = Path(os.devnull)
    else:
        path.write_text("{}")
        path = path / "config.json"
    with pytest.raises(AgentFailure, match="by hand"):
        change_user_file(UserFile(path=path), CHANGES)


@given(
    st.dictionaries(
        st.text(max_size=5).filter(lambda text: text != "default_model"),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
            max_leaves=6,
        ),
        max_size=4,
    )
)
def test_any_file_keeps_all_that_it_says(tmp_path_factory: pytest.TempPathFactory, settings: dict[str, Any]) -> None:
    file = file_in(tmp_path_factory.mktemp("any"), json.dumps(settings))
    change_user_file(file, {"default_model": "m"})
    assert json.loads(file.path.read_text()) == {**settings, "default_model": "m"}
    assert read_user_file(file).problem is None
