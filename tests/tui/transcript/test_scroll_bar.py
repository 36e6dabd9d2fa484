"""The document's scroll bar looks as Textual's does, for every size, position and colour."""

import random
from typing import Self

import pytest
from textual.geometry import Region
from textual.scrollbar import ScrollBar

from smith_tui.transcript.scroll_bar import DocumentScrollBar
from tests.support.widget_app import WidgetApp

ROWS = 20


class BarApp(WidgetApp):
    CSS = f"ScrollBar {{ width: 1; height: {ROWS}; dock: left; }}"


def cells(bar: ScrollBar) -> list[object]:
    strips = bar.render_lines(Region(0, 0, 1, ROWS))
    return [
        (
            segment.text,
            segment.style and (segment.style.color, segment.style.bgcolor, segment.style.reverse, segment.style.meta),
        )
        for strip in strips
        for segment in strip
    ]


@pytest.mark.parametrize("no_color", ["", "1"])
async def test_it_is_drawn_as_textual_draws_it(no_color: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    theirs, ours = ScrollBar(), DocumentScrollBar()
    rng = random.Random(1)
    async with BarApp(theirs, ours).run_test(size=(20, ROWS)) as pilot:
        for number in range(60):
            size, window = rng.randint(1, 400), rng.randint(0, 40)
            position = rng.randint(0, max(0, size - window))
            for bar in (theirs, ours):
                bar.window_virtual_size, bar.window_size, bar.position = size, window, position
                bar.mouse_over = number % 20 > 9
            await pilot.pause()
            assert cells(ours) == cells(theirs)
            assert len(cells(ours)) == ROWS


class RecordedBar(DocumentScrollBar):
    painted: set[int] | None = None

    def refresh(self, *regions: Region, **how: bool) -> Self:
        if self.painted is not None:
            self.painted |= {y for region in regions or (Region(0, 0, 1, ROWS),) for y in region.line_range}
        return super().refresh(*regions, **how)


async def test_a_move_paints_every_row_that_looks_different_and_hardly_another() -> None:
    bar = RecordedBar()
    rng = random.Random(2)
    async with BarApp(bar).run_test(size=(20, ROWS)) as pilot:
        bar.window_size = ROWS
        offset = 0
        for _ in range(200):
            await pilot.pause()
            before, bar.painted = cells(bar), set()
            offset = max(1, offset + rng.choice((1, 1, 2, 7, 60, -5)))
            bar.move(offset, offset + ROWS)
            painted, bar.painted = bar.painted, None
            after = cells(bar)
            assert painted == {y for y in range(ROWS) if before[y] != after[y]}


async def test_a_bar_that_was_never_drawn_is_painted_whole() -> None:
    bar = RecordedBar()
    async with BarApp(bar).run_test(size=(20, ROWS)):
        bar._drawn = None
        bar.painted = set()
        bar.move(5, 100)
        assert bar.painted == set(range(ROWS))


async def test_a_move_that_the_window_does_not_fit_yet_paints_it_whole_and_breaks_nothing() -> None:
    bar = RecordedBar()
    rng = random.Random(3)
    async with BarApp(bar).run_test(size=(20, ROWS)) as pilot:
        for _ in range(300):
            bar.painted = None
            bar.window_size = rng.choice((1, 5, ROWS, 70))
            await pilot.pause()
            bar.painted = set()
            height = rng.choice((0, 1, 5, ROWS, 70, 500))
            offset = rng.choice((-3, 0, 1, 69, 600))
            fits = bar.window_size < height and 0 <= offset <= height - bar.window_size
            bar.move(offset, height)
            assert fits or bar.painted == set(range(ROWS))
            bar.painted = None
            bar.move(0, 2 * ROWS + int(bar.window_size))
