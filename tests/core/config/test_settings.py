"""The table of settings agrees with the structs, and the allowlist with the table."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from smith_core.config.rules import REJECTED
from smith_core.config.settings import (
    SETTINGS,
    Setting,
    find_setting,
    is_overridable_path,
    nearest_path,
    overridable_paths,
    split_path,
)
from smith_core.config.shape import Config


def _struct_paths(struct: Any, prefix: str = "") -> Iterator[str]:
    for name in struct.__struct_fields__:
        value = getattr(struct, name)
        if isinstance(value, msgspec.Struct):
            yield from _struct_paths(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def test_every_field_of_the_config_is_described_and_nothing_else() -> None:
    described = {path.split(".<")[0] for path in SETTINGS if not path.startswith("services.")} | {"services"}
    assert described == set(_struct_paths(Config()))


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=lambda setting: setting.path)
def test_every_default_keeps_its_own_rule(setting: Setting) -> None:
    assert setting.default is None or setting.rule.read(setting.default) is not REJECTED
    assert setting.meaning.endswith(".")


@pytest.mark.parametrize(
    "path",
    [
        "default_model", "index_file", "active_role", "tool_step_budget", "models.worker", "models.a.b-1.5",
        "llm_config.retry_backoff_ms", "llm_config.api_url", "llm_config.host_linger_s", "context_management.enabled",
        "empty_response_retry_max_retries", "empty_response_retry_backoff_ms", "dispatch.max_parallel",
        "tools.permission", "ui.theme", "keys.cancel",
    ],
)  # fmt: skip
def test_the_allowlist_has(path: str) -> None:
    assert is_overridable_path(path)


@pytest.mark.parametrize(
    "path",
    [
        "", ".", "models", "models.", "models.<key>", "models. ", "keys.a\nb", "llm_config", "llm_config.",
        "llm_config.x", "llm_config.timeout.x", "default_model.x", "contxt.enabled", "services",
        "services.tool.web_search.depth", "services.x", " default_model", "DEFAULT_MODEL", "ui..theme", "x" * 10_000,
    ],
)  # fmt: skip
def test_the_allowlist_has_not(path: str) -> None:
    assert not is_overridable_path(path)


def test_every_listed_path_can_be_found_again() -> None:
    for path in overridable_paths():
        concrete = path.replace("<key>", "any").replace("<action>", "any")
        found = find_setting(concrete)
        assert found is not None
        assert found.path == path


def test_what_follows_models_is_one_key() -> None:
    assert split_path("models.gpt-4.1") == ("models", "gpt-4.1")
    assert split_path("llm_config.timeout") == ("llm_config", "timeout")
    assert split_path("services.tool.web_search.depth") == ("services", "tool", "web_search", "depth")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("contxt_management", "context_management"),
        ("contxt.enabled", "context_management.enabled"),
        ("timeout", "llm_config.timeout"),
        ("llm_config.retry_max_retry", "llm_config.retry_max_retries"),
        ("models.", "models.<key>"),
        ("zzz", ""),
        ("services.tool.web_search.zzz", ""),
        ("x" * 100_000, ""),
    ],
)
def test_suggests_the_nearest_known_path(typed: str, meant: str) -> None:
    assert nearest_path(typed) == meant
