"""Programs that a tool runs for their output: no terminal, no input, and an end in every case."""

import asyncio
import contextlib
import os
import resource
import shutil
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from smith_core.cancel import CANCELLED
from smith_core.process import ProcessTree
from smith_core.tools.base import ToolContext, ToolOutcome
from smith_core.tools.terminal import TerminalReader

TERM_GRACE_S = 0.2
"""Seconds between SIGTERM and SIGKILL, for programs that leave nothing behind."""

_DRAIN_S = 0.2

Ending = Literal["exited", "timed_out", "cancelled", "too_much"]


class ProgramEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How a program ended; `status` is as in subprocess, negative for a signal."""

    ending: Ending
    status: int


class ProgramLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of a program: wall seconds, bytes of output, and bytes of memory of its own (0: no bound)."""

    seconds: float
    output_bytes: int
    memory_bytes: int = 0


async def run_program(
    argv: Sequence[str],
    ctx: ToolContext,
    *,
    env: Mapping[str, str],
    limits: ProgramLimits,
    on_output: Callable[[bytes], None],
    pass_fds: Sequence[int] = (),
) -> ProgramEnd:
    """Run `argv` in the working folder, hand over its output and errors as they come, and return how it ended.

    A program that is cancelled or goes beyond a limit is stopped with all that it started; raises OSError when it
    cannot be started.
    """
    loop = asyncio.get_running_loop()
    first: asyncio.Future[Ending] = loop.create_future()
    seen = 0

    def end(ending: Ending) -> None:
        if not first.done():
            first.set_result(ending)

    def take(data: bytes) -> None:
        nonlocal seen
        room = limits.output_bytes - seen
        seen += len(data)
        if room > 0:
            on_output(data[:room])
        if seen > limits.output_bytes:
            end("too_much")

    reader = TerminalReader(take, os.pipe)
    try:
        tree = _start(argv, ctx.cwd, env, reader, limits, pass_fds)
        try:
            tree.on_exit(lambda: end("exited"))
            timer = loop.call_later(limits.seconds, end, "timed_out")
            unsubscribe = ctx.cancel_token.on_cancel(lambda: end("cancelled"))
            try:
                ending = await first
            finally:
                timer.cancel()
                unsubscribe()
                if not tree.has_exited():
                    await tree.terminate(TERM_GRACE_S)
            if ending == "exited":
                await reader.drain(_DRAIN_S)
        finally:
            status = tree.close()
    finally:
        reader.close()
    return ProgramEnd(ending="too_much" if seen > limits.output_bytes else ending, status=status)


def _start(
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    reader: TerminalReader,
    limits: ProgramLimits,
    pass_fds: Sequence[int],
) -> ProcessTree:
    try:
        tree = ProcessTree(argv, cwd=cwd, env=env, output_fd=reader.writer_fd, pass_fds=pass_fds)
    finally:
        reader.close_writer()
    if limits.memory_bytes and hasattr(resource, "prlimit"):
        # Of an existing process, because no code of ours may run between fork and exec in a program with threads.
        with contextlib.suppress(OSError):
            resource.prlimit(tree.pid, resource.RLIMIT_DATA, (limits.memory_bytes, limits.memory_bytes))
    return tree


def find_program(name: str, env: Mapping[str, str]) -> str | None:
    """Return the path of a program on the PATH of `env`, whose relative entries do not count; None without one."""
    folders = [folder for folder in env.get("PATH", os.defpath).split(os.pathsep) if Path(folder).is_absolute()]
    return shutil.which(name, path=os.pathsep.join(folders)) if folders else None


async def until_cancelled(work: Coroutine[Any, Any, ToolOutcome], ctx: ToolContext) -> ToolOutcome:
    """Return what `work` returns, or the outcome of a cancelled call as soon as the person cancels."""
    task = asyncio.ensure_future(work)

    def cancel() -> None:
        task.cancel()

    unsubscribe = ctx.cancel_token.on_cancel(cancel)
    try:
        return await task
    except asyncio.CancelledError:
        if not ctx.is_cancelled():
            raise
        return ToolOutcome(ok=False, content="[cancelled]", error=CANCELLED, cancelled=True)
    finally:
        unsubscribe()
        task.cancel()
