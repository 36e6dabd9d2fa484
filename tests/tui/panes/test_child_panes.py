"""The panes on the main screen: what they show, who has the keys, and how they go."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from smith_core.errors import AgentError
from smith_core.events import AnyEvent, ChildEnded, OutputDiscarded, RequestStarted, RetryWaiting, TextDelta, TurnEnded
from smith_core.messages import TurnResult
from smith_core.report import DispatchResult
from smith_tui.app import SmithApp, app_around
from smith_tui.panes.area import MOST_FINISHED, ChildPanes
from smith_tui.transcript.view import Transcript
from tests.support import children
from tests.support.engine import open_engine
from tests.support.scripted_client import ScriptedClient
from tests.support.widget_app import MARKUP, ODD_WIDTHS, running_timers

OVER = TurnEnded(result=TurnResult(turn_id="t", conversation_id="c", role="direct", stop_reason="completed"))


def app_in(folder: Path) -> SmithApp:
    return app_around(open_engine(folder, ScriptedClient("x"), {"ui": {"motion": "reduced"}}))


async def play(pilot: Pilot[None], events: Iterable[AnyEvent]) -> ChildPanes:
    """Show events, bring all of it to the screen, and return the panes."""
    app = pilot.app
    assert isinstance(app, SmithApp)
    for event in events:
        app.chat.show(event)
    await pilot.pause()
    area = app.chat.desk.area
    assert area is not None
    for pane in area.panes:
        pane.transcript.flush()
    await pilot.pause()
    return area


def rows(app: SmithApp) -> list[str]:
    """The rows of the screen as a person sees them."""
    return [strip.text for strip in app.screen._compositor.render_strips()]


def text_of(transcript: Transcript) -> str:
    transcript.flush()
    return "\n".join(row.line.text for row in transcript.shown_rows)


def opened(area: ChildPanes) -> list[int]:
    """The numbers of the panes that are not strips."""
    return [pane.child.number for pane in area.panes if pane.size.height > 1]


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    for _ in range(300):
        if condition():
            return
        await pilot.pause(0.01)
    raise AssertionError("never came true")


async def test_each_child_has_a_pane_with_its_own_stream_and_the_turn_is_not_disturbed(tmp_path: Path) -> None:
    app = app_in(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        area = await play(pilot, [*children.turn(2), *children.work(1), *children.work(2)])
        first, second = area.panes
        assert "three places" in text_of(first.transcript)
        assert "4 passed" in text_of(second.transcript)
        assert "three places" not in text_of(app.chat.transcript)
        state = app.chat.status.state
        assert (state.model, state.children, state.activity) == ("scripted", 2, "tool")
        assert "2 children" in "\n".join(rows(app))
        assert state.tokens_in == first.child.status.tokens_in + second.child.status.tokens_in > 0
        area = await play(pilot, [*children.end(1), *children.end(2)])
        # What a child had not reported while it ran counts at its end, and nothing counts twice.
        assert app.chat.status.state.tokens_in == 18_000
        assert app.chat.status.state.children == 0


async def test_a_retry_in_a_child_shows_in_its_pane_and_leaves_what_was_streamed_out(tmp_path: Path) -> None:
    app = app_in(tmp_path)
    error = AgentError(kind="transport", code="rate_limited", message="too many requests")
    async with app.run_test(size=(120, 40)) as pilot:
        retry = RetryWaiting(layer="transport", attempt=2, max_attempts=3, wait_s=8.0, error=error)
        again = children.inside(1, TextDelta(text="half an"), OutputDiscarded(), retry)
        area = await play(pilot, [*children.turn(1), *again])
        assert "retry 2/3 in 8 s" in "\n".join(rows(app))
        assert "half an" not in text_of(area.panes[0].transcript)
        assert app.chat.status.state.activity == "tool"
        begun = RequestStarted(turn_id="t", model="m", source_role="explorer")
        await play(pilot, children.inside(1, begun))
        assert "thinking" in "\n".join(rows(app))


async def test_a_finished_child_gives_its_room_to_the_others_and_goes_with_the_next_turn(tmp_path: Path) -> None:
    app = app_in(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        area = await play(pilot, children.turn(2))
        width = area.panes[1].size.width
        await play(pilot, children.end(1, "partial"))
        assert opened(area) == [2]
        assert area.panes[1].size.width == 2 * width
        assert any("◐ 1 Link" in row and "partial" in row for row in rows(app))
        await play(pilot, [*children.end(2), OVER])
        assert opened(area) == []
        assert area.size.height == 2
        assert app.focused is app.chat.prompt
        await play(pilot, children.turn(0))
        assert not area.panes
        assert not area.display


async def test_alt_0_takes_finished_panes_away_and_leaves_those_that_run(tmp_path: Path) -> None:
    app = app_in(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        area = await play(pilot, [*children.turn(2), *children.end(1)])
        await pilot.press("alt+1", "alt+0")
        await pilot.pause()
        assert [pane.child.job_id for pane in area.panes] == ["j2"]
        assert app.focused is app.chat.prompt
        # A number that is free again goes to the next child, and the key of the other one stays what it was.
        await play(pilot, children.start(3, "worker", "another"))
        assert [(pane.child.number, pane.child.job_id) for pane in area.panes] == [(1, "j3"), (2, "j2")]
        await pilot.press("alt+2")
        assert area.current is area.panes[1]


async def test_a_turn_that_dispatches_on_and_on_keeps_the_newest_strips_and_the_one_in_use(tmp_path: Path) -> None:
    app = app_in(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        area = await play(pilot, [*children.turn(1), *children.end(1)])
        area.focus_number(1)
        more = range(2, MOST_FINISHED + 5)
        finished = [event for n in more for event in (*children.start(n, "worker", "more"), *children.end(n))]
        area = await play(pilot, [*finished, *children.start(99, "worker", "the last one")])
        jobs = {pane.child.job_id for pane in area.panes}
        assert len(jobs) == MOST_FINISHED + 2
        newest = {f"j{number}" for number in range(5, MOST_FINISHED + 5)}
        assert jobs == {"j1", "j99"} | newest
        assert len({pane.child.number for pane in area.panes}) == len(jobs)


async def test_the_keys_go_from_pane_to_pane_and_back_to_the_prompt(tmp_path: Path) -> None:
    app = app_in(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        area = await play(pilot, children.turn(3))
        await pilot.press("alt+2")
        assert app.focused is area.panes[1].transcript
        await pilot.press("tab")
        assert area.current is area.panes[2]
        await pilot.press("tab", "alt+left")
        assert app.focused is area.panes[2].transcript
        assert [pane.transcript._frame for pane in area.panes] == [0.1, 0.1, 1 / 30]
        await pilot.press("escape")
        assert app.focused is app.chat.prompt
        assert area.current is None
        await pilot.press("alt+1", "a")
        assert app.chat.prompt.text == "a"
        await pilot.press("alt+9")
        assert app.focused is app.chat.prompt


async def test_a_pane_is_folded_opened_and_given_the_screen_by_keys(tmp_path: Path) -> None:
    app = app_in(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        area = await play(pilot, children.turn(2))
        await pilot.press("alt+1", "alt+m")
        await pilot.pause()
        assert opened(area) == [2]
        assert app.focused is area.panes[0].title
        await pilot.press("enter")
        await pilot.pause()
        assert opened(area) == [1, 2]
        assert app.focused is area.panes[0].transcript
        await pilot.press("alt+z")
        await pilot.pause()
        assert area.panes[0].size.height == area.size.height == 37
        assert not app.chat.transcript.is_on_screen
        await pilot.press("alt+2")
        await pilot.pause()
        assert opened(area)[-1:] == [2]
        assert area.panes[1].size.height == 37
        await pilot.press("escape")
        await pilot.pause()
        assert app.focused is area.panes[1].transcript
        assert area.panes[0].size.height == area.panes[1].size.height < 37


async def test_a_finished_pane_opens_by_its_key_and_closes_when_the_keys_leave(tmp_path: Path) -> None:
    app = app_in(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        area = await play(pilot, [*children.turn(1), *children.work(1), *children.end(1), OVER])
        await pilot.press("alt+1")
        await pilot.pause()
        assert opened(area) == [1]
        await pilot.press("escape")
        await pilot.pause()
        assert opened(area) == []
        await pilot.click(area.panes[0].title)
        await pilot.pause()
        assert opened(area) == [1]
        await pilot.press("escape")
        await pilot.pause()
        assert opened(area) == [1]


async def test_a_click_on_a_pane_gives_it_the_keys(tmp_path: Path) -> None:
    app = app_in(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        area = await play(pilot, children.turn(2))
        await pilot.click(area.panes[1].transcript, offset=(3, 5))
        assert app.focused is area.panes[1].transcript
        await pilot.click(area.panes[0].title, offset=(3, 0))
        assert app.focused is area.panes[0].transcript
        assert "cancel child" in rows(app)[-1]
        await play(pilot, children.end(1))
        assert "cancel child" not in rows(app)[-1], "it is over"
        await pilot.click(area.panes[1].title, offset=(3, 0))
        assert "cancel child" in rows(app)[-1]
        await pilot.press("alt+z", "a")
        assert "cancel child" not in rows(app)[-1]
        assert app.chat.has_class("zoomed")
        await pilot.press("alt+z")
        assert not app.chat.has_class("zoomed")


async def test_one_child_is_cancelled_alone(tmp_path: Path) -> None:
    app = app_in(tmp_path)
    wanted: list[str] = []
    async with app.run_test(size=(120, 40)) as pilot:
        area = await play(pilot, [*children.turn(2), *children.end(1)])
        area._host.cancel_child = wanted.append  # type: ignore[method-assign]
        for keys in (("alt+1", "ctrl+x"), ("alt+2", "ctrl+x"), ("delete",)):
            await pilot.press(*keys)
        assert wanted == ["j2", "j2"]


async def test_scrolling_and_finding_work_in_a_pane(tmp_path: Path) -> None:
    app = app_in(tmp_path)
    long = TextDelta(text="\n\n".join(f"needle {number}" for number in range(60)))
    async with app.run_test(size=(120, 40)) as pilot:
        area = await play(pilot, [*children.turn(2), *children.inside(1, long), *children.inside(2, long)])
        first = area.panes[0].transcript
        await pilot.press("alt+1", "pageup", "up")
        assert not first.is_following
        assert area.panes[1].transcript.is_following
        await pilot.press("ctrl+f", *"needle 3", "enter")
        await pilot.pause()
        assert app.chat.finder.hit == 0
        assert "needle 3" in text_of(first)
        assert opened(area) == [1, 2]
        await pilot.press("escape")
        assert app.focused is first


async def test_what_is_selected_in_a_pane_is_copied_while_the_turn_runs(tmp_path: Path) -> None:
    app = app_in(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        area = await play(pilot, [*children.turn(1), *children.inside(1, TextDelta(text="copy me please"))])
        stream = area.panes[0].transcript
        row = next(y for y, shown in enumerate(stream.shown_rows) if "copy me" in shown.line.text)
        await pilot.double_click(stream, offset=(8, row))
        await pilot.press("alt+c")
        assert app.clipboard == "me"


@pytest.mark.parametrize("size", [(300, 100), (60, 15), (20, 5), (2, 2)])
async def test_every_child_can_be_reached_at_any_size(tmp_path: Path, size: tuple[int, int]) -> None:
    app = app_in(tmp_path)
    async with app.run_test(size=size) as pilot:
        area = await play(pilot, [*children.turn(6), *children.work(1), *children.work(2)])
        for number in range(1, 7):
            await pilot.press(f"alt+{number}")
            await pilot.pause()
            assert area.current is area.panes[number - 1]
            if size[1] > 4:
                assert any(f" {number} {area.current.child.alias}" in row for row in rows(app))
        assert app.crash is None
        assert app.chat.prompt.size.height >= 1 or size[1] < 4


async def test_b22_right_borders_of_panes_of_30_columns_are_straight(tmp_path: Path) -> None:
    app = app_in(tmp_path)
    odd = TextDelta(text="\n\n".join(ODD_WIDTHS))
    async with app.run_test(size=(60, 26)) as pilot:
        events = [event for number in range(1, 5) for event in children.inside(number, odd)]
        area = await play(pilot, [*children.turn(4), *events])
        assert [pane.size.width for pane in area.panes] == [30] * 4
        shown = ["", "", "", ""]
        for page in range(4):
            for number, pane in enumerate(area.panes):
                (pane.transcript.action_page_down if page else pane.transcript.action_scroll_home)()
                shown[number] += text_of(pane.transcript)
            await pilot.pause()
            screen = app.screen._compositor.render_strips()
            for pane in area.panes:
                edge = [screen[y].crop(pane.region.right - 1, pane.region.right).text for y in pane.region.line_range]
                assert "".join(edge) == "╮" + "│" * (len(edge) - 2) + "╯"
        for text in shown:
            assert all(wanted in text for wanted in ("done", "end", "y z", "start", "fin", "k"))


@pytest.mark.parametrize("text", MARKUP)
async def test_b19_foreign_text_is_literal_in_a_pane(tmp_path: Path, text: str) -> None:
    app = app_in(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        result = DispatchResult(job_id="j1", role="worker", status="ok", summary=f"sum {text}")
        events = [*children.start(1, "worker", text), *children.inside(1, TextDelta(text=f"said `{text}`"))]
        area = await play(pilot, [*children.turn(0), *events])
        shown = rows(app)
        assert sum(row.count(text) for row in shown) >= 4  # card, title, task and stream
        await play(pilot, [ChildEnded(job_id="j1", call_id="d1", result=result)])
        assert any(f"sum {text}" in row for row in rows(app))
        await pilot.click(area.panes[0].title, offset=(10, 0))
        assert app.crash is None
        assert app.return_code is None


async def test_b24_nothing_ticks_when_no_child_runs(tmp_path: Path) -> None:
    app = app_in(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        before = running_timers(app)
        area = await play(pilot, [*children.turn(4), *(event for n in range(1, 5) for event in children.work(n))])
        assert running_timers(app) > before
        assert sum(timer is area._ticker for timer in area._timers) == 1
        ends = [event for number in range(1, 5) for event in children.end(number)]
        await play(pilot, [*ends, OVER])
        await until(pilot, lambda: running_timers(app) <= before)
        assert len(asyncio.all_tasks()) < 100


async def test_a_turn_that_ends_leaves_no_child_running_on_the_screen(tmp_path: Path) -> None:
    app = app_in(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        area = await play(pilot, [*children.turn(2), OVER])
        assert [pane.child.outcome for pane in area.panes] == ["cancelled", "cancelled"]
        assert area._ticker is None
