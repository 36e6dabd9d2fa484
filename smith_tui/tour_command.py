"""`smith-tui tour`: the scripted demo, in the full screen or printed step by step."""

import argparse
import asyncio
import contextlib
import sys

from smith_core.embedded.label import SCRIPTED_MODEL
from smith_core.errors import AgentFailure
from smith_core.events import CommandOutput, Notice, ToolEnded, ToolOutput, TurnEnded
from smith_core.messages import StopReason
from smith_core.runtime import Runtime
from smith_core.tour.project import sample_project
from smith_core.tour.script import STEPS
from smith_core.tour.server import TourServer
from smith_tui.bootstrap import Engine, open_engine
from smith_tui.exit_status import EXIT_CANCELLED, EXIT_ERROR, EXIT_OK
from smith_tui.full_screen import has_terminal, run_full_screen
from smith_tui.headless import OutputLostError, cancel_on_signals, write_text
from smith_tui.progress import progress_text
from smith_tui.sanitize import literal

KEY_VARIABLE = "SMITH_TOUR_KEY"
"""A variable that nobody sets: the tour needs no key, and the person's own never goes there."""

WELCOME = f"""\
This is the tour: a {SCRIPTED_MODEL}. It works on a sample project that is removed when you leave.
Type hello and press Enter; each answer says what to type next. Ctrl+C twice leaves, F1 shows all keys."""

_QUICK_PACE_S = 0.0
_HEADING = f"""\
The tour of Agent Smith: a {SCRIPTED_MODEL}.
A line behind > is what a person types; {{folder}} is a sample project that is removed at the end."""


def run_tour(arguments: argparse.Namespace) -> int:
    """Give the tour and return the exit status: 0 when every step went as it should."""
    in_full_screen = has_terminal() and not getattr(arguments, "plain", False)
    try:
        with (
            sample_project() as folder,
            TourServer() if in_full_screen else TourServer(_QUICK_PACE_S) as server,
            contextlib.chdir(folder),
        ):
            settings = _with_tour_settings(arguments, server.url)
            if in_full_screen:
                return run_full_screen(settings, WELCOME)
            return asyncio.run(_print_steps(open_engine(settings), str(folder)))
    except AgentFailure as caught:
        print(literal(caught.error.message), file=sys.stderr)
        return EXIT_ERROR
    except OutputLostError as lost:
        if lost.reason:
            print(f"standard output takes nothing more ({lost.reason}); the tour was stopped", file=sys.stderr)
        return EXIT_ERROR


def _with_tour_settings(arguments: argparse.Namespace, url: str) -> argparse.Namespace:
    """Return the arguments with the script in the place of any model, and nothing kept; theme, keys and such stay."""
    settings = (f"llm_config.api_url={url}", f"llm_config.api_key_env={KEY_VARIABLE}", "tool_step_budget=null")
    more_overrides = [*getattr(arguments, "more_overrides", ()), *settings]
    return argparse.Namespace(
        **{**vars(arguments), "model": SCRIPTED_MODEL, "more_overrides": more_overrides, "is_temporary": True}
    )


async def _print_steps(engine: Engine, folder: str) -> int:
    runtime = engine.open_runtime()
    engine.hide_keys()
    received = cancel_on_signals(runtime)
    went_well = True
    try:
        write_text("\n".join(filter(None, (engine.config_message, _HEADING.format(folder=literal(folder))))))
        for step in STEPS:
            for command in step.commands:
                went_well &= await _print_line(runtime, command)
            went_well &= await _print_line(runtime, step.prompt, is_stopped=step.is_stopped)
            if received:
                return EXIT_CANCELLED
    finally:
        await runtime.stop_session("finished")
    write_text("The tour is over." if went_well else "The tour is over, but not every step went as it should.")
    return EXIT_OK if went_well else EXIT_ERROR


async def _print_line(runtime: Runtime, line: str, *, is_stopped: bool = False) -> bool:
    """Run one line and print what happens; is_stopped: cancel the turn at the first output, as a person would.

    Return whether the line ended as it should.
    """
    write_text(f"\n> {line}")
    wanted: StopReason = "cancelled" if is_stopped else "completed"
    went_well = True
    async for event in runtime.process_raw_input(line):
        match event:
            case TurnEnded(result=result):
                went_well &= result.stop_reason == wanted
                write_text(result.text if not is_stopped else "  (stopped, as Ctrl+C would)")
                if result.error is not None and not is_stopped:
                    write_text(literal(result.error.message))
            case CommandOutput(text=text):
                write_text(text)
            case ToolOutput() if is_stopped:
                runtime.cancel()
            case Notice(level="error"):
                went_well = False
        for shown in progress_text(event).splitlines():
            write_text(literal(shown))
        if isinstance(event, ToolEnded) and event.result.metadata.diff:
            write_text(event.result.metadata.diff.rstrip("\n"))
    return went_well
