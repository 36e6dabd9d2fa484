"""The model host's process: takes requests from a socket, makes the calls, sends the parts back.

    python -m smith_core.llm.host --fd N

It ends with the app: when the socket closes, and on Linux when the app's thread that started it ends.
"""

import argparse
import asyncio
import importlib
import os
import signal
import socket
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from smith_core.errors import AgentError, AgentFailure
from smith_core.llm.coalescer import Coalescer
from smith_core.llm.faults import Target, excerpt, fault
from smith_core.llm.frames import (
    Cancel,
    Failed,
    Frame,
    ListModels,
    Models,
    Parts,
    Ready,
    StartStream,
    ToHost,
    encode_frame,
    read_frame,
    to_host_decoder,
)
from smith_core.llm.protocol import StreamDone
from smith_core.secrets import hide_from_proc, secret_variables

STARTED_AT = time.perf_counter()
IMPORT_NICENESS = 10
_PR_SET_PDEATHSIG = 1


class ModelHost:
    """Serves one socket until it closes; requests may come before litellm is imported, and wait for it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._provider = asyncio.get_running_loop().run_in_executor(ThreadPoolExecutor(1), _import_provider)

    async def serve(self) -> None:
        """Take frames until the app closes, then give up what is running."""
        warming = asyncio.ensure_future(self._warm_up())
        while (body := await read_frame(self._reader)) is not None:
            self._handle(to_host_decoder.decode(body))
        running = [warming, *self._tasks.values()]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        self._writer.close()

    def _handle(self, frame: ToHost) -> None:
        match frame:
            case Cancel():
                if task := self._tasks.get(frame.id):
                    task.cancel()
            case StartStream():
                self._start(frame.id, self._run_stream(frame))
            case ListModels():
                self._start(frame.id, self._run_listing(frame))

    def _start(self, request_id: int, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks[request_id] = task
        task.add_done_callback(lambda _: self._tasks.pop(request_id, None))

    async def _run_stream(self, frame: StartStream) -> None:
        coalescer = Coalescer(lambda parts: self._send(Parts(frame.id, parts)))
        try:
            provider = await self._imported()
            completion = await provider.complete(frame.request, coalescer.add)
            coalescer.add([StreamDone(completion=completion)])
            coalescer.flush()
        except asyncio.CancelledError:
            coalescer.drop()
            raise
        except Exception as error:  # noqa: BLE001 - the app must hear of every end
            coalescer.flush()
            self._send(Failed(frame.id, _as_error(error, frame.request.model, frame.request.endpoint.api_key)))

    async def _run_listing(self, frame: ListModels) -> None:
        from smith_core.llm.listing import fetch_models

        try:
            self._send(Models(frame.id, await fetch_models(frame.endpoint, frame.timeouts)))
        except Exception as error:  # noqa: BLE001 - the app must hear of every end
            self._send(Failed(frame.id, _as_error(error, "", frame.endpoint.api_key)))

    async def _imported(self) -> Any:
        """Return the provider's module; AgentFailure when litellm cannot be imported."""
        try:
            return await asyncio.shield(self._provider)
        except Exception as error:
            raise AgentFailure(fault("host_broken", Target(model=""), detail=f"cannot import: {error}")) from error

    async def _warm_up(self) -> None:
        """Make a first call to ourselves, so that the first real one is fast; real ones report what fails."""
        from smith_core.llm.warm_up import warm_up

        with suppress(Exception):
            await warm_up((await self._imported()).complete)
        self._send(Ready(time.perf_counter() - STARTED_AT))

    def _send(self, frame: Frame) -> None:
        self._writer.write(encode_frame(frame))


def _import_provider() -> Any:
    # The app draws its first frames meanwhile; on a busy machine they go first. A thread's niceness is its own.
    with suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), IMPORT_NICENESS)
    return importlib.import_module("smith_core.llm.provider")


def _as_error(error: Exception, model: str, key: str) -> AgentError:
    if isinstance(error, AgentFailure):
        return error.error
    name = type(error).__name__
    return AgentError(
        kind="internal",
        code=name,
        message=f"the model host failed with {name} ({excerpt(str(error), key)}); try again, and report it if it stays",
        origin="llm",
    )


def _die_with_parent() -> None:
    """Ask Linux to kill this process with the thread that started it; elsewhere the closing socket must do."""
    with suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


async def _serve_and_exit(file_descriptor: int) -> None:
    channel = socket.socket(fileno=file_descriptor)
    reader, writer = await asyncio.open_connection(sock=channel)
    await ModelHost(reader, writer).serve()
    # An orderly end would wait for the thread that imports litellm.
    os._exit(0)


def main() -> None:
    """Serve the socket named by `--fd` until it closes."""
    parser = argparse.ArgumentParser(description="Make the model calls of one app; started by the app itself.")
    parser.add_argument("--fd", type=int, required=True, help="the inherited socket")
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with_parent()
    hide_from_proc(secret_variables())
    asyncio.run(_serve_and_exit(arguments.fd))


if __name__ == "__main__":
    main()
