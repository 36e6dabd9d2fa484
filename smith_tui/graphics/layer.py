"""The rain as a picture behind the text of a view: one frame after the other while somebody waits."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from smith_tui.graphics.glyphs import GLYPHS
from smith_tui.graphics.kitty import frame_direct, frame_in_memory
from smith_tui.graphics.leftovers import DELETE
from smith_tui.graphics.png import indexed_png
from smith_tui.graphics.rain import Rain
from smith_tui.graphics.raster import ColorRaster, IndexedRaster, Raster
from smith_tui.graphics.scene import Scene, Stage
from smith_tui.graphics.segments import Segments
from smith_tui.graphics.shades import MAX_COLORS, shades_of
from smith_tui.graphics.support import Way
from smith_tui.graphics.surface import Surface
from smith_tui.theme import Theme

if TYPE_CHECKING:
    from textual.screen import Screen
    from textual.timer import Timer

FRAMES_PER_SECOND = 10
_EARLY = 0.5 / FRAMES_PER_SECOND
"""Seconds behind a frame in which no other one is due: one that came with changed text puts the next one off."""
_MAX_UNREAD = 3
"""Frames that the terminal may be behind with when the text changes; then the picture goes instead."""


class RainLayer:
    """Shows nothing until `start`, and nothing more from `stop` on.

    way: how frames reach the terminal, not "none". frames: how many were written so far. told: called with each frame,
    and at the end, with whether rain is to be seen.
    """

    def __init__(
        self,
        stage: Stage,
        surface: Surface,
        way: Way,
        *,
        clock: Callable[[], float] = time.monotonic,
        segments: Callable[[], Segments] = Segments,
        seed: int = 0,
        told: Callable[[bool], object] = lambda _: None,
    ) -> None:
        self.frames = 0
        self.way = way
        self._stage = stage
        self._surface = surface
        self._clock = clock
        self._seed = seed
        self._told = told
        self._segments: Segments | None = segments() if way == "memory" else None
        self._look: tuple[Theme, tuple[str, ...]] | None = None
        self._timer: Timer | None = None
        self._rain: Rain | None = None
        self._raster: Raster | None = None
        self._shown: Scene | None = None
        self._shown_at = 0.0
        view = stage.view
        view.app.screen_change_signal.subscribe(view, self._screen_changed, immediate=True)
        view.screen.screen_layout_refresh_signal.subscribe(view, self._layout_changed, immediate=True)

    @property
    def is_running(self) -> bool:
        """Whether rain is to be seen, now or as soon as it can."""
        return self._look is not None

    def start(self, theme: Theme, palettes: tuple[str, ...]) -> None:
        """Let it rain in the colours of palettes (`RoleSpec.palette`); more than MAX_COLORS are not mixed."""
        look = (theme, palettes[:MAX_COLORS])
        if look != self._look:
            self._look, self._raster = look, None
        if self._timer is None:
            self._timer = self._stage.view.set_interval(1 / FRAMES_PER_SECOND, self.tick)
            self.tick()

    def stop(self) -> None:
        """Take the rain away."""
        self._look = self._rain = self._raster = None
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self._write(self._take_away())
        self._told(False)

    def last_words(self) -> str:
        """Return what takes the picture away, for a terminal that is about to be left; "" when there is none."""
        return self._take_away()

    def tick(self) -> None:
        """Write the next frame, unless the terminal is behind."""
        if self._look is None or not self._surface.is_ready or self._clock() - self._shown_at < _EARLY:
            return
        if self._segments is not None and self._segments.unread:
            return
        scene = self._stage.look()
        self._write(self._take_away() if scene is None else self._draw(scene, steps=1))
        self._told(scene is not None)

    def behind_frame(self) -> str:
        """Return what belongs right behind changed text: the same rain around other letters, or its end."""
        if self._shown is None or self._look is None:
            return ""
        scene = self._stage.look()
        if scene is not None and scene == self._shown:
            return ""
        if scene is None or (self._segments is not None and self._segments.unread >= _MAX_UNREAD):
            return self._take_away()
        return self._draw(scene, steps=0)

    def _draw(self, scene: Scene, *, steps: int) -> str:
        rain, raster = self._prepare(scene)
        for _ in range(steps):
            raster.draw(rain, rain.step())
        raster.cover(rain, scene.covers)
        frame = self._frame(scene, raster)
        self._shown, self._shown_at = scene, self._clock()
        self.frames += 1
        return frame

    def _prepare(self, scene: Scene) -> tuple[Rain, Raster]:
        assert self._look is not None
        theme, palettes = self._look
        field, shades = scene.field, shades_of(theme, palettes)
        rain, colors = self._rain, len(shades.colors)
        if rain is None or (rain.columns, rain.rows) != (field.columns, field.rows):
            rain = self._rain = Rain(field.columns, field.rows, signs=len(GLYPHS), colors=colors, seed=self._seed)
            self._raster = None
        if self._raster is None:
            rain.recolor(colors)
            self._raster = (IndexedRaster if self._segments is None else ColorRaster)(field, shades)
            self._raster.draw(rain, rain.lit())
        return rain, self._raster

    def _frame(self, scene: Scene, raster: Raster) -> str:
        if self._segments is not None:
            try:
                name = self._segments.put(raster.pixels)
            except OSError:
                # No room: the picture can still go through the line.
                self._segments, self.way, self._raster = None, "direct", None
                return self._frame(scene, self._covered(scene))
            return frame_in_memory(scene.field, raster.width, raster.height, name)
        assert self._look is not None
        table = shades_of(*self._look).table
        return frame_direct(scene.field, indexed_png(raster.width, raster.height, raster.pixels, table))

    def _covered(self, scene: Scene) -> Raster:
        rain, raster = self._prepare(scene)
        raster.cover(rain, scene.covers)
        return raster

    def _take_away(self) -> str:
        if self._segments is not None:
            self._segments.remove_all()
        was_shown, self._shown = self._shown is not None, None
        return DELETE if was_shown else ""

    def _write(self, text: str) -> None:
        if text and self._surface.is_open:
            self._surface.write(text)

    def _screen_changed(self, screen: "Screen[object]") -> None:
        # Before another screen paints its first frame.
        if screen is not self._stage.view.screen:
            self._write(self._take_away())

    def _layout_changed(self, _: object) -> None:
        self._write(self.behind_frame())
