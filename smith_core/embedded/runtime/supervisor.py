"""The app's side of the local model: starts its process when asked, starts it again if it dies, ends it at the end."""

import asyncio
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from contextlib import suppress
from pathlib import Path

from smith_core.embedded.runtime.machine import (
    WORKING_MEMORY_BYTES,
    machine_problem,
    out_of_memory,
    usable_cores,
    weights_problem,
)
from smith_core.embedded.runtime.orders import LoadFailed, Order, encode_line, read_report
from smith_core.errors import AgentError, AgentFailure, failure
from smith_core.llm.host_process import SECRET_VARIABLES, host_environment
from smith_core.llm.protocol import Endpoint

PROCESS_MODULE = "smith_core.embedded.runtime.process"
CONTEXT_SIZE = 8192
LOAD_TIMEOUT_S = 180.0
MAX_DEATHS = 3
DEATHS_WITHIN_S = 120.0
"""A process that dies more often than this is not started again by itself."""

_BACKLOG = 64
_EXIT_GRACE_S = 0.3
"""How long a process may take to end by itself, and then again at being told to; one that loads may hear nothing."""


class LocalModelServer:
    """One local model for one app; used on one event loop, whose thread must outlive it.

    Its address and token stay the same when the process is started again: the listening socket is ours.
    module: what is run as the process. log_path: takes the process's output (mode 0600), thrown away without one.
    """

    def __init__(
        self,
        *,
        log_path: Path | None = None,
        threads: int | None = None,
        context_size: int = CONTEXT_SIZE,
        module: str = PROCESS_MODULE,
    ) -> None:
        self._log_path = log_path
        self._threads = threads or usable_cores()
        self._context_size = context_size
        self._module = module
        self._token = secrets.token_urlsafe(32)
        self._listener: socket.socket | None = None
        self._weights: Path | None = None
        self._model = ""
        self._running: _Running | None = None
        self._launching: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._deaths: deque[float] = deque(maxlen=MAX_DEATHS)
        self._is_closed = False
        self._lock = asyncio.Lock()

    @property
    def endpoint(self) -> Endpoint:
        """Where requests go, once `start` has returned."""
        if self._listener is None:
            return Endpoint()
        port = self._listener.getsockname()[1]
        return Endpoint(api_url=f"http://127.0.0.1:{port}/v1", api_key=self._token)

    @property
    def pid(self) -> int | None:
        """The process that serves now, or None."""
        return self._running.process.pid if self._running else None

    async def start(self, weights: Path, model: str) -> Endpoint:
        """Load a GGUF file unless it is loaded, and return where it answers under the name `model`.

        AgentFailure with one sentence when this machine or this file will not do. Whoever gives up waiting leaves the
        launch going, for the next one who asks.
        """
        async with self._lock:
            is_there = self._running is not None or self._launching is not None
            if not is_there or (self._weights, self._model) != (weights, model):
                await self._end()
                self._weights, self._model = weights, model
                self._launching = asyncio.ensure_future(self._load(weights))
                self._launching.add_done_callback(_take_note)
            if self._launching is not None:
                await self._launched(self._launching)
            return self.endpoint

    async def aclose(self) -> None:
        """End the process, also one that is still loading, and give up the address; nothing is started any more."""
        # Not under the lock: whoever starts holds it until the model answers.
        self._is_closed = True
        await self._end()
        self._close_listener()

    async def _load(self, weights: Path) -> None:
        try:
            if self._is_closed:
                raise _closed()
            problem = machine_problem() or await asyncio.to_thread(weights_problem, weights)
            if problem is not None:
                raise AgentFailure(problem)
            self._deaths.clear()
            self._listen()
            await self._launch()
            self._watching = asyncio.ensure_future(self._watch())
        finally:
            self._launching = None

    @staticmethod
    async def _launched(launching: asyncio.Task[None]) -> None:
        # Other than awaiting the task, this does not cancel it with us.
        await asyncio.wait({launching})
        if launching.cancelled():
            raise _closed()
        launching.result()

    def _close_listener(self) -> None:
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    def _listen(self) -> None:
        if self._listener is not None:
            return
        try:
            self._listener = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
        except OSError as error:
            raise failure(
                "transport",
                "no_port",
                f"no free port on 127.0.0.1 for the local model ({error.strerror}); close other programs and try again",
                origin="embedded",
            ) from error

    async def _launch(self) -> None:
        """Start the process and wait until the model answers; AgentFailure when it does not come to that."""
        assert self._weights is not None and self._listener is not None
        running = await _start_process(self._module, self._listener, self._log_path)
        order = Order(
            weights=str(self._weights),
            model=self._model,
            token=self._token,
            context_size=self._context_size,
            threads=self._threads,
            listener=self._listener.fileno(),
        )
        try:
            running.writer.write(encode_line(order))
            async with asyncio.timeout(LOAD_TIMEOUT_S):
                report = await read_report(running.reader)
        except TimeoutError:
            await running.end()
            raise AgentFailure(_did_not_start(f"it took more than {LOAD_TIMEOUT_S:g} s")) from None
        except BaseException:
            await running.end()
            raise
        if report is None:
            raise AgentFailure(self._explain(await running.end()))
        if isinstance(report, LoadFailed):
            await running.end()
            raise AgentFailure(report.error)
        self._running = running

    async def _watch(self) -> None:
        """Start the process again whenever it dies, unless that happens too often."""
        while self._running is not None:
            await read_report(self._running.reader)
            await self._running.end()
            self._running = None
            now = time.monotonic()
            self._deaths.append(now)
            if len(self._deaths) == MAX_DEATHS and now - self._deaths[0] < DEATHS_WITHIN_S:
                break
            with suppress(AgentFailure):
                await self._launch()
        # Nobody will answer any more: whoever asks must hear of it at once.
        self._close_listener()

    async def _end(self) -> None:
        for task in filter(None, (self._launching, self._watching)):
            task.cancel()
            await asyncio.wait({task})
        self._launching = self._watching = None
        if self._running is not None:
            await self._running.end()
            self._running = None

    def _explain(self, status: int) -> AgentError:
        assert self._weights is not None
        if status == -signal.SIGKILL:
            # Nobody but the kernel, when memory ran out, kills a process that is loading.
            return out_of_memory(self._weights.stat().st_size + WORKING_MEMORY_BYTES, None)
        how = f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
        return _did_not_start(how)


