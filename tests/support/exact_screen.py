"""A pyte screen without pyte's mistakes with characters: clusters, halves of wide characters, and doubtful widths."""

import re
from collections.abc import Mapping

import pyte
from pyte import modes
from pyte.screens import Char
from rich.cells import split_graphemes

# pyte prints the `p` of mode requests and the bodies of keyboard modes.
_UNKNOWN_TO_PYTE = re.compile(rb"\x1b\[[<=>?][0-9;]*(?:\$p|u)|\x1b\[\?2026[hl]")


class ExactScreen(pyte.Screen):
    """Draws by what people take for one character; `widths` says where this terminal differs from rich's tables."""

    def __init__(self, columns: int, lines: int, widths: Mapping[str, int] | None = None) -> None:
        self._widths = widths or {}
        super().__init__(columns, lines)
        self._stream = pyte.ByteStream(self)

    def feed(self, data: str | bytes) -> None:
        """Take what a program wrote, whole sequences at a time."""
        self._stream.feed(_UNKNOWN_TO_PYTE.sub(b"", data.encode() if isinstance(data, str) else data))

    def draw(self, data: str) -> None:
        for start, end, width in split_graphemes(data)[0]:
            cluster = data[start:end]
            self._put(cluster, self._widths.get(cluster, width))

    def _put(self, cluster: str, width: int) -> None:
        if width == 0:
            self._combine(cluster)
            return
        if self.cursor.x + width > self.columns:
            if modes.DECAWM in self.mode:
                self.carriage_return()
                self.linefeed()
            else:
                self.cursor.x = self.columns - width
        line, x = self.buffer[self.cursor.y], self.cursor.x
        if line[x].data == "" and x:
            line[x - 1] = line[x - 1]._replace(data=" ")
        if x + width < self.columns and line[x + width].data == "":
            line[x + width] = line[x + width]._replace(data=" ")
        line[x] = self.cursor.attrs._replace(data=cluster)
        for half in range(x + 1, x + width):
            line[half] = self.cursor.attrs._replace(data="")
        self.cursor.x = x + width

    def _combine(self, mark: str) -> None:
        line = self.buffer[self.cursor.y]
        for x in range(self.cursor.x - 1, -1, -1):
            if line[x].data:
                line[x] = line[x]._replace(data=line[x].data + mark)
                return

    @property
    def display(self) -> list[str]:
        return ["".join(cell.data for cell in row) for row in self.cells()]

    def cells(self) -> list[list[Char]]:
        """Return every cell of the screen with its look."""
        return [[self.buffer[y][x] for x in range(self.columns)] for y in range(self.lines)]
