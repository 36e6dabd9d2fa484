"""The rain on a screen: in its field, around letters, popups and other screens, in step with the terminal, and gone."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.containers import Horizontal
from textual.screen import ModalScreen
from textual.widgets import Static

from smith_tui.graphics.cell_rain import CellRain
from smith_tui.graphics.glyphs import KATAKANA
from smith_tui.graphics.layer import RainLayer
from smith_tui.graphics.scene import Stage
from smith_tui.graphics.segments import Segments
from smith_tui.graphics.shades import shades_of
from smith_tui.graphics.support import Way
from smith_tui.theme import DARK, LIGHT
from smith_tui.transcript.view import Transcript
from tests.support.pictures import PictureBox
from tests.support.widget_app import running_timers

TEXT = "\n".join(["these words stand in the way of the rain " * 2] * 3)


class BoxSurface:
    """A terminal that shows pictures, and may stop to read. clock: what the layer takes for the time."""

    def __init__(self) -> None:
        self.box = PictureBox()
        self.is_open = True
        self.is_stalled = False
        self.now = 100.0
        self.told: list[bool] = []
        self._unread = b""

    @property
    def is_ready(self) -> bool:
        return self.is_open and not self._unread

    def write(self, text: str) -> None:
        self._unread += text.encode()
        if not self.is_stalled:
            self.go_on()

    def go_on(self) -> None:
        self.is_stalled = False
        self.box.feed(self._unread)
        self._unread = b""

    def clock(self) -> float:
        self.now += 0.1
        return self.now


class Other(ModalScreen[None]):
    def compose(self) -> ComposeResult:
        yield Static("over everything")


class WetApp(App[None]):
    CSS = """
    Screen { layers: below above; }
    #beside { width: 30; }
    #popup { layer: above; width: 20; height: 3; offset: 5 12; background: #402060; display: none; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.view = Transcript(theme=DARK)

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield self.view
            yield Static("beside", id="beside")
        yield Static("a list", id="popup")


@asynccontextmanager
async def wet(way: Way = "memory", segments: type[Segments] = Segments) -> AsyncIterator[tuple[Any, Any, Any]]:
    app, surface = WetApp(), BoxSurface()
    async with app.run_test(size=(100, 30)) as pilot:
        app.view.add_plain(TEXT)
        await pilot.pause()
        layer = RainLayer(
            Stage(app.view), surface, way, clock=surface.clock, segments=segments, seed=4, told=surface.told.append
        )
        yield pilot, layer, surface
        layer.stop()
        assert not surface.is_open or not surface.box.images


def fall(layer: RainLayer, steps: int = 25) -> None:
    for _ in range(steps):
        layer.tick()


@pytest.mark.parametrize("way", ["memory", "direct"])
async def test_it_falls_in_the_left_of_the_view_and_is_gone_when_it_stops(way: Way) -> None:
    async with wet(way) as (pilot, layer, surface):
        before = running_timers(pilot.app)
        assert not surface.box.log
        layer.start(DARK, ("cyan",))
        fall(layer)
        box = surface.box
        # 69 cells of text beside the scroll bar: 27 of them, in whole columns.
        assert {frame.placement for frame in box.frames} == {(0, 0, 26, 30, -10)}
        assert {frame.way for frame in box.frames} == {"s" if way == "memory" else "d"}
        assert max(frame.size for frame in box.frames) <= (130 if way == "memory" else 10_000)
        assert box.lit(0, 5, 26, 30) > 100
        assert set(box.modes) <= {0o600}
        count = layer.frames
        layer.stop()
        assert not surface.told[-1]
        assert not box.images and not box.placements and box.log[-1] == "delete"
        fall(layer)
        assert layer.frames == count
        assert running_timers(pilot.app) == before
        layer.start(LIGHT, ("violet", "cyan"))
        fall(layer)
        table = {entry[:3] for entry in shades_of(LIGHT, ("violet", "cyan")).table}
        picture = next(iter(box.images.values())).pixels
        assert {tuple(picture[at : at + 3]) for at in range(0, len(picture), 4)} <= table


async def test_letters_have_the_faintest_shade_behind_them_at_once_and_blanks_the_bright_ones() -> None:
    async with wet() as (pilot, layer, surface):
        layer.start(DARK, ("cyan",))
        fall(layer, 40)
        box, opacities = surface.box, shades_of(DARK, ("cyan",)).opacities
        rows = [y for y in range(30) if "words" in pilot.app.view.render_line(y).text]
        assert len(rows) >= 3
        behind = {box.pixel(x, y)[3] for y in rows for x in range(2, 26)}
        assert behind <= {0, opacities[-1]}
        assert max(box.pixel(x, y)[3] for y in range(10, 30) for x in range(26)) == opacities[1]
        # New text comes together with a picture that has room for it, the same drops around it.
        pilot.app.view.add_plain("\n".join(["more and more of it, all over the place"] * 12))
        pilot.app.view.flush()
        frames = layer.frames
        surface.write(layer.behind_frame())
        assert layer.frames == frames + 1
        assert layer.behind_frame() == ""
        rows = [y for y in range(30) if "more and" in pilot.app.view.render_line(y).text]
        assert len(rows) == 12
        assert {box.pixel(x, y)[3] for y in rows for x in range(2, 26)} <= {0, opacities[-1]}


