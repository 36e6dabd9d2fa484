"""From what a program writes to its terminal to the plain text that a person would read there."""

import codecs
import re
from collections.abc import Callable

from smith_core.patterns import later
from smith_core.text import REPLACEMENT

OPEN_ROWS = 40
"""Rows at the end of the output that cursor movement may still change, as many as a terminal of ours shows."""
OPEN_COLUMNS = 16_384
"""Characters after which a row is final although it has not ended; keeps endless lines cheap."""

_PARAMETER_LIMIT = 32
_FEW_CHARACTERS = 64
_CONTROL = later(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_CONTROL_BYTES = bytes({*range(32), 127} - {9, 10})
_COLOURS = later(r"(?:\x1b\[[0-9;:]*m)+")
_CSI_BODY = later(r"[ -?]*")
_CSI_NUMBERS = later(r"[0-9;:]*")
_STRING_END = later(r"[\x07\n\x18\x1a\x1b\x9c]")
_STRING_INTRODUCERS = "]PX^_"
_ABORTS = "\x18\x1a"
_DOWN = "\n\x0b\x0c"


def clean_output(data: bytes) -> str:
    """Return the plain text of a whole terminal stream; see TerminalText."""
    cleaner = TerminalText()
    return cleaner.feed(data) + cleaner.finish()


class TerminalText:
    """Cleans a stream of terminal output piece by piece; where it is cut never changes the text.

    Escape sequences vanish. Carriage returns, backspaces, erasing and relative cursor movement act on the last
    OPEN_ROWS rows, so that a progress bar leaves its last state. Absolute positioning starts a new row: nothing that
    was written before is lost. NUL, invalid UTF-8 and C1 controls become U+FFFD; newline and tab are the only
    controls in the result. A control string without an end stops at the end of its line.
    """

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._rows = _OpenRows()
        self._parameters = ""
        self._state: Callable[[str, int], int] = self._ground

    def feed(self, data: bytes) -> str:
        """Take more of the stream and return the text that became final by it."""
        self._parse(self._decode(data))
        return self._rows.take_final()

    def finish(self) -> str:
        """Return the rest of the text; a sequence that was begun and not ended is dropped."""
        self._parse(self._decode(b"", True))
        self._rows.close()
        return self._rows.take_final()

    def _parse(self, text: str) -> None:
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        position = 0
        if len(text) > _FEW_CHARACTERS:
            while position < len(text) and self._state != self._ground:
                position = self._state(text, position)
            text, position = self._write_coloured(text[position:] if position else text), 0
        while position < len(text):
            position = self._state(text, position)

    def _write_coloured(self, text: str) -> str:
        """Write the beginning of a text as far as nothing but colours is in it, and return the rest.

        Almost all output is like that, and to search it for any control would take most of the time.
        """
        last = text.rfind("\x1b")
        coloured = _COLOURS.match(text, last) if last >= 0 else None
        end = len(text) if last < 0 or coloured else last
        plain = _COLOURS.sub("", text[:end]) if last >= 0 else text
        if _has_controls(plain):
            return text
        self._rows.write(plain)
        return text[end:]

    # Each state reads from `position` on and returns where the next one goes on, as in the DEC parser
    # (https://vt100.net/emu/dec_ansi_parser).

    def _ground(self, text: str, position: int) -> int:
        control = _CONTROL.search(text, position)
        end = control.start() if control else len(text)
        if end > position:
            self._rows.write(text[position:end])
        if control is None:
            return end
        # Colours are by far the most frequent sequences; this is a shortcut past three states.
        colours = _COLOURS.match(text, end)
        if colours:
            return colours.end()
        self._execute(text[end])
        return end + 1

    def _escape(self, text: str, position: int) -> int:
        char = text[position]
        if char == "[":
            self._parameters = ""
            self._state = self._csi
        elif char in _STRING_INTRODUCERS:
            self._state = self._string
        elif " " <= char <= "/":
            self._state = self._escape_intermediate
        else:
            if char == "8":
                self._rows.start_apart()
            return self._leave_unless_control(text, position, "0", "~")
        return position + 1

    def _escape_intermediate(self, text: str, position: int) -> int:
        if " " <= text[position] <= "/":
            return position + 1
        return self._leave_unless_control(text, position, "0", "~")

    def _csi(self, text: str, position: int) -> int:
        body = _CSI_BODY.match(text, position)
        end = body.end() if body else position
        self._parameters = (self._parameters + text[position:end])[:_PARAMETER_LIMIT]
        if end == len(text):
            return end
        after = self._leave_unless_control(text, end, "@", "~")
        if self._state == self._ground and after > end:
            self._apply_csi(text[end])
        return after

    def _string(self, text: str, position: int) -> int:
        end = _STRING_END.search(text, position)
        if end is None:
            return len(text)
        self._state = self._ground
        return end.start() if end[0] in "\x1b\n" else end.end()

    def _leave_unless_control(self, text: str, position: int, first_final: str, last_final: str) -> int:
        """Handle what may stand where a final character is due; return where to go on."""
        char = text[position]
        if char < " ":
            self._execute(char)
        elif first_final <= char <= last_final:
            self._state = self._ground
        elif char != "\x7f":
            self._state = self._ground
            return position
        return position + 1

    def _execute(self, control: str) -> None:
        if control == "\x1b":
            self._state = self._escape
        elif control in _DOWN:
            self._rows.newline()
        elif control == "\r":
            self._rows.move_to(0)
        elif control == "\b":
            self._rows.move_by(-1)
        elif control in _ABORTS:
            self._state = self._ground
        elif control == "\0" or "\x80" <= control <= "\x9f":
            self._rows.write(REPLACEMENT)

    def _apply_csi(self, final: str) -> None:
        if not _CSI_NUMBERS.fullmatch(self._parameters):
            return
        first = re.split("[;:]", self._parameters, maxsplit=1)[0]
        number = int(first or 0)
        rows = self._rows
        match final:
            case "C" | "D":
                rows.move_by(max(number, 1) if final == "C" else -max(number, 1))
            case "G" | "`":
                rows.move_to(max(number, 1) - 1)
            case "A" | "B" | "E" | "F":
                rows.move_rows(-max(number, 1) if final in "AF" else max(number, 1))
                if final in "EF":
                    rows.move_to(0)
            case "K":
                rows.erase_in_row(number)
            case "J" if number == 0:
                rows.erase_below()
            case "H" | "f" | "d" | "u" | "J":
                rows.start_apart()


def _has_controls(text: str) -> bool:
    """Say whether there is any control in a text but newline and tab; takes a fiftieth of a search for them."""
    data = text.encode()
    if len(data.translate(None, _CONTROL_BYTES)) < len(data):
        return True
    return b"\xc2" in data and _CONTROL.search(text) is not None


class _OpenRows:
    """The rows that may still change, and the text before them that may not."""

    def __init__(self) -> None:
        self._rows = [""]
        self._row = 0
        self._column = 0
        self._final: list[str] = []

    def take_final(self) -> str:
        """Return, and forget, the text that cannot change any more."""
        text = "".join(self._final)
        self._final.clear()
        return text

    def close(self) -> None:
        """Make all rows final."""
        self._final.append("\n".join(self._rows))
        self._rows, self._row, self._column = [""], 0, 0

    def write(self, text: str) -> None:
        """Write text, in which newline and tab are the only controls, at the cursor."""
        # A slice is shorter than a row may be, so that of all its lines only the first can overflow.
        step = OPEN_COLUMNS - 1
        for start in range(0, len(text), step):
            first, newline, rest = text[start : start + step].partition("\n")
            self._overwrite(first)
            if newline:
                self.newline()
                self._write_lines(rest)

    def newline(self) -> None:
        """Go to the start of the next row."""
        self._row += 1
        self._column = 0
        if self._row == len(self._rows):
            self._rows.append("")
            self._settle_rows(len(self._rows) - OPEN_ROWS)

    def move_to(self, column: int) -> None:
        """Go to a column of this row, counted from 0."""
        self._column = max(0, min(column, OPEN_COLUMNS - 1))

    def move_by(self, columns: int) -> None:
        """Go right, or left if negative."""
        self.move_to(self._column + columns)

    def move_rows(self, rows: int) -> None:
        """Go down, or up if negative, within the open rows."""
        self._row = max(0, min(self._row + rows, len(self._rows) - 1))

    def erase_in_row(self, mode: int) -> None:
        """Erase to the end of the row (0), up to the cursor (1), or all of it (2)."""
        row = self._rows[self._row]
        if mode == 0:
            self._rows[self._row] = row[: self._column]
        elif mode == 1:
            self._rows[self._row] = " " * min(len(row), self._column + 1) + row[self._column + 1 :]
        elif mode == 2:
            self._rows[self._row] = ""

    def erase_below(self) -> None:
        """Erase from the cursor to the end of the output."""
        self.erase_in_row(0)
        del self._rows[self._row + 1 :]

    def start_apart(self) -> None:
        """Make all rows final and go on in an empty one."""
        if self._rows[-1]:
            self._rows.append("")
        self._settle_rows(len(self._rows) - 1)
        self._row = self._column = 0

    def _overwrite(self, text: str) -> None:
        while self._column + len(text) >= OPEN_COLUMNS:
            room = OPEN_COLUMNS - self._column
            self._put(text[:room])
            text = text[room:]
            self._settle_rows(self._row)
            self._final.append(self._rows[0])
            self._rows[0] = ""
            self._column = 0
        if text:
            self._put(text)

    def _put(self, text: str) -> None:
        row = self._rows[self._row]
        end = self._column + len(text)
        if self._column == len(row):
            self._rows[self._row] = row + text
        else:
            self._rows[self._row] = row[: self._column].ljust(self._column) + text + row[end:]
        self._column = end

    def _write_lines(self, text: str) -> None:
        """Write text shorter than OPEN_COLUMNS at the start of a row."""
        if self._row == len(self._rows) - 1 and not self._rows[-1]:
            start = _start_of_rows(text, OPEN_ROWS)
            if start:
                self._final += ["\n".join(self._rows), text[:start]]
                self._rows = [""]
            lines = text[start:].split("\n")
            self._rows[-1:] = lines
            self._row = len(self._rows) - 1
            self._column = len(lines[-1])
            self._settle_rows(len(self._rows) - OPEN_ROWS)
            return
        for number, line in enumerate(text.split("\n")):
            if number:
                self.newline()
            self._overwrite(line)

    def _settle_rows(self, count: int) -> None:
        if count > 0:
            self._final.append("\n".join(self._rows[:count]) + "\n")
            del self._rows[:count]
            self._row = max(0, self._row - count)


def _start_of_rows(text: str, count: int) -> int:
    """Return where the last rows of a text begin, 0 when it has no more than so many."""
    start = len(text)
    for _ in range(count):
        start = text.rfind("\n", 0, start)
        if start < 0:
            return 0
    return start + 1
