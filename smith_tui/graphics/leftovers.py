"""What a start finds of one that was killed: its picture, and shared memory that no terminal has read.

It imports next to nothing, for every start looks for that.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path

PREFIX = "smith-r-"
"""Begin of the names of all our segments; the process id and a random part follow, in hexadecimal digits."""
_OURS = f"{PREFIX}([0-9a-f]{{1,8}})-[0-9a-f]+"
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
        names = os.listdir(folder)  # noqa: PTH208 - names are enough
    except OSError:
        return 0
    # Compiled only where there may be one: that takes longer than all else here.
    for ours in [found for name in names if name.startswith(PREFIX) and (found := re.fullmatch(_OURS, name))]:
        path = folder / ours[0]
        try:
            if path.stat().st_uid == os.getuid() and not _is_running(int(ours[1], 16)):
                path.unlink()
                removed += 1
        except OSError:
            pass  # the other process has removed it itself
    return removed


def _is_running(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except (OverflowError, ProcessLookupError):
        return False
    except PermissionError:
        pass
    return True
