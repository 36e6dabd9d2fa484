"""The way in: the terminal is made ready, and only then is anything imported that takes time."""

import sys
from collections.abc import Sequence

from smith_tui.early_terminal import open_early_terminal


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program and return its exit status."""
    arguments = sys.argv[1:] if argv is None else argv
    early = open_early_terminal(arguments)
    try:
        from smith_tui.command_line import run_command_line

        return run_command_line(arguments, early)
    finally:
        if early is not None:
            early.close()


if __name__ == "__main__":
    sys.exit(main())
