"""A terminal's screen on pyte, without what pyte 0.8.2 loses, raises on, or does slowly.

Cells hold our own colours, the same that plain lines have. Rows that leave the screen at its top are handed on.
"""

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import pyte
from pyte import charsets, modes
from pyte.screens import Cursor, Margins, StaticDefaultDict
from rich.cells import get_character_cell_size as char_cells

from smith_tui.transcript.cells import visible
from smith_tui.widgets.ansi_line import PLAIN, LineCells, Sgr, apply_sgr

_ALTERNATE_MODES = frozenset({47, 1047, 1049})
_PRIVATE_MODES = {6: modes.DECOM, 7: modes.DECAWM, 25: modes.DECTCEM}
_MODES = {4: modes.IRM, 20: modes.LNM}
_MAX_PARAMETERS = 200  # characters of one colour sequence
_MAX_RUNS = 512


class Cell(NamedTuple):
    """What stands in one cell: "" in the second half of a wide character."""

    data: str = " "
    sgr: Sgr = PLAIN


BLANK = Cell()
Row = dict[int, Cell]
KeepRow = Callable[[LineCells], None]


class _Run(dict[str, Cell]):
    """The cells of all characters in one look."""

    def __init__(self, sgr: Sgr) -> None:
        super().__init__()
        self._sgr = sgr

    def __missing__(self, character: str) -> Cell:
        cell = self[character] = Cell(character, self._sgr)
        return cell


