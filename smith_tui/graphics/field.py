"""Where the rain falls: the arithmetic of its columns, and of what has to be left out or dimmed in them."""

from collections.abc import Iterable
from typing import NamedTuple

CELLS_PER_COLUMN = 2
"""Cells of the terminal that a column of signs is wide."""
SHARE = 0.4
"""Part of the transcript's width that rain falls in."""
MAX_COLUMNS = 32
"""Columns that are never exceeded, so that a wide terminal costs no more than one of 160 columns."""
MAX_ROWS = 64
"""Rows of signs that are never exceeded; where the transcript is higher, a sign takes two rows of it, or more."""
_MIN_CELLS, _MIN_ROWS = 8, 3

OPEN, DIM, CLEAR = range(3)
"""How rain is covered: not at all; by letters that stay readable over its faintest shade; wholly."""


class Field(NamedTuple):
    """Columns and rows of signs, its upper left cell on the screen, and how many cells a sign is high."""

    x: int
    y: int
    columns: int
    rows: int
    span: int = 1

    @property
    def width(self) -> int:
        """Cells."""
        return self.columns * CELLS_PER_COLUMN

    @property
    def height(self) -> int:
        """Cells."""
        return self.rows * self.span


class Patch(NamedTuple):
    """Cells of the screen, `right` and `bottom` not included, and how the rain is covered there: DIM or CLEAR."""

    left: int
    top: int
    right: int
    bottom: int
    cover: int


def field_in(
    x: int, y: int, width: int, height: int, *, share: float = SHARE, max_columns: int = MAX_COLUMNS
) -> Field | None:
    """Return the field in the left part of a region of cells; None when there is no room for one."""
    columns = min(int(width * share) // CELLS_PER_COLUMN, max_columns)
    if columns * CELLS_PER_COLUMN < _MIN_CELLS or height < _MIN_ROWS:
        return None
    span = -(-height // MAX_ROWS)
    return Field(x, y, columns, height // span, span)


def covers_of(field: Field, patches: Iterable[Patch]) -> list[bytes]:
    """Return how each sign is covered, row by row: OPEN, or the strongest cover of a patch that it touches.

    A patch reaches one cell further to both sides, for a terminal mixes neighbours when it stretches a picture.
    """
    rows = [bytearray(field.columns) for _ in range(field.rows)]
    for patch in patches:
        first = max(0, (patch.left - 1 - field.x) // CELLS_PER_COLUMN)
        last = min(field.columns, -(-(patch.right + 1 - field.x) // CELLS_PER_COLUMN))
        if first >= last:
            continue
        top = max(0, (patch.top - field.y) // field.span)
        bottom = min(field.rows, -(-(patch.bottom - field.y) // field.span))
        for row in rows[top:bottom] if top < bottom else ():
            for column in range(first, last):
                row[column] = max(row[column], patch.cover)
    return [bytes(row) for row in rows]
