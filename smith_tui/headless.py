"""`smith-tui run`: one task without the screen; answer on standard output, progress on standard error."""

import argparse
import asyncio
import contextlib
import gc
import os
import re
import signal
import sys
from collections.abc import Callable

from smith_core.errors import AgentFailure
from smith_core.events import AnyEvent, Notice, TurnEnded
from smith_core.messages import TurnResult
from smith_core.process import kill_all_running
from smith_core.runtime import Runtime
from smith_core.text import REPLACEMENT
from smith_tui.bootstrap import Engine, open_engine
from smith_tui.exit_status import EXIT_BUDGET, EXIT_CANCELLED, EXIT_ERROR, EXIT_OK, EXIT_USAGE
from smith_tui.progress import json_line, progress_text
from smith_tui.sanitize import literal

EXIT_STATUS = {
    "completed": EXIT_OK,
    "error": EXIT_ERROR,
    "budget_exhausted": EXIT_BUDGET,
    "cancelled": EXIT_CANCELLED,
}

# Line breaks and tabs are part of an answer, also in a pipe; nothing else may act on a terminal.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class OutputLostError(Exception):
    """Standard output takes nothing more; `reason` is empty when its reader has gone, who needs no telling."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def run_task(arguments: argparse.Namespace) -> int:
    """Run the task of `smith-tui run` and return the exit status of the decisions, section 9."""
    task = _standard_input() if arguments.task == "-" else arguments.task
    if not task.strip():
        print('smith-tui run needs a task, for instance: smith-tui run "explain this project"', file=sys.stderr)
        return EXIT_USAGE
    try:
        engine = open_engine(arguments)
        report = _json_line if arguments.json else _progress_line
        return asyncio.run(_run(engine, task, report, arguments.json))
    except AgentFailure as caught:
        _say(caught.error.message)
        return EXIT_ERROR
    except OutputLostError as lost:
        if lost.reason:
            _say(f"standard output takes nothing more ({lost.reason}); send it somewhere else, and start again")
        return EXIT_ERROR


async def _run(engine: Engine, task: str, report: Callable[[AnyEvent], None], as_json: bool) -> int:
    if engine.config_message:
        if as_json:
            report(Notice(level="warning", text=engine.config_message))
        _say(engine.config_message)
    runtime = engine.open_runtime()
    engine.hide_keys()
    received = cancel_on_signals(runtime)
    result: TurnResult | None = None
    error_shown = False
    try:
        # A task is never a slash command, whatever it begins with.
        async for event in runtime.process_raw_input(f" {task}" if task.startswith(("/", "!")) else task):
            if not gc.isenabled():
                # Nearly all is imported by now; what the start has made stays, and no collection need look at it.
                gc.freeze()
                gc.enable()
            report(event)
            if received:
                # It may have come before there was a turn to cancel.
                runtime.cancel()
            if isinstance(event, TurnEnded):
                result = event.result
            error_shown |= isinstance(event, Notice) and event.level == "error"
    finally:
        await runtime.stop_session("finished")
        if unsaved := runtime.unsaved_sentence():
            _say(unsaved)
    if received:
        return 128 + received[0] if received[0] != signal.SIGINT else EXIT_CANCELLED
    if result is None:
        return EXIT_ERROR
    if result.error is not None:
        _say(result.error.message)
    if not as_json and result.text.strip():
        write_text(result.text)
    return EXIT_STATUS[result.stop_reason]


def cancel_on_signals(runtime: Runtime) -> list[int]:
    """Cancel the turn on the first signal and leave at once on the second; return the list of those received."""
    received: list[int] = []
    loop = asyncio.get_running_loop()

    def on_signal(number: int) -> None:
        received.append(number)
        if len(received) > 1:
            kill_all_running()
            os._exit(128 + number)
        runtime.cancel()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, on_signal, number)
    return received


def _json_line(event: AnyEvent) -> None:
    _write_line(json_line(event))


def _progress_line(event: AnyEvent) -> None:
    text = progress_text(event)
    if text:
        _say(text)


def write_text(text: str) -> None:
    """Write text to standard output, control characters replaced; raises OutputLostError."""
    _write_line(_encoded(_CONTROLS.sub(REPLACEMENT, text)))


def _standard_input() -> str:
    if sys.stdin is None:
        return ""
    return sys.stdin.buffer.read().decode("utf-8-sig", "replace")


def _encoded(text: str) -> bytes:
    # What the locale of the terminal or pipe cannot express stays readable as an escape.
    return text.encode(sys.stdout.encoding if sys.stdout else "utf-8", "backslashreplace")


def _write_line(line: bytes) -> None:
    try:
        if sys.stdout is None:
            raise OutputLostError("it is closed")
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()
    except OSError as error:
        # Python would try to write the rest once more at the end, and print that it could not.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        reason = "" if isinstance(error, BrokenPipeError) else error.strerror or type(error).__name__
        raise OutputLostError(reason) from error


def _say(text: str) -> None:
    # Progress that nobody can read is no reason to stop the work.
    with contextlib.suppress(OSError):
        for line in text.splitlines() or [""]:
            print(literal(line), file=sys.stderr, flush=True)
