"""Host names to addresses, in a thread that nobody has to wait for."""

import asyncio
import ipaddress
import socket
import threading
from collections.abc import Awaitable, Callable

from smith_core.errors import failure
from smith_core.text import clean_text, shorten
from smith_core.tools.web.addresses import IPAddress

Resolve = Callable[[str], Awaitable[tuple[IPAddress, ...]]]
"""Returns the addresses of a host; AgentFailure when there are none."""


async def resolve(host: str) -> tuple[IPAddress, ...]:
    """Return the addresses of a host name, or of a number in any form that the system understands, each once."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[str]] = loop.create_future()

    def settle(found: list[str], error: Exception | None) -> None:
        if answer.done():
            return
        if error is None:
            answer.set_result(found)
        else:
            answer.set_exception(error)

    def ask() -> None:
        found: list[str] = []
        error: Exception | None = None
        try:
            found = [str(entry[4][0]) for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]
        except (OSError, UnicodeError, ValueError) as caught:
            error = caught
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, found, error)

    # A pool would make the end of the app wait for a name server that does not answer.
    threading.Thread(target=ask, name="resolve", daemon=True).start()
    try:
        addresses = [ipaddress.ip_address(text.partition("%")[0]) for text in await answer]
    except (OSError, UnicodeError, ValueError) as error:
        raise _unknown(host, getattr(error, "strerror", None) or str(error)) from error
    if not addresses:
        raise _unknown(host, "it has no address")
    return tuple(dict.fromkeys(addresses))


def _unknown(host: str, reason: str) -> Exception:
    shown = clean_text(shorten(host, 200))
    return failure(
        "tool", "unknown_host", f"the host {shown} was not found ({reason}); check its spelling and the network"
    )
