"""Changing the stored overrides: validated before anything changes, and nothing else touched."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.config.patch import merge_overrides, parse_override, set_in_patch, unset_in_patch
from smith_core.config.report import describe_problem
from smith_core.config.schema import Problem, to_config, validate
from smith_core.config.settings import overridable_paths
from smith_core.frozen import freeze
from tests.core.config.test_schema import JSON_TABLES


def _set(path: str, text: str, patch: Any = None) -> dict[str, Any]:
    changed = set_in_patch({} if patch is None else patch, path, text)
    assert isinstance(changed, dict), changed
    return changed


@pytest.mark.parametrize(
    ("path", "text", "patch"),
    [
        ("context_management.trim_threshold_pct", "100", {"context_management": {"trim_threshold_pct": 100}}),
        ("llm_config.retry_backoff_ms", "[0]", {"llm_config": {"retry_backoff_ms": [0]}}),
        ("tool_step_budget", "1e3", {"tool_step_budget": 1000}),
        ("tool_step_budget", " 9 ", {"tool_step_budget": 9}),
        ("tool_step_budget", "null", {"tool_step_budget": None}),
        ("default_model", "openrouter/qwen/qwen3.6-27b", {"default_model": "openrouter/qwen/qwen3.6-27b"}),
        ("default_model", '"42"', {"default_model": "42"}),
        ("models.gpt-4.1", "m", {"models": {"gpt-4.1": "m"}}),
        ("context_management.enabled", "false", {"context_management": {"enabled": False}}),
        ("active_role", "orchestrator", {"active_role": "orchestrator"}),
        ("tools.web_fetch_allow_hosts", '["localhost"]', {"tools": {"web_fetch_allow_hosts": ["localhost"]}}),
        ("keys.cancel", "Ctrl+G", {"keys": {"cancel": "ctrl+g"}}),
    ],
)
def test_b26_stores(path: str, text: str, patch: dict[str, Any]) -> None:
    changed = _set(path, text)
    assert changed == patch
    assert repr(changed) == repr(patch), "integers stay integers"


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        ("context_management.trim_threshold_pct", "0", "above 0 and up to 100"),
        ("context_management.trim_threshold_pct", "100.1", "above 0 and up to 100"),
        ("context_management.trim_threshold_pct", "NaN", "above 0 and up to 100"),
        ("context_management.trim_threshold_pct", "Infinity", "above 0 and up to 100"),
        ("context_management.trim_threshold_pct", "true", "above 0 and up to 100"),
        ("context_management.enabled", "1", "true or false"),
        ("contxt.enabled", "false", "did you mean context_management.enabled?"),
        ("index_file", "../x", "a path inside the repository"),
        ("index_file", "/etc/passwd", "a path inside the repository"),
        ("index_file", "C:\\x", "a path inside the repository"),
        ("index_file", "~/x", "a path inside the repository"),
        ("llm_config.retry_backoff_ms", "[]", "non-empty list of non-negative numbers"),
        ("llm_config.retry_backoff_ms", "[-1]", "non-empty list of non-negative numbers"),
        ("llm_config.retry_backoff_ms", "5", "non-empty list of non-negative numbers"),
        ("models.a", '""', "non-empty text"),
        ("models.a", "", "non-empty text"),
        ("models.a", "null", "non-empty text"),
        ("default_model", "42", '(as text: "42", in double quotes)'),
        ("default_model", "true", '(as text: "true", in double quotes)'),
        ("tool_step_budget", "1.5", "a positive integer"),
        ("tool_step_budget", "1e999", "a positive integer"),
        ("tool_step_budget", "9" * 5000, "a positive integer"),
        ("active_role", "worker", "direct or orchestrator"),
        ("llm_config.api_url", "localhost:8080", "http:// or https://"),
        ("dispatch.max_parallel", "17", "from 1 to 16"),
        ("tools.bash_timeout_s", "0.5", "from 1 to 3600"),
        ("llm_config", "{}", "llm_config is a table; set one value at a time, such as llm_config.api_key_env"),
        ("services.tool.web_search.depth", "deep", "can be set in the settings file only"),
        ("services.ui", "1", "services.ui has no options"),
        ("services.x", "1", "services.x is not a setting"),
        ("models.", "m", "is not a setting; did you mean models.<key>?"),
        ("", "m", "is not a setting"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_b26_refuses_and_changes_nothing(path: str, text: str, words: str) -> None:
    patch = {"default_model": "m1", "llm_config": {"timeout": 5}}
    before = copy.deepcopy(patch)
    problem = set_in_patch(patch, path, text)
    assert isinstance(problem, Problem)
    assert words in describe_problem(problem)
    assert patch == before


def test_a_broken_entry_neither_stops_a_change_nor_is_lost() -> None:
    broken = {"tool_step_budget": 0, "entries": [], "llm_config": {"timeout": -1}}
    assert _set("default_model", "m1", broken) == {**broken, "default_model": "m1"}
    assert _set("llm_config.timeout", "5", {"llm_config": 7}) == {"llm_config": {"timeout": 5}}
    assert _set("default_model", "m1", ["no table"]) == {"default_model": "m1"}


def test_a_frozen_patch_comes_back_as_plain_dicts() -> None:
    changed = _set("llm_config.timeout", "5", freeze({"llm_config": {"retry_backoff_ms": [1]}}))
    assert changed == {"llm_config": {"retry_backoff_ms": [1], "timeout": 5}}
    assert type(changed["llm_config"]) is dict


@pytest.mark.parametrize(
    ("patch", "path", "left"),
    [
        ({"a": {"b": {"c": 1}}}, "a.b.c", {}),
        ({"a": {"b": {"c": 1}, "d": 2}}, "a.b.c", {"a": {"d": 2}}),
        ({"a": {"b": 1}, "c": 2}, "a", {"c": 2}),
        ({"models": {"gpt-4.1": "m", "gpt-4": "n"}}, "models.gpt-4.1", {"models": {"gpt-4": "n"}}),
        ({"a.b": {"c": 1}}, "a.b.c", {}),
        ({"a": {"x": 1}, "a.b": {"c": 1}}, "a.b.c", {"a": {"x": 1}}),
        ({"a": None}, "a", {}),
        ({"": 1}, "", {}),
    ],
)
def test_unset_removes_the_value_and_the_tables_it_leaves_empty(
    patch: dict[str, Any], path: str, left: dict[str, Any]
) -> None:
    before = copy.deepcopy(patch)
    assert unset_in_patch(patch, path) == left
    assert patch == before


@pytest.mark.parametrize("path", ["b", "a.x", "a.b.c.d", "a.", ".a", "", "a.b.c."])
def test_unset_says_when_there_is_nothing_to_remove(path: str) -> None:
    problem = unset_in_patch({"a": {"b": {"c": 1}}}, path)
    assert isinstance(problem, Problem)
    assert describe_problem(problem) == f"there is no stored override of {path}"


@given(
    JSON_TABLES, st.sampled_from(overridable_paths()), st.text(max_size=8) | st.sampled_from(["1", "[1]", "true", "a"])
)
def test_b26_what_is_stored_is_valid_and_unset_takes_it_back(patch: dict[str, Any], path: str, text: str) -> None:
    path = path.replace("<key>", "k").replace("<action>", "k")
    changed = set_in_patch({}, path, text)
    if isinstance(changed, Problem):
        assert describe_problem(changed)
    else:
        assert validate(changed) == ()
        assert unset_in_patch(changed, path) == {}
        assert isinstance(set_in_patch(patch, path, text), dict)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("tool_step_budget=5", ("tool_step_budget", 5)),
        (" default_model = m1 ", ("default_model", "m1")),
        ("default_model=a=b", ("default_model", "a=b")),
        ("llm_config.retry_backoff_ms=[1, 2]", ("llm_config.retry_backoff_ms", [1, 2])),
        ("default_model=", ("default_model", "")),
    ],
)
def test_parse_override(text: str, found: tuple[str, Any]) -> None:
    assert parse_override(text) == found


@pytest.mark.parametrize(
    "text", ["", "default_model", "=5", "  =", "\x1b[31m", "..=1", ".ui=1", "ui.=1", "ui..theme=x"]
)
def test_an_argument_that_sets_nothing_is_told_the_form(text: str) -> None:
    problem = parse_override(text)
    assert isinstance(problem, Problem)
    assert describe_problem(problem).endswith("write --set path=value")
    assert describe_problem(problem).isprintable()


def test_many_overrides_become_one_layer() -> None:
    pairs = [("llm_config.timeout", 1), ("llm_config.send_timeout", 2), ("llm_config.timeout", 3), ("models.a.b", "m")]
    assert merge_overrides(pairs) == {"llm_config": {"timeout": 3, "send_timeout": 2}, "models": {"a.b": "m"}}
    assert to_config(merge_overrides(pairs)).llm_config.timeout == 3.0
