"""From rain to pixels: signs that are drawn once, and copied to where something has changed."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from smith_tui.graphics.field import CLEAR, DIM, OPEN, Field
from smith_tui.graphics.glyphs import GLYPHS, HEIGHT, WIDTH
from smith_tui.graphics.rain import SHADES, Rain
from smith_tui.graphics.shades import Shades

CELL_WIDTH, CELL_HEIGHT = WIDTH + 1, HEIGHT + 1
"""Pixels of a sign with the gaps at its right and below; the terminal stretches them to its cells."""


class Raster:
    """A picture of the rain that is kept up to date; subclasses say what a pixel is.

    unit: bytes of a column of signs in one scan line. margin: bytes before each scan line.
    """

    unit: ClassVar[int]
    margin: ClassVar[int] = 0

    def __init__(self, field: Field, shades: Shades) -> None:
        self.width, self.height = field.columns * CELL_WIDTH, field.rows * CELL_HEIGHT
        self._stride = self.margin + field.columns * self.unit
        self.pixels = bytearray(self._stride * self.height)
        self._covers = [bytes(field.columns)] * field.rows
        drawn = [
            [[self._scan_lines(sign, shades, color, shade) for sign in GLYPHS] for shade in range(SHADES + 1)]
            for color in range(len(shades.colors))
        ]
        faint = [[by_shade[0]] + [by_shade[SHADES]] * SHADES for by_shade in drawn]
        empty = [[by_shade[0]] * (SHADES + 1) for by_shade in drawn]
        # By cover, colour, shade and sign.
        self._signs = {OPEN: drawn, DIM: faint, CLEAR: empty}

    def draw(self, rain: Rain, cells: Iterable[tuple[int, int]]) -> None:
        """Bring cells (column, row) of the rain up to date."""
        pixels, stride, unit = self.pixels, self._stride, self.unit
        for column, row in cells:
            signs = self._signs[self._covers[row][column]][rain.colors[column]]
            at = row * CELL_HEIGHT * stride + self.margin + column * unit
            for line in signs[rain.shades[column][row]][rain.signs[column][row]]:
                pixels[at : at + unit] = line
                at += stride

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
    def _scan_lines(cls, sign: Sequence[int], shades: Shades, color: int, shade: int) -> list[bytes]:
        """Return the scan lines of a sign; the gap below it is never written, so it stays empty."""
        raise NotImplementedError


class ColorRaster(Raster):
    """Four bytes for each pixel: red, green, blue, opacity."""

    unit = 4 * CELL_WIDTH

    @classmethod
    def _scan_lines(cls, sign: Sequence[int], shades: Shades, color: int, shade: int) -> list[bytes]:
        dark = bytes(4)
        on = bytes(shades.table[shades.index(color, shade)])
        bits = [[row >> (WIDTH - 1 - x) & 1 for x in range(WIDTH)] for row in sign]
        return [b"".join(on if bit else dark for bit in row) + dark for row in bits]


class IndexedRaster(Raster):
    """Half a byte for each pixel, a place in `Shades.table`, behind the filter byte that PNG wants for each line."""

    unit = CELL_WIDTH // 2
    margin = 1

    @classmethod
    def _scan_lines(cls, sign: Sequence[int], shades: Shades, color: int, shade: int) -> list[bytes]:
        index = shades.index(color, shade)
        rows = [[index * (row >> (WIDTH - 1 - x) & 1) for x in range(WIDTH)] + [0] for row in sign]
        return [bytes(row[x] << 4 | row[x + 1] for x in range(0, CELL_WIDTH, 2)) for row in rows]
