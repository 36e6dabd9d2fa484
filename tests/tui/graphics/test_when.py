"""When it rains on the main screen, and that nothing of it goes on ticking afterwards."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from smith_core.errors import AgentError
from smith_core.events import AnyEvent, ConversationLoaded, RequestStarted, RetryWaiting, TextDelta, TurnEnded
from smith_core.messages import Message, StopReason, TurnResult
from smith_tui.app import SmithApp, app_around
from smith_tui.graphics.glyphs import KATAKANA
from smith_tui.widgets.status_line import SPINNER
from tests.support import children
from tests.support.engine import open_engine
from tests.support.scripted_client import ScriptedClient
from tests.support.widget_app import lines_of, running_timers

ERROR = AgentError(kind="transport", code="stall", message="silence")
MANY = tuple(Message(role="assistant" if number % 2 else "user", content=f"words {number}") for number in range(2000))
GIVEN_UP = [event for number in (1, 2) for event in children.end(number, cancelled=True)]
ENDS = [event for number in (1, 2) for event in children.end(number)]


def over(reason: StopReason) -> AnyEvent:
    error = ERROR if reason == "error" else None
    return TurnEnded(
        result=TurnResult(turn_id="t", conversation_id="c", role="direct", stop_reason=reason, error=error)
    )


def asking(count: int) -> list[AnyEvent]:
    """A turn whose children have all just asked their model."""
    requests = [
        event
        for number in range(1, count + 1)
        for event in children.inside(number, RequestStarted(turn_id="t", model="m", source_role="worker"))
    ]
    return [*children.turn(count), *requests]


@asynccontextmanager
async def screen(folder: Path, **ui: str) -> AsyncIterator[tuple[SmithApp, Pilot[None]]]:
    app = app_around(open_engine(folder, ScriptedClient("x"), {"ui": ui}))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        yield app, pilot


async def play(app: SmithApp, pilot: Pilot[None], events: Iterable[AnyEvent]) -> None:
    for event in events:
        app.chat.show(event)
    await pilot.pause(0.25)


def signs(app: SmithApp) -> int:
    """How many signs of the rain are on the screen."""
    return sum(strip.text.count(sign) for strip in app.screen._compositor.render_strips() for sign in KATAKANA)


async def test_it_rains_from_the_request_of_a_child_to_its_first_output(tmp_path: Path) -> None:
    async with screen(tmp_path, rain="cells") as (app, pilot):
        await play(app, pilot, [*children.turn(2)])
        assert signs(app) == 0, "the turn itself waits, and its children have not asked yet"
        await play(app, pilot, asking(2)[-2:])
        await pilot.pause(0.6)
        assert signs(app) > 0
        await play(app, pilot, children.inside(1, TextDelta(text="a")))
        assert signs(app) > 0, "the other one waits still"
        await play(app, pilot, children.inside(2, TextDelta(text="b")))
        assert signs(app) == 0


@pytest.mark.parametrize("ui", [{"rain": "off"}, {"rain": "cells", "motion": "reduced"}, {"rain": "auto"}])
async def test_it_does_not_rain_where_it_is_not_wanted_or_cannot_be_shown(tmp_path: Path, ui: dict[str, str]) -> None:
    async with screen(tmp_path, **ui) as (app, pilot):
        await play(app, pilot, asking(2))
        await pilot.pause(0.3)
        assert signs(app) == 0


async def test_rain_that_falls_follows_the_settings_at_once(tmp_path: Path) -> None:
    async with screen(tmp_path) as (app, pilot):
        seen = []
        app.chat.submit("/config set ui.rain cells")
        await play(app, pilot, asking(1))
        for line in ("", "ui.motion reduced", "ui.motion full", "ui.rain off"):
            if line:
                app.chat.submit(f"/config set {line}")
            await pilot.pause(0.8)
            seen.append(signs(app) > 0)
        assert seen == [True, False, True, False]


def marks(app: SmithApp) -> set[str]:
    """What stands as the mark of the status bar in a whole turn of the spinner."""
    bar, seen = app.chat.status, set()
    for _ in SPINNER:
        bar._tick()
        seen.add(lines_of(bar)[0][0])
    return seen


async def test_the_mark_stands_still_while_a_picture_of_rain_is_to_be_seen(tmp_path: Path) -> None:
    async with screen(tmp_path) as (app, pilot):
        await play(app, pilot, [*children.turn(2)])
        assert marks(app) == set(SPINNER)
        rain = app.chat.desk.rain
        assert rain is not None
        rain._told(True)
        assert marks(app) == {"●"}
        rain._told(False)
        assert marks(app) == set(SPINNER)


@pytest.mark.parametrize("rain", ["off", "auto", "cells"])
async def test_b23_the_mark_spins_where_no_picture_of_rain_is_to_be_seen(tmp_path: Path, rain: str) -> None:
    async with screen(tmp_path, rain=rain) as (app, pilot):
        await play(app, pilot, asking(2))
        assert marks(app) == set(SPINNER)


STATES: dict[str, list[AnyEvent]] = {
    "after a turn with rain": [*asking(2), *ENDS, over("completed")],
    "after a cancelled turn": [*asking(2), *GIVEN_UP, over("cancelled")],
    "after an error": [*asking(2), *ENDS, over("error")],
    "a long conversation": [*asking(2), *ENDS, over("completed"),
                            ConversationLoaded(conversation_id="c", title="", messages=MANY)],
    "two children over": [*asking(2), *ENDS],
}  # fmt: skip


@pytest.mark.parametrize("events", STATES.values(), ids=STATES)
async def test_b24_when_the_rain_is_over_nothing_of_it_ticks(tmp_path: Path, events: list[AnyEvent]) -> None:
    async with screen(tmp_path, rain="cells") as (app, pilot):
        # What ticks while a turn runs is not the rain's: the clock of the status bar.
        turns = 0 if isinstance(events[-1], TurnEnded | ConversationLoaded) else 1
        timers, tasks = running_timers(app), tasks_besides_widgets()
        await play(app, pilot, asking(2))
        assert running_timers(app) > timers + 1
        await play(app, pilot, events[len(asking(2)) :])
        for _ in range(100):
            if running_timers(app) <= timers + turns:
                break
            await pilot.pause(0.02)
        assert running_timers(app) <= timers + turns
        assert tasks_besides_widgets() <= tasks + turns
        assert signs(app) == 0


async def test_b24_a_child_that_waits_for_its_retry_does_not_make_it_rain(tmp_path: Path) -> None:
    retry = RetryWaiting(layer="transport", attempt=2, max_attempts=3, wait_s=30.0, error=ERROR)
    async with screen(tmp_path, rain="cells") as (app, pilot):
        await play(app, pilot, asking(1))
        raining = running_timers(app)
        await play(app, pilot, children.inside(1, retry))
        assert signs(app) == 0
        assert running_timers(app) < raining


def tasks_besides_widgets() -> int:
    return sum(not task.get_name().startswith("message pump") for task in asyncio.all_tasks())
