"""The transcript as a pure model: blocks, their heights, the rows of those that are looked at, and places in it.

Heights are estimates until a block has been rendered. A place (block and row in it) therefore says where a view
stands, never a row number of the whole.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from smith_tui.theme import Theme
from smith_tui.transcript.blocks import Block
from smith_tui.transcript.fenwick import Fenwick
from smith_tui.transcript.ink import Ink, make_ink
from smith_tui.transcript.lines import BLANK, Line

MAX_CACHED_ROWS = 1_000


class Place(NamedTuple):
    """A row of the transcript: the index of its block, and the row in it from 0."""

    block: int
    row: int


TOP = Place(0, 0)


class Row(NamedTuple):
    """A row as it is shown: where it is, and what stands in it."""

    place: Place
    line: Line


class Document:
    """An ordered list of blocks, measured for one width and theme."""

    def __init__(self, theme: Theme, width: int = 80) -> None:
        self.theme = theme
        self.width = width
        self.blocks: list[Block] = []
        self._heights = Fenwick()
        self._cache: OrderedDict[int, list[Line]] = OrderedDict()
        self._cached_rows = 0

    @property
    def height(self) -> int:
        """Rows of the whole, estimated where nobody has looked yet."""
        return self._heights.total

    def ink(self, block: Block) -> Ink:
        """Return the styles that a block is written with."""
        return make_ink(self.theme, block.palette)

    def extend(self, blocks: Iterable[Block]) -> None:
        """Add blocks at the end."""
        for block in blocks:
            self.blocks.append(block)
            self._heights.append(block.estimate(self.width) + block.has_gap)

    def append(self, block: Block) -> int:
        """Add one block at the end and return its index."""
        self.extend((block,))
        return len(self.blocks) - 1

    def index(self, block: Block) -> int | None:
        """Return where a block is, looked for from the end; None when it is gone."""
        for index in range(len(self.blocks) - 1, -1, -1):
            if self.blocks[index] is block:
                return index
        return None

    def replace(self, index: int, block: Block) -> None:
        """Put another block in the place of one."""
        self.blocks[index] = block
        self.changed(index)

    def changed(self, index: int) -> None:
        """Take notice that a block has other rows now."""
        self._forget(index)
        block = self.blocks[index]
        self._heights.change(index, block.estimate(self.width) + block.has_gap)

    def remove(self, blocks: Sequence[Block]) -> None:
        """Take blocks out; those not in the transcript are ignored."""
        gone = {id(block) for block in blocks}
        heights = [self._heights[index] for index, block in enumerate(self.blocks) if id(block) not in gone]
        self.blocks = [block for block in self.blocks if id(block) not in gone]
        self._heights = Fenwick(heights)
        self._forget_all()

    def clear(self) -> None:
        """Take all blocks out."""
        self.remove(self.blocks)

    def rows(self, index: int) -> list[Line]:
        """Return all rows of a block, the gap before it included; its height is exact from now on."""
        rows = self._cache.get(index)
        if rows is not None:
            self._cache.move_to_end(index)
            return rows
        block = self.blocks[index]
        rows = block.rows(self.width, self.ink(block))
        if block.has_gap and rows:
            rows = [BLANK, *rows]
        self._heights.change(index, len(rows))
        self._cache[index] = rows
        self._cached_rows += len(rows)
        while self._cached_rows > MAX_CACHED_ROWS and len(self._cache) > 1:
            self._forget(next(iter(self._cache)))
        return rows

    def reshape(self, width: int, theme: Theme, place: Place) -> Place:
        """Measure everything for another width or theme and return where the text at `place` stands then."""
        letters, blanks = self._text_before(place)
        self.width = width
        self.theme = theme
        self._forget_all()
        self._heights = Fenwick(block.estimate(width) + block.has_gap for block in self.blocks)
        return self._place_behind(place.block, letters, blanks)

    def _text_before(self, place: Place) -> tuple[int, int]:
        """Return how many letters of the block stand before a place, and how many blank rows directly before it."""
        if place.block >= len(self.blocks):
            return 0, 0
        counts = [_letters(line) for line in self.rows(place.block)[: place.row]]
        blanks = 0
        while blanks < len(counts) and not counts[-1 - blanks]:
            blanks += 1
        return sum(counts), blanks

    def _place_behind(self, index: int, letters: int, blanks: int) -> Place:
        """Return the place in a block behind so many letters and then so many blank rows."""
        if index >= len(self.blocks):
            return Place(index, 0)
        rows = self.rows(index)
        for row, line in enumerate(rows):
            count = _letters(line)
            if count > letters or (letters == 0 and blanks == 0):
                return Place(index, row)
            if letters == 0:
                blanks -= 1
            letters -= count
        return Place(index, max(0, len(rows) - 1))

    def offset(self, place: Place) -> int:
        """Return the number of a place's row in the whole, from 0."""
        return self._heights.before(min(place.block, len(self.blocks))) + place.row

    def place_at(self, offset: int) -> Place:
        """Return the place of a row number, as far as heights are known."""
        index, row = self._heights.find(max(0, offset))
        if index >= len(self.blocks):
            return self.last_place()
        rows = len(self.rows(index))
        return Place(index, min(row, max(0, rows - 1)))

    def last_place(self) -> Place:
        """Return the place of the last row."""
        for index in range(len(self.blocks) - 1, -1, -1):
            if rows := self.rows(index):
                return Place(index, len(rows) - 1)
        return TOP

    def end_place(self, height: int) -> Place:
        """Return the first row of a view of `height` rows that stands at the end."""
        return self.move(self.last_place(), 1 - height)

    def move(self, place: Place, rows: int) -> Place:
        """Return the place that many rows further down, or up when negative; it stops at either end."""
        block, row = place.block, place.row + rows
        while row < 0 and block > 0:
            block -= 1
            row += len(self.rows(block))
        while block < len(self.blocks) and row >= (height := len(self.rows(block))):
            row -= height
            block += 1
        if block >= len(self.blocks):
            return self.last_place()
        return Place(block, max(0, row))

    def view(self, place: Place, height: int) -> list[Row]:
        """Return up to `height` rows from a place down."""
        rows: list[Row] = []
        block, first = place
        while len(rows) < height and block < len(self.blocks):
            lines = self.rows(block)
            wanted = lines[first : first + height - len(rows)]
            rows += [Row(Place(block, first + index), line) for index, line in enumerate(wanted)]
            block, first = block + 1, 0
        return rows

    def _forget(self, index: int) -> None:
        rows = self._cache.pop(index, None)
        if rows is not None:
            self._cached_rows -= len(rows)

    def _forget_all(self) -> None:
        self._cache.clear()
        self._cached_rows = 0


def _letters(line: Line) -> int:
    """Return how many characters of a row are neither decoration nor space; wrapping does not change their order."""
    return sum(not character.isspace() for character in line.text[line.lead :])
