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
from smith_tui.transcript.lean_strip import LeanStrip
from smith_tui.transcript.lines import PLAIN, Line
from smith_tui.transcript.model import Place, Row
from smith_tui.transcript.selection import key_of

MAX_SEEN_STYLES = 4_000
"""Styles that are kept; each address in a link makes one of its own."""


class SeenStyles(dict[Style, Style]):
    """Each style as it reaches the screen: on its ground, and seen through Textual's line filters, such as NO_COLOR.

    The filters look at styles alone, so each is worked out once instead of for every row that is painted.
    """

    def __init__(self, ground: Style, filters: Sequence[LineFilter] = ()) -> None:
        super().__init__()
        self.ground = ground
        self.filters = filters
        self._back = Color.from_rich_color(ground.bgcolor)

    def __missing__(self, style: Style) -> Style:
        if len(self) > MAX_SEEN_STYLES:
            self.clear()
        segments = [Segment(" ", self.ground + style)]
        for line_filter in self.filters:
            segments = line_filter.apply(segments, self._back)
        seen = self[style] = segments[0].style or self.ground
        return seen


class Painter:
    """Makes strips of rows and keeps those of the rows on the screen, so that Textual can reuse what it wrote."""

    def __init__(self) -> None:
        self.needle = ""
        """What a search looks for; its matches are marked."""
        self._strips: dict[Place, tuple[Line, Strip]] = {}
        self._styles: SeenStyles | None = None

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
        span = selected.get_span(key_of(row.place)) if selected else None
        if span is None and next(occurrences(row.line.text, self.needle), None) is None:
            strip = paint(row.line, width, self._seen_through(filters, ink))
        else:
            strip = self._paint_marked(row, width, ink, span)
            for line_filter in filters:
                strip = strip.apply_filter(line_filter, Color.from_rich_color(ink.base.bgcolor))
        if selected is None:
            self._strips[row.place] = (row.line, strip)
        return strip

    def _seen_through(self, filters: Sequence[LineFilter], ink: Ink) -> SeenStyles:
        styles = self._styles
        if styles is None or styles.ground is not ink.base or styles.filters != filters:
            styles = self._styles = SeenStyles(ink.base, filters)
        return styles

    def _paint_marked(self, row: Row, width: int, ink: Ink, span: tuple[int, int] | None) -> Strip:
        line = row.line
        strip = paint(line, width, SeenStyles(ink.base))
        for start, end in occurrences(line.text, self.needle):
            strip = mark(strip, line.text, start, end, ink.found)
        if span is not None:
            end = len(line.text) if span[1] < 0 else span[1]
            strip = mark(strip, line.text, max(span[0], line.lead), end, ink.selected)
        return strip


def paint(line: Line, width: int, styles: SeenStyles) -> Strip:
    """Return a row as a strip of exactly `width` cells."""
    segments = [Segment(text, styles[style]) for text, style in line.spans]
    if line.cells < width:
        segments.append(Segment(" " * (width - line.cells), styles[PLAIN if line.fill is None else line.fill]))
    strip = LeanStrip(segments, max(line.cells, width))
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
