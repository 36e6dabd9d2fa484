"""A start that stands still between the first picture and the toolkit, so that a test can do something to it."""

import os
import sys
import time

from smith_tui.early_terminal import open_early_terminal
from smith_tui.first_picture import picture_file, start_key


def main() -> None:
    """Keep a picture for this start, show it, and do what the argument says."""
    key = start_key((), 2)
    assert key is not None
    with open(key.path, "wb") as file:  # noqa: PTH123
        file.write(picture_file(key, (), b"\x1b[1;1Hthe picture"))
    early = open_early_terminal(())
    assert early is not None
    try:
        if sys.argv[1] == "fail":
            raise SystemExit("it went wrong")
        if sys.argv[1] == "read":
            typed = b""
            while len(typed) < 5:
                typed += os.read(0, 5)
            early.close()
            print(f"typed {typed!r}")
            return
        time.sleep(60)
    finally:
        early.close()


if __name__ == "__main__":
    main()
