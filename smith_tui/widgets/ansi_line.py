"""One line of a program's output resolved as a terminal would: colours, overwriting, tabs; everything else swallowed.

Pure. A line is bytes; what it shows is a row of cells. Sequences that move between lines or switch modes are
swallowed whole, because a line knows no other line.
"""

import re
from functools import lru_cache
from typing import NamedTuple

import msgspec
from rich.cells import get_character_cell_size as char_cells

from smith_tui.transcript.cells import visible

MAX_LINE_CELLS = 4096  # what lies further right is not kept; an ellipsis says so
TAB_STOP = 8

Colour = int | tuple[int, int, int] | None


class Sgr(NamedTuple):
    """Colours and attributes in force; a colour is a palette number 0-255, red-green-blue, or None for the default."""

    foreground: Colour = None
    background: Colour = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    reverse: bool = False
    strike: bool = False


PLAIN = Sgr()
Span = tuple[str, Sgr]

_SGR_BYTES = re.compile(rb"\x1b\[([0-9;:]*)m")
_NO_CODE = -1
_ATTRIBUTES = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse", 9: "strike"}
_RESETS: dict[int, dict[str, bool | None]] = {
    22: {"bold": False, "dim": False},
    23: {"italic": False},
    24: {"underline": False},
    27: {"reverse": False},
    29: {"strike": False},
    39: {"foreground": None},
    49: {"background": None},
}
# First number of a run of palette colours: (field, palette number of its first colour).
_PALETTE_RUNS = {
    30: ("foreground", 0),
    40: ("background", 0),
    90: ("foreground", 8),
    100: ("background", 8),
}


@lru_cache(maxsize=4096)
def apply_sgr(state: Sgr, parameters: str) -> Sgr:
    """Return `state` changed by the parameters of one `CSI … m`; unknown or broken ones change nothing."""
    if parameters in ("", "0"):
        return PLAIN
    fields = parameters.split(";")
    index = 0
    while index < len(fields):
        code, *rest = (_number(part) for part in fields[index].split(":"))
        index += 1
        if code in (38, 48):
            if not rest:
                rest = [_number(part) for part in fields[index : index + 4]]
                index += {5: 2, 2: 4}.get(rest[0] if rest else 0, 0)
            elif len(rest) > 4:
                del rest[1]  # the colour space of the colon form
            colour = _extended_colour(rest)
            if colour is not None:
                state = state._replace(foreground=colour) if code == 38 else state._replace(background=colour)
        else:
            state = _apply_code(state, code, rest)
    return state


def _number(digits: str) -> int:
    if not digits:
        return 0
    # Longer numbers mean nothing, and int() refuses thousands of digits.
    return int(digits) if len(digits) < 6 else _NO_CODE


def _extended_colour(values: list[int]) -> Colour:
    match values:
        case [5, number, *_] if 0 <= number < 256:
            return number
        case [2, red, green, blue, *_] if min(red, green, blue) >= 0 and max(red, green, blue) < 256:
            return red, green, blue
    return None


def _apply_code(state: Sgr, code: int, sub: list[int]) -> Sgr:
    if code == 0:
        return PLAIN
    if code in _ATTRIBUTES:
        return state._replace(**{_ATTRIBUTES[code]: sub[:1] != [0]})
    if code in _RESETS:
        return state._replace(**_RESETS[code])  # type: ignore[arg-type]
    field, first = _PALETTE_RUNS.get(code - code % 10, ("", 0))
    if field and code % 10 < 8:
        return state._replace(**{field: first + code % 10})  # type: ignore[arg-type]
    return state


def sgr_after(state: Sgr, data: bytes | bytearray) -> Sgr:
    """Return the state in force after `data`; what stands before the last full reset is not looked at."""
    if b"\x1b" not in data:
        return state
    start = max(data.rfind(b"\x1b[0m"), data.rfind(b"\x1b[m"))
    for match in _SGR_BYTES.finditer(data, max(start, 0)):
        state = apply_sgr(state, match[1].decode("ascii"))
    return state


def sgr_sequence(state: Sgr) -> str:
    """Return the escape sequence that sets exactly `state`."""
    codes = ["0", *(str(code) for code, name in _ATTRIBUTES.items() if getattr(state, name))]
    for prefix, colour in (("38", state.foreground), ("48", state.background)):
        if isinstance(colour, tuple):
            codes.append(f"{prefix};2;{colour[0]};{colour[1]};{colour[2]}")
        elif colour is not None:
            codes.append(f"{prefix};5;{colour}")
    return f"\x1b[{';'.join(codes)}m"


class LineCells(msgspec.Struct, frozen=True):
    """What a line shows: one entry per terminal cell, "" for the second half of a wide character."""

    cells: list[str]
    styles: list[Sgr]
    truncated: bool = False

    def spans(self, start: int = 0, end: int | None = None) -> list[Span]:
        """Return cells `start` to `end` as runs of text of one style."""
        spans: list[Span] = []
        end = len(self.cells) if end is None else min(end, len(self.cells))
        while start < end:
            style = self.styles[start]
            stop = start + 1
            while stop < end and self.styles[stop] == style:
                stop += 1
            spans.append(("".join(self.cells[start:stop]), style))
            start = stop
        return spans

    @property
    def text(self) -> str:
        """The characters of the line."""
        return "".join(self.cells)


