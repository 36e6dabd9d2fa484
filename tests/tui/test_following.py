"""A conversation that another process has, on the screen: what is typed while it is followed is never lost."""

from pathlib import Path

from smith_core.commands.opening import ResumeWish
from smith_core.runtime import Runtime
from smith_tui.app import SmithApp, app_around
from tests.support.engine import open_stored_engine, run_turn
from tests.support.scripted_client import ScriptedClient
from tests.tui.test_queueing import said_to, send, shown, until, waiting

FOLLOWED = "read-only: what the other process adds is shown here"
REFUSED = "another smith-tui has this conversation: /fork goes on with a copy of it"


async def another_process(folder: Path, *answers: str) -> Runtime:
    """Return an engine that has a conversation with one turn in it."""
    other = open_stored_engine(folder, ScriptedClient("theirs", *answers))
    await run_turn(other, "their prompt")
    return other


def beside(other: Runtime, folder: Path, client: ScriptedClient) -> tuple[SmithApp, Runtime]:
    """Return an app that was started with the conversation of another process."""
    wish = ResumeWish("named", other.services.conversation.conversation_id)
    runtime = open_stored_engine(folder, client, wish)
    return app_around(runtime), runtime


async def test_a_prompt_is_given_back_while_another_process_has_the_conversation_and_then_takes_it(
    tmp_path: Path,
) -> None:
    other = await another_process(tmp_path, "more of theirs")
    client = ScriptedClient("an answer for me")
    app, runtime = beside(other, tmp_path, client)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "is open in another smith-tui" in shown(app))
        await send(pilot, "/follow")
        await until(pilot, lambda: FOLLOWED in shown(app))
        await send(pilot, "my prompt")
        await until(pilot, lambda: REFUSED in shown(app) and not app.chat.turns.is_running)
        assert (app.chat.prompt.text, waiting(app), client.requests) == ("my prompt", [], [])
        await run_turn(other, "their second prompt")
        await until(pilot, lambda: "more of theirs" in shown(app))
        await other.stop_session("quit")
        await pilot.press("enter")
        await until(pilot, lambda: "an answer for me" in shown(app) and not app.chat.turns.is_running)
        assert said_to(client) == [["their prompt", "their second prompt", "my prompt"]]
        assert (app.chat.prompt.text, waiting(app)) == ("", [])
    await runtime.stop_session("quit")


async def test_a_prompt_behind_the_command_to_follow_is_not_lost(tmp_path: Path) -> None:
    other = await another_process(tmp_path)
    client = ScriptedClient("an answer for me")
    app, runtime = beside(other, tmp_path, client)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "is open in another smith-tui" in shown(app))
        app.chat.submit("/follow")
        app.chat.submit("my prompt")
        assert waiting(app) == ["my prompt"]
        await until(pilot, lambda: REFUSED in shown(app) and not app.chat.turns.is_running)
        assert (app.chat.prompt.text, waiting(app), client.requests) == ("my prompt", [], [])
        app.chat.submit("/fork")
        await until(pilot, lambda: "this is a copy" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: "an answer for me" in shown(app))
        assert said_to(client) == [["their prompt", "my prompt"]]
    await runtime.stop_session("quit")
    await other.stop_session("quit")


async def test_a_command_of_ones_own_is_given_back_as_it_was_typed(tmp_path: Path) -> None:
    (tmp_path / ".smith" / "commands").mkdir(parents=True)
    (tmp_path / ".smith" / "commands" / "review.md").write_text("Look at $1.")
    other = await another_process(tmp_path)
    app, runtime = beside(other, tmp_path, ScriptedClient())
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "is open in another smith-tui" in shown(app))
        await send(pilot, "/follow")
        await until(pilot, lambda: FOLLOWED in shown(app))
        await send(pilot, "/review a.py")
        await until(pilot, lambda: REFUSED in shown(app))
        assert app.chat.prompt.text == "/review a.py"
        app.chat.prompt.load("")
        await send(pilot, "/undo")
        await until(pilot, lambda: shown(app).count("another smith-tui has this conversation") == 2)
        assert app.chat.prompt.text == ""
    await runtime.stop_session("quit")
    await other.stop_session("quit")
