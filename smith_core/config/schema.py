"""The check of a configuration: everything wrong is named at once, and everything else stays in effect."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from smith_core.config.rules import REJECTED, Rule
from smith_core.config.settings import (
    OPEN_TABLES,
    SETTINGS,
    TABLES,
    is_entry_name,
    is_overridable_path,
    nearest_path,
)
from smith_core.config.shape import Config, ContextConfig, DispatchConfig, LlmConfig, ToolsConfig, UiConfig
from smith_core.frozen import EMPTY_MAPPING, freeze, thaw
from smith_core.text import shorten

__all__ = [
    "Checked",
    "Config",
    "ContextConfig",
    "DispatchConfig",
    "GivenTwice",
    "LlmConfig",
    "Problem",
    "ToolsConfig",
    "UiConfig",
    "check",
    "deep_merge",
    "is_overridable_path",
    "to_config",
    "validate",
]

TABLE_WORDS = "a table of settings in curly brackets"
_SHOWN_CHARACTERS = 60


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing wrong with a configuration.

    kind invalid: `path` has a `value` that is not what is `expected`.
    kind unknown: there is no setting `path`; `suggestion` is what was most likely meant, or "".
    kind refused: a whole file, argument or change does not count; `expected` is the sentence that says why.
    source: where it was found, "" when that is plain from the context. value: short text for the screen.
    """

    kind: Literal["invalid", "unknown", "refused"]
    path: str
    value: str = ""
    expected: str = ""
    suggestion: str = ""
    source: str = ""


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What remains of a candidate when everything wrong is taken out, in the form that is stored."""

    accepted: Mapping[str, Any] = EMPTY_MAPPING
    problems: tuple[Problem, ...] = ()


class GivenTwice(msgspec.Struct, frozen=True):
    """Stands in a decoded table for the value of a key that the JSON text gives more than once."""

    values: tuple[Any, ...] = ()


def validate(candidate: object) -> tuple[Problem, ...]:
    """Return all problems of a candidate configuration, in its own order; () when it is valid."""
    return check(candidate).problems


def check(candidate: object) -> Checked:
    """Separate what is valid in a candidate, any value at all, from what is not."""
    if not isinstance(candidate, Mapping):
        problem = Problem(kind="invalid", path="", value=short_value(candidate), expected=TABLE_WORDS)
        return Checked(problems=(problem,))
    problems: list[Problem] = []
    accepted = _check_table("", candidate, problems)
    return Checked(accepted=freeze(accepted), problems=tuple(problems))


def to_config(candidate: object) -> Config:
    """Return the configuration that a candidate describes; whatever is absent or wrong has its default."""
    return msgspec.convert(thaw(check(candidate).accepted), Config)


def deep_merge(low: Mapping[str, Any], high: Mapping[str, Any]) -> dict[str, Any]:
    """Return plain dicts in which tables are merged key by key and any other value of `high` replaces that of `low`."""
    merged: dict[str, Any] = thaw(low)
    for key, value in high.items():
        below = merged.get(key)
        both_tables = isinstance(below, Mapping) and isinstance(value, Mapping)
        merged[key] = deep_merge(below, value) if both_tables else thaw(value)  # type: ignore[arg-type]
    return merged


def _check_table(prefix: str, table: Mapping[Any, Any], problems: list[Problem]) -> dict[str, Any]:
    accepted: dict[str, Any] = {}
    for key, value in table.items():
        found = _check_entry(prefix, key, value, problems)
        if found is not REJECTED:
            accepted[key] = found
    return accepted


def _check_entry(prefix: str, key: Any, value: Any, problems: list[Problem]) -> Any:
    name = printable(key if isinstance(key, str) else repr(key))
    path = f"{prefix}{name}"
    is_plain = isinstance(key, str) and "." not in key
    is_table = is_plain and path in TABLES
    rule = None if is_table else _rule_of(prefix, path, key, is_plain)
    if not is_table and rule is None:
        problems.append(_unknown_entry(path, is_plain))
        return REJECTED
    if isinstance(value, GivenTwice):
        problems.append(Problem(kind="invalid", path=path, value="given more than once", expected="given only once"))
        return REJECTED
    if is_table and isinstance(value, Mapping):
        return _check_table(f"{path}.", value, problems)
    accepted = REJECTED if rule is None else rule.read(value)
    if accepted is REJECTED:
        shown = short_value(value) if rule is None or rule.shows_value else "(hidden)"
        problems.append(
            Problem(kind="invalid", path=path, value=shown, expected=TABLE_WORDS if rule is None else rule.expected)
        )
    return accepted


def _rule_of(prefix: str, path: str, key: Any, is_plain: bool) -> Rule | None:
    if is_plain and path in SETTINGS and not path.endswith(">"):
        return SETTINGS[path].rule
    entry = OPEN_TABLES.get(prefix.rstrip("."))
    return entry.rule if entry is not None and is_entry_name(key) else None


def _unknown_entry(path: str, is_plain: bool) -> Problem:
    if not is_plain and (path in SETTINGS or path in TABLES):
        outer, _, inner = path.partition(".")
        return Problem(kind="unknown", path=path, suggestion=f'{{"{outer}": {{"{inner}": …}}}}')
    return unknown_path(path)


def unknown_path(path: str) -> Problem:
    """Return the problem that there is no setting at `path`, with what was most likely meant."""
    return Problem(kind="unknown", path=shorten(printable(path), _SHOWN_CHARACTERS), suggestion=nearest_path(path))


def printable(text: str) -> str:
    """Return text with everything that a terminal might act on written as an escape."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )


def short_value(value: object) -> str:
    """Return a value as one short line of JSON, for a message; credentials in an address are left out."""
    if isinstance(value, str):
        return _short_text(value)
    if isinstance(value, Mapping):
        return "a table" if value else "{}"
    if isinstance(value, list | tuple):
        entries = [short_value(item) for item in value[:5]] + (["…"] if len(value) > 5 else [])
        return shorten(f"[{', '.join(entries)}]", _SHOWN_CHARACTERS)
    if isinstance(value, bool) or value is None:
        return _json(value)
    if isinstance(value, int | float):
        return _json(value) if value != value or abs(value) < 10**20 else "a very large number"
    return shorten(printable(repr(value)), _SHOWN_CHARACTERS)


def _json(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def _short_text(text: str) -> str:
    address, separator, rest = text.partition("://")
    if separator and "@" in rest:
        text = f"{address}://…@{rest.rpartition('@')[2]}"
    return shorten(printable(_json(text[:_SHOWN_CHARACTERS])), _SHOWN_CHARACTERS)
