"""The start of the full screen, in an order that shows it as soon as can be."""

import gc
import os
import sys

from smith_tui.exit_status import EXIT_ERROR, EXIT_USAGE

TYPE_CHECKING = False
"""Stands here so that no import comes before collections of garbage are put off."""
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import TextIO

    from smith_tui.early_terminal import EarlyTerminal


def has_terminal() -> bool:
    """Whether a person sits at both ends of this program."""
    return _is_terminal(sys.stdin) and _is_terminal(sys.stdout) and sys.stderr is not None


def run_full_screen(arguments: "Namespace", welcome: str = "", early: "EarlyTerminal | None" = None) -> int:
    """Run the app and return its exit status.

    welcome: what its screen begins with, in place of the usual words. early: the terminal, if it is ready already.
    """
    if not has_terminal():
        print(
            'smith-tui needs a terminal; without one, use: smith-tui run "task"   (smith-tui --help tells more)',
            file=sys.stderr,
        )
        return EXIT_USAGE
    if not _is_terminal(sys.stderr):
        # The toolkit draws on standard error: redirected, it would leave the terminal blank.
        os.dup2(sys.stdout.fileno(), sys.stderr.fileno())
    # Imports make tens of thousands of objects that live for ever; collecting between them is a tenth of the start.
    gc.disable()
    from smith_core.errors import AgentFailure
    from smith_tui.bootstrap import open_engine

    try:
        engine = open_engine(arguments)
        # The model host takes seconds of CPU to get ready, so it starts before the toolkit is imported.
        engine.start_host()
    except AgentFailure as caught:
        if early is not None:
            early.close()
        print(caught.error.message, file=sys.stderr)
        return EXIT_ERROR
    from smith_tui.lean_toolkit import import_toolkit

    import_toolkit()
    from smith_tui.app import run_app

    return run_app(engine, welcome, early)


def _is_terminal(stream: "TextIO | None") -> bool:
    # A stream that was closed before the start is None.
    return stream is not None and stream.isatty()
