"""The way in: the terminal is made ready, and only then is anything imported that takes time."""

import sys
from collections.abc import Sequence

from smith_tui.early_terminal import open_early_terminal
from smith_tui.start_arguments import read_app_start


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program and return its exit status."""
    arguments = sys.argv[1:] if argv is None else argv
    early = open_early_terminal(arguments)
    try:
        start = None if early is None else read_app_start(arguments)
        if start is not None:
            from smith_tui.full_screen import run_full_screen

            return run_full_screen(start, early=early)
        from smith_tui.command_line import run_command_line

        return run_command_line(arguments, early)
    finally:
        if early is not None:
            early.close()


if __name__ == "__main__":
    sys.exit(main())
