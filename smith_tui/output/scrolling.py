"""Finding out that a part of the screen has moved up or down, so that the terminal can move it by itself."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from smith_tui.output.rows import Part, Row

MIN_ROWS = 4
"""Fewer rows that differ, or that would be found again, are written."""
_MIN_GAIN = 0.7
"""Most cells that may be left to write, as a share of those without scrolling."""


class Shift(NamedTuple):
    """Rows `top` to `bottom` move up by `rows`, or down when negative."""

    top: int
    bottom: int
    rows: int


def find_shift(shown: Sequence[Row | None], wanted: Sequence[Row], changed: Sequence[int]) -> Shift | None:
    """Return how the screen has moved, if following that leaves less to write; changed: the rows that differ."""
    if len(changed) < MIN_ROWS:
        return None
    before = _places({y: row for y in changed if (row := shown[y]) is not None})
    after = _places({y: wanted[y] for y in changed})
    votes = Counter(before[part] - y for part, y in after.items() if before.get(part, y) != y)
    if not votes:
        return None
    rows, count = votes.most_common(1)[0]
    if count < MIN_ROWS:
        return None
    ends = [y for part, y in after.items() if before.get(part, y) - y == rows]
    top, bottom = min(*ends, min(ends) + rows), max(*ends, max(ends) + rows)
    shift = Shift(top, bottom, rows)
    return shift if _gains(shift, shown, wanted) else None


def shifted(shown: Sequence[Row | None], shift: Shift) -> list[Row | None]:
    """Return what the terminal shows behind a shift; nobody counts on how it fills the rows that come in."""
    moved = list(shown)
    for y in range(shift.top, shift.bottom + 1):
        source = y + shift.rows
        moved[y] = shown[source] if shift.top <= source <= shift.bottom else None
    return moved


def _places(rows: dict[int, Row]) -> dict[Part, int]:
    """Return the row of each widest part that stands in one row alone."""
    places: dict[Part, int] = {}
    twice: set[Part] = set()
    for y, row in rows.items():
        part = max(row.parts, key=lambda part: part.end - part.x)
        if part in places:
            twice.add(part)
        places[part] = y
    return {part: y for part, y in places.items() if part not in twice}


def _gains(shift: Shift, shown: Sequence[Row | None], wanted: Sequence[Row]) -> bool:
    moved = shifted(shown, shift)
    rows = range(shift.top, shift.bottom + 1)
    without = sum(_to_write(shown[y], wanted[y]) for y in rows)
    return sum(_to_write(moved[y], wanted[y]) for y in rows) < _MIN_GAIN * without


def _to_write(before: Row | None, after: Row) -> int:
    """Return about how many cells differ: those of each part that is not there already."""
    if before is after:
        return 0
    there = () if before is None else before.parts
    return sum(part.end - part.x for part in after.parts if part not in there)
