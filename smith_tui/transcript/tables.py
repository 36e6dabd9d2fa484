"""Tables as boxes that fit the width: columns shrink from the widest down, cells wrap."""

from collections.abc import Sequence

from smith_tui.transcript.cells import cell_width
from smith_tui.transcript.ink import Ink
from smith_tui.transcript.lines import Line, Span, line_of, wrap

MIN_COLUMN = 3
"""Cells; a table whose columns would get narrower is written as a list."""

Cell = list[Span]


def render_table(table: Sequence[Sequence[Cell]], alignments: Sequence[str], width: int, ink: Ink) -> list[Line]:
    """Return the rows of a table whose first row is its head.

    alignments: left, right, center or empty for each column; a row may have fewer cells, more are dropped.
    """
    count = len(alignments)
    if not count:
        return []
    widths = _fit([_natural_width(table, column) for column in range(count)], width - 3 * count - 1)
    if widths is None:
        return _as_list(table, width, ink)
    rows = [_rule(widths, ("╭", "┬", "╮"), ink)]
    for index, cells in enumerate(table):
        rows += _row(cells, widths, alignments, ink)
        if index == 0:
            rows.append(_rule(widths, ("├", "┼", "┤"), ink))
    rows.append(_rule(widths, ("╰", "┴", "╯"), ink))
    return rows


def _natural_width(table: Sequence[Sequence[Cell]], column: int) -> int:
    widths = [sum(cell_width(text) for text, _ in cells[column]) for cells in table if column < len(cells)]
    return max(1, *widths)


def _fit(widths: list[int], room: int) -> list[int] | None:
    """Return column widths that fit into `room` cells, or None: all columns above a common limit are cut to it."""
    if sum(widths) <= room:
        return widths
    if room < sum(min(width, MIN_COLUMN) for width in widths):
        return None
    limit = max(widths)
    while sum(min(width, limit) for width in widths) > room:
        limit -= 1
    fitted = [min(width, limit) for width in widths]
    spare = room - sum(fitted)
    for index, width in enumerate(widths):
        if spare and width > limit:
            fitted[index] += 1
            spare -= 1
    return fitted


def _rule(widths: Sequence[int], corners: tuple[str, str, str], ink: Ink) -> Line:
    left, middle, right = corners
    return line_of([(left + middle.join("─" * (width + 2) for width in widths) + right, ink.rule)])


def _row(cells: Sequence[Cell], widths: Sequence[int], alignments: Sequence[str], ink: Ink) -> list[Line]:
    wrapped = [wrap(cells[column] if column < len(cells) else [], width) for column, width in enumerate(widths)]
    bar = ("│", ink.rule)
    rows = []
    for index in range(max(len(lines) for lines in wrapped)):
        spans: list[Span] = [bar]
        for lines, width, alignment in zip(wrapped, widths, alignments, strict=True):
            line = lines[index] if index < len(lines) else Line()
            spare = max(0, width - line.cells)
            left = {"right": spare, "center": spare // 2}.get(alignment, 0)
            spans += [(" " * (left + 1), ink.base), *line.spans, (" " * (spare - left + 1), ink.base), bar]
        rows.append(line_of(spans))
    return rows


def _as_list(table: Sequence[Sequence[Cell]], width: int, ink: Ink) -> list[Line]:
    """Return each cell on rows of its own behind its column's name, for widths that hold no box."""
    head = table[0]
    rows: list[Line] = []
    for cells in table[1:] or [head]:
        for column, cell in enumerate(cells):
            name = [*head[column], (": ", ink.muted)] if column < len(head) and cells is not head else []
            rows += wrap([*name, *cell], width)
    return rows
