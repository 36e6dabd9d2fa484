"""Reading in steps over an encrypted connection, where a read gives one record: no slower than it is sent."""

import asyncio
import time
from pathlib import Path

import httpx

from smith_core.llm.pacing import paced
from tests.support.tls import server_context

EVENTS = 150
GAP_S = 0.004


async def test_records_of_one_token_do_not_wait_for_a_step_each(tmp_path: Path) -> None:
    sent: list[float] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        for number in range(EVENTS):
            sent.append(time.perf_counter())
            writer.write(b"8\r\n%8d\r\n" % number)
            await writer.drain()
            await asyncio.sleep(GAP_S)
        writer.write(b"0\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=server_context(tmp_path))
    url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    got = b""
    async with server, httpx.AsyncClient(verify=False) as client, client.stream("GET", url) as response:
        with paced(response):
            async for data in response.aiter_bytes():
                got += data
        ended = time.perf_counter()
    assert [int(got[start : start + 8]) for start in range(0, len(got), 8)] == list(range(EVENTS))
    # A step for each would take three times as long as sending them.
    assert ended - sent[0] < 1.5 * (sent[-1] - sent[0]) + 0.2
