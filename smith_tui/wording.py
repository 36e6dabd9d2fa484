"""Short words for times, sizes and folders, as lists of stored things show them."""

import datetime
from pathlib import Path

from smith_tui.sanitize import literal
from smith_tui.transcript.cells import cell_width

_MINUTE = 60
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR
_DAYS_COUNTED = 30
_DAYS_OF_YEAR = 365


def age(then: float, now: float) -> str:
    """Return how long ago something was, a date when it is long; both in seconds since the epoch, 0 is unknown.

    What lies in the future, because a clock was set back, is `now`.
    """
    if not then > 0:
        return ""
    seconds = max(0.0, now - then)
    if seconds < _MINUTE:
        return "now"
    if seconds < _HOUR:
        return f"{int(seconds // _MINUTE)} min"
    if seconds < _DAY:
        return f"{int(seconds // _HOUR)} h"
    if seconds < _DAYS_COUNTED * _DAY:
        return f"{int(seconds // _DAY)} d"
    try:
        return datetime.datetime.fromtimestamp(then).date().isoformat()
    except (OverflowError, ValueError, OSError):
        return ""


def short_age(then: float, now: float) -> str:
    """Return an age in six cells at most: months and years in place of a date."""
    days = max(0.0, now - then) / _DAY
    if not then > 0 or days < _DAYS_COUNTED:
        return age(then, now)
    return f"{int(days // 30)} mo" if days < _DAYS_OF_YEAR else f"{min(9999, int(days // _DAYS_OF_YEAR))} y"


def short_count(number: int) -> str:
    """Return a number in six cells at most: 99,999 and then 100k, 10M."""
    if number < 100_000:
        return f"{number:,}"
    thousands = number // 1000
    return f"{thousands:,}k" if thousands < 10_000 else f"{min(9999, thousands // 1000):,}M"


def size(size_bytes: int) -> str:
    """Return a number of bytes in the unit that keeps it short: 812 B, 13 kB, 1.2 MB; a kB has 1000 bytes."""
    value, unit = float(max(0, size_bytes)), "B"
    for bigger in ("kB", "MB", "GB"):
        if value < 999.5:
            break
        value, unit = value / 1000, bigger
    return f"{value:.1f} {unit}" if unit != "B" and value < 9.95 else f"{value:.0f} {unit}"


def folder(path: str, home: str | None = None) -> str:
    """Return a folder as one literal line, with ~ in place of the home folder."""
    home = str(Path.home()) if home is None else home
    if home not in ("", "/") and (path == home or path.startswith(f"{home}/")):
        path = f"~{path[len(home) :]}"
    return literal(path)


def cut_start(text: str, cells: int) -> str:
    """Return the end of `text` in at most `cells` cells, an ellipsis in place of what is left out."""
    if cell_width(text) <= cells:
        return text
    if cells < 1:
        return ""
    start, used = len(text), 1
    while start > 0 and (used := used + cell_width(text[start - 1])) <= cells:
        start -= 1
    # A mark belongs to the letter before it, which is left out.
    while start < len(text) and cell_width(text[start]) == 0:
        start += 1
    return f"…{text[start:]}"