_TOKEN = re.compile(
    r"\x1b\[(?P<parameters>[0-?]*)(?P<between>[ -/]*)(?P<final>[@-~])?"
    r"|\x1b[ -/]*[0-~]?"
    r"|(?P<move>[\r\x08\t])"
    r"|(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    r"|[\x00-\x1f\x7f-\x9f]"
)


class LineGrid:
    """A row of cells under construction, fed piece by piece; memory is bounded by MAX_LINE_CELLS."""

    def __init__(self, sgr: Sgr = PLAIN) -> None:
        self._cells: list[str] = []
        self._styles: list[Sgr] = []
        self._column = 0
        self._truncated = False
        self.sgr = sgr

    def feed(self, text: str) -> None:
        """Take more of the line; a sequence must not be cut between two calls."""
        for token in _TOKEN.finditer(text):
            if token["text"] is not None:
                self._write(visible(token["text"]))
            elif token["move"] is not None:
                self._move(token["move"])
            elif token["final"] is not None and not token["between"]:
                self._control(token["final"], token["parameters"])

    def snapshot(self) -> LineCells:
        """Return what the line shows now."""
        cells, styles = list(self._cells), list(self._styles)
        if self._truncated:
            cells.append("…")
            styles.append(PLAIN)
        return LineCells(cells, styles, self._truncated)

    def encode(self) -> bytes:
        """Return bytes that resolve to the same cells and leave the same colours in force."""
        shown = self.snapshot()
        text = "".join(sgr_sequence(style) + run for run, style in shown.spans())
        return (text + sgr_sequence(self.sgr)).encode("utf-8")

    def _move(self, control: str) -> None:
        if control == "\r":
            self._column = 0
        elif control == "\x08":
            self._column = max(0, self._column - 1)
        else:
            self._column = min(MAX_LINE_CELLS, (self._column // TAB_STOP + 1) * TAB_STOP)

    def _control(self, final: str, parameters: str) -> None:
        if final == "m" and not parameters.strip("0123456789;:"):
            self.sgr = apply_sgr(self.sgr, parameters)
        elif final in "CDG" and (not parameters or parameters.isdecimal()):
            amount = max(1, _number(parameters))
            target = {"C": self._column + amount, "D": self._column - amount, "G": amount - 1}[final]
            self._column = min(max(0, target), MAX_LINE_CELLS)
        elif final == "K":
            self._erase(parameters)

    def _erase(self, parameters: str) -> None:
        if parameters in ("", "0"):
            self._part_wide(self._column)
            del self._cells[self._column :], self._styles[self._column :]
        elif parameters == "1":
            self._put([" "] * min(self._column + 1, len(self._cells)), PLAIN, at=0)
        elif parameters == "2":
            self._cells.clear()
            self._styles.clear()

    def _write(self, text: str) -> None:
        if text.isascii():
            room = MAX_LINE_CELLS - self._column
            self._truncated |= len(text) > room
            if room > 0:
                self._column += self._put(list(text[:room]), self.sgr, at=self._column)
            return
        for character in text:
            self._write_character(character)

    def _write_character(self, character: str) -> None:
        width = char_cells(character)
        if width == 0:
            self._add_mark(character)
        elif self._column + width > MAX_LINE_CELLS:
            self._truncated = True
        else:
            self._column += self._put([character, ""][:width], self.sgr, at=self._column)

    def _add_mark(self, mark: str) -> None:
        """Put a combining mark on the character left of the cursor, if there is one."""
        base = self._column - 1
        if 0 <= base < len(self._cells):
            base -= self._cells[base] == ""
            self._cells[base] = visible(self._cells[base] + mark)

    def _put(self, cells: list[str], style: Sgr, *, at: int) -> int:
        end = at + len(cells)
        if at > len(self._cells):
            gap = at - len(self._cells)
            self._cells.extend(" " * gap)
            self._styles.extend([PLAIN] * gap)
        self._part_wide(at)
        self._part_wide(end)
        self._cells[at:end] = cells
        self._styles[at:end] = [style] * len(cells)
        return len(cells)

    def _part_wide(self, column: int) -> None:
        """Blank the wide character that would be cut before `column`."""
        if 0 < column < len(self._cells) and self._cells[column] == "":
            self._cells[column - 1] = self._cells[column] = " "


def resolve_line(raw: bytes, sgr: Sgr = PLAIN) -> LineCells:
    """Return what a line of output shows when `sgr` is in force at its start; broken UTF-8 shows as U+FFFD."""
    grid = LineGrid(sgr)
    grid.feed(raw.decode("utf-8", "replace"))
    return grid.snapshot()
