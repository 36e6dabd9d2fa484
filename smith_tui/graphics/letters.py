"""Where letters stand in the rows of a transcript, and where long runs of blanks are."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from rich.style import Style

from smith_tui.graphics.field import CLEAR, DIM
from smith_tui.transcript.cells import cell_width
from smith_tui.transcript.lines import Line

MIN_BLANKS = 8
"""Cells of a run of blanks from which on signs may stand in it; between words they would hurt reading."""
_MARGIN = 2
"""Blank cells that are left between letters and signs."""
_BLANKS = re.compile(f" {{{MIN_BLANKS},}}")
_WORDS = re.compile(r"[^ ]+(?: {1,3}[^ ]+)*")


class Run(NamedTuple):
    """Cells `start` to `end` of a row, and how rain behind them is covered."""

    start: int
    end: int
    cover: int


class Gap(NamedTuple):
    """Blank cells `start` to `end` of a row, and the style of their ground; None for the plain one."""

    start: int
    end: int
    ground: Style | None


def runs_of(line: Line, width: int) -> list[Run]:
    """Return where letters stand in the first `width` cells of a row, from the left."""
    runs: list[Run] = []
    for x, text, style in _spans(line):
        if x >= width:
            break
        cover = DIM if style.bgcolor is None else CLEAR
        for found in _WORDS.finditer(text):
            start = x + cell_width(text[: found.start()])
            end = start + cell_width(found[0])
            if runs and runs[-1].cover == cover and start - runs[-1].end <= _MARGIN:
                start = runs.pop().start
            runs.append(Run(start, end, cover))
    return runs


def gaps_of(line: Line | None, width: int) -> list[Gap]:
    """Return the longer runs of blanks in a row of `width` cells, as far as they are free for signs."""
    if line is None:
        return [Gap(0, width, None)]
    blanks: list[Gap] = []
    end = 0
    for x, text, style in _spans(line):
        for found in _BLANKS.finditer(text):
            start = x + cell_width(text[: found.start()])
            blanks.append(Gap(start, start + len(found[0]), style))
        end = x + cell_width(text)
    blanks.append(Gap(end, width, line.fill))
    return [gap for blank in blanks for gap in _inner(blank, width)]


def _inner(blank: Gap, width: int) -> Iterator[Gap]:
    """Yield what of a run of blanks is free for signs."""
    start, end = blank.start, min(blank.end, width)
    if end - start >= MIN_BLANKS:
        yield Gap(start + _MARGIN * (start > 0), end - _MARGIN * (end < width), blank.ground)


def _spans(line: Line) -> Iterator[tuple[int, str, Style]]:
    x = 0
    for text, style in line.spans:
        yield x, text, style
        x += cell_width(text)
