"""Reading an answer in steps: what comes within one of them is read at once."""

import asyncio
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import httpcore
import httpx

from smith_core.llm.coalescer import INTERVAL_S

UNPACED_READS = 8
"""Reads behind which an answer is taken in steps; a short one, such as a call of a tool, is over before."""

MUCH_BYTES = 16 * 1024
"""Behind a step that brought so much there is no waiting in the next one: it would hold a fast sender up."""


@contextmanager
def paced(response: httpx.Response) -> Iterator[None]:
    """Read the connection of a response at most once in INTERVAL_S while this lasts, but for its beginning.

    Being woken for a token takes many times as long as reading it, and the app hears of it once in this time anyway.
    """
    stream = response.extensions.get("network_stream")
    if not isinstance(stream, httpcore.AsyncNetworkStream):
        yield
        return
    read, clock, tls = stream.read, asyncio.get_running_loop().time, stream.get_extra_info("ssl_object")
    reads, step_end, taken, is_fast = 0, float("-inf"), 0, False

    async def read_in_steps(max_bytes: int, timeout: float | None = None) -> bytes:
        nonlocal reads, step_end, taken, is_fast
        if reads > UNPACED_READS and not is_fast and (wait := step_end - clock()) > 0:
            await asyncio.sleep(wait)
        if (now := clock()) >= step_end:
            step_end, taken, is_fast = now + INTERVAL_S, 0, taken >= MUCH_BYTES
        data = await read(max_bytes, timeout)
        if tls is not None and data:
            data += _ready(tls, max_bytes - len(data))
        reads, taken = reads + 1, taken + len(data)
        return data

    stream.read = read_in_steps  # type: ignore[method-assign]
    try:
        yield
    finally:
        # The connection is used again.
        vars(stream).pop("read", None)


def _ready(tls: ssl.SSLObject, max_bytes: int) -> bytes:
    """Return what has come over an encrypted connection but was not taken: a read gives one record, often one token."""
    ready = bytearray()
    with suppress(ssl.SSLError):
        # Ends when the rest has not come yet, or nothing more will; the next read says which.
        while len(ready) < max_bytes and (more := tls.read(max_bytes - len(ready))):
            ready += more
    return bytes(ready)
