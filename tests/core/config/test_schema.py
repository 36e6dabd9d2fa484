"""The check of a whole configuration: all problems at once, everything valid kept."""

import time
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.config.schema import (
    Config,
    GivenTwice,
    check,
    deep_merge,
    short_value,
    to_config,
    validate,
)
from smith_core.config.settings import SETTINGS, TABLES
from smith_core.frozen import thaw
from smith_core.services import SERVICE_NAMES
from smith_core.tools.builtin import BUILTIN_TOOLS

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
KNOWN_KEYS = sorted({key for path in (*SETTINGS, *TABLES) for key in path.split(".")})
KEYS = st.sampled_from(KNOWN_KEYS) | st.text(max_size=5)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=25
)
JSON_TABLES = st.dictionaries(KEYS, JSON, max_size=8)


def test_b26_names_all_problems_at_once_and_keeps_the_rest() -> None:
    candidate = {
        "llm_config": {"retry_max_retries": -1, "api_key_env": "MY_KEY"},
        "contxt_management": {"enabled": False},
        "tool_step_budget": 0,
    }
    negative, unknown, zero = validate(candidate)
    assert (negative.kind, negative.path, negative.value) == ("invalid", "llm_config.retry_max_retries", "-1")
    assert "non-negative integer" in negative.expected
    assert (unknown.kind, unknown.path, unknown.suggestion) == ("unknown", "contxt_management", "context_management")
    assert (zero.kind, zero.path, zero.value) == ("invalid", "tool_step_budget", "0")
    assert "positive integer" in zero.expected
    assert to_config(candidate).llm_config.api_key_env == "MY_KEY"
    assert to_config(candidate).llm_config.retry_max_retries == 2


@pytest.mark.parametrize(
    ("candidate", "path"),
    [
        ({"llm_config": 5}, "llm_config"),
        ({"llm_config": []}, "llm_config"),
        ({"models": "m1"}, "models"),
        ({"models": {"a": 3}}, "models.a"),
        ({"models": {"a": {"b": "c"}}}, "models.a"),
        ({"services": {"tool": {"web_search": {"api_key_env": 42}}}}, "services.tool.web_search.api_key_env"),
        ({"services": {"tool": {"web_search": {"timeout": float("nan")}}}}, "services.tool.web_search.timeout"),
        ({"services": {"ui": 5}}, "services.ui"),
        ({"ui": {"theme": GivenTwice(("dark", "light"))}}, "ui.theme"),
        ({"ui": GivenTwice(({}, {}))}, "ui"),
        ([], ""),
        (None, ""),
        ("text", ""),
    ],
)
def test_names_the_path_of_a_wrong_value(candidate: Any, path: str) -> None:
    (problem,) = validate(candidate)
    assert (problem.kind, problem.path) == ("invalid", path)


@pytest.mark.parametrize(
    "candidate",
    [
        {"models": {"": "m1"}},
        {"models": {"a\nb": "m1"}},
        {"models.<key>": "m1"},
        {"llm_config.timeout": 5},
        {"services": {"tool": {"web_search": {"dept": "deep"}}}},
        {7: "m1"},
        {"": 1},
        {"llm_config": {"models": {"a": "b"}}},
    ],
)
def test_an_unknown_key_is_ignored_and_named(candidate: dict[Any, Any]) -> None:
    (problem,) = validate(candidate)
    assert problem.kind == "unknown"
    assert to_config({**candidate, "default_model": "m1"}).default_model == "m1"


def test_a_dotted_key_is_told_how_to_be_written() -> None:
    (problem,) = validate({"llm_config.timeout": 5})
    assert problem.suggestion == '{"llm_config": {"timeout": …}}'


def test_options_of_services_are_kept_where_somebody_reads_them() -> None:
    services = {"tool": {"web_search": {"depth": "deep", "max_results": 3}}, "conversation": {"conversation_id": "a"}}
    assert validate({"services": services}) == ()
    assert thaw(to_config({"services": services}).services) == services
    empty = {name: {} for name in SERVICE_NAMES} | {"tool": {spec.name: {} for spec in BUILTIN_TOOLS}}
    assert validate({"services": empty}) == ()


@pytest.mark.parametrize(
    ("services", "path", "suggestion"),
    [
        ({"tol": {"web_search": {"depth": "deep"}}}, "services.tol", "services.tool"),
        ({"tool": {"web_serch": {"depth": "deep"}}}, "services.tool.web_serch", "services.tool.web_search"),
        ({"tool": {"bash": {"timeout": 5}}}, "services.tool.bash.timeout", "llm_config.timeout"),
        ({"ui": {"rainy": True}}, "services.ui.rainy", ""),
        ({"persistence": {"folder": "/x"}}, "services.persistence.folder", ""),
        ({"x" * 30: 1}, f"services.{'x' * 30}", ""),
    ],
)
def test_an_option_that_nobody_reads_is_named(services: dict[str, Any], path: str, suggestion: str) -> None:
    (problem,) = validate({"services": services})
    assert (problem.kind, problem.path, problem.suggestion) == ("unknown", path, suggestion)


