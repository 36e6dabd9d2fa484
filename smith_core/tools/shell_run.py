"""One run of a command line: waiting for its end, stopping it, and saying how it went."""

import asyncio
import signal
import time
from typing import Literal

from smith_core.ansi import TerminalText
from smith_core.cancel import CANCELLED
from smith_core.errors import AgentError
from smith_core.messages import ToolMetadata
from smith_core.process import ProcessTree
from smith_core.text import clean_text
from smith_core.tools.base import ToolContext, ToolOutcome, failed
from smith_core.tools.changes.commands import watched
from smith_core.tools.output import HeadAndTail, Spill
from smith_core.tools.sandbox.sandboxes import Sandbox
from smith_core.tools.shell_launch import start_shell
from smith_core.tools.terminal import LiveOutput, TerminalReader

DRAIN_S = 0.2
"""Seconds for which output is still read when the shell has ended and another process holds the terminal."""

_CUT_LINE_ROOM = 100

_Ending = Literal["exited", "timed_out", "cancelled"]


def cancelled_before_start() -> ToolOutcome:
    """Return the outcome of a command that was cancelled before it ran."""
    return ToolOutcome(ok=False, content="[cancelled, not run]", error=CANCELLED, cancelled=True)


class CommandRun:
    """Runs one command line, passes its output on and returns its outcome; used once.

    Whatever way it ends, its descriptors are closed and the shell is reaped. When it ends by timeout, by the
    person's cancel or by cancellation of the task, nothing that it started is left. When the shell ends by itself,
    its background processes stay. sandbox: None to run it as the person would.
    """

    def __init__(
        self, ctx: ToolContext, *, timeout_s: float, term_grace_s: float, sandbox: Sandbox | None = None
    ) -> None:
        self._ctx = ctx
        self._sandbox = sandbox
        self._timeout_s = timeout_s
        self._term_grace_s = term_grace_s
        self._started_at = time.monotonic()
        self._cleaner = TerminalText()
        self._text = HeadAndTail()
        self._spill = Spill(ctx.spill_dir)
        self._live = LiveOutput(ctx.emit_output)

    async def run(self, shell: str, command: str) -> ToolOutcome:
        """Run `command` in `shell`; a failure to start it is an outcome as well."""
        async with watched(self._ctx):
            if self._ctx.is_cancelled():
                return cancelled_before_start()
            return await self._run(shell, command)

    async def _run(self, shell: str, command: str) -> ToolOutcome:
        try:
            terminal = TerminalReader(self._take)
        except OSError as error:
            return failed(f"cannot open a terminal for the command: {error.strerror}; close other programs first")
        try:
            tree = self._start(shell, command, terminal)
            if isinstance(tree, OSError):
                where = f"{shell} in {self._ctx.cwd}"
                return failed(f"cannot start {where}: {tree.strerror}; check the folder and the environment")
            try:
                ending = await self._wait_for_ending(tree, terminal)
            finally:
                status = tree.close()
            self._live.flush()
            return self._outcome(ending, status, still_writing=not terminal.has_ended)
        finally:
            terminal.close()
            self._live.close()
            self._spill.close()

    def _start(self, shell: str, command: str, terminal: TerminalReader) -> ProcessTree | OSError:
        try:
            return start_shell(
                shell,
                command,
                cwd=self._ctx.cwd,
                child_env=self._ctx.child_env,
                output_fd=terminal.writer_fd,
                script_dir=self._ctx.spill_dir,
                sandbox=self._sandbox,
            )
        except OSError as error:
            return error
        finally:
            terminal.close_writer()

    def _take(self, data: bytes) -> None:
        self._spill.add(data)
        self._text.add(self._cleaner.feed(data))
        self._live.add(data)

    async def _wait_for_ending(self, tree: ProcessTree, terminal: TerminalReader) -> _Ending:
        """Wait for the shell, the clock or the person; stop the whole tree unless the shell ended by itself."""
        loop = asyncio.get_running_loop()
        first: asyncio.Future[_Ending] = loop.create_future()

        def end(ending: _Ending) -> None:
            if not first.done():
                first.set_result(ending)

        tree.on_exit(lambda: end("exited"))
        timer = loop.call_later(self._timeout_s, end, "timed_out")
        unsubscribe = self._ctx.cancel_token.on_cancel(lambda: end("cancelled"))
        try:
            ending = await first
        except asyncio.CancelledError:
            await tree.terminate(self._term_grace_s)
            raise
        finally:
            timer.cancel()
            unsubscribe()
        if ending != "exited":
            await tree.terminate(self._term_grace_s)
        await terminal.drain(DRAIN_S)
        return ending

    def _outcome(self, ending: _Ending, status: int, *, still_writing: bool) -> ToolOutcome:
        self._text.add(self._cleaner.finish())
        notes = _ending_note(ending, status, self._timeout_s)
        if still_writing:
            notes = f"[a background process still runs; what it writes to the terminal from now on is lost]\n{notes}"
        if self._sandbox is not None and ending == "exited" and status != 0:
            kept = self._text.excerpt()
            notes = "\n".join(filter(None, (self._sandbox.note_on(kept.head + kept.tail), notes)))
        content, omitted = self._content(notes)
        return ToolOutcome(
            ok=ending == "exited" and status == 0,
            content=content,
            error=_error(ending, status, self._timeout_s),
            cancelled=ending == "cancelled",
            mutation_state="attempted" if ending == "exited" else "unknown",
            metadata=ToolMetadata(
                exit_code=_exit_code(status) if ending == "exited" else None,
                timed_out=ending == "timed_out",
                omitted_chars=omitted,
                full_output_path=self._spill.kept_path,
                duration_s=round(time.monotonic() - self._started_at, 4),
            ),
        )

    def _content(self, notes: str) -> tuple[str, int]:
        """Return the output with the notes below it, and how many characters had to be left out."""
        kept = self._text.excerpt(reserved=len(notes) + 1)
        body = kept.head
        if kept.omitted:
            saved = self._spill.keep()
            kept = self._text.excerpt(reserved=len(notes) + len(saved) + _CUT_LINE_ROOM)
            length = self._text.length - kept.tail.endswith("\n")
            cut = f"[... {kept.omitted} of {length} characters are left out here; {saved} ...]"
            body = "\n".join([kept.head.removesuffix("\n"), cut, kept.tail])
        if body and not body.endswith("\n"):
            body += "\n"
        return clean_text(body + notes), kept.omitted


def _ending_note(ending: _Ending, status: int, timeout_s: float) -> str:
    if ending == "timed_out":
        return f"[timed out after {timeout_s:g} s]"
    if ending == "cancelled":
        return "[cancelled]"
    if status < 0:
        return f"[killed by signal {-status} ({signal.strsignal(-status) or 'unknown'})]"
    return f"[exit code {status}]"


def _exit_code(status: int) -> int:
    """Return the exit code as a shell reports it: 128 and the number of the signal for a killed program."""
    return status if status >= 0 else 128 - status


def _error(ending: _Ending, status: int, timeout_s: float) -> AgentError | None:
    """Return the failure that the ending means; None for exit code 0."""
    if ending == "cancelled":
        return CANCELLED
    if ending == "timed_out":
        code = "timeout"
        message = (
            f"the command did not end within {timeout_s:g} s and was stopped; give it a longer timeout, "
            "or run it in the background with its output in a file"
        )
    elif status < 0:
        code, message = "killed", f"the command was killed by signal {-status}; its output may say why"
    elif status > 0:
        code, message = "exit_status", f"the command ended with exit code {status}; its output says why"
    else:
        return None
    return AgentError(kind="tool", code=code, message=message, origin="tool")
