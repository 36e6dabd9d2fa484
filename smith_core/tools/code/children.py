"""Programs that a tool runs in a thread and reads from: without our keys, and ended when the person cancels."""

import asyncio
import contextlib
import fcntl
import os
import select
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from smith_core.cancel import CANCELLED
from smith_core.errors import AgentFailure
from smith_core.tools.base import ToolContext, ToolOutcome

_CHUNK_BYTES = 256 * 1024
_PROBLEM_BYTES = 4_096
MAX_SECONDS = 30.0
"""Longest time that a program may take; a project is searched in a second, the whole disk is not."""
_GATHERING_S = 0.004


class Child:
    """A running program; `chunks` is its output, and then `status` and `problem` say how it ended."""

    def __init__(self, popen: "subprocess.Popen[bytes]", errors: IO[bytes]) -> None:
        self._popen = popen
        self._errors = errors
        self.is_late = False

    def chunks(self, limit_s: float = MAX_SECONDS) -> Iterator[bytes]:
        """Yield what the program writes, until it ends or `limit_s` seconds are over; then it `is_late`."""
        assert self._popen.stdout is not None
        descriptor = self._popen.stdout.fileno()
        with contextlib.suppress(AttributeError, OSError):  # not Linux, or the system's limit is lower
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _CHUNK_BYTES)
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        deadline = time.monotonic() + limit_s
        while poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            chunk = os.read(descriptor, _CHUNK_BYTES)
            if not chunk:
                return
            yield chunk
            if len(chunk) < _CHUNK_BYTES // 8:
                # Waking up for each of thousands of small writes would take a core from the program itself.
                time.sleep(_GATHERING_S)
            if time.monotonic() > deadline:
                break
        self.is_late = True
        self.kill()

    def lines(self, limit_s: float) -> Iterator[bytes]:
        """Yield the whole lines that the program writes until it ends, or until `limit_s` seconds are over."""
        rest = b""
        for chunk in self.chunks(limit_s):
            *whole, rest = (rest + chunk).split(b"\n")
            yield from whole

    def close(self) -> None:
        """Kill the program if it still runs, and reap it."""
        self.kill()
        self._popen.wait()
        assert self._popen.stdout is not None
        self._popen.stdout.close()

    def kill(self) -> None:
        """End the program; it is not waited for."""
        self._popen.kill()

    @property
    def status(self) -> int:
        """The exit status, once the output has ended; negative for a signal."""
        return self._popen.wait()

    @property
    def problem(self) -> str:
        """The begin of what the program complained about."""
        return os.pread(self._errors.fileno(), _PROBLEM_BYTES, 0).decode("utf-8", "replace").strip()


class Children:
    """All programs of one tool call; used by its threads, and ended from the event loop."""

    def __init__(self, env: Mapping[str, str], scratch: Path) -> None:
        self._env = dict(env)
        self._scratch = scratch
        self._lock = threading.Lock()
        self._running: set[Child] = set()
        self._ended = False

    @property
    def env(self) -> Mapping[str, str]:
        """The environment of the programs."""
        return self._env

    def check(self) -> None:
        """Raise AgentFailure of kind cancelled if the call is over."""
        if self._ended:
            raise AgentFailure(CANCELLED)

    def run(self, argv: Sequence[str | bytes], cwd: Path, stdin: bytes = b"") -> "_Run":
        """Return a context in which the program runs; raises OSError if it cannot be started."""
        return _Run(self, argv, cwd, stdin)

    def end(self) -> None:
        """Kill whatever runs, and let nothing start any more."""
        with self._lock:
            self._ended = True
            for child in self._running:
                child.kill()

    def _start(self, argv: Sequence[str | bytes], cwd: Path, stdin: bytes) -> Child:
        import tempfile

        errors = tempfile.TemporaryFile(dir=self._scratch)  # noqa: SIM115 - closed with the child
        try:
            with tempfile.TemporaryFile(dir=self._scratch) as given, self._lock:
                self.check()
                given.write(stdin)
                given.seek(0)
                popen = subprocess.Popen(
                    argv,
                    cwd=cwd,
                    env=self._env,
                    stdin=given if stdin else subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    start_new_session=True,
                )
                child = Child(popen, errors)
                self._running.add(child)
                return child
        except BaseException:
            errors.close()
            raise

    def _close(self, child: Child) -> None:
        with self._lock:
            self._running.discard(child)
        child.close()
        child._errors.close()


class _Run:
    def __init__(self, children: Children, argv: Sequence[str | bytes], cwd: Path, stdin: bytes) -> None:
        self._children, self._argv, self._cwd, self._stdin = children, argv, cwd, stdin

    def __enter__(self) -> Child:
        self._child = self._children._start(self._argv, self._cwd, self._stdin)
        return self._child

    def __exit__(self, *exc: object) -> None:
        self._children._close(self._child)


async def run_with_children(work: Callable[[Children], ToolOutcome], ctx: ToolContext) -> ToolOutcome:
    """Run blocking `work` in a thread; when the person cancels, its programs are killed and it ends soon after."""
    children = Children(ctx.child_env, ctx.spill_dir)
    unsubscribe = ctx.cancel_token.on_cancel(children.end)
    try:
        outcome = await asyncio.to_thread(work, children)
        if not ctx.is_cancelled():
            return outcome
    except AgentFailure as failure:
        if failure.error is not CANCELLED:
            raise
    finally:
        unsubscribe()
        children.end()
    return ToolOutcome(ok=False, content="[cancelled]", error=CANCELLED, cancelled=True)
