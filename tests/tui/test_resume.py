"""The app over a store on disk: what a start brings back, and what it says of things that cannot be saved."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
from textual.pilot import Pilot

from smith_core.commands.opening import ResumeWish
from smith_core.errors import failure
from smith_core.events import RequestStarted
from smith_core.stored_tail import stored_tail
from smith_tui.app import SmithApp, app_around
from smith_tui.start import AppStart
from smith_tui.widgets.status_bar import StatusBar
from tests.support.engine import command, open_stored_engine, run_turn
from tests.support.scripted_client import ScriptedClient
from tests.support.store_disks import FullDisk
from tests.support.widget_app import lines_of

LAST = ResumeWish("last")


def shown(app: SmithApp) -> str:
    app.chat.transcript.flush()
    return "\n".join(row.line.text for row in app.chat.transcript.shown_rows)


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    for _ in range(500):
        if condition():
            return
        await pilot.pause(0.01)
    raise AssertionError("never came true")


async def send(pilot: Pilot[None], text: str) -> None:
    app = pilot.app
    assert isinstance(app, SmithApp)
    app.chat.prompt.load(text)
    await pilot.press("enter")


async def earlier_session(folder: Path, *commands: str) -> None:
    runtime = open_stored_engine(folder, ScriptedClient("An **earlier** answer."))
    await run_turn(runtime, "an earlier prompt")
    for line in commands:
        await command(runtime, line)
    await runtime.stop_session("quit")


async def test_what_a_turn_failed_of_is_shown_again_and_no_model_hears_it(tmp_path: Path) -> None:
    runtime = open_stored_engine(tmp_path, ScriptedClient(failure("provider", "bad", "the endpoint fell over").error))
    await run_turn(runtime, "an earlier prompt")
    await runtime.stop_session("quit")
    client = ScriptedClient("A new answer.")
    app = app_around(open_stored_engine(tmp_path, client, LAST))
    async with app.run_test(size=(90, 30)) as pilot:
        await until(pilot, lambda: "the endpoint fell over" in shown(app))
        await send(pilot, "again")
        await until(pilot, lambda: "A new answer." in shown(app))
    assert "fell over" not in str([message.content for message in client.requests[-1].messages])


async def test_that_a_turn_was_cancelled_is_shown_again(tmp_path: Path) -> None:
    runtime = open_stored_engine(tmp_path, ScriptedClient([asyncio.Event()]))
    async for event in runtime.process_raw_input("an earlier prompt"):
        if isinstance(event, RequestStarted):
            runtime.cancel()
    await runtime.stop_session("quit")
    app = app_around(open_stored_engine(tmp_path, ScriptedClient(), LAST))
    async with app.run_test(size=(90, 30)) as pilot:
        await until(pilot, lambda: "/retry asks again" in shown(app))
        lines = [line.strip() for line in shown(app).splitlines() if line.strip()]
        assert lines[-3:-1] == ["▌ an earlier prompt", "◇ cancelled"]


async def test_a_start_shows_the_last_conversation_with_its_settings_and_notices(tmp_path: Path) -> None:
    await earlier_session(tmp_path, "/config set ui.theme light", "/config set active_role orchestrator")
    runtime = open_stored_engine(tmp_path, ScriptedClient("A new answer."), LAST)
    config = runtime.services.config.effective
    app = SmithApp(AppStart(config=config, cwd=tmp_path, open_runtime=lambda: runtime, notices=("mind the gap",)))
    assert app.theme == "smith-dark-green"
    async with app.run_test(size=(90, 30)) as pilot:
        await until(pilot, lambda: "earlier answer." in shown(app))
        assert "mind the gap" in shown(app) and "**" not in shown(app)
        await until(pilot, lambda: app.theme == "smith-light-amber")
        assert app.chat.status.state.role_alias == "Tank"
        await send(pilot, "go on")
        await until(pilot, lambda: "A new answer." in shown(app))
        assert shown(app).index("an earlier prompt") < shown(app).index("go on")
        await send(pilot, "/new")
        await until(pilot, lambda: "earlier" not in shown(app))


async def test_the_end_of_the_conversation_is_drawn_before_the_engine_is_imported(tmp_path: Path) -> None:
    await earlier_session(tmp_path)
    tail, gate = stored_tail(tmp_path / "data"), threading.Event()
    runtime = open_stored_engine(tmp_path, ScriptedClient("A new answer."), LAST)
    start = AppStart(
        config=runtime.services.config.effective,
        cwd=tmp_path,
        open_runtime=lambda: runtime,
        read_tail=lambda: tail,
        import_engine=lambda: gate.wait(10) or None,
    )
    app = SmithApp(start)
    async with app.run_test(size=(90, 30)) as pilot:
        await until(pilot, lambda: "earlier answer." in shown(app))
        early = shown(app)
        assert not app.has_engine and not app.chat.query("#output, #find")
        gate.set()
        await until(pilot, lambda: bool(app.chat.beginning.open_engine and runtime.services.conversation.messages))
        assert shown(app) == early
        await send(pilot, "go on")
        await until(pilot, lambda: "A new answer." in shown(app))
        assert shown(app).index("an earlier prompt") < shown(app).index("go on")


async def test_who_reads_in_the_end_of_a_conversation_stays_there_when_the_rest_of_it_comes(tmp_path: Path) -> None:
    rows = "\n\n".join(f"row {number}" for number in range(60))
    runtime = open_stored_engine(tmp_path, ScriptedClient(*["first"] * 5, rows))
    for number in range(6):
        await run_turn(runtime, f"prompt {number}")
    await runtime.stop_session("quit")
    whole, gate = stored_tail(tmp_path / "data"), threading.Event()
    assert whole is not None
    tail = msgspec.structs.replace(whole, messages=whole.messages[-2:])
    runtime = open_stored_engine(tmp_path, ScriptedClient(), LAST)
    start = AppStart(
        config=runtime.services.config.effective,
        cwd=tmp_path,
        open_runtime=lambda: runtime,
        notices=("mind the gap",),
        read_tail=lambda: tail,
        import_engine=lambda: gate.wait(10) or None,
    )
    app = SmithApp(start)
    async with app.run_test(size=(90, 30)) as pilot:
        await until(pilot, lambda: "row 59" in shown(app))
        await pilot.press("home")
        early = shown(app)
        assert "prompt 5" in early and "row 59" not in early
        gate.set()
        await until(pilot, lambda: bool(app.chat.beginning.open_engine and runtime.services.conversation.messages))
        await pilot.pause()
        assert "prompt 0" in "".join(block.text for block in app.chat.transcript.document.blocks)
        assert shown(app) == early


async def test_an_end_that_the_engine_does_not_go_on_with_is_taken_away(tmp_path: Path) -> None:
    await earlier_session(tmp_path)
    tail = stored_tail(tmp_path / "data")
    holder = open_stored_engine(tmp_path, ScriptedClient(), LAST)
    assert [event async for event in holder.open()]
    runtime = open_stored_engine(tmp_path, ScriptedClient(), LAST)
    config = runtime.services.config.effective
    start = AppStart(config=config, cwd=tmp_path, open_runtime=lambda: runtime, read_tail=lambda: tail)
    app = SmithApp(start)
    async with app.run_test(size=(90, 30)) as pilot:
        await until(pilot, lambda: "is open in another smith-tui" in shown(app))
        assert app.chat.beginning.shown and "earlier answer." not in shown(app)
    await holder.stop_session("quit")


async def test_a_prompt_typed_before_the_conversation_is_there_comes_behind_it(tmp_path: Path) -> None:
    await earlier_session(tmp_path)
    app = app_around(open_stored_engine(tmp_path, ScriptedClient("A new answer."), LAST))
    async with app.run_test(size=(90, 30)) as pilot:
        app.chat.submit("typed at once")
        await until(pilot, lambda: "A new answer." in shown(app))
        assert shown(app).index("an earlier prompt") < shown(app).index("typed at once")


async def test_b13_what_cannot_be_saved_is_told_where_it_stays_visible(tmp_path: Path) -> None:
    disk = FullDisk(1 << 20)
    app = app_around(open_stored_engine(tmp_path, ScriptedClient("one", "two", "three"), disk=disk))
    async with app.run_test(size=(90, 30)) as pilot:
        await send(pilot, "first")
        await until(pilot, lambda: "one" in shown(app) and app.chat.status.state.activity == "idle")
        status = app.chat.query_one(StatusBar)
        assert "not saved" not in lines_of(status)[0]
        disk.room = 0
        await send(pilot, "second")
        await until(pilot, lambda: "two" in shown(app) and app.chat.status.state.activity == "idle")
        assert "not saved: the disk is full" in shown(app)
        assert "not saved" in lines_of(status)[0]
        disk.room = 1 << 20
        await send(pilot, "third")
        await until(pilot, lambda: "saved again" in shown(app))
        assert "not saved" not in lines_of(status)[0]


async def test_turns_that_are_lost_at_the_end_are_named(tmp_path: Path) -> None:
    disk = FullDisk(0)
    app = app_around(open_stored_engine(tmp_path, ScriptedClient("one"), disk=disk))
    async with app.run_test(size=(90, 30)) as pilot:
        await send(pilot, "first")
        await until(pilot, lambda: "one" in shown(app) and app.chat.status.state.activity == "idle")
    assert app.unsaved == "1 turn could not be saved: the disk is full; free some space for " + str(tmp_path / "data")
