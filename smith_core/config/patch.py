"""Changes to the stored overrides as pure functions, and the reading of `path=value` arguments."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from smith_core.config.schema import (
    Problem,
    check,
    deep_merge,
    is_overridable_path,
    printable,
    short_value,
    unknown_path,
)
from smith_core.config.settings import SETTINGS, TABLES, find_setting, split_path
from smith_core.config.user_file import decode_value
from smith_core.frozen import thaw


def parse_override(text: str) -> tuple[str, Any] | Problem:
    """Split a `path=value` argument; the value is decoded as JSON, or stays text when it is none."""
    path, separator, value = text.partition("=")
    if not separator or "" in split_path(path.strip()):
        return _refused("", f"{short_value(text)} sets nothing; write --set path=value")
    return path.strip(), decode_value(value.strip())


def nest(path: str, value: Any) -> dict[str, Any]:
    """Return the partial configuration that holds nothing but `value` at `path`."""
    nested = value
    for key in reversed(split_path(path)):
        nested = {key: nested}
    return dict(nested)


def merge_overrides(overrides: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return one partial configuration of many (path, value) pairs; the last one of a path counts."""
    merged: dict[str, Any] = {}
    for path, value in overrides:
        merged = deep_merge(merged, nest(path, value))
    return merged


def set_in_patch(patch: object, path: str, text: str) -> dict[str, Any] | Problem:
    """Return the stored overrides with `path` set to what `text` says, or the problem that forbids it.

    The new value alone is checked: another entry that is wrong neither stops the change nor is lost by it.
    """
    path = path.strip()
    if not is_overridable_path(path):
        return _refuse_path(path)
    value = decode_value(text.strip())
    checked = check(nest(path, value))
    if checked.problems:
        return _with_quoting_hint(checked.problems[0], path, value, text.strip())
    return deep_merge(_as_table(patch), checked.accepted)


def unset_in_patch(patch: object, path: str) -> dict[str, Any] | Problem:
    """Return the stored overrides without `path` and without the tables that it leaves empty, or a problem.

    Any path that is stored can be removed, whether or not it names a setting, so that broken entries can go.
    """
    path = path.strip()
    table = _as_table(patch)
    keys = _find_keys(table, path)
    if not keys:
        return _refused(path, f"there is no stored override of {printable(path)}")
    return _without(table, keys)


def _as_table(patch: object) -> dict[str, Any]:
    return dict(thaw(patch)) if isinstance(patch, Mapping) else {}


def _find_keys(table: Mapping[str, Any], path: str) -> tuple[str, ...]:
    """Return the keys that lead to a dotted path in a table whose own keys may hold dots, () when it is not there."""
    if path in table:
        return (path,)
    for key, value in table.items():
        if isinstance(value, Mapping) and path.startswith(f"{key}."):
            rest = _find_keys(value, path[len(key) + 1 :])
            if rest:
                return (key, *rest)
    return ()


def _without(table: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    key, *rest = keys
    remaining = dict(table)
    inner = _without(table[key], tuple(rest)) if rest else {}
    if inner:
        remaining[key] = inner
    else:
        del remaining[key]
    return remaining


def _refuse_path(path: str) -> Problem:
    if path in TABLES:
        inside = [other for other in SETTINGS if other.startswith(f"{path}.")]
        if not inside:
            return _refused(path, f"{path} has no options")
        return _refused(path, f"{path} is a table; set one value at a time, such as {inside[0]}")
    if find_setting(path) is not None:
        return _refused(path, f"{path} can be set in the settings file only")
    return unknown_path(path)


def _refused(path: str, sentence: str) -> Problem:
    return Problem(kind="refused", path=printable(path), expected=sentence)


def _with_quoting_hint(problem: Problem, path: str, value: Any, text: str) -> Problem:
    """Add how to write a text that looks like another JSON value, where text is what the setting takes."""
    if isinstance(value, str) or value is None or check(nest(path, text)).problems:
        return problem
    return msgspec.structs.replace(problem, expected=f'{problem.expected} (as text: "{text}", in double quotes)')
