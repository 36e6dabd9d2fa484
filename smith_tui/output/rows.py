"""Rows of the screen as they are wanted or shown: parts side by side, and the cells that they come down to."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import repeat
from typing import NamedTuple

from rich.cells import split_graphemes
from textual.strip import Strip

from smith_tui.output.pens import PLAIN, Pen, PenBox

Cell = tuple[str, Pen]
"""The characters of a cell and their look; the second half of a wide character has none, that is ""."""
Run = tuple[str, Pen]

_CONTROLS = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)))
# Ranges whose width no terminal doubts: (first, last, cells).
_CERTAIN = (
    (0x20, 0x7E, 1),
    (0xA1, 0xAC, 1),
    (0xAE, 0x2FF, 1),
    (0x370, 0x482, 1),  # Greek, Cyrillic
    (0x2010, 0x2027, 1),  # dashes, quotes, ellipsis
    (0x2190, 0x2193, 1),
    (0x2500, 0x259F, 1),  # boxes and blocks
    (0x2800, 0x28FF, 1),  # Braille
    (0x3001, 0x3029, 2),
    (0x3041, 0x3096, 2),
    (0x30A0, 0x30FF, 2),
    (0x4E00, 0x9FFF, 2),
    (0xAC00, 0xD7A3, 2),
    (0xFF01, 0xFF5E, 2),
    (0xFF61, 0xFF9F, 1),  # half-width katakana
)
_NARROW = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last, cells in _CERTAIN if cells == 1) + "]*")
"""Text in which each character has a cell of its own, beyond any doubt."""


class Part(NamedTuple):
    """Cells `x` to `end` of a row, as runs of text in one look."""

    x: int
    end: int
    runs: tuple[Run, ...]


class Row:
    """One row of the screen; it does not change."""

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self.parts = parts

    def with_part(self, new: Part) -> "Row":
        """Return the row with a part laid over it; what is left of the parts below is cut to fit."""
        parts: list[Part] = []
        for part in self.parts:
            if part.x == new.x and part.end == new.end:
                if part.runs == new.runs:
                    return self
            elif part.x < new.end and part.end > new.x:
                parts += _left_of(part, new.x, new.end)
            else:
                parts.append(part)
        parts.append(new)
        parts.sort()
        return Row(tuple(parts))


def blank_row(width: int) -> Row:
    """Return a row of empty cells in the terminal's own colours."""
    return Row((Part(0, width, ((" " * width, PLAIN),)),))


def part_of(x: int, end: int, strip: Strip, box: PenBox) -> Part:
    """Return what a strip shows in the cells `x` to `end`; neighbours of one look are joined."""
    runs: list[Run] = []
    last: Pen | None = None
    pen_of = box.pen
    for text, style, control in strip._segments:
        if control or not text:
            continue
        pen = pen_of(style)
        if pen is last:
            runs[-1] = (runs[-1][0] + text, pen)
        else:
            runs.append((text, pen))
            last = pen
    return Part(x, end, tuple(runs))


def differing(before: Row, after: Row) -> tuple[Sequence[Part], Sequence[Part]]:
    """Return the parts of two rows from where they begin to differ to where they cease to: the same cells of both."""
    old, new = before.parts, after.parts
    if [part.x for part in old] != [part.x for part in new]:
        return old, new
    indices = [index for index, part in enumerate(new) if part != old[index]]
    if not indices:
        return (), ()
    end = indices[-1] + 1
    # What stands behind a character of doubtful width may have to be written again.
    while end < len(new) and narrow_text(new[end - 1 : end]) is None:
        end += 1
    return old[indices[0] : end], new[indices[0] : end]


def narrow_text(parts: Sequence[Part]) -> str | None:
    """Return what stands in parts if each character has a cell of its own, beyond any doubt."""
    whole = ""
    for part in parts:
        text = "".join([text for text, _ in part.runs])
        if len(text) != part.end - part.x:
            return None
        whole += text
    return whole if _NARROW.fullmatch(whole) else None


def equal_end(old: Part, new: Part) -> int:
    """Return how many characters at the end of two parts are surely the same, looking no closer than at whole runs."""
    count = 0
    for run, other in zip(reversed(old.runs), reversed(new.runs), strict=False):
        if run != other:
            break
        count += len(run[0])
    return count


def pens_of(parts: Sequence[Part]) -> list[Pen]:
    """Return the look of each cell of parts with narrow text."""
    pens: list[Pen] = []
    for part in parts:
        for text, pen in part.runs:
            pens += [pen] * len(text)
    return pens


def cells_of(*parts: Part) -> list[Cell]:
    """Return exactly as many cells as the parts are wide; controls are dropped, whoever let them through."""
    return [cell for part in parts for cell in _cells_of(part)]


def _cells_of(part: Part) -> list[Cell]:
    cells: list[Cell] = []
    for text, pen in part.runs:
        if _NARROW.fullmatch(text):
            cells += zip(text, repeat(pen))
        else:
            _add_graphemes(cells, text, pen)
    return _fit(cells, part.end - part.x)


def _add_graphemes(cells: list[Cell], text: str, pen: Pen) -> None:
    for start, end, width in split_graphemes(text)[0]:
        cluster = text[start:end].translate(_CONTROLS)
        if width == 0:
            # A mark without a letter in its run belongs to the letter before.
            owner = next((index for index in range(len(cells) - 1, -1, -1) if cells[index][0]), None)
            if owner is not None and cluster:
                cells[owner] = (cells[owner][0] + cluster, cells[owner][1])
        else:
            cells.append((cluster or " ", pen))
            cells += [("", pen)] * (width - 1)


def _fit(cells: list[Cell], width: int) -> list[Cell]:
    if len(cells) < width:
        return cells + [(" ", cells[-1][1] if cells else PLAIN)] * (width - len(cells))
    return cells if len(cells) == width else cut(cells, 0, width)


def cut(cells: Sequence[Cell], start: int, end: int) -> list[Cell]:
    """Return the cells `start` to `end`, blanks in place of wide characters that are cut in two."""
    kept = list(cells[start:end])
    for index in range(len(kept)):
        if kept[index][0]:
            break
        kept[index] = (" ", kept[index][1])
    if end < len(cells) and not cells[end][0]:
        for index in range(len(kept) - 1, -1, -1):
            is_first_half = bool(kept[index][0])
            kept[index] = (" ", kept[index][1])
            if is_first_half:
                break
    return kept


def _left_of(part: Part, start: int, end: int) -> Iterator[Part]:
    """Yield what stands left and right of `start` to `end`."""
    cells = cells_of(part)
    for first, last in ((part.x, min(start, part.end)), (max(end, part.x), part.end)):
        if first < last:
            yield Part(first, last, _runs_of(cut(cells, first - part.x, last - part.x)))


def _runs_of(cells: Iterable[Cell]) -> tuple[Run, ...]:
    runs: list[Run] = []
    for text, pen in cells:
        if runs and runs[-1][1] == pen:
            runs[-1] = (runs[-1][0] + text, pen)
        else:
            runs.append((text, pen))
    return tuple(runs)


@lru_cache(8192)
def is_certain(cluster: str, width: int) -> bool:
    """Whether every terminal takes these characters for `width` cells; emoji, marks and rare scripts are doubtful."""
    if len(cluster) != 1:
        return False
    code = ord(cluster)
    return any(first <= code <= last and width == cells for first, last, cells in _CERTAIN)
