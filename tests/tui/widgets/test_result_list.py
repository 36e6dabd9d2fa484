"""A list whose items are rendered ahead of the view, and rows that make their caches when they are asked for."""

import asyncio
from typing import Any

from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.screen import Screen
from textual.strip import Strip

from smith_tui.output.app import OutputApp
from smith_tui.theme import DARK
from smith_tui.transcript.ink import make_ink
from smith_tui.transcript.lean_strip import LeanStrip
from smith_tui.transcript.lines import PLAIN, Line, line_of
from smith_tui.widgets.result_list import MAX_CACHED_ITEMS, Frame, ResultList
from tests.support.widget_app import until


class PaintedApp(OutputApp):
    """A list of numbered items, and the chosen one at the moment of each frame."""

    def __init__(self) -> None:
        super().__init__()
        self.frames: list[int] = []

    def compose(self) -> ComposeResult:
        yield ResultList(self._item, make_ink(DARK, "green"), item_height=1)

    def _item(self, index: int, frame: Frame) -> list[Line]:
        return [line_of([(f"item {index}", PLAIN)])]

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        if renderable is not None:
            self.frames.append(self.query_one(ResultList).selected)
        super()._display(screen, renderable)


class ListApp(App[None]):
    """A list of numbered items, and which of them were rendered."""

    def __init__(self, *, is_ready: bool) -> None:
        super().__init__()
        self.rendered: list[int] = []
        self._is_ready = is_ready

    def compose(self) -> ComposeResult:
        yield ResultList(self._item, make_ink(DARK, "green"), item_height=1, is_ready=self._is_ready)

    def _item(self, index: int, frame: Frame) -> list[Line]:
        self.rendered.append(index)
        return [line_of([(f"item {index}", PLAIN)])]


async def test_the_pages_beside_the_view_are_rendered_ahead_and_no_more_than_them() -> None:
    app = ListApp(is_ready=True)
    async with app.run_test(size=(40, 10)) as pilot:
        view = app.query_one(ResultList)
        view.show_items(1_000, 500)
        await until(pilot, lambda: len(set(app.rendered)) == 30)
        await pilot.pause(0.1)
        first = view.viewed.start
        assert set(app.rendered) == set(range(first - 10, first + 20))
        app.rendered.clear()
        view.press("pageup")
        await until(pilot, lambda: "item 491" in str(view.render_line(0).text))
        # The chosen item looks otherwise than it did ahead.
        assert [index for index in app.rendered if first - 10 <= index < first + 10] == [491]


async def test_keys_that_come_together_are_one_frame_which_waits_for_no_timer() -> None:
    app = PaintedApp()
    async with app.run_test(size=(40, 10)) as pilot:
        view = app.query_one(ResultList)
        view.show_items(1_000, 500)
        await pilot.pause(0.05)
        for keys, chosen in ((("up", "up"), 498), (("pageup", "pageup"), 480)):
            app.frames.clear()
            for key in keys:
                view.press(key)
            assert app.frames == []
            await asyncio.sleep(0)
            assert app.frames == [chosen]
            await pilot.pause(0.05)
            assert app.frames == [chosen]


async def test_items_that_may_not_be_there_yet_are_not_rendered_ahead() -> None:
    app = ListApp(is_ready=False)
    async with app.run_test(size=(40, 10)) as pilot:
        app.query_one(ResultList).show_items(1_000, 500)
        await until(pilot, lambda: bool(app.rendered))
        await pilot.pause(0.15)
        assert len(set(app.rendered)) == 10


async def test_a_view_higher_than_the_cache_does_not_render_without_end() -> None:
    app = ListApp(is_ready=True)
    async with app.run_test(size=(20, MAX_CACHED_ITEMS)) as pilot:
        view = app.query_one(ResultList)
        view.show_items(5_000, 2_500)
        await until(pilot, lambda: len(set(app.rendered)) > MAX_CACHED_ITEMS)
        counts: list[int] = []

        def is_still() -> bool:
            counts.append(len(app.rendered))
            return len(counts) > 20 and counts[-1] == counts[-20]

        await until(pilot, is_still)
        assert len(app.rendered) < 3 * MAX_CACHED_ITEMS


def test_a_lean_strip_does_what_a_strip_does() -> None:
    segments = [Segment("some words ", Style(bold=True)), Segment("and 漢字")]
    lean, strip = LeanStrip(segments, 18), Strip(segments, 18)
    made = set(Strip.__slots__) - {name for name in Strip.__slots__ if name in vars_of(lean)}
    assert made == {name for name in Strip.__slots__ if name.endswith("_cache") and name != "_render_cache"}
    for each in (lean, strip):
        assert each.cell_length == 18
    assert lean == strip
    assert lean.crop(2, 9) == strip.crop(2, 9)
    assert lean.crop(2, 9) is lean.crop(2, 9)
    assert lean.divide([3, 14, 18]) == strip.divide([3, 14, 18])
    assert lean.adjust_cell_length(24) == strip.adjust_cell_length(24)
    assert lean.apply_style(Style(italic=True)) == strip.apply_style(Style(italic=True))
    assert lean.apply_offsets(1, 2) == strip.apply_offsets(1, 2)
    assert lean.crop_extend(0, 30, None) == strip.crop_extend(0, 30, None)
    assert lean.render_ansi(Style.null(), None) == strip.render_ansi(Style.null(), None)
    assert not hasattr(lean, "something_else")


def vars_of(strip: LeanStrip) -> set[str]:
    """Return the names of what a strip holds, without making any of it."""
    return {name for name in Strip.__slots__ if _is_set(strip, name)}


def _is_set(strip: LeanStrip, name: str) -> bool:
    try:
        object.__getattribute__(strip, name)
    except AttributeError:
        return False
    return True
