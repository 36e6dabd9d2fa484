"""Web search by the Linkup service: one request, its answer read, its errors put into words.

The interface is described at https://docs.linkup.so/pages/documentation/api-reference/endpoint/post-search.
"""

import asyncio
import importlib
import json
import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from smith_core.errors import AgentFailure, ErrorKind, failure
from smith_core.text import clean_text, shorten
from smith_core.tools.web.searching import SearchAnswer, SearchResult, SearchSettings

MAX_ANSWER_BYTES = 5_000_000
_CONNECT_LIMIT_S = 10.0
_OUTPUT_TYPES = ("searchResults", "sourcedAnswer")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_NO_RESULT = "SEARCH_QUERY_NO_RESULT"


async def linkup_search(query: str, max_results: int, settings: SearchSettings) -> SearchAnswer:
    """Ask the service; AgentFailure in words, in which the key never appears, when it does not answer well."""
    key = os.environ.get(settings.api_key_env, "").strip()
    if not key:
        raise _failed(
            "policy",
            "no_key",
            f"there is no key for the web search: the user has to set {settings.api_key_env} to a key of linkup.so "
            "before starting Smith; until then use web_fetch with addresses that you know",
        )
    if settings.output_type not in _OUTPUT_TYPES:
        raise _failed(
            "schema",
            "output_type",
            f"services.tool.web_search.output_type is {settings.output_type!r}; "
            f"it can be {' or '.join(_OUTPUT_TYPES)} here",
        )
    # The import takes a tenth of a second, which the screen must not wait for.
    await asyncio.to_thread(importlib.import_module, "httpx")
    import httpx

    body = {
        "q": query,
        "depth": settings.depth,
        "outputType": settings.output_type,
        "includeImages": False,
        "maxResults": max_results,
    }
    try:
        key.encode("ascii")
        async with asyncio.timeout(settings.timeout):
            status, data = await _post(endpoint_of(settings), key, body)
    except UnicodeEncodeError:
        raise _failed(
            "tool", "bad_key", f"{settings.api_key_env} holds characters that no key has; set it anew"
        ) from None
    except (TimeoutError, httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        raise _unreachable(settings, error, key) from None
    if status != 200:
        return _refusal(status, data, settings, key)
    return _read_answer(data)


def endpoint_of(settings: SearchSettings) -> str:
    """Return the address of the search itself, also where only the service's base address is set."""
    path = urlsplit(settings.endpoint).path.rstrip("/")
    base = settings.endpoint.rstrip("/")
    return {"": f"{base}/v1/search", "/v1": f"{base}/search"}.get(path, settings.endpoint)


async def _post(endpoint: str, key: str, body: Mapping[str, Any]) -> tuple[int, bytes]:
    """Send one request, follow nothing, and return status and body, the latter cut at MAX_ANSWER_BYTES."""
    import httpx

    trust = await asyncio.to_thread(httpx.create_ssl_context)
    # The person chose this endpoint, and so the way to it; a key for this machine never goes to a proxy.
    by_proxy = urlsplit(endpoint).hostname not in _LOOPBACK
    timeout = httpx.Timeout(None, connect=_CONNECT_LIMIT_S)
    async with (
        httpx.AsyncClient(verify=trust, trust_env=by_proxy, timeout=timeout, follow_redirects=False) as client,
        client.stream("POST", endpoint, json=body, headers={"Authorization": f"Bearer {key}"}) as response,
    ):
        data = bytearray()
        async for chunk in response.aiter_bytes(65_536):
            data += chunk
            if len(data) > MAX_ANSWER_BYTES:
                break
        return response.status_code, bytes(data)


def _read_answer(data: bytes) -> SearchAnswer:
    try:
        answer = json.loads(data)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise _failed("protocol", "bad_answer", "the search service answered something that is no result; try again")
    entries = answer.get("results") if isinstance(answer.get("results"), list) else answer.get("sources")
    found = [_read_result(entry) for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    return SearchAnswer(results=tuple(found), answer=_text(answer, "answer"))


def _read_result(entry: Mapping[str, Any]) -> SearchResult:
    text = _text(entry, "content") or _text(entry, "snippet")
    return SearchResult(title=_text(entry, "name"), address=_text(entry, "url"), text=text)


def _text(table: Mapping[str, Any], name: str) -> str:
    value = table.get(name)
    return clean_text(value) if isinstance(value, str) else ""


def _refusal(status: int, data: bytes, settings: SearchSettings, key: str) -> SearchAnswer:
    """Return an empty answer when the status means that nothing was found; else raise what it means in words."""
    code, said = _service_words(data, key)
    if code == _NO_RESULT:
        return SearchAnswer()
    named = settings.api_key_env
    retryable = status == 429 or status >= 500
    if status in (401, 403):
        words = f"the search service does not accept the key in {named}; the user has to set it to a valid one"
    elif status == 402 or "CREDIT" in code or "FUNDS" in code:
        words, retryable = f"the credit of the key in {named} is used up; the user has to add some at linkup.so", False
    elif status == 429:
        words = "the search service was asked too often; wait a minute before the next search"
    elif status >= 500:
        words = f"the search service has a problem ({status}); try again later, or use web_fetch with a known address"
    elif 300 <= status < 400:
        words = (
            f"the search service leads elsewhere ({status}), where the key is not sent; correct its endpoint setting"
        )
    elif status == 404:
        words = "there is no search service at the address in services.tool.web_search.endpoint; correct it"
    else:
        words = f"the search service refuses the request ({status}); change the query or services.tool.web_search"
    raise _failed("tool", f"http_{status}", f"{words}. It says: {said}" if said else words, retryable=retryable)


def _service_words(data: bytes, key: str) -> tuple[str, str]:
    """Return code and message of an error body, without the key."""
    try:
        table = json.loads(data)
    except (ValueError, RecursionError):
        return "", ""
    error = table.get("error") if isinstance(table, dict) else None
    source = error if isinstance(error, dict) else table if isinstance(table, dict) else {}
    message = source.get("message")
    words = message if isinstance(message, str) else ""
    return str(source.get("code") or "").upper()[:60], shorten(clean_text(words).replace(key, "…"), 300)


def _unreachable(settings: SearchSettings, error: BaseException, key: str) -> AgentFailure:
    import httpx

    if isinstance(error, TimeoutError):
        return _failed(
            "tool",
            "timeout",
            f"the search service did not answer within {settings.timeout:g} s; "
            "try again, or raise services.tool.web_search.timeout for deep searches",
            retryable=True,
        )
    host = urlsplit(settings.endpoint).hostname or ""
    why = "no connection in time" if isinstance(error, httpx.TimeoutException) else shorten(str(error), 200)
    why = clean_text(why).replace(key, "…") or type(error).__name__
    return _failed("tool", "connection", f"the search service at {host} was not reached ({why}); check the network")


def _failed(kind: ErrorKind, code: str, message: str, *, retryable: bool = False) -> AgentFailure:
    return failure(kind, code, message, origin="tool", retryable=retryable)
