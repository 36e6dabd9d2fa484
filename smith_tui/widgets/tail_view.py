"""Which rows of a program's output are in view: the end, followed as it grows, or a place that stays put."""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple, Protocol

from smith_tui.widgets.ansi_line import LineCells, Span

Position = tuple[int, int]  # (number of a line, row inside it once it is wrapped)


class Lines(Protocol):
    """Lines with numbers that stay; those in `range(first_line, end_line)` can be read."""

    @property
    def first_line(self) -> int:
        """Number of the first line that is kept."""

    @property
    def end_line(self) -> int:
        """One past the number of the last line."""

    def line(self, number: int) -> LineCells:
        """Return a line, resolved; IndexError outside of the range."""

    def page_top(self, height: int) -> int | None:
        """Return the line at which a window that follows begins, None for the end.

        Where it is not None, lines are rows of a screen: they are not wrapped but cut at the right.
        """

    def matching(self, wanted: str) -> Iterator[list[int]]:
        """Yield the numbers of lines that hold `wanted`, which is in lower case, for one block after the other."""


class ViewRow(NamedTuple):
    """A row in view: its line as it was then, the cell of the line that it begins with, and what it shows."""

    number: int
    line: LineCells
    start: int
    spans: list[Span]


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
    """A window of rows on lines; they are wrapped only where they are looked at."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.column = 0
        """Cells at the left that are out of view, where lines are not wrapped."""
        self._top: Position | None = None

    @property
    def following(self) -> bool:
        """Whether the end is in view and stays there."""
        return self._top is None

    def rows(self, width: int, height: int) -> list[ViewRow]:
        """Return at most `height` rows, from the top, each at most `width` cells wide."""
        width, height = max(1, width), max(0, height)
        is_page = self.lines.page_top(height) is not None
        rows: list[ViewRow] = []
        for number, row in self._forward(self._top_position(width, height), width):
            if len(rows) == height:
                break
            line = self.lines.line(number)
            bounds = (self.column, self.column + width) if is_page else row_bounds(line, width)[row]
            start, end = _without_halves(line, *bounds)
            spans = line.spans(start, end)
            if start > bounds[0]:
                spans.insert(0, (" ", line.styles[bounds[0]]))
            rows.append(ViewRow(number, line, bounds[0], spans))
        return rows

    def scroll(self, rows: int, width: int, height: int) -> None:
        """Move down by `rows` (up when negative); reaching the end starts to follow it again."""
        width, height = max(1, width), max(1, height)
        start = self._top_position(width, height)
        steps = self._forward(start, width) if rows > 0 else self._backward(start, width)
        for top in islice(steps, abs(rows) + 1):
            self._top = top
        self._settle(width, height)

    def show_line(self, number: int, width: int, height: int) -> None:
        """Show a line in the upper third of the window."""
        width, height = max(1, width), max(1, height)
        number = min(max(number, self.lines.first_line), max(self.lines.first_line, self.lines.end_line - 1))
        self._top = (number, 0)
        for top in islice(self._backward(self._top, width), height // 3 + 1):
            self._top = top
        self._settle(width, height)

    def shift(self, columns: int, width: int) -> None:
        """Move right by `columns` (left when negative), where lines are not wrapped."""
        end = max((len(self.lines.line(row.number).cells) for row in self.rows(width, 200)), default=0)
        self.column = max(0, min(self.column + columns, end - width))

    def to_start(self, width: int, height: int) -> None:
        """Show the first line that is kept."""
        self._top = (self.lines.first_line, 0)
        self._settle(max(1, width), max(1, height))

    def to_end(self) -> None:
        """Follow the end."""
        self._top = None

    def percent(self, width: int, height: int) -> int:
        """Return how far down the window is, 0 to 100."""
        first, end = self.lines.first_line, self._end_position(max(1, width), max(1, height))[0]
        if self._top is None or end <= first:
            return 100
        return 100 * (self._top_position(width, height)[0] - first) // max(1, end - first)

    def _settle(self, width: int, height: int) -> None:
        """Follow again where the window would be the same, and never show less than a window."""
        end, tail = self._end_position(width, height), self._tail_position(width, height)
        if self._top is not None and self._top >= end:
            self._top = end
        if self._top == tail:
            self._top = None

    def _top_position(self, width: int, height: int) -> Position:
        if self._top is None:
            return self._tail_position(width, height)
        first = (self.lines.first_line, 0)
        if self._top < first:
            return first
        number, row = self._top
        if number >= self.lines.end_line:  # a screen was cleared
            return self._tail_position(width, height)
        return number, min(row, self._row_count(number, width) - 1)

    def _tail_position(self, width: int, height: int) -> Position:
        """Return the top of the window that follows."""
        page_top = self.lines.page_top(height)
        return self._end_position(width, height) if page_top is None else (page_top, 0)

    def _end_position(self, width: int, height: int) -> Position:
        """Return the top of the window that ends with the last row."""
        end = (self.lines.end_line, 0)
        last_rows = list(islice(self._backward(end, width, include=False), height))
        return last_rows[-1] if last_rows else end

    def _row_count(self, number: int, width: int) -> int:
        return 1 if self.lines.page_top(1) is not None else len(row_bounds(self.lines.line(number), width))

    def _forward(self, position: Position, width: int) -> Iterator[Position]:
        number, row = position
        while number < self.lines.end_line:
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
            if number < self.lines.first_line:
                return
            row = self._row_count(number, width)


def _without_halves(line: LineCells, start: int, end: int) -> tuple[int, int]:
    """Return the bounds moved inwards where they would cut a wide character in two."""
    cells = line.cells
    if start < len(cells) and cells[start] == "" and start > 0:
        start += 1
    if end < len(cells) and cells[end] == "" and end - 1 > start:
        end -= 1
    return start, end
