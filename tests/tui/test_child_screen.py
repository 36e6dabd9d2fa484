"""A child from dispatch to its stored transcript: the app, the engine and a scripted model."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from textual.pilot import Pilot

from smith_core.commands.opening import ResumeWish
from smith_core.llm.protocol import ModelRequest, StreamText
from smith_tui.app import SmithApp, app_around
from smith_tui.screens.child import NOTHING_KEPT, ChildScreen
from smith_tui.screens.search import SearchScreen
from tests.support.engine import open_engine, open_stored_engine
from tests.support.scripted_client import Answer, ScriptedClient, calls
from tests.support.search_journals import caught_up, find

TASKS = {"explorer": "Find the [rule]", "worker": "Mend the sum"}


def dispatching(request: ModelRequest) -> Answer:
    """The parent dispatches two children and then answers; each child says something and reports."""
    asked = next(message.content for message in request.messages if message.role == "user")
    for role, task in TASKS.items():
        if asked.startswith(task):
            words = f"{role} was here"
            report = {"status": "ok", "summary": f"{words}.", "findings": [words], "evidence": ["prices.py:1"]}
            return calls(("report", report), text=f"I say {words}.\n")
    if any(message.role == "tool" for message in request.messages):
        return "All done."
    return calls(*(("dispatch", {"role": role, "task": task}) for role, task in TASKS.items()))


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    for _ in range(500):
        if condition():
            return
        await pilot.pause(0.01)
    raise AssertionError("never came true")


def shown(app: SmithApp) -> str:
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


async def dispatch(app: SmithApp, pilot: Pilot[None]) -> None:
    app.chat.submit("go")
    await until(pilot, lambda: not app.chat.turns.is_running and "All done." in shown(app))


async def test_a_child_is_opened_from_its_card_by_key_and_by_click(tmp_path: Path) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient(dispatching), {"ui": {"motion": "reduced"}}))
    async with app.run_test(size=(100, 40)) as pilot:
        await dispatch(app, pilot)
        area = app.chat.desk.area
        assert area is not None
        assert [pane.child.outcome for pane in area.panes] == ["ok", "ok"]
        assert app.chat.status.state.tokens_in == 30  # one request of 10 each of the parent and of the children
        await pilot.press("alt+t")
        await until(pilot, lambda: isinstance(app.screen, ChildScreen) and "I say worker was here." in shown(app))
        assert "Niobe" in shown(app)
        await pilot.press("n")
        await until(pilot, lambda: "I say explorer was here." in shown(app))
        assert "Find the [rule]" in shown(app)
        await pilot.press("ctrl+f", *"I say", "enter")
        await pilot.pause()
        assert "1/1" in shown(app)
        await pilot.press("escape", "escape")
        assert app.screen is app.chat
        row = next(y for y, strip in enumerate(shown(app).split("\n")) if "open the whole transcript" in strip)
        await pilot.click(offset=(8, row))
        await until(pilot, lambda: isinstance(app.screen, ChildScreen) and "I say explorer was here." in shown(app))


async def test_after_a_restart_the_transcript_opens_from_the_loaded_card(tmp_path: Path) -> None:
    runtime = open_stored_engine(tmp_path, ScriptedClient(dispatching))
    app = app_around(runtime)
    async with app.run_test(size=(100, 40)) as pilot:
        await dispatch(app, pilot)
    again = app_around(open_stored_engine(tmp_path, ScriptedClient("x"), ResumeWish(kind="last")))
    async with again.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: "All done." in shown(again))
        assert again.chat.desk.area is None
        await pilot.press("alt+t")
        await until(pilot, lambda: "I say worker was here." in shown(again))


async def test_what_a_child_said_is_found_and_opened_from_another_conversation(tmp_path: Path) -> None:
    app = app_around(open_stored_engine(tmp_path, ScriptedClient(dispatching)))
    async with app.run_test(size=(100, 40)) as pilot:
        await dispatch(app, pilot)
    runtime = open_stored_engine(tmp_path, ScriptedClient("x"), is_searched=True)
    again = app_around(runtime)
    async with again.run_test(size=(100, 40)) as pilot:
        search = runtime.session.search
        assert search is not None
        await caught_up(search)
        (task,) = await find(search, "role:task sum")
        assert task.job_id and task.role == "task"
        again.chat.submit('/search "I say worker"')
        await until(pilot, lambda: isinstance(again.screen, SearchScreen) and "1 result" in shown(again))
        assert "child" in shown(again)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(again.screen, ChildScreen) and "I say worker was here." in shown(again))
        await pilot.press("escape")
        assert "All done." in shown(again)
    await runtime.stop_session("test")


async def test_a_child_of_which_nothing_is_kept_says_so(tmp_path: Path) -> None:
    runtime = open_engine(tmp_path, ScriptedClient(dispatching))
    app = app_around(runtime)
    async with app.run_test(size=(100, 40)) as pilot:
        await dispatch(app, pilot)
        for card in app.chat.transcript.child_cards():
            card.job_id = "forgotten"
        await pilot.press("alt+t")
        await until(pilot, lambda: NOTHING_KEPT in shown(app))


async def test_one_child_is_cancelled_by_its_key_and_the_turn_goes_on(tmp_path: Path) -> None:
    gate = asyncio.Event()

    def answer(request: ModelRequest) -> Answer:
        asked = next(message.content for message in request.messages if message.role == "user")
        return [StreamText(text="on and on"), gate] if asked.startswith(TASKS["worker"]) else dispatching(request)

    app = app_around(open_engine(tmp_path, ScriptedClient(answer)))
    async with app.run_test(size=(100, 40)) as pilot:
        app.chat.submit("go")
        await until(pilot, lambda: "on and on" in shown(app))
        await pilot.press("alt+2", "ctrl+x")
        await until(pilot, lambda: not app.chat.turns.is_running and "All done." in shown(app))
        area = app.chat.desk.area
        assert area is not None
        assert [pane.child.outcome for pane in area.panes] == ["ok", "cancelled"]
        assert app.chat.status.state.activity == "idle"
