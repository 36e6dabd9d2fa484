"""The lean compositor against the toolkit's own: the same rows, and no widget asked for more than was wanted."""

import random
from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType
from textual._compositor import ChopsUpdate, Compositor, LayoutUpdate
from textual.app import App, ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from smith_tui.output.app import OutputApp
from smith_tui.output.compositor import LeanCompositor
from smith_tui.transcript.view import Transcript
from tests.support.widget_app import until

WORDS = "漢字 is wider than a word, \u2764\ufe0f is doubtful; "


class Asked(Widget):
    """Rows of text, and a note of which were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: set[int] = set()

    def render_line(self, y: int) -> Strip:
        self.rows.add(y)
        return Strip.blank(self.size.width)

    def render_lines(self, crop: Region) -> list[Strip]:
        return [self.render_line(y) for y in crop.line_range]


class LayeredApp(OutputApp):
    """Widgets side by side, one that is clipped, and one that lies over all of them."""

    CSS = """
    Screen { layers: below above; }
    Horizontal { height: 12; }
    VerticalScroll { width: 1fr; border: round green; }
    #over { layer: above; width: 21; height: 7; offset: 33 4; background: red 50%; padding: 1; }
    Asked { height: 5; }
    """

    def compose(self) -> ComposeResult:
        with Horizontal():
            with VerticalScroll():
                yield Static(WORDS * 40)
            yield Static(WORDS * 20)
        yield Asked()
        yield Static(WORDS * 3, id="over")


def parts_of(update: ChopsUpdate | LayoutUpdate | None) -> Iterator[tuple[int, int, str, list[object]]]:
    """Yield row, column, text and styles of all that an update writes."""
    assert isinstance(update, ChopsUpdate)
    for y, first, end in update.spans:
        for stop, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is not None and x < end and stop > first:
                yield y, x, strip.text, [segment.style for segment in strip]


def as_the_toolkit_does(compositor: Compositor, regions: set[Region]) -> ChopsUpdate:
    spans = list(compositor._regions_to_spans(regions))
    crop = Region.from_union(list(regions))
    chops = Compositor._render_chops(compositor, crop, {y for y, _, _ in spans}.__contains__)
    return ChopsUpdate(chops, spans, [row[1:] for row in compositor.cuts])


async def test_every_update_is_that_of_the_toolkit() -> None:
    rng = random.Random(8)
    app: App[None] = LayeredApp()
    async with app.run_test(size=(60, 20)) as pilot:
        asked = app.query_one(Asked)
        app.query_one(VerticalScroll).scroll_to(y=3, animate=False)
        await pilot.pause()
        compositor = app.screen._compositor
        assert isinstance(compositor, LeanCompositor)
        for _ in range(60):
            regions = set()
            for _ in range(rng.randint(1, 4)):
                x, y = rng.randrange(60), rng.randrange(20)
                regions.add(Region(x, y, rng.randint(1, 60 - x), rng.randint(1, min(4, 20 - y))))
            theirs = as_the_toolkit_does(compositor, regions)
            asked.rows.clear()
            compositor._dirty_regions = set(regions)
            ours = compositor.render_partial_update()
            assert list(parts_of(ours)) == list(parts_of(theirs)), regions
            assert asked.rows <= {y - asked.region.y for region in regions for y in region.line_range}
        whole = Compositor._render_chops(compositor, compositor.size.region, lambda y: True)
        assert compositor._render_chops(compositor.size.region, lambda y: True) == whole
        assert compositor.render_partial_update() is None


class TalkingApp(OutputApp):
    """A transcript, and a note of all that was drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn: list[str] = []

    def compose(self) -> ComposeResult:
        yield Transcript()

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        if isinstance(renderable, ChopsUpdate):
            self.drawn.append("".join(text for _, _, text, _ in parts_of(renderable)))
        super()._display(screen, renderable)


async def test_streamed_words_are_drawn_at_once_and_once() -> None:
    app = TalkingApp()
    async with app.run_test(size=(60, 20)) as pilot:
        transcript = app.query_one(Transcript)
        transcript.start_assistant("direct")
        await pilot.pause()
        app.drawn.clear()
        transcript.append_text("first")
        assert len(app.drawn) == 1 and "first" in app.drawn[0]
        transcript.append_text(" second")
        assert len(app.drawn) == 1
        await until(pilot, lambda: len(app.drawn) > 1)
        assert len(app.drawn) == 2 and "first second" in app.drawn[1]


async def test_words_below_another_screen_are_not_drawn_and_not_lost() -> None:
    app = TalkingApp()
    async with app.run_test(size=(60, 20)) as pilot:
        transcript = app.query_one(Transcript)
        transcript.start_assistant("direct")
        await app.push_screen(Screen[None]())
        await pilot.pause()
        app.drawn.clear()
        transcript.append_text("first")
        await pilot.pause()
        assert not any("first" in drawn for drawn in app.drawn)
        await app.pop_screen()
        await pilot.pause()
        assert "first" in app.export_screenshot()
