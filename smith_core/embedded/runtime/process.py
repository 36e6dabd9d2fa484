"""The local model's process: llama.cpp and the facade before it, until the app that started it ends.

    python -m smith_core.embedded.runtime.process --fd N

It ends when the socket N closes, and on Linux when the app's thread that started it ends.
"""

import argparse
import asyncio
import os
import secrets
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from smith_core.embedded.runtime.machine import not_a_model
from smith_core.embedded.runtime.orders import Loaded, LoadFailed, Order, Report, encode_line, read_order
from smith_core.errors import AgentError

BATCH_TOKENS = 128
"""Prompt tokens that are worked on at once: a cancel takes effect between two batches (2048 made it take 33 s)."""
_PR_SET_PDEATHSIG = 1


class Engine(msgspec.Struct, frozen=True):
    """A loaded model: the address of its server, that server's key, and what keeps it alive."""

    url: str
    key: str
    handle: Any = None


class LoadError(Exception):
    """The weights could not be loaded."""

    def __init__(self, error: AgentError) -> None:
        super().__init__(error.message)
        self.error = error


Load = Callable[[Order], Engine]


def load_llama(order: Order) -> Engine:
    """Load the weights into llama.cpp's own server, on a free loopback port with a key nobody else knows.

    Blocks for seconds. LoadError when the file is no model.
    """
    import xllamacpp  # type: ignore[import-untyped]

    key = secrets.token_urlsafe(32)
    params = xllamacpp.CommonParams()
    params.model.path = order.weights
    params.offline = True
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    params.ui = False
    params.endpoint_slots = False
    params.use_jinja = True
    params.n_ctx = order.context_size
    params.n_parallel = 1
    params.fit_params = False
    params.n_batch = params.n_ubatch = BATCH_TOKENS
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads = order.threads
        # Waiting threads sleep: an idle model must not heat the machine.
        threads.poll = 0
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as error:
        raise LoadError(not_a_model(Path(order.weights))) from error
    return Engine(url=f"{server.listening_address}/v1", key=key, handle=server)


async def serve(file_descriptor: int, load: Load) -> None:
    """Carry out the order that comes over the socket, and return when the socket closes."""
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=file_descriptor))
    order = await read_order(reader)
    if order is None:
        return
    working = asyncio.ensure_future(_load_and_serve(order, load, writer))
    # Nothing more is said to us: the next thing to come is the end.
    await reader.read(1)
    working.cancel()


async def _load_and_serve(order: Order, load: Load, writer: asyncio.StreamWriter) -> None:
    from smith_core.embedded.facade.endpoint import Facade
    from smith_core.embedded.facade.endpoint import serve as serve_facade
    from smith_core.embedded.facade.upstream import Upstream

    started_at = time.perf_counter()
    try:
        engine = await asyncio.to_thread(load, order)
        upstream = Upstream(engine.url, engine.key)
        facade = Facade(upstream, token=order.token, model=order.model, context_size=order.context_size)
        await facade.warm_up()
        runner = await serve_facade(facade.application(), socket.socket(fileno=order.listener))
    except LoadError as caught:
        await _say(writer, LoadFailed(caught.error))
    except Exception as caught:  # noqa: BLE001 - the app must hear of every end
        error = AgentError(
            kind="internal",
            code="local_model",
            message=f"the local model did not start ({type(caught).__name__}: {caught}); its log has more",
            origin="embedded",
        )
        await _say(writer, LoadFailed(error))
    else:
        await _say(writer, Loaded(time.perf_counter() - started_at))
        try:
            # The model is unloaded when `engine` goes out of scope.
            await asyncio.Event().wait()
        finally:
            await runner.cleanup()


async def _say(writer: asyncio.StreamWriter, report: Report) -> None:
    writer.write(encode_line(report))
    await writer.drain()


def end_with_parent(parent: int) -> None:
    """Ask Linux to kill this process with the thread that started it; elsewhere the closing socket must do.

    parent: the process id that the starter had, to notice one that ended before it could be asked.
    """
    with suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def run(load: Load = load_llama) -> None:
    """Serve the socket named by `--fd` until it closes."""
    parser = argparse.ArgumentParser(description="Run the local model of one app; started by the app itself.")
    parser.add_argument("--fd", type=int, required=True, help="the inherited socket")
    parser.add_argument("--parent", type=int, required=True, help="the process id of the app")
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(arguments.parent)
    asyncio.run(_serve_and_exit(arguments.fd, load))


async def _serve_and_exit(file_descriptor: int, load: Load) -> None:
    await serve(file_descriptor, load)
    # An orderly end would wait for the thread that loads the weights.
    os._exit(0)


if __name__ == "__main__":
    run()
