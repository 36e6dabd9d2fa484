"""What the model host itself costs: processor time per chunk of a stream."""

import asyncio
import multiprocessing
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

import httpx
import msgspec

from smith_core.llm.protocol import Endpoint, ModelRequest
from smith_core.llm.wire import MessageEncoder, WireRequest
from smith_core.messages import Message
from tests.bench.programs import LAST_WORD
from tests.bench.reading import Reading
from tests.bench.timing import median
from tests.support.model_steps import Raw
from tests.support.server_thread import ServerThread

CHUNKS = 20_000
WRAPPED_CHUNKS = 4_000


def written(tokens: int) -> list[Any]:
    """Return an answer of so many tokens and the last word, rendered before, one write for each."""
    words = (_chunk(f" tok{index}" + "\n" * (index % 12 == 11)) for index in range(tokens))
    return [Raw(data) for data in (*words, _chunk(f"\n{LAST_WORD}"), _chunk("", "stop"))]


def _chunk(content: str, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": finish}
    entry = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: " + msgspec.json.encode(entry) + b"\n\n"


def chunk_cost(rounds: int = 3) -> tuple[Reading, ...]:
    """CPU per chunk, from bytes to parts: the cheap way and litellm's wrapper, and a bare reader of the bytes."""
    with _server() as url:
        return asyncio.run(_chunk_cost(url, rounds))


@contextmanager
def _server() -> Iterator[str]:
    """Serve in a process of its own: a thread of this one would fight for its lock, which is no work of the host."""
    context = multiprocessing.get_context("spawn")
    ours, its = context.Pipe()
    process = context.Process(target=_serve, args=(its,))
    process.start()
    try:
        yield ours.recv()
    finally:
        ours.send("stop")
        process.join()


def _serve(pipe: Connection) -> None:
    answers = {"m": written(CHUNKS), "wrapped": written(WRAPPED_CHUNKS)}
    with ServerThread(lambda request: answers[request["model"]]) as backend:
        pipe.send(backend.url)
        pipe.recv()


async def _chunk_cost(url: str, rounds: int) -> tuple[Reading, ...]:
    from smith_core.llm import provider

    def request(model: str) -> WireRequest:
        messages = (Message(role="user", content="x"),)
        endpoint = Endpoint(api_url=url, api_key="k")
        return MessageEncoder().encode(ModelRequest(model=model, messages=messages, endpoint=endpoint))

    async def cheap() -> None:
        await provider.complete(request("m"), lambda parts: None)

    async def wrapped() -> None:
        await provider.complete(request("wrapped"), lambda parts: None, use_wrapper=True)

    async def raw() -> None:
        body = {"model": "m", "messages": [], "stream": True}
        async with httpx.AsyncClient() as client, client.stream("POST", f"{url}/chat/completions", json=body) as answer:
            async for line in answer.aiter_lines():
                if line.startswith("data: {"):
                    msgspec.json.decode(line[6:])

    await wrapped()
    bare = await _microseconds(raw, CHUNKS, rounds)
    ours = await _microseconds(cheap, CHUNKS, rounds)
    theirs = await _microseconds(wrapped, WRAPPED_CHUNKS, rounds)
    return Reading(ours, f"{ours / bare:.1f}× a raw reader of the events"), Reading(theirs)


async def _microseconds(work: Callable[[], Awaitable[None]], count: int, rounds: int) -> float:
    costs = []
    for _ in range(rounds):
        before = time.thread_time()
        await work()
        costs.append((time.thread_time() - before) / count * 1e6)
    return median(costs)
