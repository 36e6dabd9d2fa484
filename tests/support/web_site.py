"""A web server on loopback that counts its connections, and calls of the web tools that may reach it or not."""

import asyncio
import contextlib
import ipaddress
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from smith_core.cancel import CancelToken, new_root
from smith_core.config.schema import to_config
from smith_core.messages import ToolCall, ToolResult
from smith_core.project import Project
from smith_core.runtime import compose_services
from smith_core.tools.base import ToolContext, ToolSpec
from smith_core.tools.executor import execute
from smith_core.tools.registry import ToolRegistry
from smith_core.tools.web.fetch import web_fetch_tool
from smith_core.tools.web.fetching import FetchLimits, direct_fetch
from smith_core.tools.web.names import resolve


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What the site answers; `chunks` makes a body of unknown length, `before` is awaited before anything is sent."""

    body: bytes = b""
    status: str = "200 OK"
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html"),)
    chunks: Callable[[], AsyncIterator[bytes]] | None = None
    before: Callable[[], Awaitable[object]] | None = None


class Site:
    """The server: `pages` by path. connections: how many were opened. requests: first lines and headers, in order."""

    def __init__(self) -> None:
        self.pages: dict[str, Answer] = {}
        self.connections = 0
        self.requests: list[str] = []
        self.bodies: list[bytes] = []
        self.asked = asyncio.Event()
        self.gone = asyncio.Event()
        self.port = 0

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                self.requests.append(head)
                await self._read_body(reader, head)
                self.asked.set()
                await self._answer(writer, self.pages.get(head.split()[1], Answer(status="404 Not Found")))
        finally:
            self.gone.set()
            writer.close()

    async def _read_body(self, reader: asyncio.StreamReader, head: str) -> None:
        for line in head.splitlines():
            name, _, value = line.partition(":")
            if name.lower() == "content-length":
                self.bodies.append(await reader.readexactly(int(value)))

    async def _answer(self, writer: asyncio.StreamWriter, answer: Answer) -> None:
        if answer.before is not None:
            await answer.before()
        lines = [f"HTTP/1.1 {answer.status}", *(f"{name}: {value}" for name, value in answer.headers)]
        if answer.chunks is None:
            lines.append(f"Content-Length: {len(answer.body)}")
        else:
            lines.append("Transfer-Encoding: chunked")
        writer.write("\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1"))
        if answer.chunks is None:
            writer.write(answer.body)
        else:
            async for chunk in answer.chunks():
                writer.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
                await writer.drain()
            writer.write(b"0\r\n\r\n")
        await writer.drain()


@contextlib.asynccontextmanager
async def web_site(trust: ssl.SSLContext | None = None) -> AsyncIterator[Site]:
    site = Site()
    hosts = ["127.0.0.1", "::1"]
    server = await asyncio.start_server(site.serve, hosts[0], 0, ssl=trust)
    site.port = server.sockets[0].getsockname()[1]
    second = None
    with contextlib.suppress(OSError):  # a machine without IPv6
        second = await asyncio.start_server(site.serve, hosts[1], site.port, ssl=trust)
    try:
        yield site
    finally:
        server.close()
        if second:
            second.close()


def answering(names: dict[str, Iterable[str]]) -> Callable[[str], Awaitable[tuple[Any, ...]]]:
    """Return a resolver in which some names lead to given addresses."""

    async def look_up(host: str) -> tuple[Any, ...]:
        if host in names:
            return tuple(ipaddress.ip_address(address) for address in names[host])
        return await resolve(host)

    return look_up


class WebCalls:
    """Calls a web tool through the executor; nothing inside may be reached unless `allow` names it."""

    def __init__(self, folder: Path, spec: ToolSpec | None = None, config: dict[str, Any] | None = None) -> None:
        self.folder = folder
        self.config = config or {}
        self.spec = spec or web_fetch_tool()

    async def __call__(
        self, *, allow: Iterable[str] = (), token: CancelToken | None = None, **arguments: Any
    ) -> ToolResult:
        services = compose_services(to_config({**self.config, "tools": {"web_fetch_allow_hosts": list(allow)}}))
        context = ToolContext(
            call_id="call-1",
            role="explorer",
            turn_id="turn-1",
            cancel_token=token or new_root(),
            cwd=self.folder,
            project=Project(root=str(self.folder)),
            emit_output=lambda data: None,
            child_env={},
            spill_dir=self.folder,
            services=services,
        )
        call = ToolCall(id="call-1", name=self.spec.name, arguments=json.dumps(arguments))
        return await execute(call, "explorer", ToolRegistry((self.spec,)), lambda call_id: context)


def problem(result: ToolResult) -> tuple[str, str]:
    """Return kind and code of a failed result."""
    assert not result.ok
    assert result.error is not None
    return result.error.kind, result.error.code


def quick_fetch(
    names: dict[str, Iterable[str]] | None = None, make_trust: Callable[[], ssl.SSLContext] | None = None, **limits: Any
) -> ToolSpec:
    """Return web_fetch with its own names, roots of trust and limits."""
    backend = direct_fetch(resolve=answering(names or {}), limits=FetchLimits(**limits), make_trust=make_trust)
    return web_fetch_tool(backend)
