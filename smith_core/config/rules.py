"""The kinds of value that a setting can have: for each, what is expected in words and the check that accepts it."""

import re
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from smith_core.paths import relative_path_problem

REJECTED: Final = object()
"""What a check returns for a value that it does not accept."""

LARGEST: Final = 1_000_000_000
"""Bound of all numbers: a timer of more seconds than this overflows in the C library."""

_MODIFIERS = frozenset({"ctrl", "alt", "shift", "super", "hyper", "meta"})
_KEY = r"[a-z][a-z0-9_]*|[^\s+]"
_NO_HOST_CHARACTERS = frozenset("/\\@?#,")


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """What a value must be.

    expected: completes "must be …". read: returns the JSON value in the form that is stored, or REJECTED.
    shows_value: False when a rejected value must not be repeated in a message, for it may be a secret. values: all
    that there are, as a person writes them, where there are few.
    """

    expected: str
    read: Callable[[Any], Any]
    shows_value: bool = True
    values: tuple[str, ...] = ()


def _boolean(value: Any) -> Any:
    return value if isinstance(value, bool) else REJECTED


def _text(value: Any) -> Any:
    if not isinstance(value, str) or not value.isprintable():
        return REJECTED
    return value.strip() or REJECTED


def _variable_name(value: Any) -> Any:
    return value if isinstance(value, str) and value.isascii() and value.isidentifier() else REJECTED


def _relative_path(value: Any) -> Any:
    return REJECTED if not isinstance(value, str) or relative_path_problem(value) else value


def _address(value: Any) -> Any:
    text = _text(value)
    if text is REJECTED or " " in text or "\\" in text:
        return REJECTED
    try:
        parts = urlsplit(text)
        has_host, _ = bool(parts.hostname), parts.port
    except ValueError:
        return REJECTED
    return text if has_host and parts.scheme in ("http", "https") else REJECTED


def _host(value: Any) -> Any:
    text = _text(value)
    if text is REJECTED or " " in text or not _NO_HOST_CHARACTERS.isdisjoint(text):
        return REJECTED
    return text.lower()


def _key_names(value: Any) -> Any:
    if not isinstance(value, str) or not value.isprintable():
        return REJECTED
    names = [_key_name(name) for name in value.split(",")]
    return REJECTED if REJECTED in names else ",".join(names)


def _key_name(value: str) -> Any:
    *modifiers, key = value.strip().split("+")
    modifiers = [modifier.lower() for modifier in modifiers]
    # Terminals tell alt+h from alt+H, but not ctrl+h from ctrl+H.
    key = key.lower() if len(key) > 1 or "ctrl" in modifiers else key
    if not _MODIFIERS.issuperset(modifiers) or len(set(modifiers)) < len(modifiers) or not re.fullmatch(_KEY, key):
        return REJECTED
    return "+".join([*modifiers, key])


def integer(low: int, high: int = LARGEST) -> Rule:
    """Return the rule for whole numbers from `low` to `high`; 1e3 is read as 1000, true and 1.5 are rejected."""

    def read(value: Any) -> Any:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        return value if is_whole and low <= value <= high else REJECTED

    return Rule(expected=_range_words("integer", low, high), read=read)


def number(low: float, high: float = LARGEST, *, above_low: bool = False) -> Rule:
    """Return the rule for numbers from `low` (or only above it) to `high`; NaN, infinity and true are rejected."""

    def read(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return REJECTED
        return value if low <= value <= high and not (above_low and value == low) else REJECTED

    return Rule(expected=_range_words("number", low, high, above_low), read=read)


def _range_words(noun: str, low: float, high: float, above_low: bool = False) -> str:
    if high == LARGEST:
        sign = "positive" if above_low or low == 1 else "non-negative"
        return f"a {sign} {noun} up to {LARGEST:.0e}".replace("e+0", "e")
    article = "an" if noun == "integer" else "a"
    return f"{article} {noun} {f'above {low:g} and up' if above_low else f'from {low:g}'} to {high:g}"


def choice(*values: str) -> Rule:
    """Return the rule for one of a few words."""
    return Rule(
        expected=f"{', '.join(values[:-1])} or {values[-1]}",
        read=lambda value: value if isinstance(value, str) and value in values else REJECTED,
        values=values,
    )


def list_of(entry: Rule, expected: str, *, may_be_empty: bool = False) -> Rule:
    """Return the rule for a list whose every entry keeps the rule `entry`."""

    def read(value: Any) -> Any:
        if not isinstance(value, list | tuple) or not (value or may_be_empty):
            return REJECTED
        entries = [entry.read(item) for item in value]
        return REJECTED if any(item is REJECTED for item in entries) else entries

    return Rule(expected=expected, read=read)


def optional(rule: Rule) -> Rule:
    """Return the rule that takes null for "none" besides what `rule` takes."""
    return msgspec.structs.replace(
        rule,
        expected=f"{rule.expected}, or null for none",
        read=lambda value: None if value is None else rule.read(value),
    )


BOOLEAN: Final = Rule(expected="true or false", read=_boolean, values=("true", "false"))
TEXT: Final = Rule(expected="non-empty text", read=_text)
VARIABLE_NAME: Final = Rule(
    expected="the name of an environment variable (letters, digits and _)", read=_variable_name, shows_value=False
)
RELATIVE_PATH: Final = Rule(
    expected="a path inside the repository: relative, without .., ~, drive letter or backslash", read=_relative_path
)
ADDRESS: Final = Rule(expected="an http:// or https:// address", read=_address)
HOST: Final = Rule(expected="a host name", read=_host)
KEY_NAME: Final = Rule(expected="a key such as ctrl+o, alt+1 or f1, or several between commas", read=_key_names)
