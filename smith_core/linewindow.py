"""Takes text chunk by chunk, counts its lines and keeps those of one range, within a budget of characters."""

import msgspec

from smith_core.patterns import later

_PIECE = later(r"[^\r\n]+|\r\n|\r|\n")
# What a line costs beyond its text: its number with a tab, its newline, and the note on a cut line.
_NUMBER_COST = 12
_CUT_COST = 80


class Line(msgspec.Struct, frozen=True):
    """One line without its ending; `length` is its full length in characters, `text` may be its beginning only."""

    number: int
    text: str
    length: int


class LineWindow:
    r"""Lines `first` to `last` (from 1, both included; None: to the end) of a text; \n, \r\n and \r end a line.

    Other characters that Unicode calls line ends (form feed, NEL, U+2028 …) are part of a line, as for compilers.
    is_full: the budget `max_chars` ran out before line `next_line`.
    """

    def __init__(self, first: int = 1, last: int | None = None, *, max_chars: int, max_line_chars: int) -> None:
        self.lines: list[Line] = []
        self.is_full = False
        self.next_line = first
        self.lf = self.crlf = self.cr = 0
        self._first = first
        self._last = last
        self._room = max_chars
        self._max_line_chars = max_line_chars
        self._number = 1
        self._held = ""
        self._line_is_open = False
        self._kept: list[str] = []
        self._kept_chars = 0
        self._length = 0

    def feed(self, text: str) -> None:
        """Take the next chunk."""
        text = self._held + text
        self._held = "\r" if text.endswith("\r") else ""
        self._take(text[:-1] if self._held else text)

    def finish(self) -> None:
        """Take the end of the text."""
        self._take(self._held)
        self._held = ""
        if self._line_is_open and self._is_wanted(self._number):
            self._end_line(self._number)

    @property
    def line_count(self) -> int:
        """Number of lines so far; a last line without an ending counts."""
        return self._number - 1 + self._line_is_open

    @property
    def ends_open(self) -> bool:
        """Whether the last line has no ending."""
        return self._line_is_open

    def _take(self, text: str) -> None:
        if not text:
            return
        crlf = text.count("\r\n")
        lf, cr = text.count("\n") - crlf, text.count("\r") - crlf
        self.crlf, self.lf, self.cr = self.crlf + crlf, self.lf + lf, self.cr + cr
        after = self._number + crlf + lf + cr
        if after >= self._first and self._is_wanted(self._number, at_least=False):
            self._collect(text)
        self._number = after
        self._line_is_open = text[-1] not in "\r\n"

    def _is_wanted(self, number: int, at_least: bool = True) -> bool:
        if self.is_full or (self._last is not None and number > self._last):
            return False
        return not at_least or number >= self._first

    def _collect(self, text: str) -> None:
        number = self._number
        for match in _PIECE.finditer(text):
            piece = match[0]
            if not self._is_wanted(number, at_least=False):
                return
            if piece[0] not in "\r\n":
                if number >= self._first:
                    self._add(piece)
                continue
            if number >= self._first:
                self._end_line(number)
            number += 1

    def _add(self, piece: str) -> None:
        self._length += len(piece)
        if self._kept_chars < self._max_line_chars:
            part = piece[: self._max_line_chars - self._kept_chars]
            self._kept.append(part)
            self._kept_chars += len(part)

    def _end_line(self, number: int) -> None:
        line = Line(number, "".join(self._kept), self._length)
        self._kept, self._kept_chars, self._length = [], 0, 0
        cost = len(line.text) + _NUMBER_COST + (_CUT_COST if line.length > len(line.text) else 0)
        if cost > self._room:
            self.is_full = True
            return
        self._room -= cost
        self.lines.append(line)
        self.next_line = number + 1
