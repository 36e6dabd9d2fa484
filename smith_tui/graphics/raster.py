"""From rain to pixels: signs that are drawn once, and copied to where something has changed."""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import ClassVar

from smith_tui.graphics.field import CLEAR, DIM, OPEN, Field
from smith_tui.graphics.glyphs import GLYPHS, HEIGHT, WIDTH
from smith_tui.graphics.rain import SHADES, Rain
from smith_tui.graphics.shades import Shades

CELL_WIDTH, CELL_HEIGHT = WIDTH + 1, HEIGHT + 1
"""Pixels of a sign with the gaps at its right and below; the terminal stretches them to its cells."""
_PAIRS = CELL_WIDTH // 2
"""Items that a sign is wide: two pixels each, which fit into one number of an array."""

Pair = Callable[[int, int, Shades], bytes]
"""Returns the bytes of two neighbours, given as places in `Shades.table`."""
Sign = Sequence["array[int]"]
"""Its columns of items from the left, each from the top down; the gap below is never written, so it stays empty."""


class Raster:
    """A picture of the rain that is kept up to date; subclasses say what a pixel is.

    item: type code of the array (`array.typecodes`) in which two pixels are one number. margin: items before each
    scan line.
    """

    item: ClassVar[str]
    margin: ClassVar[int] = 0

    def __init__(self, field: Field, shades: Shades) -> None:
        self.width, self.height = field.columns * CELL_WIDTH, field.rows * CELL_HEIGHT
        self._stride = self.margin + field.columns * _PAIRS
        self.pixels = bytearray(self._stride * self.height * array(self.item).itemsize)
        # A column of a sign is copied into this in one step, and there are fewer columns than scan lines.
        self._items = memoryview(self.pixels).cast(self.item)  # type: ignore[call-overload]
        self._covers = [bytes(field.columns)] * field.rows
        self._signs = _signs_of(self.item, self.pair, shades)

    def draw(self, rain: Rain, cells: Iterable[tuple[int, int]]) -> None:
        """Bring cells (column, row) of the rain up to date."""
        items, stride, margin, covers = self._items, self._stride, self.margin, self._covers
        for column, row in cells:
            signs = self._signs[covers[row][column]][rain.colors[column]]
            at = row * CELL_HEIGHT * stride + margin + column * _PAIRS
            end = at + HEIGHT * stride
            for part in signs[rain.shades[column][row]][rain.signs[column][row]]:
                items[at:end:stride] = part
                at += 1

    def cover(self, rain: Rain, covers: list[bytes]) -> bool:
        """Take other covers, as `covers_of` returns them; say whether any differs."""
        if covers == self._covers:
            return False
        before, self._covers = self._covers, covers
        rows = enumerate(zip(before, covers, strict=True))
        changed = [(row, old, new) for row, (old, new) in rows if old != new]
        self.draw(rain, [(x, row) for row, old, new in changed for x in range(rain.columns) if old[x] != new[x]])
        return True

    @classmethod
    def pair(cls, left: int, right: int, shades: Shades) -> bytes:
        """Return the bytes of two neighbours, given as places in `Shades.table`."""
        raise NotImplementedError


class ColorRaster(Raster):
    """Four bytes for each pixel: red, green, blue, opacity."""

    item = "Q"

    @classmethod
    def pair(cls, left: int, right: int, shades: Shades) -> bytes:
        """Return both colours."""
        return bytes((*shades.table[left], *shades.table[right]))


class IndexedRaster(Raster):
    """Half a byte for each pixel, a place in `Shades.table`, behind the filter byte that PNG wants for each line."""

    item = "B"
    margin = 1

    @classmethod
    def pair(cls, left: int, right: int, shades: Shades) -> bytes:
        """Return both places."""
        return bytes((left << 4 | right,))


@lru_cache(4)
def _signs_of(item: str, pair: Pair, shades: Shades) -> Mapping[int, Sequence[Sequence[Sequence[Sign]]]]:
    """Return all signs, by cover, colour, shade and number."""
    drawn = [
        [_drawn(item, pair, shades, shades.index(color, shade)) for shade in range(SHADES + 1)]
        for color in range(len(shades.colors))
    ]
    faint = [[by_shade[0]] + [by_shade[SHADES]] * SHADES for by_shade in drawn]
    empty = [[by_shade[0]] * (SHADES + 1) for by_shade in drawn]
    return {OPEN: drawn, DIM: faint, CLEAR: empty}


def _drawn(item: str, pair: Pair, shades: Shades, index: int) -> list[Sign]:
    """Return all signs in a colour, given as its place in `Shades.table`."""
    # By the two bits of each pair, the left one in the higher.
    pairs = [pair(index * (bits >> 1), index * (bits & 1), shades) for bits in range(4)]
    shifts = range(CELL_WIDTH - 2, -1, -2)
    return [
        [array(item, b"".join([pairs[row << 1 >> shift & 3] for row in sign])) for shift in shifts] for sign in GLYPHS
    ]
