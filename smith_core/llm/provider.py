"""The only importer of litellm: one call, read the cheap way where that works, and every error in our own words.

litellm routes, sets parameters and opens the stream. For OpenAI-compatible endpoints the stream under its wrapper is
the SDK's, whose public `response` is the HTTP response; reading that costs a hundredth of iterating the wrapper. The
messages pass it and the SDK by as well, for both go through all of them, to change nothing: they are put into the body
of the HTTP request as they came.
"""

import asyncio
import os
import secrets
import sys
from asyncio import AbstractEventLoop
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

from smith_core.errors import AgentFailure
from smith_core.llm.deltas import DeltaAssembler
from smith_core.llm.faults import Target, fault, safe_address, timeout_fault
from smith_core.llm.host_process import LITELLM_ENVIRONMENT
from smith_core.llm.keys import NO_KEY
from smith_core.llm.protocol import AnyStreamPart, Completion, Timeouts
from smith_core.llm.stream_body import StreamBody
from smith_core.llm.translation import translate
from smith_core.llm.wire import WireRequest, request_chars, request_options

os.environ.update(LITELLM_ENVIRONMENT)

import httpx
import litellm
import msgspec

OnParts = Callable[[list[AnyStreamPart]], None]

OPENAI_COMPATIBLE = "custom_openai"
"""litellm's route for any OpenAI-compatible address; `openai` would send some model names to /responses."""

litellm.suppress_debug_info = True
litellm.telemetry = False
litellm.num_retries = 0
# litellm's default transport, aiohttp, knows no limit for sending.
litellm.disable_aiohttp_transport = True

_STAND_IN = f"messages {secrets.token_hex()}"
"""The only message that litellm and the SDK see where the real ones pass them by; no text from outside holds it."""

_CHANGED_IDS = b"__thought__"
"""What litellm cuts a call's id off at, for endpoints that do not know the signature of Gemini's behind it.

Source: THOUGHT_SIGNATURE_SEPARATOR in litellm's prompt_templates/factory.py.
"""

REFUSAL_BYTES = 64 * 1024
"""Most bytes of an HTTP error's body that are read."""

_KEEP_ALIVE_S = 60.0
_limits: ContextVar[httpx.Timeout] = ContextVar("limits")
_messages: ContextVar[bytes] = ContextVar("messages")
_client_loop: AbstractEventLoop | None = None


async def complete(request: WireRequest, on_parts: OnParts, *, use_wrapper: bool = False) -> Completion:
    """Make one call, hand its parts over as they come and return the whole answer.

    Raises AgentFailure; what came before it was handed over. Cancelling the task closes the connection.
    use_wrapper: read through litellm's wrapper even where the cheap way works.
    """
    target = Target(model=request.model, endpoint=request.endpoint)
    assembler = DeltaAssembler()
    try:
        async with asyncio.timeout(request.timeouts.timeout) as whole:
            _use_own_http_client()
            stream = await _open(request, target)
            response = None if use_wrapper else _raw_response(stream)
            if response is not None:
                await StreamBody(target, request.timeouts, assembler, on_parts).read(response)
            else:
                await _read_wrapper(stream, request, target, assembler, on_parts)
    except TimeoutError:
        if not whole.expired():
            raise
        if not assembler.finish_reason:
            raise AgentFailure(timeout_fault("timeout_total", target, request.timeouts)) from None
    return assembler.completion(0 if assembler.has_usage else request_chars(request))


def forget_keys() -> None:
    """Drop the clients that litellm keeps for requests to come, for each holds the key of one that is over."""
    cache = litellm.in_memory_llm_clients_cache
    for name in [name for name, client in list(cache.cache_dict.items()) if getattr(client, "api_key", None)]:
        cache.delete_cache(name)


def call_parameters(request: WireRequest, target: Target) -> dict[str, Any]:
    """Return the keyword arguments of litellm's call.

    With an `api_url` the model id goes there exactly as it is written, whatever prefix it has; without one its prefix
    names the provider. A key is always given with an `api_url`, lest one from the environment goes to that address.
    """
    endpoint = request.endpoint
    parameters: dict[str, Any] = {
        **request_options(request),
        "model": request.model,
        "num_retries": 0,
        "max_retries": 0,
        "timeout": http_limits(request.timeouts),
    }
    if endpoint.api_url:
        parameters["model"] = f"{OPENAI_COMPATIBLE}/{request.model}"
        parameters["api_base"] = base_address(endpoint.api_url, target)
        parameters["api_key"] = endpoint.api_key or NO_KEY
    elif endpoint.api_key:
        parameters["api_key"] = endpoint.api_key
    if endpoint.api_url and _CHANGED_IDS not in request.messages:
        parameters["messages"] = [{"role": "user", "content": _STAND_IN}]
    else:
        parameters["messages"] = msgspec.json.decode(request.messages)
    return parameters


def http_limits(timeouts: Timeouts) -> httpx.Timeout:
    """Return the limits that the HTTP library keeps: connecting, sending, and the wait for the answer to begin."""
    return httpx.Timeout(
        connect=timeouts.connect_timeout,
        pool=timeouts.connect_timeout,
        write=timeouts.send_timeout,
        read=timeouts.recv_timeout,
    )