class _Running:
    """A started process and our end of its socket."""

    def __init__(
        self, process: subprocess.Popen[bytes], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.process = process
        self.reader = reader
        self.writer = writer

    async def end(self) -> int:
        """Let the process go, reap it, and return its exit status as Popen gives it."""
        self.writer.close()
        return await asyncio.to_thread(self._reap)

    def _reap(self) -> int:
        for then in (self.process.terminate, self.process.kill):
            try:
                return self.process.wait(_EXIT_GRACE_S)
            except subprocess.TimeoutExpired:
                then()
        return self.process.wait()


async def _start_process(module: str, listener: socket.socket, log_path: Path | None) -> _Running:
    ours, theirs = socket.socketpair()
    output = subprocess.DEVNULL
    if log_path is not None:
        output = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    # -P: nothing in the current folder, which may be anybody's repository, is ever imported.
    command = [sys.executable, "-P", "-m", module, "--fd", str(theirs.fileno()), "--parent", str(os.getpid())]
    try:
        # Not in a worker thread: on Linux the process is killed when the thread that started it ends.
        process = subprocess.Popen(  # noqa: ASYNC220
            command,
            env=host_environment(os.environ, SECRET_VARIABLES),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=(theirs.fileno(), listener.fileno()),
            start_new_session=True,
        )
    except OSError as error:
        ours.close()
        raise AgentFailure(_did_not_start(error.strerror or str(error))) from error
    finally:
        theirs.close()
        if output != subprocess.DEVNULL:
            os.close(output)
    try:
        reader, writer = await asyncio.open_connection(sock=ours)
    except BaseException:
        ours.close()
        process.kill()
        process.wait()
        raise
    return _Running(process, reader, writer)


def _take_note(launching: asyncio.Task[None]) -> None:
    """Look at how a launch ended: asyncio would complain of a failure that nobody waited for any more."""
    if not launching.cancelled():
        launching.exception()


def _closed() -> AgentFailure:
    return failure("internal", "model_closed", "the local model was ended meanwhile; try again", origin="embedded")


def _did_not_start(reason: str) -> AgentError:
    return AgentError(
        kind="transport",
        code="local_model",
        message=f"the local model did not start ({reason}); try again, choose the small model or connect an endpoint",
        retryable=True,
        origin="embedded",
    )
