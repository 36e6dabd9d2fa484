"""Which rows of a line store are in view: the end, followed as it grows, or a place that stays put."""

from collections.abc import Iterator
from itertools import islice

from smith_tui.widgets.ansi_line import LineCells, Span
from smith_tui.widgets.line_store import LineStore

Position = tuple[int, int]  # (number of a line, row inside it once it is wrapped)


def row_bounds(line: LineCells, width: int) -> list[tuple[int, int]]:
    """Return the (start, end) cells of each row of at most `width` cells; an empty line is one row.

    A wide character that does not fit at the end of a row begins the next one; at width 1 it stands alone.
    """
    bounds: list[tuple[int, int]] = []
    start, length = 0, len(line.cells)
    while length - start > width:
        end = start + width
        if line.cells[end] == "":
            end += -1 if width > 1 else 1
        bounds.append((start, end))
        start = end
    if start < length or not bounds:
        bounds.append((start, length))
    return bounds


class TailView:
    """A window of rows on a line store; lines are wrapped only where they are looked at."""

    def __init__(self, store: LineStore) -> None:
        self._store = store
        self._top: Position | None = None

    @property
    def following(self) -> bool:
        """Whether the end is in view and stays there."""
        return self._top is None

    def rows(self, width: int, height: int) -> list[list[Span]]:
        """Return at most `height` rows, from the top, each at most `width` cells wide."""
        width, height = max(1, width), max(0, height)
        rows: list[list[Span]] = []
        for number, row in self._forward(self._top_position(width, height), width):
            if len(rows) == height:
                break
            line = self._store.line(number)
            rows.append(line.spans(*row_bounds(line, width)[row]))
        return rows

    def scroll(self, rows: int, width: int, height: int) -> None:
        """Move down by `rows` (up when negative); reaching the end starts to follow it again."""
        width, height = max(1, width), max(1, height)
        start = self._top_position(width, height)
        steps = self._forward(start, width) if rows > 0 else self._backward(start, width)
        for top in islice(steps, abs(rows) + 1):
            self._top = top
        if self._top is not None and self._top >= self._tail_position(width, height):
            self._top = None

    def to_start(self, width: int, height: int) -> None:
        """Show the first line that is kept."""
        start = (self._store.first_line, 0)
        self._top = start if start < self._tail_position(max(1, width), max(1, height)) else None

    def to_end(self) -> None:
        """Follow the end."""
        self._top = None

    def percent(self, width: int, height: int) -> int:
        """Return how far down the window is, 0 to 100."""
        first, end = self._store.first_line, self._tail_position(max(1, width), max(1, height))[0]
        if self._top is None or end <= first:
            return 100
        return 100 * (self._top_position(width, height)[0] - first) // max(1, end - first)

    def _top_position(self, width: int, height: int) -> Position:
        if self._top is None:
            return self._tail_position(width, height)
        first = (self._store.first_line, 0)
        if self._top < first:
            return first
        number, row = self._top
        return number, min(row, self._row_count(number, width) - 1)

    def _tail_position(self, width: int, height: int) -> Position:
        """Return the top of the window that ends with the last row."""
        end = (self._store.end_line, 0)
        last_rows = list(islice(self._backward(end, width, include=False), height))
        return last_rows[-1] if last_rows else end

    def _row_count(self, number: int, width: int) -> int:
        return len(row_bounds(self._store.line(number), width))

    def _forward(self, position: Position, width: int) -> Iterator[Position]:
        number, row = position
        while number < self._store.end_line:
            for inner in range(row, self._row_count(number, width)):
                yield number, inner
            number, row = number + 1, 0

    def _backward(self, position: Position, width: int, *, include: bool = True) -> Iterator[Position]:
        number, row = position
        if include:
            yield position
        while True:
            while row > 0:
                row -= 1
                yield number, row
            number -= 1
            if number < self._store.first_line:
                return
            row = self._row_count(number, width)
