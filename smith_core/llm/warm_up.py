"""A first call to a throwaway endpoint on loopback: it pays once for all that the libraries load late."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from smith_core.llm.protocol import Endpoint, ModelRequest, Timeouts, ToolDefinition
from smith_core.llm.wire import MessageEncoder
from smith_core.messages import Message, ToolCall

_ANSWER = (
    b'data: {"choices":[{"index":0,"delta":{"content":"warm"},"finish_reason":null}]}\n\n'
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    b"data: [DONE]\n\n"
)
_RESPONSE = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    b"%x\r\n%b\r\n0\r\n\r\n" % (len(_ANSWER), _ANSWER)
)
_LIMITS = Timeouts(timeout=10.0, connect_timeout=5.0, send_timeout=5.0, recv_timeout=5.0, stream_stall_timeout=5.0)


async def warm_up(complete: Callable[..., Awaitable[Any]]) -> None:
    """Make one small call with a tool through `complete`; whatever it raises means that nothing was warmed."""
    server = await asyncio.start_server(_answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        request = ModelRequest(
            model="warm-up",
            messages=(
                Message(role="user", content="hello"),
                Message(role="assistant", tool_calls=(ToolCall(id="call_1", name="none"),)),
                Message(role="tool", tool_call_id="call_1", content="nothing"),
            ),
            tools=(ToolDefinition(name="none", description="", parameters={"type": "object", "properties": {}}),),
            endpoint=Endpoint(api_url=f"http://127.0.0.1:{port}/v1"),
            timeouts=_LIMITS,
        )
        await complete(MessageEncoder().encode(request), lambda parts: None)


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(_RESPONSE)
        await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()
