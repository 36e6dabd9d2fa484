"""From cells to bytes: moves, looks and characters, as few as it takes, at the right place in every terminal."""

import re
from collections.abc import Sequence
from itertools import compress, count, groupby
from operator import is_not, ne

from smith_tui.output.pens import PLAIN, Pen, switch
from smith_tui.output.rows import Cell, Row, cells_of, differing, equal_end, is_certain, narrow_text, pens_of

_MIN_ERASED = 10
"""Blanks from which on erasing takes fewer bytes than writing them: two sequences of at most 5."""
_ERASABLE = " " * _MIN_ERASED
_BLANKS = re.compile(f"( {{{_MIN_ERASED},}})")
_WORTH_A_MOVE = 5
"""Equal cells between two differing ones that are written again rather than jumped over: a jump takes 4 to 6 bytes."""
_STRETCH = re.compile(rb"\x01(?:\x00{0,%d}\x01)*" % (_WORTH_A_MOVE - 1))
"""What is written in one go, of a byte for each cell that says whether it differs."""


class Encoder:
    """Collects what is written for one frame and knows where that leaves the terminal's cursor and look.

    has_color_erase: whether the terminal erases in the background of the moment (terminfo's `bce`).
    """

    def __init__(self, width: int, *, has_color_erase: bool) -> None:
        self._width = width
        self._has_color_erase = has_color_erase
        self._pieces: list[str] = []
        self._pen = PLAIN
        self._place: tuple[int, int] | None = None

    def finish(self, cursor: tuple[int, int]) -> str:
        """Return all sequences, ending with the plain look and the cursor at (column, row), both from 0."""
        self._use(PLAIN)
        self._go(*cursor)
        return "".join(self._pieces)

    def row(self, y: int, before: Row | None, after: Row) -> None:
        """Write where a row differs from what the terminal shows; None: nobody knows what it shows."""
        if before is None:
            self._whole_row(y, after)
            return
        if before.parts == after.parts:
            return
        old, new = differing(before, after)
        if not new:
            return
        x, old_text, new_text = new[0].x, narrow_text(old), narrow_text(new)
        if old_text is None or new_text is None:
            cells = cells_of(*new)
            for start, end in changed_spans(cells_of(*old), cells):
                self.cells(y, x + start, cells[start:end])
            return
        # Most rows come this way, for which no cell has to be made.
        pens, end = pens_of(new), len(new_text) - equal_end(old[-1], new[-1])
        is_other_text = bytes(map(ne, old_text[:end], new_text))
        is_other = _either(is_other_text, bytes(map(is_not, pens_of(old)[:end], pens)))
        for stretch in _STRETCH.finditer(is_other):
            start, end = stretch.span()
            self._narrow(y, x + start, new_text[start:end], pens[start:end])

    def _whole_row(self, y: int, row: Row) -> None:
        text = narrow_text(row.parts)
        if text is None:
            self.cells(y, 0, cells_of(*row.parts))
        else:
            self._narrow(y, 0, text, pens_of(row.parts))

    def _narrow(self, y: int, x: int, text: str, pens: Sequence[Pen]) -> None:
        """Write text of which each character has a cell of its own."""
        start = 0
        for pen, same in groupby(pens):
            stop = start + len(list(same))
            self._plain_text(y, x + start, text[start:stop], pen)
            start = stop

    def scroll(self, top: int, bottom: int, rows: int) -> None:
        """Move the rows `top` to `bottom` up by so many rows, or down when negative, within a scroll region."""
        self._use(PLAIN)
        edge, step = (bottom, "\x1bD") if rows > 0 else (top, "\x1bM")
        self._pieces.append(f"\x1b[{top + 1};{bottom + 1}r\x1b[{edge + 1};1H{step * abs(rows)}\x1b[r")
        self._place = None

    def cells(self, y: int, x: int, cells: Sequence[Cell]) -> None:
        """Write cells from a column on."""
        index = 0
        while index < len(cells):
            text, pen = cells[index]
            stop = index + 1
            if text.isascii():
                while stop < len(cells) and cells[stop][1] is pen and cells[stop][0] and cells[stop][0].isascii():
                    stop += 1
                self._plain_text(y, x + index, "".join([text for text, _ in cells[index:stop]]), pen)
            else:
                stop = _whole(cells, stop)
                self._character(y, x + index, x + stop, text, pen)
            index = stop

    def _plain_text(self, y: int, x: int, text: str, pen: Pen) -> None:
        if _ERASABLE not in text or not self._has_color_erase or not pen.is_bare:
            self._text(y, x, text, pen)
            return
        for piece in _BLANKS.split(text):
            if len(piece) >= _MIN_ERASED and piece.isspace():
                self._go(x, y)
                self._use(pen)
                self._pieces.append(f"\x1b[{len(piece)}X")
            elif piece:
                self._text(y, x, piece, pen)
            x += len(piece)

    def _text(self, y: int, x: int, text: str, pen: Pen) -> None:
        self._go(x, y)
        if pen is not self._pen:
            self._use(pen)
        self._pieces.append(text)
        self._moved(x + len(text), y)

    def _character(self, y: int, x: int, end: int, text: str, pen: Pen) -> None:
        self._go(x, y)
        self._use(pen)
        if is_certain(text, end - x):
            self._pieces.append(text)
            self._moved(end, y)
            return
        # The terminal may take it for narrower or wider: blank its cells first, and say where the next one stands.
        self._pieces.append(f"{' ' * (end - x)}\x1b[{x + 1}G{text}")
        self._place = None

    def _moved(self, x: int, y: int) -> None:
        # Behind the last column terminals differ: some wait there to wrap.
        self._place = (x, y) if x < self._width else None

    def _use(self, pen: Pen) -> None:
        if pen is not self._pen:
            self._pieces.append(switch(self._pen, pen))
            self._pen = pen

    def _go(self, x: int, y: int) -> None:
        if self._place == (x, y):
            return
        if self._place is not None and self._place[1] == y and self._place[0] < x:
            self._pieces.append(f"\x1b[{x - self._place[0]}C")
        else:
            self._pieces.append(f"\x1b[{y + 1};{x + 1}H")
        self._place = (x, y)


def _either(first: bytes, second: bytes) -> bytes:
    return (int.from_bytes(first) | int.from_bytes(second)).to_bytes(len(first))


def changed_spans(before: Sequence[Cell], after: Sequence[Cell]) -> list[tuple[int, int]]:
    """Return where two rows of the same width differ, as (start, end), never within a wide character.

    Behind a character of doubtful width the next one is written again, for the terminal may have drawn over it.
    """
    spans: list[tuple[int, int]] = []
    start = stop = -_WORTH_A_MOVE
    for index in compress(count(), map(ne, before, after)):
        end = index + 1
        text = after[index][0]
        if text and not text.isascii():
            end = _end_of_doubt(after, index, len(after))
        if index - stop >= _WORTH_A_MOVE:
            spans.append((start, stop))
            start = index
        if end > stop:
            stop = end
    spans.append((start, stop))
    return [(_begin(after, start), _whole(after, end)) for start, end in spans[1:]]


def _end_of_doubt(cells: Sequence[Cell], index: int, width: int) -> int:
    end = _whole(cells, index + 1)
    while not is_certain(cells[index][0], end - index) and end < width:
        index, end = end, _whole(cells, end + 1)
    return end


def _whole(cells: Sequence[Cell], end: int) -> int:
    while end < len(cells) and not cells[end][0]:
        end += 1
    return end


def _begin(cells: Sequence[Cell], start: int) -> int:
    while start > 0 and not cells[start][0]:
        start -= 1
    return start
