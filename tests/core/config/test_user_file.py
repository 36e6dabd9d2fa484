"""Reading the person's own file: every bad file gives one clear sentence, and none is ever changed."""

import os
from pathlib import Path

import pytest

from smith_core.config.layers import ConfigOptions, LoadedConfig, load_effective_config
from smith_core.config.report import render_problems
from smith_core.config.schema import Config
from smith_core.config.user_file import UserFile, decode_value, locate_user_file


def load_file(path: Path, *, is_named: bool = True) -> LoadedConfig:
    return load_effective_config(ConfigOptions(user_file=UserFile(path=path, is_named=is_named)))


def only_message(loaded: LoadedConfig) -> str:
    assert loaded.config == Config()
    assert len(loaded.problems) == 1
    message = render_problems(loaded.problems)
    assert "\n" not in message
    return message


def test_a_missing_file_is_worth_a_word_only_when_it_was_asked_for(tmp_path: Path) -> None:
    missing = tmp_path / "none" / "config.json"
    assert load_file(missing, is_named=False).problems == ()
    message = only_message(load_file(missing))
    assert str(missing) in message
    assert "there is no such file" in message
    assert load_file(Path(os.devnull)).problems == ()


@pytest.mark.parametrize(
    "number", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 5000, "-" + "9" * 400, "true", '"5"']
)
def test_b26_a_number_that_is_none_is_named(tmp_path: Path, number: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(f'{{"llm_config":{{"timeout":{number},"connect_timeout":3}}}}')
    loaded = load_file(path)
    assert [problem.path for problem in loaded.problems] == ["llm_config.timeout"]
    assert (loaded.config.llm_config.timeout, loaded.config.llm_config.connect_timeout) == (600.0, 3.0)


@pytest.mark.parametrize(
    ("named", "environ", "path", "is_named"),
    [
        (None, {"HOME": "/h"}, "/h/.config/smith/config.json", False),
        (None, {"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/x/smith/config.json", False),
        (None, {"HOME": "/h", "XDG_CONFIG_HOME": ""}, "/h/.config/smith/config.json", False),
        (None, {"HOME": "/h", "XDG_CONFIG_HOME": "   "}, "/h/.config/smith/config.json", False),
        (None, {"HOME": "/h", "XDG_CONFIG_HOME": "rel/x"}, "/h/.config/smith/config.json", False),
        (None, {"HOME": "/h", "SMITH_CONFIG": "/other.json"}, "/other.json", True),
        (None, {"HOME": "/h", "SMITH_CONFIG": " "}, "/h/.config/smith/config.json", False),
        ("/flag.json", {"HOME": "/h", "SMITH_CONFIG": "/other.json"}, "/flag.json", True),
    ],
)
def test_where_the_file_is_looked_for(named: str | None, environ: dict[str, str], path: str, is_named: bool) -> None:
    assert locate_user_file(named, environ) == UserFile(path=Path(path), is_named=is_named)


def test_a_relative_name_is_taken_from_the_current_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert locate_user_file("mine.json", {}).path == tmp_path / "mine.json"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("80", 80),
        ("1e3", 1000.0),
        ("false", False),
        ("null", None),
        ("[2000,8000]", [2000, 8000]),
        ('"42"', "42"),
        ("openrouter/qwen/qwen3.6-27b", "openrouter/qwen/qwen3.6-27b"),
        ("NaN", "NaN"),
        ("-Infinity", "-Infinity"),
        ("{", "{"),
        ("01", "01"),
        ("1 2", "1 2"),
        ("", ""),
        ("[" * 100_000, "[" * 100_000),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_a_typed_value_is_json_or_else_text(text: str, value: object) -> None:
    decoded = decode_value(text)
    assert decoded == value
    assert type(decoded) is type(value)
