"""Exceptions of litellm, the SDK and the HTTP library as AgentErrors: what happened stands in the chain of causes.

litellm reports a refused connection as a server error of status 500, a missing key likewise; so the causes decide
first, then the real HTTP answer, and the wording only where there is neither.
"""

import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from typing import Any

from smith_core.errors import AgentError
from smith_core.llm.faults import Target, fault, timeout_fault
from smith_core.llm.protocol import Timeouts
from smith_core.llm.refusals import error_inside, refusal

_HTTP_LIBRARIES = ("httpx", "httpcore", "httpx2", "httpcore2")
_CONNECT_TIMEOUTS = frozenset({"ConnectTimeout", "PoolTimeout"})
_TRANSPORT_ERRORS = frozenset(
    {"ReadError", "WriteError", "CloseError", "RemoteProtocolError", "LocalProtocolError", "NetworkError"}
)
_ADDRESS_ERRORS = frozenset({"UnsupportedProtocol", "InvalidURL"})
_ANSWER_ERRORS = {"DecodingError": "a badly compressed body", "TooManyRedirects": "with redirects in a circle"}
_MISSING_KEY = re.compile(r"missing credentials|missing \w+ api key|api_key client option must be set", re.IGNORECASE)
_NO_PROVIDER = re.compile(r"llm provider not provided|unmapped llm provider", re.IGNORECASE)


def translate(error: BaseException, target: Target, timeouts: Timeouts, *, in_stream: bool) -> AgentError:
    """Return what an exception means; `in_stream` says that the answer had begun."""
    chain = list(causes(error))
    names = [type(link).__name__ for link in chain if type(link).__module__.partition(".")[0] in _HTTP_LIBRARIES]
    cause = _innermost(chain)
    for name in names:
        code = _timeout_code(name, in_stream)
        if code:
            return timeout_fault(code, target, timeouts)
        if name in ("ConnectError", "ProxyError"):
            return fault("connect_failed", target, detail=_reason(chain), cause=cause)
        if name in _TRANSPORT_ERRORS:
            detail = _reason(chain) if in_stream else f"before it began: {_reason(chain)}"
            return fault("stream_cut", target, detail=detail, cause=cause)
        if name in _ADDRESS_ERRORS:
            return fault("bad_address", target, detail=_reason(chain), cause=cause)
        if name in _ANSWER_ERRORS:
            return fault("bad_answer", target, detail=_ANSWER_ERRORS[name], cause=cause)
    return _from_answer(chain, target, cause, in_stream=in_stream)


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and those behind it, each once."""
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        original = getattr(link, "original_exception", None)
        link = original if isinstance(original, BaseException) else link.__cause__ or link.__context__


def _timeout_code(name: str, in_stream: bool) -> str:
    if name in _CONNECT_TIMEOUTS:
        return "timeout_connect"
    if name == "WriteTimeout":
        return "timeout_send"
    if name == "ReadTimeout":
        return "stream_stalled" if in_stream else "timeout_first_byte"
    return ""


def _from_answer(chain: list[BaseException], target: Target, cause: str, *, in_stream: bool) -> AgentError:
    text = " ".join(str(link) for link in chain)
    if _MISSING_KEY.search(text):
        return fault("missing_key", target)
    if _NO_PROVIDER.search(text):
        return fault("unknown_provider", target)
    if any(isinstance(link, ValueError) and "Expecting" in str(link) for link in chain):
        return fault("bad_answer", target, detail="broken JSON", cause=cause)
    if in_stream and "before a finish_reason" in text:
        return fault("stream_cut", target, detail="there was no finish marker", cause=cause)
    bodies = [body for link in chain if isinstance(body := getattr(link, "body", None), Mapping)]
    if in_stream and bodies:
        return error_inside(bodies[0], target)
    status, headers, body = _http_answer(chain)
    if status:
        return refusal(status, headers, body or _plain_words(chain), target)
    return fault("server_error" if in_stream else "connect_failed", target, detail=_plain_words(chain), cause=cause)


def _http_answer(chain: list[BaseException]) -> tuple[int, Mapping[str, str], str]:
    """Return status, headers and body of the HTTP answer, the innermost first, for that one is the server's own."""
    for link in reversed(chain):
        response = getattr(link, "response", None)
        status = getattr(response, "status_code", None)
        if isinstance(status, int) and status >= 300:
            return status, dict(getattr(response, "headers", {}) or {}), _body_text(response)
    for link in reversed(chain):
        status = getattr(link, "status_code", None)
        if isinstance(status, int) and status >= 400:
            return status, {}, ""
    return 0, {}, ""


def _body_text(response: Any) -> str:
    try:
        return str(response.text)
    except Exception:  # noqa: BLE001 - a body that was never read says nothing
        return ""


def _plain_words(chain: list[BaseException]) -> str:
    """Return what the innermost exception that says something says, without litellm's prefixes."""
    for link in reversed(chain):
        text = str(link).strip()
        if text:
            return re.sub(r"^(?:litellm\.)?(?:\w+Error: )+(?:\w+Exception - )?", "", text)
    return type(chain[0]).__name__


def _reason(chain: list[BaseException]) -> str:
    """Return in plain words why a connection failed or broke."""
    for link in reversed(chain):
        if isinstance(link, ConnectionRefusedError):
            return "the connection was refused"
        if isinstance(link, socket.gaierror):
            return "the name of the server is not known"
        if isinstance(link, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted ({link.verify_message})"
        if isinstance(link, ssl.SSLError):
            return "it does not speak TLS as expected; http and https may be mixed up"
        if isinstance(link, ConnectionResetError | BrokenPipeError):
            return "the connection was reset"
    text = _plain_words(chain)
    if "incomplete" in text or "disconnected" in text:
        return "the connection was closed too early"
    return text


def _innermost(chain: list[BaseException]) -> str:
    last = chain[-1]
    return f"{type(last).__name__}: {last}"
