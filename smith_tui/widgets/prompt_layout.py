"""How the text of the prompt is wrapped into rows, and where on the screen each position of it is. Pure."""

from bisect import bisect_right
from collections.abc import Callable

from smith_tui.transcript.cells import cell_width
from smith_tui.widgets.clusters import clusters

_MAX_CACHED_LINES = 2_000

Row = tuple[int, int]  # (start, end) in the text, without the line break


def wrap_line(line: str, width: int, measure: Callable[[str], int]) -> list[Row]:
    """Return the rows of one line, each at most `width` cells; breaks come behind a space where there is one.

    Spaces that do not fit any more hang over the edge instead of beginning the next row.
    """
    if measure(line) <= width:
        return [(0, len(line))]
    rows: list[Row] = []
    row_start = used = behind_space = 0
    for start, end in clusters(line):
        cells = measure(line[start:end])
        while used + cells > width and start > row_start and line[start:end] != " ":
            cut = behind_space if behind_space > row_start else start
            rows.append((row_start, cut))
            row_start, used = cut, measure(line[cut:start])
        used += cells
        if line[start:end] == " ":
            behind_space = end
    return [*rows, (row_start, len(line))]


class PromptLayout:
    """Rows of a text at a width; lines that did not change are not wrapped again."""

    def __init__(self, shown: Callable[[str], str]) -> None:
        self._shown = shown
        self._text = ""
        self._width = 0
        self._cache: dict[str, list[Row]] = {}
        self.rows: list[Row] = [(0, 0)]

    def update(self, text: str, width: int) -> None:
        """Wrap `text` into rows of `width` cells, the last of them left free for the caret."""
        if width != self._width or len(self._cache) > _MAX_CACHED_LINES:
            self.forget()
        if text == self._text and width == self._width:
            return
        self._text, self._width = text, width
        self.rows = []
        offset = 0
        for line in text.split("\n"):
            wrapped = self._cache.get(line)
            if wrapped is None:
                wrapped = self._cache[line] = wrap_line(line, max(1, width - 1), self._measure)
            self.rows += [(offset + start, offset + end) for start, end in wrapped]
            offset += len(line) + 1

    def forget(self) -> None:
        """Wrap everything again at the next update, because what is shown for a character changed."""
        self._cache.clear()
        self._width = 0

    def place(self, position: int) -> tuple[int, int]:
        """Return the (row, column in cells) of a position in the text."""
        row = bisect_right(self.rows, position, key=lambda row: row[0]) - 1
        return row, self._measure(self._text[self.rows[row][0] : position])

    def position(self, row: int, column: int) -> int:
        """Return the position in the text that is nearest to a place; places outside are moved in."""
        row = min(max(0, row), len(self.rows) - 1)
        start, end = self.rows[row]
        used = 0
        for left, right in clusters(self._text[start:end]):
            used += self._measure(self._text[start + left : start + right])
            if used > column:
                return start + left
        continues = row + 1 < len(self.rows) and self.rows[row + 1][0] == end
        return start + clusters(self._text[start:end])[-1][0] if continues else end

    def _measure(self, text: str) -> int:
        return cell_width(self._shown(text))
