"""How the failures of endpoints become AgentErrors: one table of codes, and what is read from a refusal.

Statuses and what is retried: decisions, section 6. No text of a server leaves here unredacted or longer than a line.
"""

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import msgspec

from smith_core.errors import AgentError, ErrorKind
from smith_core.llm.keys import redact
from smith_core.llm.protocol import Endpoint, Timeouts
from smith_core.text import clean_text, shorten

EXCERPT_CHARS = 300
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]+")
_TOO_LONG = re.compile(
    r"context[ _]?(?:length|window|size)|(?:prompt|input) is too long|too many (?:input )?tokens"
    r"|exceed\w* (?:the )?(?:available|maximum|max)[^.]{0,30}(?:context|tokens)"
    r"|reduce the length of the (?:messages|prompt)",
    re.IGNORECASE,
)
_QUOTA = re.compile(r"insufficient[_ ]quota|exceeded your current quota|credit balance|billing", re.IGNORECASE)
_QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_TOO_LONG_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})


class FaultRule(msgspec.Struct, frozen=True):
    """One code: its kind, whether it is worth another try, and the sentence; `{…}` are filled in by `fault`."""

    kind: ErrorKind
    retryable: bool
    sentence: str


FAULTS: Mapping[str, FaultRule] = {
    "connect_failed": FaultRule(
        "transport", True, "cannot reach {where}: {detail}; check that it runs, and llm_config.api_url"
    ),
    "timeout_connect": FaultRule(
        "transport", True, "no connection to {where} within {limit:g} s; check the network, or raise {setting}"
    ),
    "timeout_send": FaultRule(
        "transport", True, "{where} did not take the request within {limit:g} s; try again, or raise {setting}"
    ),
    "timeout_first_byte": FaultRule(
        "transport", True, "{where} did not begin to answer within {limit:g} s; try again, or raise {setting}"
    ),
    "timeout_total": FaultRule(
        "transport", True, "{where} did not finish the answer within {limit:g} s; ask for less, or raise {setting}"
    ),
    "stream_stalled": FaultRule(
        "transport", True, "{where} fell silent for {limit:g} s inside the answer; try again, or raise {setting}"
    ),
    "stream_cut": FaultRule("transport", True, "{where} broke off the answer ({detail}); try again"),
    "host_died": FaultRule("transport", True, "the model host ended ({detail}); it is started again: try again"),
    "rate_limited": FaultRule(
        "transport", True, "{status} from {where}: too many requests; wait a moment and try again{quote}"
    ),
    "server_error": FaultRule("transport", True, "{status} from {where}: the server failed; try again later{quote}"),
    "quota_exhausted": FaultRule(
        "protocol", False, "{status} from {where}: the account's quota is used up; top it up or use another key{quote}"
    ),
    "unauthorized": FaultRule(
        "protocol",
        False,
        "{status} from {where}: {key} was refused; set a valid key, or name another variable in "
        "llm_config.api_key_env{quote}",
    ),
    "forbidden": FaultRule(
        "protocol", False, "{status} from {where}: {key} may not use this model; choose another with /model{quote}"
    ),
    "not_found": FaultRule(
        "protocol",
        False,
        "{status} from {where}: no such address or model; check llm_config.api_url (it often ends in /v1) and "
        "the model's name{quote}",
    ),
    "bad_request": FaultRule(
        "protocol", False, "{status} from {where}: the request was refused; try another model with /model{quote}"
    ),
    "context_too_long": FaultRule(
        "protocol",
        False,
        "{where}: the conversation is longer than the model can take; start a new one with /new, or choose a "
        "model with a larger context{quote}",
    ),
    "too_large": FaultRule(
        "protocol", False, "{status} from {where}: the request is too large; start a new conversation with /new{quote}"
    ),
    "bad_answer": FaultRule(
        "protocol",
        False,
        "{where} answered {detail}, which is no chat completion; check llm_config.api_url (it often ends in /v1)",
    ),
    "bad_address": FaultRule(
        "policy", False, "the address {where} cannot be used: {detail}; set llm_config.api_url to http://… or https://…"
    ),
    "missing_key": FaultRule(
        "policy", False, "no key for {where}; set the environment variable that llm_config.api_key_env names"
    ),
    "unknown_provider": FaultRule(
        "policy",
        False,
        "{where}: nothing says where this model is; set llm_config.api_url, or write it as provider/model",
    ),
    "host_broken": FaultRule("internal", False, "the model host cannot work ({detail}); install smith-tui again"),
}

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


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """Whom a request is for, as error messages name it."""

    model: str
    endpoint: Endpoint = Endpoint()

    @property
    def where(self) -> str:
        """The model and the address without user, password and query."""
        address = safe_address(self.endpoint.api_url)
        model = shorten(clean_text(self.model), 80)
        return f"{model} at {address}" if model and address else model or address or "the endpoint"


def safe_address(api_url: str) -> str:
    """Return an address fit for a message: scheme, host, port and path, nothing that may hold a secret."""
    try:
        parts = urlsplit(api_url)
    except ValueError:
        return ""
    host = parts.netloc.rpartition("@")[2]
    return shorten(f"{parts.scheme}://{host}{parts.path}" if host else parts.path, 120)


def fault(
    code: str,
    target: Target,
    *,
    detail: str = "",
    limit: float = 0.0,
    setting: str = "",
    status: int | None = None,
    retry_after_s: float | None = None,
    cause: str | None = None,
) -> AgentError:
    """Return the error of a code of the table; `detail` and `cause` are foreign text and are made safe here.

    limit: seconds that were exceeded, `setting`: the name of that limit.
    """
    rule = FAULTS[code]
    said = excerpt(detail, target.endpoint.api_key)
    variable = target.endpoint.api_key_env
    message = rule.sentence.format(
        where=target.where,
        detail=said or "no reason given",
        quote=f" ({said})" if said else "",
        limit=limit,
        setting=f"llm_config.{setting}",
        status=status or "an error",
        key=f"the key in {variable}" if variable else "the key",
    )
    data: dict[str, Any] = {"status": status, "retry_after_s": retry_after_s}
    return AgentError(
        kind=rule.kind,
        code=code,
        message=message,
        retryable=rule.retryable,
        origin="llm",
        data={name: value for name, value in data.items() if value is not None},
        cause=excerpt(cause, target.endpoint.api_key) if cause else None,
    )


_LIMITS: Mapping[str, str] = {
    "timeout_connect": "connect_timeout",
    "timeout_send": "send_timeout",
    "timeout_first_byte": "recv_timeout",
    "timeout_total": "timeout",
    "stream_stalled": "stream_stall_timeout",
}


def timeout_fault(code: str, target: Target, timeouts: Timeouts) -> AgentError:
    """Return the error of an exceeded limit, which it names with its value."""
    setting = _LIMITS[code]
    return fault(code, target, limit=getattr(timeouts, setting), setting=setting)


def refusal(status: int, headers: Mapping[str, str], body: str, target: Target) -> AgentError:
    """Return the error of an HTTP answer that is not a success, or of an error object inside a stream."""
    said, code = read_error_body(body)
    retry_after_s = parse_retry_after(headers)
    return fault(
        _refusal_code(status, code, said, retry_after_s is not None),
        target,
        detail=said,
        status=status,
        retry_after_s=retry_after_s,
    )


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


def excerpt(text: str, key: str) -> str:
    """Return one short line of foreign text: no key, no control characters, at most 300 characters."""
    bounded = _CONTROLS.sub(" ", clean_text(text[: EXCERPT_CHARS * 20]))
    return shorten(redact(bounded, key), EXCERPT_CHARS)
