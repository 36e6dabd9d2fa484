"""Records as bytes: JSON with sorted keys, validated types on the way back, and text that is always fit for UTF-8."""

import math
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from smith_core.frozen import thaw
from smith_core.text import clean_text

T = TypeVar("T")
_NUL = b"\\u0000"


class InvalidRecordError(ValueError):
    """Stored bytes are not a record of the promised type."""


def _encode_foreign(value: Any) -> Any:
    return thaw(value) if isinstance(value, Mapping | frozenset | set) else str(value)


_ENCODER = msgspec.json.Encoder(order="sorted", enc_hook=_encode_foreign)
_DOCUMENT_DECODER = msgspec.json.Decoder(dict[str, Any])


def encode_record(record: msgspec.Struct) -> bytes:
    """Return the same bytes for equal records; text and numbers that JSON cannot hold are replaced."""
    data = _encode(record)
    # Not `in`, which makes an exception and drops it before it looks for bytes in bytes.
    if data.find(b"null") >= 0:
        # A float that is no number becomes null, which its type does not allow.
        try:
            _decoder(type(record)).decode(data)
        except msgspec.ValidationError:
            return _ENCODER.encode(_clean(msgspec.to_builtins(record, enc_hook=_encode_foreign)))
    return data


def encode_document(document: Mapping[str, Any]) -> bytes:
    """Return a plain mapping as deterministic bytes."""
    return _encode(dict(document))


def decode_record(data: bytes, record_type: type[T]) -> T:
    """Read a record back; raises InvalidRecordError."""
    try:
        return _decoder(record_type).decode(data)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise InvalidRecordError(str(error)) from error


def decode_document(data: bytes) -> dict[str, Any]:
    """Read a plain mapping back; raises InvalidRecordError."""
    try:
        return _DOCUMENT_DECODER.decode(data)
    except msgspec.DecodeError as error:
        raise InvalidRecordError(str(error)) from error


_decoders: dict[type, msgspec.json.Decoder[Any]] = {}


def _decoder(record_type: type[T]) -> msgspec.json.Decoder[T]:
    if record_type not in _decoders:
        _decoders[record_type] = msgspec.json.Decoder(record_type)
    return _decoders[record_type]


def _encode(value: Any) -> bytes:
    try:
        data = _ENCODER.encode(value)
    except UnicodeEncodeError:
        data = _NUL
    if data.find(_NUL) >= 0:
        data = _ENCODER.encode(_clean(_to_builtins(value)))
    return data


def _to_builtins(value: Any) -> Any:
    return msgspec.to_builtins(value, enc_hook=_encode_foreign)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else 0.0
    if isinstance(value, Mapping):
        return {clean_text(str(key)): _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    return value
