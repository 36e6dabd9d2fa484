"""Rows of text as Textual strips: exactly as wide as the view, with what is selected or found marked."""

from collections.abc import Iterator

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from smith_tui.transcript.cells import cell_width
from smith_tui.transcript.ink import Ink
from smith_tui.transcript.lines import Line


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