def base_address(api_url: str, target: Target) -> str:
    """Return the base address that `/chat/completions` is added to; AgentFailure when it is no HTTP address."""
    try:
        url = httpx.URL(api_url.strip())
    except httpx.InvalidURL:
        raise AgentFailure(fault("bad_address", target, detail="it is not an address")) from None
    if url.scheme not in ("http", "https") or not url.host:
        detail = f"it begins with {safe_address(api_url).partition(':')[0]!r}" if url.scheme else "it has no scheme"
        raise AgentFailure(fault("bad_address", target, detail=detail))
    return str(url).rstrip("/").removesuffix("/chat/completions")


async def _open(request: WireRequest, target: Target) -> Any:
    parameters = call_parameters(request, target)
    _limits.set(parameters["timeout"])
    _messages.set(request.messages)
    try:
        return await litellm.acompletion(**parameters)
    except Exception as error:
        raise AgentFailure(translate(error, target, request.timeouts, in_stream=False)) from error


def _use_own_http_client() -> None:
    """Give litellm's OpenAI-compatible routes an HTTP client of ours on this loop.

    Of the limits that it is given, litellm hands only the one for reading on to these routes, so each request gets
    them once more on its way out.
    """
    global _client_loop
    loop = asyncio.get_running_loop()
    if _client_loop is not loop:
        _client_loop = loop
        litellm.aclient_session = httpx.AsyncClient(
            limits=httpx.Limits(keepalive_expiry=_KEEP_ALIVE_S),
            follow_redirects=True,
            event_hooks={"request": [_apply_limits, _put_messages], "response": [_bound_refusal]},
        )


async def _apply_limits(request: httpx.Request) -> None:
    request.extensions["timeout"] = _limits.get().as_dict()


async def _put_messages(request: httpx.Request) -> None:
    """Put the messages of the call in the place of the one that stands for them.

    A request that follows a redirect comes with the whole body already, which cannot be looked at.
    """
    try:
        begin, stands_for_them, end = request.content.partition(_STAND_IN.encode())
    except httpx.RequestNotRead:
        return
    if stands_for_them:
        body = b"".join((begin[: begin.rindex(b"[")], _messages.get(), end[end.index(b"]") + 1 :]))
        request.stream = httpx.ByteStream(body)
        request.headers["content-length"] = str(len(body))


async def _bound_refusal(response: httpx.Response) -> None:
    """Let no more of a refusal be read than it takes to say why; what reads it reads all and takes it apart."""
    if response.is_error:
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _FirstBytes(response.stream)


class _FirstBytes(httpx.AsyncByteStream):
    """The beginning of a body, at most REFUSAL_BYTES of it."""

    def __init__(self, body: httpx.AsyncByteStream) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = REFUSAL_BYTES
        async for piece in self._body:
            yield piece[:left]
            left -= len(piece)
            if left <= 0:
                return

    async def aclose(self) -> None:
        await self._body.aclose()


def _raw_response(stream: Any) -> httpx.Response | None:
    """Return the HTTP response of an OpenAI-compatible stream; None for every other provider."""
    sdk_stream = getattr(stream, "completion_stream", None)
    openai: Any = sys.modules.get("openai")
    if openai is None or type(sdk_stream) is not openai.AsyncStream:
        return None
    response = getattr(sdk_stream, "response", None)
    return response if isinstance(response, httpx.Response) else None


async def _read_wrapper(
    stream: Any, request: WireRequest, target: Target, assembler: DeltaAssembler, on_parts: OnParts
) -> None:
    timeouts = request.timeouts
    limit, code = timeouts.recv_timeout, "timeout_first_byte"
    chunks = aiter(stream)
    try:
        while True:
            async with asyncio.timeout(limit) as silence:
                chunk = await anext(chunks, None)
            if chunk is None:
                break
            limit, code = timeouts.stream_stall_timeout, "stream_stalled"
            on_parts(assembler.feed(_chunk_json(chunk, stream)))
            _forget_last(getattr(stream, "chunks", []))
    except TimeoutError:
        if not silence.expired():
            raise
        raise AgentFailure(timeout_fault(code, target, timeouts)) from None
    except Exception as error:
        if not assembler.finish_reason:
            raise AgentFailure(translate(error, target, timeouts, in_stream=True)) from error
    finally:
        on_parts(assembler.finish())
        with suppress(Exception):
            await stream.aclose()
    if not assembler.finish_reason:
        raise AgentFailure(fault("stream_cut", target, detail="there was no finish marker"))


def _chunk_json(chunk: Any, stream: Any) -> dict[str, Any]:
    """Return a chunk of litellm's as JSON; usage that litellm has made up itself is left out."""
    value: dict[str, Any] = chunk.model_dump(exclude_none=True, warnings=False)
    if "usage" in value and not any(getattr(seen, "usage", None) for seen in getattr(stream, "chunks", ())):
        del value["usage"]
    return value


def _forget_last(chunks: list[Any]) -> None:
    """Drop the last of the chunks that litellm keeps, unless it is the first, or has usage or the finish marker.

    Behind the end litellm makes one answer of all that it has kept, for logs and a cache that we do not have.
    """
    if len(chunks) > 1:
        last = chunks[-1]
        choices = getattr(last, "choices", None) or ()
        if getattr(last, "usage", None) is None and not any(getattr(one, "finish_reason", "") for one in choices):
            chunks.pop()
