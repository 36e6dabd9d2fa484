"""The screen twice: as the app wants it and as the terminal shows it; what is written is the difference."""

from collections.abc import Iterable, Iterator, Sequence

from rich.color import ColorSystem
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from smith_tui.output.encoder import Encoder
from smith_tui.output.pens import PenBox
from smith_tui.output.rows import Part, Row, blank_row, cells_of, part_of
from smith_tui.output.scrolling import find_shift, shifted

_KEPT_PER_ROW = 8
"""Strips that are kept for each row of the screen: some frames of several widgets side by side."""


class Canvas:
    """Takes the compositor's updates and gives what brings the terminal up to date, whenever it is asked.

    Updates between two questions cost nothing on the wire: the newest wins.
    has_color_erase: as in Encoder.
    """

    def __init__(self, colors: ColorSystem | None, *, has_color_erase: bool) -> None:
        self._box = PenBox(colors)
        self._has_color_erase = has_color_erase
        self._width = 0
        self._wanted: list[Row] = []
        self._shown: list[Row | None] = []
        self._touched: set[int] = set()
        self._parts: dict[int, tuple[Strip, Part]] = {}
        """What strips of late came down to, by their ids: an answer that moves up shows the same ones elsewhere."""
        self._cursor: tuple[int, int] | None = None

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        return self._width, len(self._wanted)

    @property
    def rows(self) -> tuple[Row, ...]:
        """What the app wants to be shown."""
        return tuple(self._wanted)

    def chrome(self, drawn: Iterable[tuple[Region, Sequence[Strip]]]) -> str:
        """Return what draws these rows in these regions of an empty screen, the later ones above."""
        encoder = Encoder(self._width, has_color_erase=self._has_color_erase)
        for y in range(len(self._wanted)):
            row = blank_row(self._width)
            for region, strips in drawn:
                if y in region.line_range:
                    row = row.with_part(part_of(region.x, region.right, strips[y - region.y], self._box))
            encoder.cells(y, 0, cells_of(*row.parts))
        return encoder.finish((0, 0))

    def resize(self, width: int, height: int) -> None:
        """Begin anew at a size; the app has to give all rows again."""
        self._width = width
        self._wanted = [blank_row(width)] * height
        self.forget()

    def forget(self) -> None:
        """Count on nothing that the terminal shows: the next frame is a whole one."""
        self._shown = [None] * len(self._wanted)
        self._touched = set(range(len(self._wanted)))
        self._cursor = None

    def apply(self, update: LayoutUpdate | ChopsUpdate) -> None:
        """Take an update."""
        pieces = _of_layout(update) if isinstance(update, LayoutUpdate) else _of_chops(update)
        width, height = self.size
        if len(self._parts) > _KEPT_PER_ROW * height:
            self._parts.clear()
        for y, x, strip in pieces:
            end = min(x + strip.cell_length, width)
            if 0 <= y < height and 0 <= x < end:
                old = self._wanted[y]
                self._wanted[y] = row = old.with_part(self._part_of(x, end, strip))
                if row is not old:
                    self._touched.add(y)

    def _part_of(self, x: int, end: int, strip: Strip) -> Part:
        kept = self._parts.get(id(strip))
        if kept is not None and kept[1].x == x and kept[1].end == end:
            return kept[1]
        part = part_of(x, end, strip, self._box)
        self._parts[id(strip)] = (strip, part)
        return part

    def encode(self, cursor: tuple[int, int]) -> str:
        """Return what the terminal needs, "" for nothing, and count on it being written.

        cursor: (column, row), where the terminal's cursor stands behind it, for input methods.
        """
        wanted, touched = self._wanted, sorted(self._touched)
        self._touched.clear()
        changed = [y for y in touched if (row := self._shown[y]) is None or row.parts != wanted[y].parts]
        if not changed and cursor == self._cursor:
            return ""
        self._cursor = cursor
        encoder = Encoder(self._width, has_color_erase=self._has_color_erase)
        shift = find_shift(self._shown, wanted, changed)
        if shift is not None:
            encoder.scroll(*shift)
            self._shown = shifted(self._shown, shift)
            changed = sorted({*changed, *range(shift.top, shift.bottom + 1)})
        for y in changed:
            encoder.row(y, self._shown[y], wanted[y])
            self._shown[y] = wanted[y]
        return encoder.finish(cursor)


def _of_layout(update: LayoutUpdate) -> Iterator[tuple[int, int, Strip]]:
    for y, strips in enumerate(update.strips, update.region.y):
        x = update.region.x
        for strip in strips:
            yield y, x, strip
            x += strip.cell_length


def _of_chops(update: ChopsUpdate) -> Iterator[tuple[int, int, Strip]]:
    for y, first, last in update.spans:
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is None or x > last or end <= first:
                continue
            if first <= x < last and end <= last:
                yield y, x, strip
            else:
                yield y, x, strip.crop(0, min(end, last) - x)
