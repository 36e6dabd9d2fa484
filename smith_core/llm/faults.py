"""The failures of endpoints as AgentErrors: one table of codes with what is retried and what the person reads.

Source of what is retried: decisions, section 6. No foreign text leaves here unredacted or longer than a line.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from smith_core.errors import AgentError, ErrorKind
from smith_core.llm.keys import redact
from smith_core.llm.protocol import Endpoint, Timeouts
from smith_core.text import clean_text, shorten

EXCERPT_CHARS = 300


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
        "transport",
        True,
        "no connection to {where} within {limit:g} s; check llm_config.api_url and the network, or raise {setting}",
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
    "host_died": FaultRule(
        "transport",
        True,
        "the model host ended ({detail}); it is started again: try again, or, if smith-tui was upgraded meanwhile, "
        "leave it and start it again: it goes on with this conversation",
    ),
    "host_busy": FaultRule(
        "transport", True, "the model host has {limit:g} requests of this program already; wait for one, and try again"
    ),
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
        "{status} from {where}: {refused}, or name another variable in llm_config.api_key_env{quote}",
    ),
    "forbidden": FaultRule(
        "protocol",
        False,
        "{status} from {where}: {key} may not use this model; choose another with /model or --model{quote}",
    ),
    "not_found": FaultRule(
        "protocol",
        False,
        "{status} from {where}: no such address or model; check llm_config.api_url (it often ends in /v1) and "
        "the model's name{quote}",
    ),
    "bad_request": FaultRule(
        "protocol",
        False,
        "{status} from {where}: the request was refused; try another model with /model or --model{quote}",
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


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """Whom a request is for, as error messages name it."""

    model: str
    endpoint: Endpoint = Endpoint()

    @property
    def where(self) -> str:
        """The model and the address without user, password and query."""
        address = safe_address(self.endpoint.api_url)
        model = shorten(_printable(self.model), 80)
        return f"{model} at {address}" if model and address else model or address or "the endpoint"


def safe_address(api_url: str) -> str:
    """Return an address fit for a message: scheme, host, port and path, nothing that may hold a secret."""
    try:
        parts = urlsplit(api_url)
    except ValueError:
        return ""
    host = parts.netloc.rpartition("@")[2]
    return shorten(_printable(f"{parts.scheme}://{host}{parts.path}" if host else parts.path), 120)


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
        refused=_refused(target.endpoint),
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


def _refused(endpoint: Endpoint) -> str:
    """Say why a key did not open the endpoint, and what to do; a variable is read when the program starts."""
    variable = endpoint.api_key_env
    if endpoint.api_key:
        key = f"the key in {variable}" if variable else "the key"
        return f"{key} was refused; leave, export a valid one and start again"
    if not variable:
        return "it wants a key, and there is none"
    return f"it wants a key, and {variable} is not set; leave, run export {variable}=... and start again"


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


def excerpt(text: str, key: str) -> str:
    """Return one short line of foreign text: no key, no control characters, at most 300 characters."""
    return shorten(redact(_printable(text[: EXCERPT_CHARS * 20]), key), EXCERPT_CHARS)


def _printable(text: str) -> str:
    """Return text with a blank for every control, format and unknown character: no escape, no change of direction."""
    text = clean_text(text)
    return text if text.isprintable() else "".join(char if char.isprintable() else " " for char in text)
