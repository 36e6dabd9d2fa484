"""The rain where there are no pictures: dim characters in the longer runs of blanks of a view."""

from functools import lru_cache
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip

from smith_tui.graphics.field import CELLS_PER_COLUMN, Field, field_in
from smith_tui.graphics.glyphs import KATAKANA
from smith_tui.graphics.letters import Gap, gaps_of
from smith_tui.graphics.rain import Rain
from smith_tui.graphics.scene import Stage
from smith_tui.graphics.shades import MAX_COLORS, Shades, mixed, shades_of
from smith_tui.output.compositor import paint_now, runs_of_rows
from smith_tui.theme import Theme
from smith_tui.transcript.lean_strip import LeanStrip
from smith_tui.transcript.lines import Line

if TYPE_CHECKING:
    from textual.timer import Timer

FRAMES_PER_SECOND = 10
_KEPT_ROWS = 500
_DIM = 0.6
"""Part of the opacity that the same shade has in a picture."""


class CellRain:
    """Paints into a view's rows while somebody waits; the view's text is what it was, copies included."""

    def __init__(self, stage: Stage, *, seed: int = 0) -> None:
        self._stage = stage
        self._view = stage.view
        self._seed = seed
        self._timer: Timer | None = None
        self._theme: Theme | None = None
        self._shades: Shades | None = None
        self._rain: Rain | None = None
        self._lit: list[tuple[int, ...]] = []
        self._gaps: dict[int, tuple[Line, list[Gap]]] = {}

    @property
    def is_running(self) -> bool:
        """Whether it rains."""
        return self._timer is not None

    def start(self, theme: Theme, palettes: tuple[str, ...]) -> None:
        """Let it rain in the colours of palettes (`RoleSpec.palette`)."""
        self._theme, self._shades = theme, shades_of(theme, palettes[:MAX_COLORS])
        if self._rain is not None:
            self._rain.recolor(len(self._shades.colors))
        if self._timer is None:
            self._view.backdrop = self.decorate
            self._timer = self._view.set_interval(1 / FRAMES_PER_SECOND, self.tick)
            self.tick()

    def stop(self) -> None:
        """Take the rain away."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = self._rain = None
            self._view.backdrop = None
            self._view.refresh()

    def tick(self) -> None:
        """Let it fall by one step, and have the view show what is different."""
        view = self._view
        if view.app.screen is not view.screen:
            return
        field = self._field
        if field is None or self._shades is None:
            self._rain = None
            return
        rain = self._rain
        if rain is None or (rain.columns, rain.rows) != (field.columns, field.rows):
            colors = len(self._shades.colors)
            rain = self._rain = Rain(field.columns, field.rows, signs=len(KATAKANA), colors=colors, seed=self._seed)
        changed: dict[int, list[int]] = {}
        for column, row in rain.step():
            changed.setdefault(row, []).append(column * CELLS_PER_COLUMN)
        self._lit = list(zip(*rain.shades, strict=True))
        rows = [row for row, cells in sorted(changed.items()) if self._is_seen(row, cells)]
        if rows:
            # Whole rows: a row that is put together of pieces is compared with what is shown cell by cell.
            view.refresh(*(Region(0, first, view.document.width, count) for first, count in runs_of_rows(rows)))
            paint_now(view.screen, (view,))

    def decorate(self, strip: Strip, y: int) -> Strip:
        """Return a row of the view with signs in its runs of blanks."""
        rain = self._rain
        if rain is None or y >= rain.rows:
            return strip
        segments: list[Segment] = []
        done = 0
        for gap in self._free(y):
            end = min(gap.end, rain.columns * CELLS_PER_COLUMN)
            falling = self._falling(rain, y, gap, end)
            if falling:
                if gap.start > done:
                    segments += strip.crop(done, gap.start)
                segments += falling
                done = end
        if not segments:
            return strip
        if done < strip.cell_length:
            segments += strip.crop(done)
        return LeanStrip(segments, strip.cell_length)

    def _is_seen(self, y: int, cells: list[int]) -> bool:
        for gap in self._free(y):
            for x in cells:
                if gap.start <= x < gap.end:
                    return True
        return False

    def _falling(self, rain: Rain, y: int, gap: Gap, end: int) -> list[Segment]:
        """Return the cells of a gap up to `end`; nothing when no sign is among them."""
        assert self._theme is not None and self._shades is not None
        columns = range(-(-gap.start // CELLS_PER_COLUMN), -(-end // CELLS_PER_COLUMN))
        shades = self._lit[y]
        lit = [column for column in columns if shades[column]]
        if not lit:
            return []
        ground = self._theme.background
        if gap.ground is not None and gap.ground.bgcolor is not None:
            ground = gap.ground.bgcolor.get_truecolor().hex
        styles, blank = _styles_on(ground, self._shades), _style(ground, ground)
        segments: list[Segment] = []
        x = gap.start
        for column in lit:
            at = column * CELLS_PER_COLUMN
            if at > x:
                segments.append(Segment(" " * (at - x), blank))
            segments.append(Segment(KATAKANA[rain.signs[column][y]], styles[rain.colors[column]][shades[column]]))
            x = at + 1
        if end > x:
            segments.append(Segment(" " * (end - x), blank))
        return segments

    @property
    def _field(self) -> Field | None:
        # Each sign is a piece of its own on its way to the terminal, so there are fewer than in a picture.
        size = self._view.scrollable_content_region
        columns = self._stage.max_columns * 3 // 4
        return field_in(0, 0, size.width, size.height, share=self._stage.share, max_columns=columns)

    def _free(self, y: int) -> list[Gap]:
        row, width = self._view.row_at(y), self._view.document.width
        if row is None:
            return gaps_of(None, width)
        line = row.line
        known = self._gaps.get(id(line))
        if known is None or known[0] is not line:
            if len(self._gaps) > _KEPT_ROWS:
                self._gaps.clear()
            known = self._gaps[id(line)] = (line, gaps_of(line, width))
        return known[1]


@lru_cache(64)
def _styles_on(ground: str, shades: Shades) -> list[list[Style]]:
    """Return the styles of signs on a ground, by colour and shade."""
    return [
        [
            _style(mixed(pair[shade > 1], ground, opacity / 255 * _DIM), ground)
            for shade, opacity in enumerate(shades.opacities)
        ]
        for pair in shades.colors
    ]


@lru_cache(1024)
def _style(color: str, ground: str) -> Style:
    return Style(color=color, bgcolor=ground)
