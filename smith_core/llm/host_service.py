"""What a model host does for each connected app: takes requests, makes the calls, sends the parts back."""

import asyncio
import gc
import importlib
import os
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import msgspec

from smith_core.errors import AgentError, AgentFailure
from smith_core.llm.coalescer import Coalescer
from smith_core.llm.faults import Target, excerpt, fault
from smith_core.llm.frames import (
    MAX_REQUEST_BYTES,
    Ask,
    Attach,
    Cancel,
    Failed,
    Frame,
    Linger,
    ListModels,
    Models,
    Parts,
    Ready,
    StartStream,
    Stop,
    ToHost,
    encode_frame,
    read_frame,
    to_host_decoder,
)
from smith_core.llm.growing import KnownRequests
from smith_core.llm.protocol import StreamDone

STARTED_AT = time.perf_counter()
IMPORT_NICENESS = 10
MAX_REQUESTS = 64
"""Most requests of one app at the same time; a turn and its children need fewer than twenty."""

MAX_UNREAD_BYTES = 256 * 1024
"""Bytes that wait for a slow app before its parts are held back and merged."""

Control = Attach | Linger | Ask | Stop


class BadFrameError(Exception):
    """An app sent what no app of ours sends; its connection is closed."""


class ModelCalls:
    """litellm, imported once in a thread of its own, warmed, and made to forget keys when nothing runs."""

    def __init__(self) -> None:
        self.ready_after_s: float | None = None
        self.running = 0
        self._provider = asyncio.get_running_loop().run_in_executor(ThreadPoolExecutor(1), _import_provider)
        self.warming = asyncio.ensure_future(self._warm_up())

    async def provider(self) -> Any:
        """Return the provider's module; AgentFailure when litellm cannot be imported."""
        try:
            return await asyncio.shield(self._provider)
        except Exception as error:
            raise AgentFailure(fault("host_broken", Target(model=""), detail=f"cannot import: {error}")) from error

    def finished(self) -> None:
        """Note the end of a request; after the last one, nothing of its key is left in any object."""
        self.running -= 1
        if self.running == 0 and self.ready_after_s is not None and not self._provider.exception():
            self._provider.result().forget_keys()
            gc.collect()

    async def _warm_up(self) -> None:
        """Make a first call to ourselves, so that the first real one is fast; real ones report what fails."""
        from smith_core.llm.warm_up import warm_up

        with suppress(Exception):
            await warm_up((await self.provider()).complete)
        # What the imports made stays for ever; without it a collection takes a millisecond instead of a quarter second.
        gc.collect()
        gc.freeze()
        self.ready_after_s = time.perf_counter() - STARTED_AT


class ConnectedApp:
    """One connection: its requests run until it closes.

    on_control: takes the frames of a shared host; without it they are errors.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        calls: ModelCalls,
        on_control: "Callable[[ConnectedApp, Control], None] | None" = None,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._calls = calls
        self._on_control = on_control
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._known = KnownRequests()
        self._telling: asyncio.Task[None] | None = None
        if on_control is None:
            self.attach()

    @property
    def is_attached(self) -> bool:
        """Whether it may ask for anything."""
        return self._telling is not None

    @property
    def streams(self) -> int:
        """How many requests run."""
        return len(self._tasks)

    @property
    def unread_bytes(self) -> int:
        """How much waits here for the app to read it."""
        return self._writer.transport.get_write_buffer_size()

    def attach(self) -> None:
        """Take requests from now on, and tell when the host is warm."""
        self._telling = self._telling or asyncio.ensure_future(self._tell_when_ready())

    async def serve(self) -> None:
        """Take frames until the app closes, then give up what it had asked for."""
        try:
            while (body := await read_frame(self._reader, MAX_REQUEST_BYTES)) is not None:
                self._handle(to_host_decoder.decode(body))
        except (BadFrameError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            # The closed connection says it.
            pass
        finally:
            running = [*self._tasks.values(), *([self._telling] if self._telling else [])]
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
            self._writer.close()

    def send(self, frame: Frame) -> None:
        """Send a frame; what the app does not read yet waits in memory."""
        self._writer.write(encode_frame(frame))

    def _handle(self, frame: ToHost) -> None:
        match frame:
            case Cancel():
                if task := self._tasks.get(frame.id):
                    task.cancel()
            case StartStream():
                self._start(frame.id, self._run_stream, self._whole(frame))
            case ListModels():
                self._start(frame.id, self._run_listing, frame)
            case _:
                if self._on_control is None:
                    raise BadFrameError
                self._on_control(self, frame)

    def _whole(self, frame: StartStream) -> StartStream:
        """Return a request with all of its messages."""
        if not frame.conversation:
            return frame
        try:
            messages = self._known.whole(frame.conversation, frame.kept, frame.request.messages)
        except KeyError:
            raise BadFrameError from None
        request = msgspec.structs.replace(frame.request, messages=messages)
        return StartStream(frame.id, request)

    def _start(self, request_id: int, work: Callable[[Any], Coroutine[Any, Any, None]], frame: Any) -> None:
        if not self.is_attached or request_id in self._tasks:
            raise BadFrameError
        if len(self._tasks) >= MAX_REQUESTS:
            self.send(Failed(request_id, fault("host_busy", Target(model=""), limit=MAX_REQUESTS)))
            return
        self._calls.running += 1
        task = asyncio.ensure_future(work(frame))
        self._tasks[request_id] = task
        task.add_done_callback(lambda _: self._ended(request_id))

    def _ended(self, request_id: int) -> None:
        self._tasks.pop(request_id, None)
        self._calls.finished()

    async def _run_stream(self, frame: StartStream) -> None:
        coalescer = Coalescer(lambda parts: self.send(Parts(frame.id, parts)), is_blocked=self._is_behind)
        try:
            provider = await self._calls.provider()
            completion = await provider.complete(frame.request, coalescer.add)
            coalescer.add([StreamDone(completion=completion)])
            coalescer.flush()
        except asyncio.CancelledError:
            coalescer.drop()
            raise
        except Exception as error:  # noqa: BLE001 - the app must hear of every end
            coalescer.flush()
            self.send(Failed(frame.id, _as_error(error, frame.request.model, frame.request.endpoint.api_key)))

    async def _run_listing(self, frame: ListModels) -> None:
        from smith_core.llm.listing import fetch_models

        try:
            self.send(Models(frame.id, await fetch_models(frame.endpoint, frame.timeouts)))
        except Exception as error:  # noqa: BLE001 - the app must hear of every end
            self.send(Failed(frame.id, _as_error(error, "", frame.endpoint.api_key)))

    def _is_behind(self) -> bool:
        return self.unread_bytes > MAX_UNREAD_BYTES

    async def _tell_when_ready(self) -> None:
        await asyncio.shield(self._calls.warming)
        if self._calls.ready_after_s is not None:
            self.send(Ready(self._calls.ready_after_s))


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
