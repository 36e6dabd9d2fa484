"""Candidates that name a setting or its value; pure functions."""

from collections.abc import Mapping
from typing import Any

from smith_core.completion.slash import Candidate
from smith_core.config.layers import LoadedConfig
from smith_core.config.rules import Rule
from smith_core.config.schema import short_value
from smith_core.config.settings import SETTINGS, find_setting, overridable_paths
from smith_core.roles import ROLES

_MODEL_ENTRIES = ("models.default", *(f"models.{name}" for name in ROLES))


def paths(verb: str, loaded: LoadedConfig, entries: Mapping[str, str]) -> tuple[Candidate, ...]:
    """Return the paths that `/config <verb>` takes, each with its value and what it expects.

    entries: paths in tables that take any name, with what holds while they are not set.
    """
    if verb == "unset":
        found = [path for path, layer in loaded.sources.items() if layer == "persisted"]
    else:
        there = [path for path in loaded.values if path not in SETTINGS]
        named = (*overridable_paths(), *_MODEL_ENTRIES, *entries) if verb == "set" else tuple(SETTINGS)
        found = [path for path in dict.fromkeys((*named, *there)) if not path.endswith(">")]
    return tuple(
        Candidate(path, path, f"{_value(loaded.values, path, entries)}  {_expected(path)}", is_closed=True)
        for path in found
    )


def values(path: str, loaded: LoadedConfig, entries: Mapping[str, str]) -> tuple[Candidate, ...]:
    """Return the values that a setting can have, or the one that it has; entries: as for `paths`."""
    setting = find_setting(path)
    if setting is None or not setting.is_overridable:
        return ()
    current = short_value(loaded.values[path]) if path in loaded.values else ""
    default = entries.get(path, short_value(setting.default) if path in SETTINGS else "")
    known = _values_of(setting.rule)
    if path == "active_role":
        known = tuple(role.name for role in ROLES.values() if role.user_facing)
    offered = dict.fromkeys(value for value in known or (current, default) if value)
    return tuple(
        Candidate(value, value, ", ".join(_about(value, current, default)), is_closed=bool(setting.rule.values))
        for value in offered
    )


def _value(values: Mapping[str, Any], path: str, entries: Mapping[str, str]) -> str:
    return short_value(values[path]) if path in values else entries.get(path, "not set")


def _expected(path: str) -> str:
    setting = find_setting(path)
    return setting.rule.expected if setting is not None else ""


def _values_of(rule: Rule) -> tuple[str, ...]:
    return (*rule.values, "null") if rule.values and rule.read(None) is None else rule.values


def _about(value: str, current: str, default: str) -> list[str]:
    """Say which of the values is in effect and which is the default, as both are written."""
    bare = {value, f'"{value}"'}
    return [word for word, other in (("now", current), ("default", default)) if other in bare]
