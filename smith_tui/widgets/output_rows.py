"""Rows of a program's output as Textual strips, with what is selected or found marked, and the text of a selection."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.selection import Selection
from textual.strip import Strip

from smith_tui.transcript.lean_strip import LeanStrip
from smith_tui.transcript.painting import mark, occurrences
from smith_tui.widgets.ansi_line import PLAIN, Span
from smith_tui.widgets.program_colors import style_of
from smith_tui.widgets.tail_view import Lines, ViewRow

MAX_COPIED_LINES = 10_000
"""Lines that a selection takes at most, so that copying does not hold the screen up."""

_MAX_VERIFIED = 1_000
_VERIFIED_AT_ONCE = 10


class Marks(NamedTuple):
    """How rows look and what is marked in them: matches of a search, and a selection.

    selection: in (character of a line, number of the line).
    """

    base: Style
    found: Style
    selected: Style
    needle: str = ""
    selection: Selection | None = None


def row_strip(row: Iterable[Span], base: Style) -> Strip:
    """Return a row of output as a strip on the style `base`."""
    return LeanStrip([Segment(text, base if sgr is PLAIN else style_of(text, sgr, base)) for text, sgr in row])


def marked_strip(row: ViewRow, marks: Marks) -> Strip:
    """Return a row in view as a strip, with its matches and what is selected of it marked."""
    strip = row_strip(row.spans, marks.base)
    span = marks.selection.get_span(row.number) if marks.selection is not None else None
    if span is None and not marks.needle:
        return strip
    text = "".join(text for text, _ in row.spans)
    whole, before = row.line.text, text_before(row)
    for start, end in occurrences(whole, marks.needle):
        strip = _mark_part(strip, text, start - before, end - before, marks.found)
    if span is not None:
        end = len(whole) if span[1] < 0 else span[1]
        strip = _mark_part(strip, text, span[0] - before, end - before, marks.selected)
    return strip


def text_before(row: ViewRow) -> int:
    """Return how many characters of its line stand before a row."""
    return len("".join(row.line.cells[: row.start]))


def _mark_part(strip: Strip, text: str, start: int, end: int, style: Style) -> Strip:
    start, end = max(0, start), min(end, len(text))
    return mark(strip, text, start, end, style) if start < end else strip


def found_lines(lines: Lines, needle: str) -> Iterator[list[int]]:
    """Yield the numbers of the lines that hold `needle`, whatever its case, as many at once as take a moment."""
    wanted = needle.lower()
    unverified = _MAX_VERIFIED
    for numbers in lines.matching(wanted) if wanted else ():
        # A line that was overwritten may hold what can be seen no longer.
        for start in range(0, min(len(numbers), unverified), _VERIFIED_AT_ONCE):
            some = numbers[start : min(start + _VERIFIED_AT_ONCE, unverified)]
            yield [number for number in some if _holds(lines, number, wanted)]
        yield numbers[unverified:]
        unverified = max(0, unverified - len(numbers))


def _holds(lines: Lines, number: int, wanted: str) -> bool:
    # Lines that were there when the search began may be gone.
    return lines.first_line <= number < lines.end_line and wanted in lines.line(number).text.lower()


def selected_text(lines: Lines, selection: Selection) -> str:
    """Return what is selected; rows that were wrapped are one line. At most MAX_COPIED_LINES lines from its start."""
    first = selection.start.y if selection.start is not None else lines.first_line
    last = selection.end.y if selection.end is not None else lines.end_line - 1
    first, last = max(first, lines.first_line), min(last, lines.end_line - 1)
    parts = []
    for number in range(first, min(last + 1, first + MAX_COPIED_LINES)):
        text = lines.line(number).text
        span = selection.get_span(number) or (0, -1)
        parts.append((text[span[0] :] if span[1] < 0 else text[span[0] : span[1]]).rstrip())
    return "\n".join(parts)
