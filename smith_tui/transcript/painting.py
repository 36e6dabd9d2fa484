"""Rows of text as Textual strips: exactly as wide as the view, with what is selected or found marked."""

from collections.abc import Iterator, Sequence

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter
from textual.selection import Selection
from textual.strip import Strip

from smith_tui.transcript.cells import cell_width
from smith_tui.transcript.ink import Ink
from smith_tui.transcript.lines import Line
from smith_tui.transcript.model import Place, Row
from smith_tui.transcript.selection import key_of


class Painter:
    """Makes strips of rows and keeps those of the rows on the screen, so that Textual can reuse what it wrote."""

    def __init__(self) -> None:
        self.needle = ""
        """What a search looks for; its matches are marked."""
        self._strips: dict[Place, tuple[Line, Strip]] = {}

    def forget(self, *, beyond: int = 0) -> None:
        """Drop the kept strips, if there are more than `beyond`."""
        if len(self._strips) > beyond:
            self._strips.clear()

    def strip(
        self, row: Row, width: int, ink: Ink, filters: Sequence[LineFilter], selected: Selection | None = None
    ) -> Strip:
        """Return a row as a strip of exactly `width` cells, seen through Textual's line filters (such as NO_COLOR)."""
        kept = self._strips.get(row.place)
        if selected is None and kept is not None and kept[0] is row.line:
            return kept[1]
        strip = self._paint(row, width, ink, selected)
        for line_filter in filters:
            strip = strip.apply_filter(line_filter, Color.from_rich_color(ink.base.bgcolor))
        if selected is None:
            self._strips[row.place] = (row.line, strip)
        return strip

    def _paint(self, row: Row, width: int, ink: Ink, selected: Selection | None) -> Strip:
        line = row.line
        strip = paint(line, width, ink)
        for start, end in occurrences(line.text, self.needle):
            strip = mark(strip, line.text, start, end, ink.found)
        span = selected.get_span(key_of(row.place)) if selected else None
        if span is not None:
            end = len(line.text) if span[1] < 0 else span[1]
            strip = mark(strip, line.text, max(span[0], line.lead), end, ink.selected)
        return strip


def paint(line: Line, width: int, ink: Ink) -> Strip:
    """Return a row as a strip of exactly `width` cells."""
    base = ink.base
    segments = [Segment(text, base + style) for text, style in line.spans]
    if line.cells < width:
        ground = base if line.fill is None else base + line.fill
        segments.append(Segment(" " * (width - line.cells), ground))
    strip = Strip(segments, max(line.cells, width))
    return strip.crop(0, width) if line.cells > width else strip


def mark(strip: Strip, text: str, start: int, end: int, style: Style) -> Strip:
    """Give the characters from `start` to `end` of a strip's text another style."""
    left, right = cell_width(text[:start]), cell_width(text[:end])
    if right <= left:
        return strip
    middle = strip.crop(left, right)
    marked = Strip(Segment.apply_style(middle, post_style=style), middle.cell_length)
    return Strip.join([strip.crop(0, left), marked, strip.crop(right)])


def occurrences(text: str, needle: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each match, in the characters of `text`, without regard to case."""
    lowered, wanted = text.lower(), needle.lower()
    if not wanted or len(lowered) != len(text):
        return
    start = lowered.find(wanted)
    while start >= 0:
        yield start, start + len(wanted)
        start = lowered.find(wanted, start + len(wanted))


def overlay(strip: Strip, label: str, style: Style, width: int) -> Strip:
    """Put a label over the right end of a strip."""
    cells = cell_width(label)
    if cells > width:
        return strip
    return Strip.join([strip.crop(0, width - cells), Strip([Segment(label, style)], cells)])
