"""What a start finds of one that was killed: its picture, and shared memory that no terminal has read.

It imports next to nothing, for every start looks for that.
"""

import os
from collections.abc import Mapping
from pathlib import Path

PREFIX = "smith-rain-"
"""Begin of the names of all our segments; the process id in hexadecimal digits follows."""
IMAGE_ID = 0x5341
"""Our one picture; always the same number, so that a start can remove what a killed one has left."""
DELETE = f"\x1b_Ga=d,d=I,i={IMAGE_ID},q=2\x1b\\"
"""Removes the picture and its pixels; does nothing where there is none."""
SPEAKERS = ("kitty", "wezterm", "ghostty")
"""Begins of the names of terminals that show pictures between ground and letters."""
_SHOWN_IN = Path("/dev/shm")


def is_speaker(environ: Mapping[str, str]) -> bool:
    """Whether the environment names a terminal that shows pictures behind text."""
    if environ.get("KONSOLE_VERSION") or environ.get("TMUX") or environ.get("STY"):
        return False
    names = (environ.get("TERM", "").removeprefix("xterm-"), environ.get("TERM_PROGRAM", ""))
    return bool(environ.get("KITTY_WINDOW_ID")) or any(name.lower().startswith(SPEAKERS) for name in names)


def picture_remover(environ: Mapping[str, str]) -> str:
    """Return what removes a killed start's picture; "" where the environment names no terminal that could have it."""
    return DELETE if is_speaker(environ) else ""


def remove_stale(folder: Path = _SHOWN_IN) -> int:
    """Remove the segments of this user's processes that were killed; return how many there were."""
    removed = 0
    try:
        names = [name for name in os.listdir(folder) if name.startswith(PREFIX)]  # noqa: PTH208 - names are enough
    except OSError:
        return 0
    for name in names:
        path = folder / name
        try:
            if path.stat().st_uid == os.getuid() and not _is_running(name):
                path.unlink()
                removed += 1
        except OSError:
            pass  # the other process has removed it itself
    return removed


def _is_running(name: str) -> bool:
    try:
        os.kill(int(name.removeprefix(PREFIX).partition("-")[0], 16), 0)
    except (ValueError, OverflowError, ProcessLookupError):
        return False
    except PermissionError:
        pass
    return True
