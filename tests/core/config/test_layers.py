"""Merging of the four layers: which value wins, where it comes from, and what a wrong one does."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from smith_core.config.layers import LAYER_NAMES, ConfigOptions, LoadedConfig, default_layer, load_effective_config
from smith_core.config.patch import unset_in_patch
from smith_core.config.report import describe_problem, render_problems
from smith_core.config.schema import Config, to_config, validate
from smith_core.config.user_file import UserFile
from tests.core.config.test_schema import JSON, JSON_TABLES


def _load(tmp_path: Path, user: Any = None, patch: Any = None, overrides: Any = None) -> LoadedConfig:
    path = tmp_path / "config.json"
    if user is not None:
        path.write_text(user if isinstance(user, str) else json.dumps(user))
    return load_effective_config(
        ConfigOptions(user_file=UserFile(path=path), persisted_patch=patch or {}, overrides=overrides or {})
    )


def test_nothing_given_is_the_default_configuration() -> None:
    loaded = load_effective_config(ConfigOptions())
    assert (loaded.config, loaded.problems) == (Config(), ())
    assert set(loaded.sources.values()) == {"defaults"}
    assert loaded.values["default_model"] is None


def test_the_default_layer_is_valid_and_complete() -> None:
    assert validate(default_layer()) == ()
    assert to_config(default_layer()) == Config()


def test_each_layer_hides_the_one_below_it_value_by_value(tmp_path: Path) -> None:
    loaded = _load(
        tmp_path,
        user={"default_model": "u", "llm_config": {"timeout": 1, "recv_timeout": 1}, "models": {"a": "u", "b": "u"}},
        patch={"default_model": "p", "llm_config": {"timeout": 2, "send_timeout": 2}, "models": {"a": "p"}},
        overrides={"default_model": "e", "llm_config": {"timeout": 3}},
    )
    config = loaded.config
    assert (config.default_model, dict(config.models)) == ("e", {"a": "p", "b": "u"})
    timeouts = config.llm_config
    assert (timeouts.timeout, timeouts.send_timeout, timeouts.recv_timeout) == (3.0, 2.0, 1.0)
    assert [
        loaded.source_of(f"llm_config.{name}")
        for name in ("timeout", "send_timeout", "recv_timeout", "connect_timeout")
    ] == ["ephemeral", "persisted", "user", "defaults"]
    assert (loaded.source_of("models.a"), loaded.source_of("models.b")) == ("persisted", "user")
    assert tuple(loaded.layers) == LAYER_NAMES
    assert loaded.layers["persisted"]["models"] == {"a": "p"}


def test_lists_are_replaced_not_joined(tmp_path: Path) -> None:
    loaded = _load(
        tmp_path, user={"llm_config": {"retry_backoff_ms": [1, 2, 3]}}, patch={"llm_config": {"retry_backoff_ms": [9]}}
    )
    assert loaded.config.llm_config.retry_backoff_ms == (9.0,)


def test_null_in_a_higher_layer_takes_a_limit_away(tmp_path: Path) -> None:
    loaded = _load(tmp_path, user={"tool_step_budget": 5}, overrides={"tool_step_budget": None})
    assert loaded.config.tool_step_budget is None
    assert loaded.source_of("tool_step_budget") == "ephemeral"


def test_a_path_without_a_value_has_no_source() -> None:
    loaded = load_effective_config(ConfigOptions())
    assert [loaded.source_of(path) for path in ("models.a", "contxt.enabled", "llm_config", "")] == [None] * 4


def test_b26_one_message_names_all_problems_of_the_file_and_the_rest_counts(tmp_path: Path) -> None:
    loaded = _load(
        tmp_path,
        user='{"llm_config":{"retry_max_retries":-1,"api_key_env":"MY_KEY"},'
        '"contxt_management":{"enabled":false},"tool_step_budget":0}',
    )
    assert loaded.config.llm_config.api_key_env == "MY_KEY"
    message = render_problems(loaded.problems)
    assert message.splitlines() == [
        "Some settings are ignored until they are corrected; all others are in effect.",
        f"In {tmp_path}/config.json:",
        "- llm_config.retry_max_retries is -1, but must be a non-negative integer up to 1e9",
        "- contxt_management is not a setting; did you mean context_management?",
        "- tool_step_budget is 0, but must be a positive integer up to 1e9, or null for none",
    ]


def test_b26_a_wrong_value_lets_the_layer_below_show_through(tmp_path: Path) -> None:
    loaded = _load(
        tmp_path,
        user={"tool_step_budget": 7, "ui": {"theme": "light"}},
        patch={"tool_step_budget": 0, "ui": "dark"},
        overrides={"tool_step_budget": "many", "ui": {"theme": "pink"}},
    )
    assert (loaded.config.tool_step_budget, loaded.config.ui.theme) == (7, "light")
    assert loaded.source_of("tool_step_budget") == "user"
    assert len(loaded.problems) == 4


@pytest.mark.parametrize(
    ("patch", "path"),
    [
        ({"tool_step_budget": 0}, "tool_step_budget"),
        ({"llm_config": {"retry_max_retries": 1.5}}, "llm_config.retry_max_retries"),
        ({"llm_config": 5}, "llm_config"),
        ({"contxt": {"enabled": False}}, "contxt"),
        ({"entries": [{"path": "default_model"}]}, "entries"),
        ({"models": {"a.b": 5}}, "models.a.b"),
    ],
)
def test_b26_a_broken_stored_override_is_ignored_named_and_can_be_unset(patch: dict[str, Any], path: str) -> None:
    loaded = load_effective_config(ConfigOptions(persisted_patch=patch))
    assert loaded.config == Config()
    (problem,) = loaded.problems
    message = render_problems(loaded.problems)
    assert problem.path == path
    assert "the stored overrides" in message
    assert "/config unset" in message
    assert unset_in_patch(patch, path) == {}


@pytest.mark.parametrize("patch", [None, [], "text", 5, [{"default_model": "m1"}]])
def test_b26_stored_overrides_that_are_no_table_do_not_stop_the_start(patch: Any) -> None:
    loaded = load_effective_config(ConfigOptions(persisted_patch=patch, overrides={"default_model": "m1"}))
    assert loaded.config.default_model == "m1"
    assert "the stored overrides" in render_problems(loaded.problems).lower()


def test_b25_overrides_still_count_beside_a_broken_file(tmp_path: Path) -> None:
    loaded = _load(tmp_path, user="{", patch={"tool_step_budget": 9})
    assert loaded.config.tool_step_budget == 9
    assert [problem.kind for problem in loaded.problems] == ["refused"]


def test_no_problem_gives_no_message() -> None:
    assert render_problems(()) == ""


def test_a_message_holds_nothing_that_a_terminal_acts_on(tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[31m\n.json"
    path.write_text(json.dumps({"x\x1b[2J\n": 1, "models": {"m": "\x1b]0;t\x07"}, "\u202ek": 2}))
    loaded = load_effective_config(ConfigOptions(user_file=UserFile(path=path)))
    assert len(loaded.problems) == 3
    assert all(line.isprintable() for line in render_problems(loaded.problems).split("\n"))


@given(JSON_TABLES, JSON, JSON_TABLES)
def test_b26_loading_never_raises_and_ends_in_a_valid_configuration(user: Any, patch: Any, overrides: Any) -> None:
    loaded = load_effective_config(ConfigOptions(persisted_patch=patch, overrides=overrides))
    assert all(describe_problem(problem) for problem in loaded.problems)
    assert set(loaded.values) == set(loaded.sources)
    assert (loaded.config.tool_step_budget or 1) >= 1


@given(JSON_TABLES)
def test_b25_whatever_json_the_file_holds_it_loads(tmp_path_factory: pytest.TempPathFactory, user: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "random.json"
    path.write_text(json.dumps(user))
    assert load_effective_config(ConfigOptions(user_file=UserFile(path=path))).config is not None


def test_loading_takes_a_few_milliseconds(tmp_path: Path) -> None:
    _load(tmp_path, user={"default_model": "m1"})
    started = time.perf_counter()
    for _ in range(10):
        _load(tmp_path, user={"default_model": "m1"}, patch={"tool_step_budget": 5})
    assert (time.perf_counter() - started) / 10 < 0.02


def test_importing_the_configuration_brings_in_nothing_heavy() -> None:
    import subprocess
    import sys

    code = (
        "import sys, smith_core.config.layers, smith_core.config.report, smith_core.config.patch, smith_core.project;"
        "print(sorted({'asyncio', 'urllib.request', 'subprocess', 'difflib', 'ssl', 'socket'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
