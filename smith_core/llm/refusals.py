"""What an endpoint says when it refuses: HTTP statuses, error bodies and error objects inside a stream."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from smith_core.errors import AgentError
from smith_core.llm.context_sizes import context_sizes, data_of
from smith_core.llm.faults import Target, fault
from smith_core.llm.json_values import whole_number
from smith_core.llm.waits import parse_retry_after, wait_named_in

_TOO_LONG = re.compile(
    r"context[ _]?(?:length|window|size)|(?:prompt|input) is too long|too many (?:input )?tokens"
    r"|exceed\w{0,8} (?:the )?(?:available|maximum|max)[^.]{0,30}(?:context|tokens)"
    r"|reduce the length of the (?:messages|prompt)",
    re.IGNORECASE,
)
_QUOTA = re.compile(r"insufficient[_ ]quota|exceeded your current quota|credit balance|billing", re.IGNORECASE)
_KNOWN_CODES: Mapping[str, str] = {
    "context_length_exceeded": "context_too_long",
    "exceed_context_size_error": "context_too_long",
    "insufficient_quota": "quota_exhausted",
    "exceeded_current_quota_error": "quota_exhausted",
    "billing_hard_limit_reached": "quota_exhausted",
    "billing_not_active": "quota_exhausted",
    "billing_error": "quota_exhausted",
}
"""What an endpoint's own code means, whatever its status and its words are."""

_RATE_CODES = frozenset({"rate_limit_exceeded", "rate_limit_error"})
"""Codes with which words about billing are advice, and no account is used up."""

_STATUS_CODES: Mapping[int, str] = {
    400: "bad_request",
    401: "unauthorized",
    402: "quota_exhausted",
    403: "forbidden",
    404: "not_found",
    405: "not_found",
    408: "server_error",
    409: "server_error",
    413: "too_large",
    422: "bad_request",
    425: "server_error",
    429: "rate_limited",
}
_STATUS_WORDS: tuple[tuple[str, int], ...] = (
    ("rate_limit", 429),
    ("overloaded", 503),
    ("authentication", 401),
    ("permission", 403),
    ("not_found", 404),
    ("invalid_request", 400),
    ("quota", 429),
    ("resource_exhausted", 429),
)
_SHORT_WAIT_S = 600.0
"""An endpoint that asks for more than this means an account, not a rate."""


def refusal(status: int, headers: Mapping[str, str], body: str, target: Target) -> AgentError:
    """Return the error of an HTTP answer that is not a success, or of an error object inside a stream."""
    said, code = read_error_body(body)
    wait_s = parse_retry_after(headers)
    return _refused(status, code, said, wait_named_in(body) if wait_s is None else wait_s, target)


def _refused(status: int, code: str, said: str, wait_s: float | None, target: Target) -> AgentError:
    our_code = _refusal_code(status, code, said, wait_s is not None and wait_s <= _SHORT_WAIT_S)
    error = fault(our_code, target, detail=said, status=status, retry_after_s=wait_s)
    if our_code != "context_too_long":
        return error
    return msgspec.structs.replace(error, data={**error.data, **data_of(context_sizes(said))})


def _refusal_code(status: int, code: str, said: str, is_short_wait: bool) -> str:
    if code in _KNOWN_CODES:
        return _KNOWN_CODES[code]
    if status in (400, 413, 422, 500) and _TOO_LONG.search(said):
        return "context_too_long"
    is_about_limits = status in (403, 429) and code not in _RATE_CODES and not is_short_wait
    if is_about_limits and _QUOTA.search(said):
        return "quota_exhausted"
    if status in _STATUS_CODES:
        return _STATUS_CODES[status]
    if status >= 500:
        return "server_error"
    return "bad_answer" if status < 400 else "bad_request"


def read_error_body(body: str) -> tuple[str, str]:
    """Return what an error body says and the code or type that it names; a page of HTML says nothing."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeError):
        return ("" if body.lstrip()[:1] == "<" else body), ""
    return read_error_value(value)


def read_error_value(value: Any) -> tuple[str, str]:
    """Return message and code of a decoded error.

    Known forms: `{"error": {…}}`, `{"error": "…"}`, `{"message": …}`, `{"detail": …}`, and a list of one of them.
    """
    if isinstance(value, list) and value:
        value = value[0]
    inner = value.get("error", value) if isinstance(value, Mapping) else value
    if not isinstance(inner, Mapping):
        return str(inner), ""
    message = inner.get("message") or inner.get("detail") or ""
    names = [str(inner[field]) for field in ("code", "type", "status") if inner.get(field)]
    known = [name for name in names if name in _KNOWN_CODES or name in _RATE_CODES]
    return str(message), (known or names or [""])[0]


def error_inside(value: Mapping[str, Any], target: Target) -> AgentError:
    """Return the error of an error object that came with a good HTTP status, most often in mid-stream."""
    message, code = read_error_value(value)
    inner = value.get("error", value)
    words = message if code in message else f"{message} ({code})"
    said, code_inside = read_error_body(words or str(value))
    status = _status_of(inner if isinstance(inner, Mapping) else {}, code)
    return _refused(status, code or code_inside, said, wait_named_in(repr(value)), target)


def _status_of(error: Mapping[str, Any], code: str) -> int:
    """Return the HTTP status that an error object stands for: as it says itself, or by its type; else 500."""
    for field in ("code", "status", "status_code"):
        number = whole_number(error.get(field)) or 0
        if 400 <= number < 600:
            return number
    words = f"{code} {error.get('type', '')}".lower()
    return next((status for word, status in _STATUS_WORDS if word in words), 500)