async def test_popups_are_holes_from_the_moment_when_they_are_laid_out() -> None:
    async with wet() as (pilot, layer, surface):
        layer.start(DARK, ("cyan",))
        fall(layer, 40)
        assert surface.box.lit(5, 12, 25, 15)
        frames = layer.frames
        pilot.app.query_one("#popup").display = True
        await pilot.pause()
        assert layer.frames > frames
        assert surface.box.lit(4, 12, 26, 15) == 0
        fall(layer)
        assert surface.box.lit(4, 12, 26, 15) == 0
        assert surface.box.lit(0, 16, 26, 30)
        pilot.app.query_one("#popup").display = False
        await pilot.pause()
        fall(layer)
        assert surface.box.lit(5, 12, 25, 15)


async def test_another_screen_finds_no_picture_and_it_goes_on_behind_it() -> None:
    async with wet() as (pilot, layer, surface):
        layer.start(DARK, ("cyan",))
        fall(layer)
        # The signal comes before the new screen is painted.
        pilot.app.push_screen(Other())
        assert not surface.box.images
        await pilot.pause()
        frames = layer.frames
        fall(layer)
        assert layer.frames == frames and not surface.box.images
        pilot.app.pop_screen()
        await pilot.pause()
        fall(layer)
        assert surface.box.placements


async def test_a_view_that_is_hidden_or_too_small_has_no_rain_and_a_new_size_moves_it() -> None:
    async with wet() as (pilot, layer, surface):
        layer.start(DARK, ("cyan",))
        fall(layer)
        assert set(surface.told) == {True}
        pilot.app.view.display = False
        await pilot.pause()
        layer.tick()
        assert not surface.box.images and not surface.told[-1]
        pilot.app.view.display = True
        await pilot.resize_terminal(130, 20)
        await pilot.pause()
        fall(layer)
        assert surface.box.placements.popitem()[1] == (0, 0, 38, 20, -10) and surface.told[-1]
        await pilot.resize_terminal(40, 20)
        await pilot.pause()
        layer.tick()
        assert not surface.box.images


async def test_a_terminal_that_stands_still_gets_no_frames_and_no_memory_is_left() -> None:
    async with wet() as (pilot, layer, surface):
        layer.start(DARK, ("cyan",))
        fall(layer, 3)
        surface.is_stalled = True
        layer.tick()
        frames = layer.frames
        fall(layer, 50)
        assert layer.frames == frames
        assert layer._segments.unread == 1
        # Text that changes meanwhile takes a few frames along, and then the picture goes.
        for number in range(6):
            pilot.app.view.add_plain(f"text {number}")
            pilot.app.view.flush()
            surface.write(layer.behind_frame())
            assert layer._segments.unread <= 3
        layer.stop()
        assert layer._segments.unread == 0
        surface.go_on()
        assert surface.box.log[-1] == "delete" and not surface.box.images


async def test_a_terminal_in_other_hands_gets_nothing() -> None:
    async with wet() as (_, layer, surface):
        layer.start(DARK, ("cyan",))
        fall(layer)
        surface.write(layer.last_words())
        surface.is_open = False
        log = list(surface.box.log)
        fall(layer)
        assert surface.box.log == log
        assert layer.last_words() == ""
        surface.is_open = True
        fall(layer)
        assert surface.box.placements


class FullMemory(Segments):
    """Has room for two frames in all."""

    def put(self, data: bytes | bytearray) -> str:
        if self._count == 2:
            raise OSError(28, "No space left on device")
        return super().put(data)


async def test_without_room_for_shared_memory_the_frames_go_through_the_line() -> None:
    async with wet(segments=FullMemory) as (_, layer, surface):
        layer.start(DARK, ("cyan",))
        fall(layer)
        assert layer.way == "direct"
        assert [frame.way for frame in surface.box.frames[:3]] == ["s", "s", "d"]
        assert surface.box.lit(0, 5, 26, 30) > 50


async def test_where_there_are_no_pictures_signs_stand_in_long_blanks_and_the_text_is_what_it_was() -> None:
    app = WetApp()
    async with app.run_test(size=(100, 30)) as pilot:
        app.view.add_plain(TEXT)
        await pilot.pause()
        dry = [app.view.render_line(y).text for y in range(30)]
        timers = running_timers(app)
        cells = CellRain(Stage(app.view), seed=2)
        cells.start(DARK, ("cyan", "violet"))
        seen = set()
        for _ in range(40):
            cells.tick()
            for y, row in enumerate(dry):
                strip = app.view.render_line(y)
                assert strip.cell_length == len(row)
                signs = {x for x, char in enumerate(strip.text) if char in KATAKANA}
                seen |= {(x, y) for x in signs}
                assert all(x < 27 and row[x] == " " for x in signs)
                kept = "".join(" " if x in signs else char for x, char in enumerate(strip.text))
                assert kept == row
        assert len(seen) > 100
        cells.stop()
        await pilot.pause()
        assert [app.view.render_line(y).text for y in range(30)] == dry
        assert running_timers(app) == timers