def test_null_means_none_where_a_setting_may_be_absent() -> None:
    assert validate({"default_model": None, "tool_step_budget": None, "llm_config": {"api_url": None}}) == ()
    assert [problem.path for problem in validate({"index_file": None, "llm_config": None})] == [
        "index_file",
        "llm_config",
    ]


def test_b27_a_key_in_place_of_its_variable_is_not_repeated() -> None:
    problems = validate({"llm_config": {"api_key_env": "sk-SECRET", "api_url": "ftp://me:SECRET@h/"}, "sk": "SECRET"})
    assert len(problems) == 3
    assert not any("SECRET" in repr(problem) for problem in problems)


def test_an_empty_candidate_is_the_default_configuration() -> None:
    assert validate({}) == ()
    assert to_config({}) == Config()


def test_the_config_is_frozen_all_the_way_down() -> None:
    config = to_config({"models": {"a": "b"}, "tools": {"web_fetch_allow_hosts": ["h"]}, "services": {"ui": {}}})
    with pytest.raises(AttributeError):
        config.index_file = "x"  # type: ignore[misc]
    for table in (config.models, config.services, config.services["ui"]):
        with pytest.raises(TypeError):
            table["new"] = 1  # type: ignore[index]
    assert config.tools.web_fetch_allow_hosts == ("h",)
    with pytest.raises(TypeError):
        Config(models={"a": "b"}).models["a"] = "c"  # type: ignore[index]


@given(JSON)
def test_b26_the_check_never_raises_and_what_it_accepts_is_valid(candidate: Any) -> None:
    checked = check(candidate)
    assert validate(checked.accepted) == ()
    assert check(checked.accepted).accepted == checked.accepted
    msgspec.json.encode(thaw(checked.accepted))
    for problem in checked.problems:
        assert all(text.isprintable() for text in (problem.path, problem.value, problem.expected, problem.suggestion))
        assert len(problem.value) <= 80


@given(JSON_TABLES)
def test_b26_one_wrong_value_takes_nothing_else_with_it(candidate: dict[str, Any]) -> None:
    good = {"default_model": "m1", "ui": {"theme": "light"}}
    config = to_config(deep_merge(candidate, good))
    assert (config.default_model, config.ui.theme) == ("m1", "light")


@given(JSON_TABLES)
def test_integers_stay_integers_and_seconds_are_floats(candidate: dict[str, Any]) -> None:
    config = to_config(candidate)
    assert type(config.llm_config.retry_max_retries) is int
    assert config.tool_step_budget is None or type(config.tool_step_budget) is int
    assert type(config.llm_config.timeout) is float
    assert all(type(wait) is float for wait in config.llm_config.retry_backoff_ms)


def test_very_long_keys_take_no_time() -> None:
    started = time.monotonic()
    (problem,) = validate({"x" * 500_000: 1})
    assert len(problem.path) <= 60
    assert time.monotonic() - started < 1


@given(JSON_TABLES, JSON_TABLES, JSON_TABLES)
def test_merging_is_associative_and_changes_neither_side(low: Any, middle: Any, high: Any) -> None:
    before = repr((low, high))
    left, right = deep_merge(deep_merge(low, middle), high), deep_merge(low, deep_merge(middle, high))
    assert repr((low, high)) == before
    assert deep_merge(low, {}) == low or low != low
    # A scalar between two tables hides the lower one only when it is merged in first.
    if not _has_scalar_over_table(low, middle):
        assert repr(left) == repr(right)


def _has_scalar_over_table(low: Any, high: Any) -> bool:
    return any(
        isinstance(low[key], dict) and (not isinstance(high[key], dict) or _has_scalar_over_table(low[key], high[key]))
        for key in low.keys() & high.keys()
    )


def test_tables_merge_key_by_key_and_anything_else_replaces() -> None:
    low = {"a": {"x": 1, "y": [1, 2]}, "b": {"z": 1}, "c": 1}
    high = {"a": {"y": [3]}, "b": 5, "c": {"new": 1}}
    assert deep_merge(low, high) == {"a": {"x": 1, "y": [3]}, "b": 5, "c": {"new": 1}}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a", '"a"'),
        ([], "[]"),
        ([1, "x", None], '[1, "x", null]'),
        ({}, "{}"),
        ({"a": 1}, "a table"),
        (True, "true"),
        (None, "null"),
        (float("nan"), "NaN"),
        (10**400, "a very large number"),
        (float("inf"), "a very large number"),
        ("http://me:pw@host/", '"http://…@host/"'),
        ("\x1b[31m\u202e\ud800", '"\\u001b[31m\\u202e\\ud800"'),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_short_value(value: Any, shown: str) -> None:
    assert short_value(value) == shown


def test_a_number_longer_than_python_prints_is_no_trouble() -> None:
    (problem,) = validate({"llm_config": {"timeout": 10**5000}})
    assert problem.value == "a very large number"
