"""Finding out that a part of the screen has moved up or down, so that the terminal can move it by itself."""

from collections.abc import Sequence
from typing import NamedTuple

from smith_tui.output.rows import Part, Row

MIN_ROWS = 4
"""Fewer rows that differ, or that would be found again, are written."""
_MIN_GAIN = 0.7
"""Most cells that may be left to write, as a share of those without scrolling."""
_TRIED = 3
"""Most shifts that are looked at closely; text that repeats itself has several that seem likely."""
_AS_LIKELY = 0.8
"""Rows that another shift has to find, as a share of those of the likeliest one, to be looked at."""


class Shift(NamedTuple):
    """Rows `top` to `bottom` move up by `rows`, or down when negative."""

    top: int
    bottom: int
    rows: int


def find_shift(shown: Sequence[Row | None], wanted: Sequence[Row], changed: Sequence[int]) -> Shift | None:
    """Return how the screen has moved, if following that leaves less to write; changed: the rows that differ."""
    if len(changed) < MIN_ROWS:
        return None
    rows = range(changed[0], changed[-1] + 1)
    before: dict[Part, list[int]] = {}
    for y in rows:
        row = shown[y]
        if row is not None and not _is_blank(part := _widest(row)):
            before.setdefault(part, []).append(y)
    found: dict[int, list[int]] = {}
    for y in rows:
        for source in before.get(_widest(wanted[y]), ()):
            found.setdefault(source - y, []).append(y)
    found.pop(0, None)
    likely = sorted(found.items(), key=lambda item: len(item[1]), reverse=True)[:_TRIED]
    enough = max(MIN_ROWS, _AS_LIKELY * len(likely[0][1])) if likely else MIN_ROWS
    shifts = [_over(ys, by) for by, ys in likely if len(ys) >= enough]
    gains = [_gain(shift, shown, wanted) for shift in shifts]
    return shifts[gains.index(max(gains))] if any(gains) else None


def _over(ys: Sequence[int], rows: int) -> Shift:
    """Return the shift that brings what is wanted in the rows `ys` from where it stands now."""
    return Shift(min(ys[0], ys[0] + rows), max(ys[-1], ys[-1] + rows), rows)


def shifted(shown: Sequence[Row | None], shift: Shift) -> list[Row | None]:
    """Return what the terminal shows behind a shift; nobody counts on how it fills the rows that come in."""
    moved = list(shown)
    for y in range(shift.top, shift.bottom + 1):
        source = y + shift.rows
        moved[y] = shown[source] if shift.top <= source <= shift.bottom else None
    return moved


def _widest(row: Row) -> Part:
    widest = row.parts[0]
    for part in row.parts:
        if part.end - part.x > widest.end - widest.x:
            widest = part
    return widest


def _is_blank(part: Part) -> bool:
    return all(text.isspace() for text, _ in part.runs)


def _gain(shift: Shift, shown: Sequence[Row | None], wanted: Sequence[Row]) -> int:
    """Return how many cells less there are to write, 0 when that is not worth it."""
    moved = shifted(shown, shift)
    rows = range(shift.top, shift.bottom + 1)
    without = sum(_to_write(shown[y], wanted[y]) for y in rows)
    left = sum(_to_write(moved[y], wanted[y]) for y in rows)
    return without - left if left < _MIN_GAIN * without else 0


def _to_write(before: Row | None, after: Row) -> int:
    """Return about how many cells differ: those of each part that is not there already."""
    if before is after or (before is not None and before.parts == after.parts):
        return 0
    there = () if before is None else before.parts
    return sum([part.end - part.x for part in after.parts if part not in there])
