"""What an endpoint says when it refuses: HTTP statuses, error bodies and error objects inside a stream."""

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from smith_core.errors import AgentError
from smith_core.llm.context_sizes import context_sizes, data_of
from smith_core.llm.faults import Target, fault
from smith_core.llm.json_values import whole_number

_TOO_LONG = re.compile(
    r"context[ _]?(?:length|window|size)|(?:prompt|input) is too long|too many (?:input )?tokens"
    r"|exceed\w* (?:the )?(?:available|maximum|max)[^.]{0,30}(?:context|tokens)"
    r"|reduce the length of the (?:messages|prompt)",
    re.IGNORECASE,
)
_QUOTA = re.compile(r"insufficient[_ ]quota|exceeded your current quota|credit balance|billing", re.IGNORECASE)
_QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_TOO_LONG_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})

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
)


def refusal(status: int, headers: Mapping[str, str], body: str, target: Target) -> AgentError:
    """Return the error of an HTTP answer that is not a success, or of an error object inside a stream."""
    said, code = read_error_body(body)
    retry_after_s = parse_retry_after(headers)
    our_code = _refusal_code(status, code, said, retry_after_s is not None)
    error = fault(our_code, target, detail=said, status=status, retry_after_s=retry_after_s)
    if our_code != "context_too_long":
        return error
    return msgspec.structs.replace(error, data={**error.data, **data_of(context_sizes(said))})


def _refusal_code(status: int, code: str, said: str, names_a_wait: bool) -> str:
    if code in _TOO_LONG_CODES or (status in (400, 413, 422, 500) and _TOO_LONG.search(said)):
        return "context_too_long"
    if code in _QUOTA_CODES or (status in (403, 429) and not names_a_wait and _QUOTA.search(said)):
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
    known = [name for name in names if name in _TOO_LONG_CODES | _QUOTA_CODES]
    return str(message), (known or names or [""])[0]


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the wait in seconds that `Retry-After` (seconds or a date) or `retry-after-ms` asks for."""
    lower = {name.lower(): value.strip() for name, value in headers.items()}
    try:
        if "retry-after-ms" in lower:
            return max(0.0, float(lower["retry-after-ms"]) / 1000)
        return max(0.0, float(lower["retry-after"]))
    except KeyError:
        return None
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(lower.get("retry-after", "")).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def error_inside(value: Mapping[str, Any], target: Target) -> AgentError:
    """Return the error of an error object that came with a good HTTP status, most often in mid-stream."""
    message, code = read_error_value(value)
    inner = value.get("error", value)
    words = message if code in message else f"{message} ({code})"
    return refusal(_status_of(inner if isinstance(inner, Mapping) else {}, code), {}, words or str(value), target)


def _status_of(error: Mapping[str, Any], code: str) -> int:
    """Return the HTTP status that an error object stands for: as it says itself, or by its type; else 500."""
    for field in ("code", "status", "status_code"):
        number = whole_number(error.get(field)) or 0
        if 400 <= number < 600:
            return number
    words = f"{code} {error.get('type', '')}".lower()
    return next((status for word, status in _STATUS_WORDS if word in words), 500)
