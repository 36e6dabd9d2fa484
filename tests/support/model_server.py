"""A scripted model server on loopback: chat completions over real HTTP and server-sent events, faults included.

    async with ModelServer(["hello", call_tools(("read", {"path": "a"}))], strict=True) as server:
        ...                                    # requests go to server.url
        assert server.requests[0].json["model"] == "m"

A script is a queue of answers or a callable that makes an answer of the request's JSON. An answer is a string or a
list of steps (tests.support.model_steps). What a script raises is raised again at the end of the `async with`.
Runnable as a process of its own, which prints its address:

    python -m tests.support.model_server --port 0 --script file.json [--strict]
"""

import argparse
import asyncio
import contextlib
import inspect
import json
import socket
import struct
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

from tests.support.model_steps import (
    Answer,
    AnyStep,
    Call,
    Calls,
    Chunk,
    Cut,
    Delta,
    End,
    Finish,
    Headers,
    Ping,
    Raw,
    Reasoning,
    Stall,
    Status,
    Step,
    StreamError,
    Text,
    Usage,
    Wait,
    call_deltas,
    chunk,
    http_error,
    pieces,
    steps_of,
    usage_chunk,
)
from tests.support.strict_requests import request_violations

Script = Iterable[Answer] | Callable[[dict[str, Any]], Answer | Awaitable[Answer]]
DEFAULT_MODELS: tuple[dict[str, Any], ...] = ({"id": "scripted", "object": "model", "context_length": 32768},)


class RecordedRequest:
    """One request as it came in; times are of `time.perf_counter()`, in seconds.

    violations: what strict mode refused. client_gone: set when the client closed before the answer was complete.
    ended: set when the answer was sent, or given up.
    """

    def __init__(self, method: str, path: str, headers: dict[str, str], body: bytes, started_at: float) -> None:
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
        self.started_at = started_at
        self.received_at = time.perf_counter()
        self.gone_at = 0.0
        self.violations: list[str] = []
        self.client_gone = asyncio.Event()
        self.ended = asyncio.Event()

    @property
    def json(self) -> dict[str, Any]:
        """The body, decoded; empty when it is no JSON object."""
        with contextlib.suppress(ValueError):
            value = json.loads(self.body)
            return value if isinstance(value, dict) else {}
        return {}

    @property
    def key(self) -> str:
        """The bearer token that came with the request."""
        return self.headers.get("authorization", "").removeprefix("Bearer ")


class ModelServer:
    """The server; `url` is its base address, `requests` are the chat completions, `all_requests` the rest too."""

    def __init__(
        self,
        script: Script = (),
        *,
        strict: bool = False,
        models: Iterable[str | dict[str, Any]] | AnyStep = DEFAULT_MODELS,
        port: int = 0,
    ) -> None:
        self._script = script if callable(script) else None
        self._queue: deque[Answer] = deque(() if callable(script) else script)
        self._strict = strict
        self.models = models
        self.all_requests: list[RecordedRequest] = []
        self.connections_opened = 0
        self.script_errors: list[Exception] = []
        self._port = port
        self._arrived = asyncio.Condition()
        self._connections: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        """The base address, as `llm_config.api_url` takes it."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def requests(self) -> list[RecordedRequest]:
        """The chat completions that were asked for, in order."""
        return [request for request in self.all_requests if request.method == "POST"]

    @property
    def violations(self) -> list[str]:
        """All that strict mode refused so far."""
        return [problem for request in self.requests for problem in request.violations]

    def push(self, *answers: Answer) -> None:
        """Add answers to the queue."""
        self._queue.extend(answers)

    def forget_answers(self) -> None:
        """Drop the answers that nobody has asked for yet."""
        self._queue.clear()

    async def wait_for_requests(self, count: int, timeout: float = 10.0) -> RecordedRequest:
        """Return the chat completion number `count` (from 1) as soon as it has come in."""
        async with asyncio.timeout(timeout), self._arrived:
            await self._arrived.wait_for(lambda: len(self.requests) >= count)
        return self.requests[count - 1]

    async def __aenter__(self) -> "ModelServer":
        await self.start()
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        await self.stop()
        if kind is None and self.script_errors:
            raise self.script_errors[0]

    async def start(self) -> str:
        """Listen on loopback and return the base address."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port, limit=2**26)
        self._port = self._server.sockets[0].getsockname()[1]
        return self.url

    async def stop(self) -> None:
        """Close the port and every connection."""
        if self._server is not None:
            self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        self.connections_opened += 1
        try:
            while await self._serve_one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        started_at = time.perf_counter()
        method, path, _ = head[0].split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length") or 0))
        request = RecordedRequest(method, path, headers, body, started_at)
        async with self._arrived:
            self.all_requests.append(request)
            self._arrived.notify_all()
        playing = asyncio.ensure_future(self._answer(request, writer))
        watching = asyncio.ensure_future(_until_closed(reader))
        try:
            await asyncio.wait((playing, watching), return_when=asyncio.FIRST_COMPLETED)
            if not playing.done():
                request.gone_at = time.perf_counter()
                request.client_gone.set()
                return False
            return playing.result()
        except ConnectionError:
            request.gone_at = request.gone_at or time.perf_counter()
            request.client_gone.set()
            return False
        finally:
            request.ended.set()
            playing.cancel()
            watching.cancel()
            await asyncio.gather(playing, watching, return_exceptions=True)

    async def _answer(self, request: RecordedRequest, writer: asyncio.StreamWriter) -> bool:
        path = request.path.partition("?")[0]
        if request.method == "GET" and path.endswith("/models"):
            return await play(self._list_models(), request, writer)
        if request.method != "POST":
            return await play([http_error(404, f"no such page: {path}")], request, writer)
        if self._strict:
            request.violations = request_violations(request.body, request.headers)
            if request.violations:
                return await play([http_error(400, "; ".join(request.violations))], request, writer)
        try:
            steps = steps_of(await self._next_answer(request.json))
        except Exception as error:  # noqa: BLE001 - it is raised again where the test can see it
            self.script_errors.append(error)
            steps = [http_error(400, f"the script failed: {error!r}")]
        return await play(steps, request, writer)

    async def _next_answer(self, request: dict[str, Any]) -> Answer:
        if self._script is not None:
            answer = self._script(request)
            return await answer if inspect.isawaitable(answer) else answer
        return self._queue.popleft() if self._queue else http_error(400, "the script has no more answers")

    def _list_models(self) -> list[AnyStep]:
        if isinstance(self.models, Step):
            return [self.models]
        data = [{"id": model, "object": "model"} if isinstance(model, str) else model for model in self.models]
        return [Status(status=200, body={"object": "list", "data": data})]


