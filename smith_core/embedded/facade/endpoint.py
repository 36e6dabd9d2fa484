"""The facade's HTTP side: `/v1/chat/completions` and `/v1/models` for whoever knows the token."""

import asyncio
import hmac
import logging
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Any

import msgspec
from aiohttp import web

from smith_core.embedded.facade.composer import CallPart, Composer, EndPart, Part, TextPart
from smith_core.embedded.facade.prompt import opening
from smith_core.embedded.facade.upstream import TokenCount, Upstream, UpstreamError

COMMON_TOOLS = ("bash", "read", "edit", "write")
"""The tools of the role that a person starts in, as far as a small model is told of them."""
MAX_REQUEST_BYTES = 64 * 1024 * 1024


class Facade:
    """The web application; `model` is the name it answers under, `context_size` its window in tokens."""

    def __init__(self, upstream: Upstream, *, token: str, model: str, context_size: int) -> None:
        self._composer = Composer(upstream)
        self._token = token
        self._model = model
        self._context_size = context_size

    def application(self) -> web.Application:
        """Return the aiohttp application."""
        app = web.Application(middlewares=[self._require_token], client_max_size=MAX_REQUEST_BYTES)
        app.router.add_get("/v1/models", self._list_models)
        app.router.add_post("/v1/chat/completions", self._complete)
        return app

    async def warm_up(self) -> None:
        """Let the model read what most conversations begin with, so that the first answer comes soon."""
        actions = [{"type": "object", "properties": {"tool": {"const": "read"}}, "required": ["tool"]}]
        messages = [*opening(COMMON_TOOLS), {"role": "user", "content": "Files:"}]
        with suppress(UpstreamError):
            async for _ in self._composer.upstream.generate(messages, actions, TokenCount(), max_tokens=1):
                pass

    @web.middleware
    async def _require_token(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        given = request.headers.get("authorization", "").encode("utf-8", "surrogateescape")
        if not hmac.compare_digest(given, f"Bearer {self._token}".encode()):
            return _error(401, "invalid_api_key", "this address belongs to another program; it needs that one's token")
        return await handler(request)

    async def _list_models(self, _: web.Request) -> web.Response:
        entry = {
            "id": self._model,
            "object": "model",
            "owned_by": "local",
            "context_length": self._context_size,
        }
        return web.json_response({"object": "list", "data": [entry]})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        try:
            body = msgspec.json.decode(await request.read())
        except msgspec.DecodeError:
            body = None
        if not isinstance(body, dict) or not isinstance(body.get("messages"), list):
            return _error(400, "invalid_request", "the request is no JSON object with messages")
        count = TokenCount()
        parts = self._composer.compose(body, count)
        async with aclosing(parts):
            try:
                first = await anext(parts)
            except UpstreamError as error:
                return _error(error.status, "local_model", str(error))
            chunks = _Chunks(self._model, count)
            if not body.get("stream"):
                return web.json_response(await _whole(chunks, first, parts))
            return await _stream(request, chunks, first, parts)


class _Chunks:
    """Makes chat-completion chunks of parts."""

    def __init__(self, model: str, count: TokenCount) -> None:
        self._frame = {
            "id": f"chatcmpl-{secrets.token_hex(8)}",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": model,
        }
        self._count = count
        self._call_id = f"call_{secrets.token_hex(8)}"

    def of(self, part: Part) -> dict[str, Any]:
        """Return the chunk that carries a part."""
        match part:
            case TextPart(text):
                return self._chunk({"content": text})
            case CallPart(name, "") if name:
                function = {"name": name, "arguments": ""}
                return self._chunk(
                    {"tool_calls": [{"index": 0, "id": self._call_id, "type": "function", "function": function}]}
                )
            case CallPart(_, arguments):
                return self._chunk({"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]})
            case EndPart(reason):
                return self._chunk({}, reason)

    def opening(self) -> dict[str, Any]:
        """Return the chunk that begins an answer."""
        return self._chunk({"role": "assistant", "content": ""})

    def usage(self) -> dict[str, Any]:
        """Return the chunk that carries the token counts."""
        return {**self._frame, "choices": [], "usage": self.counts()}

    def counts(self) -> dict[str, Any]:
        """Return the token counts alone."""
        count = self._count
        return {
            "prompt_tokens": count.prompt,
            "completion_tokens": count.completion,
            "total_tokens": count.prompt + count.completion,
            "prompt_tokens_details": {"cached_tokens": count.cached},
        }

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**self._frame, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


async def _stream(request: web.Request, chunks: _Chunks, first: Part, rest: AsyncIterator[Part]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": "text/event-stream", "cache-control": "no-cache"})
    await response.prepare(request)

    async def send(value: dict[str, Any]) -> None:
        await response.write(b"data: " + msgspec.json.encode(value) + b"\n\n")

    await send(chunks.opening())
    await send(chunks.of(first))
    try:
        async for part in rest:
            await send(chunks.of(part))
        await send(chunks.usage())
        await response.write(b"data: [DONE]\n\n")
    except UpstreamError as error:
        await send({"error": {"message": str(error), "type": "local_model", "code": error.status}})
    except ConnectionError:
        logging.getLogger(__name__).info("the client went away")
    return response


async def _whole(chunks: _Chunks, first: Part, rest: AsyncIterator[Part]) -> dict[str, Any]:
    """Return the answer as one completion, for clients that do not stream."""
    parts = [first, *[part async for part in rest]]
    text = "".join(part.text for part in parts if isinstance(part, TextPart))
    message: dict[str, Any] = {"role": "assistant", "content": text}
    calls = [part for part in parts if isinstance(part, CallPart)]
    if calls:
        begun = chunks.of(calls[0])["choices"][0]["delta"]["tool_calls"][0]
        begun["function"]["arguments"] = "".join(part.arguments for part in calls)
        message = {**message, "content": text or None, "tool_calls": [begun]}
    ends = [part.reason for part in parts if isinstance(part, EndPart)]
    choice = {"index": 0, "message": message, "finish_reason": ends[-1] if ends else "stop"}
    return {
        **chunks.usage(),
        "object": "chat.completion",
        "choices": [choice],
    }


def _error(status: int, code: str, message: str) -> web.Response:
    return web.json_response({"error": {"message": message, "type": code, "code": code}}, status=status)


async def serve(app: web.Application, listener: Any) -> web.AppRunner:
    """Serve an application on a listening socket; a client that closes cancels its request."""
    runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    await web.SockSite(runner, listener).start()
    await asyncio.sleep(0)
    return runner