class PageScreen(pyte.Screen):
    """The screen of one program; `keep_row` gets each row that scrolls off the top of the ordinary screen."""

    def __init__(self, columns: int, lines: int, keep_row: KeepRow) -> None:
        self._keep_row = keep_row
        self._alternate: tuple[dict[int, Any], Cursor] | None = None
        self._runs: dict[Sgr, _Run] = {}
        self._last = ""
        self.is_page = False
        """Whether something was put at an absolute place, so that rows belong where they are."""
        super().__init__(columns, lines)

    @property
    def in_alternate_screen(self) -> bool:
        """Whether the program draws on the screen that leaves nothing behind."""
        return self._alternate is not None

    @property
    def default_char(self) -> Any:
        """An empty cell."""
        return BLANK

    @property
    def used_rows(self) -> int:
        """Rows from the top to the last one with something in it or with the cursor behind its start."""
        cursor = self.cursor
        used = cursor.y + 1 if cursor.x or self.in_alternate_screen else cursor.y
        for y in range(self.lines - 1, used - 1, -1):
            if y in self.buffer and self.row(y).cells:
                return y + 1
        return used

    def row(self, y: int) -> LineCells:
        """Return what stands in a row, without blanks at its end; wide characters that lost a half are blanks."""
        line: Any = self.buffer.get(y)
        if line is None or (not line and line.default == BLANK):
            return LineCells([], [])
        found: list[Cell] = [line[x] for x in range(self.columns)]
        while found and found[-1] == BLANK:
            found.pop()
        texts = [cell.data for cell in found]
        if "" in texts or not "".join(texts).isascii():
            _mend_halves(texts)
        return LineCells(texts, [cell.sgr for cell in found])

    # What the stream calls

    def reset(self) -> None:
        """Begin anew."""
        super().reset()
        self.cursor.attrs = self.default_char
        self.savepoints.clear()
        self._alternate = None
        self.is_page = False

    def soft_reset(self) -> None:
        """Take back region, modes and colours, and leave the text."""
        self.margins = None
        self.mode = {modes.DECAWM, modes.DECTCEM}
        self.cursor.attrs = self.default_char
        self.cursor.hidden = False
        self.charset, self.g0_charset, self.g1_charset = 0, charsets.LAT1_MAP, charsets.VT100_MAP

    def draw(self, data: str) -> None:
        """Write text at the cursor; it must hold no control characters."""
        charset = self.g1_charset if self.charset else self.g0_charset
        if charset is not charsets.LAT1_MAP:
            data = data.translate(charset)
        text = visible(data)
        if text.isascii():
            self._draw_run(text)
        else:
            for character in text:
                self._draw_character(character)

    def repeat(self, count: int | None = None) -> None:
        """Write the last character again, at most as often as fits into a row."""
        self.draw(self._last * min(count or 1, self.columns))

    def select_graphic_rendition(self, *attrs: Any) -> None:
        """Set colours and attributes; `attrs` is the text of the parameters."""
        parameters = str(attrs[0]) if attrs else ""
        if len(parameters) <= _MAX_PARAMETERS:
            self.cursor.attrs = self._blank_of(apply_sgr(self._sgr, parameters))

    def change_modes(self, numbers: list[int], *, private: bool, on: bool) -> None:
        """Switch those modes that matter here; all others are ignored."""
        for number in numbers:
            if private and number in _ALTERNATE_MODES:
                self._switch_screen(on=on)
            elif private and number == 1048:
                (self.save_cursor if on else self.restore_cursor)()
            elif (mode := (_PRIVATE_MODES if private else _MODES).get(number)) is not None:
                (self.set_mode if on else self.reset_mode)(mode)

    def save_cursor(self) -> None:
        """Remember the cursor; there is one place for it."""
        self.savepoints.clear()
        super().save_cursor()

    def restore_cursor(self) -> None:
        """Go back to where the cursor was remembered, as often as wanted."""
        kept = self.savepoints[-1:]
        super().restore_cursor()
        self.cursor = copy.copy(self.cursor)
        self.savepoints = kept

    def index(self) -> None:
        """Go down a row; at the end of the region, its first row leaves."""
        top, bottom = self._region
        if self.cursor.y != bottom:
            self.cursor_down()
            return
        gone = self.row(top)
        rows = self.buffer
        rows.pop(top, None)
        for y in range(top + 1, bottom + 1):
            if y in rows:
                rows[y - 1] = rows.pop(y)
        self._clear_row(bottom)
        if top == 0 and not self.in_alternate_screen:
            self._keep_row(gone)

    def next_line(self) -> None:
        """Go to the start of the next row."""
        self.carriage_return()
        self.index()

    def scroll_up(self, count: int | None = None) -> None:
        """Move the rows of the region up."""
        y = self.cursor.y
        self.cursor.y = self._region.bottom
        for _ in range(min(count or 1, self.lines)):
            self.index()
        self.cursor.y = y

    def scroll_down(self, count: int | None = None) -> None:
        """Move the rows of the region down."""
        y = self.cursor.y
        self.cursor.y = self._region.top
        for _ in range(min(count or 1, self.lines)):
            self.reverse_index()
        self.cursor.y = y

    def cursor_up(self, count: int | None = None) -> None:
        """Go up, no further than the start of the region when the cursor is in it or below."""
        top = self._region.top if self.cursor.y >= self._region.top else 0
        self.cursor.y = max(self.cursor.y - (count or 1), top)

    def cursor_down(self, count: int | None = None) -> None:
        """Go down, no further than the end of the region when the cursor is in it or above."""
        bottom = self._region.bottom if self.cursor.y <= self._region.bottom else self.lines - 1
        self.cursor.y = min(self.cursor.y + (count or 1), bottom)

    def cursor_position(self, line: int | None = None, column: int | None = None) -> None:
        """Go to a place."""
        super().cursor_position(line, column)
        self.is_page = self.is_page or (line or 1, column or 1) != (1, 1)

    def cursor_to_line(self, line: int | None = None) -> None:
        """Go to a row."""
        self.cursor_position(line, min(self.cursor.x, self.columns - 1) + 1)

    def set_margins(self, top: int | None = None, bottom: int | None = None) -> None:
        """Set the region that scrolls; without numbers it is the whole screen again."""
        if not (top or bottom):
            self.margins = None
            self.cursor.x = self.cursor.y = 0
            return
        super().set_margins(top or 1, bottom or self.lines)
        self.is_page = True

    def tab(self, count: int | None = None) -> None:
        """Go to the next tab stop, or so many further."""
        for _ in range(min(count or 1, self.columns)):
            super().tab()

    def back_tab(self, count: int | None = None) -> None:
        """Go back to a tab stop."""
        for _ in range(min(count or 1, self.columns)):
            self.cursor.x = max((stop for stop in self.tabstops if stop < self.cursor.x), default=0)

    def erase_characters(self, count: int | None = None) -> None:
        """Blank so many cells from the cursor on."""
        x = self._column
        self._erase(self.cursor.y, x, x + (count or 1))

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:
        """Blank the row from the cursor on (0), up to the cursor (1), or whole (2)."""
        start, end = {0: (self._column, self.columns), 1: (0, self._column + 1), 2: (0, self.columns)}.get(how, (0, 0))
        self._erase(self.cursor.y, start, end)

    def erase_in_display(self, how: int = 0, *args: Any, **kwargs: Any) -> None:
        """Blank the screen from the cursor on (0), up to the cursor (1), or whole (2, 3)."""
        y = self.cursor.y
        rows = {0: range(y + 1, self.lines), 1: range(y), 2: range(self.lines), 3: range(self.lines)}.get(how, range(0))
        for row in rows:
            self._clear_row(row)
        if how in (0, 1):
            self.erase_in_line(how)

    def alignment_display(self) -> None:
        """Fill the screen with the letter E, which is how terminals are adjusted."""
        for y in range(self.lines):
            self.buffer[y] = StaticDefaultDict(Cell("E"))  # type: ignore[arg-type]

    # Inside

    @property
    def _sgr(self) -> Sgr:
        cell: Any = self.cursor.attrs
        return cell.sgr if isinstance(cell, Cell) else PLAIN

    @property
    def _region(self) -> Margins:
        return self.margins or Margins(0, self.lines - 1)

    @property
    def _column(self) -> int:
        return min(self.cursor.x, self.columns - 1)

    @staticmethod
    def _blank_of(sgr: Sgr) -> Any:
        return Cell(" ", sgr)

    @property
    def _erased(self) -> Any:
        """What erased cells hold: of all colours only the ground."""
        ground = self._sgr.background
        return BLANK if ground is None else Cell(" ", Sgr(background=ground))

    def _erase(self, y: int, start: int, end: int) -> None:
        if start == 0 and end >= self.columns:
            self._clear_row(y)
        else:
            self.buffer[y].update(dict.fromkeys(range(start, min(end, self.columns)), self._erased))

    def _clear_row(self, y: int) -> None:
        if self._erased == BLANK:
            self.buffer.pop(y, None)
        else:
            self.buffer[y] = StaticDefaultDict(self._erased)

    def _switch_screen(self, *, on: bool) -> None:
        if on and self._alternate is None:
            self._alternate = dict(self.buffer), copy.copy(self.cursor)
            self.buffer.clear()
        elif not on and self._alternate is not None:
            rows, self.cursor = self._alternate
            self._alternate = None
            self.buffer.clear()
            self.buffer.update(rows)
            self.margins = None
            self.is_page = False

    def _draw_run(self, text: str) -> None:
        if not text:
            return
        self._last = text[-1]
        if modes.IRM in self.mode:
            self.insert_characters(len(text))
        if modes.DECAWM not in self.mode and self.cursor.x + len(text) > self.columns:
            # Without wrapping, all that is too much is written into the last cell.
            self.cursor.x = self._column
            text = text[: self.columns - self.cursor.x - 1] + text[-1]
        run = self._run()
        while text:
            self._wrap(1)
            x = self.cursor.x
            part, text = text[: self.columns - x], text[self.columns - x :]
            self.buffer[self.cursor.y].update(zip(range(x, x + len(part)), map(run.__getitem__, part), strict=True))
            self.cursor.x = x + len(part)

    def _run(self) -> Any:
        sgr = self._sgr
        run = self._runs.get(sgr)
        if run is None:
            if len(self._runs) >= _MAX_RUNS:
                self._runs.clear()
            run = self._runs[sgr] = _Run(sgr)
        return run

    def _draw_character(self, character: str) -> None:
        width = char_cells(character)
        if width == 0:
            self._add_mark(character)
            return
        self._last = character
        if modes.IRM in self.mode:
            self.insert_characters(width)
        self._wrap(width)
        line: Any = self.buffer[self.cursor.y]
        line[self.cursor.x] = Cell(character, self._sgr)
        if width == 2:
            line[self.cursor.x + 1] = Cell("", self._sgr)
        self.cursor.x += width

    def _wrap(self, width: int) -> None:
        """Make room for a character of so many cells."""
        if self.cursor.x + width > self.columns:
            if modes.DECAWM in self.mode:
                self.carriage_return()
                self.index()
            else:
                self.cursor.x = self.columns - width

    def _add_mark(self, mark: str) -> None:
        """Put a mark on the character left of the cursor, if there is one."""
        line: Any = self.buffer[self.cursor.y]
        x = self.cursor.x - 1
        if x > 0 and line[x].data == "":
            x -= 1
        if x >= 0:
            self._last = visible(line[x].data + mark)
            line[x] = line[x]._replace(data=self._last)


def _mend_halves(cells: list[str]) -> None:
    """Make blanks of halves of wide characters."""
    x = 0
    while x < len(cells):
        is_wide = cells[x] != "" and char_cells(cells[x][0]) == 2
        if is_wide and x + 1 < len(cells) and cells[x + 1] == "":
            x += 1
        elif is_wide or cells[x] == "":
            cells[x] = " "
        x += 1