async def _until_closed(reader: asyncio.StreamReader) -> None:
    """Return when the client closed; it sends nothing while it waits for an answer."""
    with contextlib.suppress(ConnectionError):
        await reader.read(1)


async def play(steps: list[AnyStep], request: RecordedRequest, writer: asyncio.StreamWriter) -> bool:
    """Send an answer and return whether the connection can be used again."""
    player = _Player(request, writer)
    for step in steps:
        await player.play(step)
        if player.closed:
            return False
        if isinstance(step, Status | End):
            return True
    await player.send_bytes(b"data: [DONE]\n\n")
    await player.end()
    return True


class _Player:
    """Writes steps to one connection, the headers with the first that needs them."""

    def __init__(self, request: RecordedRequest, writer: asyncio.StreamWriter) -> None:
        self._request = request
        self._writer = writer
        self._headers_sent = False
        self.closed = False

    async def play(self, step: AnyStep) -> None:
        match step:
            case Wait():
                await asyncio.sleep(step.seconds)
            case Stall():
                await asyncio.Event().wait()
            case Status():
                await self._send_status(step)
            case Headers():
                await self._send_headers()
            case Cut():
                await self._cut(step.how)
            case End():
                await self.end()
            case Raw():
                await self.send_bytes(step.data.encode() if isinstance(step.data, str) else step.data)
            case Ping():
                for _ in range(step.count):
                    await self.send_bytes(b": ping\n\n")
                    await asyncio.sleep(step.every)
            case _:
                await self._send_chunks(step)

    async def _send_chunks(self, step: AnyStep) -> None:
        rate = getattr(step, "rate", 0.0)
        for value in _chunks(step):
            await self.send_bytes(b"data: " + json.dumps(value, separators=(",", ":")).encode() + b"\n\n")
            if rate:
                await asyncio.sleep(1 / rate)

    async def send_bytes(self, data: bytes) -> None:
        await self._send_headers()
        self._writer.write(b"%x\r\n%b\r\n" % (len(data), data))
        await self._writer.drain()

    async def end(self) -> None:
        await self._send_headers()
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()

    async def _send_headers(self) -> None:
        if not self._headers_sent:
            self._headers_sent = True
            self._writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n"
                b"transfer-encoding: chunked\r\n\r\n"
            )

    async def _send_status(self, step: Status) -> None:
        body = step.body
        kind = step.content_type or ("text/plain" if isinstance(body, str) else "application/json")
        text = body if isinstance(body, str) else json.dumps(body if body is not None else {})
        if step.echo_key:
            text += f" key: {self._request.key}"
        data = text.encode()
        lines = [f"HTTP/1.1 {step.status} Scripted", f"content-type: {kind}", f"content-length: {len(data)}"]
        lines += [f"{name}: {value}" for name, value in step.headers.items()]
        self._writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + data)
        await self._writer.drain()

    async def _cut(self, how: str) -> None:
        self.closed = True
        if how == "half":
            half = b'data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"ha'
            self._writer.write(b"%x\r\n%b\r\n" % (len(half), half))
        if how == "rst":
            # Lets the bytes on their way arrive before the reset discards them on the client's side.
            await asyncio.sleep(0.05)
            linger = struct.pack("ii", 1, 0)
            self._writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self._writer.transport.abort()
            return
        with contextlib.suppress(ConnectionError):
            await self._writer.drain()
        self._writer.close()


def _chunks(step: AnyStep) -> Iterable[dict[str, Any]]:
    match step:
        case Text():
            return (chunk({"content": piece}) for piece in pieces(step.text, step.size))
        case Reasoning():
            return (chunk({step.field: piece}) for piece in pieces(step.text, step.size))
        case Call():
            return (chunk(delta) for delta in call_deltas(Calls(calls=(step,))))
        case Calls():
            return (chunk(delta) for delta in call_deltas(step))
        case Delta():
            return [chunk(step.delta)]
        case Chunk():
            return [step.chunk]
        case Finish():
            return [chunk({}, step.reason)]
        case Usage():
            return [usage_chunk(step)]
        case StreamError():
            return [{"error": step.error}]
    raise TypeError(f"no chunks in {step!r}")


async def _run(port: int, script: Path | None, *, strict: bool) -> None:
    config = json.loads(script.read_text()) if script else []
    config = config if isinstance(config, dict) else {"answers": config}
    async with ModelServer(
        config["answers"], strict=strict, models=config.get("models", DEFAULT_MODELS), port=port
    ) as server:
        print(server.url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Answer chat completions from a script, on loopback.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--script", type=Path, help='JSON: a list of answers, or {"answers": [...], "models": [...]}')
    parser.add_argument("--strict", action="store_true", help="refuse requests that a strict endpoint would refuse")
    arguments = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_run(arguments.port, arguments.script, strict=arguments.strict))
