"""Values that nobody can change any more: read-only mappings and tuples, all the way down."""

from collections.abc import Mapping
from types import MappingProxyType, NoneType
from typing import Any

EMPTY_MAPPING: Mapping[str, Any] = MappingProxyType({})
_PLAIN = (str, int, float, NoneType)
"""What most values are; asking whether they are mappings takes ten times as long."""


def freeze(value: Any) -> Any:
    """Return a deep copy of dicts, lists and sets as read-only mappings, tuples and frozensets.

    Anything else (structs, strings, numbers, handles) is returned as it is. A write to the result raises TypeError.
    """
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, Mapping):
        return MappingProxyType({key: freeze(item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return tuple(freeze(item) for item in value)
    if isinstance(value, set | frozenset):
        return frozenset(freeze(item) for item in value)
    return value


def thaw(value: Any) -> Any:
    """Return plain dicts and lists again, for JSON encoding and merging."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [thaw(item) for item in value]
    return value


def encode_hook(value: Any) -> Any:
    """Let msgspec encode what `freeze` made; pass it as `enc_hook`."""
    if isinstance(value, Mapping):
        return thaw(value)
    raise NotImplementedError(f"cannot encode {type(value).__name__}")
