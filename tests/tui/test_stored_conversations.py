"""The whole app over a store on disk: what was said is found and opened where it was said."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from smith_core.llm.protocol import Completion, StreamDone, StreamText
from smith_core.model import ModelService
from smith_core.runtime import Runtime, compose_services, open_search, open_store
from smith_core.session.values import TurnRequest
from smith_tui.app import SmithApp, app_around
from smith_tui.screens.conversations import ConversationsScreen
from smith_tui.screens.search import SearchScreen
from smith_tui.screens.stored import Opening
from smith_tui.theme import DARK
from smith_tui.transcript.ink import make_ink
from smith_tui.widgets.result_list import ResultList
from tests.support.engine import FAST, run_turn
from tests.support.scripted_client import ScriptedClient, calls
from tests.support.widget_app import lines_of

FOUND = make_ink(DARK, "green").found.bgcolor
LONG = "Nothing of interest.\n\n" * 60


def engine(folder: Path, *answers: object) -> Runtime:
    data = folder / "data"
    handles = {"model": ModelService(ScriptedClient(*answers)), "persistence": open_store(data, folder)}
    runtime = Runtime(compose_services(FAST, handles), cwd=folder, spill_dir=folder, search=open_search(data))
    runtime.start_session()
    return runtime


@pytest.fixture
async def app(tmp_path: Path) -> SmithApp:
    """An app in a new conversation; an old one has the word `parseHTTPRequest` in a tool's result, far from its end."""
    (tmp_path / "http.py").write_text("def parseHTTPRequest(text):\n    return text\n")
    runtime = engine(
        tmp_path, calls(("read", {"path": "http.py"})), "It [/] splits the **lines**.", LONG, "Of no use here."
    )
    await run_turn(runtime, "What does the parser do?")
    await run_turn(runtime, "And the rest?")
    async for _ in runtime.process_raw_input("/new"):
        pass
    await run_turn(runtime, "Something else")
    return app_around(runtime)


def shown(app: SmithApp) -> str:
    app.chat.transcript.flush()
    return "\n".join(row.line.text for row in app.chat.transcript.shown_rows)


def results(app: SmithApp) -> str:
    return "\n".join(lines_of(app.screen.query_one(ResultList)))


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    for _ in range(1000):
        if condition():
            return
        await pilot.pause(0.01)
    raise AssertionError("never came true")


async def command(pilot: Pilot[None], app: SmithApp, line: str) -> None:
    app.chat.prompt.load(line)
    await pilot.press("enter")


async def test_search_opens_the_conversation_at_the_message_and_marks_it(app: SmithApp) -> None:
    async with app.run_test(size=(100, 30)) as pilot:
        await command(pilot, app, "/search http request")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen))
        await until(pilot, lambda: "def parseHTTPRequest" in results(app) and "What does the parser" in results(app))
        assert "read · now" in results(app)
        while "▌ read" not in results(app):
            await pilot.press("down")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.chat and "parseHTTPRequest" in shown(app))
        assert not app.chat.transcript.is_following
        assert app.chat.find_bar.text == "HTTPRequest"
        assert "1/1 · Ctrl+F goes on, Esc ends it" in lines_of(app.chat.find_bar)[0]
        row = next(y for y, row in enumerate(app.chat.transcript.shown_rows) if "parseHTTPRequest" in row.line.text)
        marked = [
            each.text for each in app.chat.transcript.render_line(row) if each.style and each.style.bgcolor == FOUND
        ]
        assert marked == ["HTTPRequest"]
        # What is typed goes to the prompt, Ctrl+F goes on with the search, and Escape ends the marking.
        await pilot.press("x", "ctrl+f")
        assert (app.chat.prompt.text, app.chat.find_bar.has_focus) == ("x", True)
        assert "HTTPRequest" in lines_of(app.chat.find_bar)[0] and "Esc ends" not in lines_of(app.chat.find_bar)[0]
        app.chat.set_focus(app.chat.prompt)
        await pilot.press("backspace", "escape")
        assert (app.chat.prompt.has_focus, app.chat.find_bar.display) == (True, False)
        # The next search begins where this one was.
        await command(pilot, app, "/search")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen))
        assert app.screen.query_text == "http request"
        await pilot.press("escape")
        assert app.screen is app.chat
        assert "parseHTTPRequest" in shown(app)


@pytest.mark.parametrize(("line", "word"), [("/search", "ravens"), ("/list", "rooks")])
async def test_what_was_said_is_looked_up_while_a_turn_runs_and_opened_afterwards(
    tmp_path: Path, line: str, word: str
) -> None:
    gate = asyncio.Event()
    done = StreamDone(completion=Completion(text="late", finish_reason="stop"))
    runtime = engine(tmp_path, "There are ravens.", [StreamText(text="late"), gate, done])
    await run_turn(runtime, "Are there rooks?")
    async for _ in runtime.process_raw_input("/new"):
        pass
    app = app_around(runtime)
    async with app.run_test(size=(100, 30)) as pilot:
        await command(pilot, app, "go")
        await until(pilot, lambda: "late" in shown(app))
        await look_up(pilot, app, f"{line} {word}", word)
        await until(pilot, lambda: "opening a conversation is not possible while a turn runs" in shown(app))
        assert "rooks" not in shown(app)
        gate.set()
        await until(pilot, lambda: not app.chat.turns.is_running)
        assert [message.content for message in runtime.services.conversation.messages] == ["go", "late"]
        await look_up(pilot, app, f"{line} {word}", word)
        await until(pilot, lambda: "Are there rooks?" in shown(app) and "late" not in shown(app))


async def test_a_child_that_was_found_is_not_looked_for_in_a_conversation_that_goes_on(app: SmithApp) -> None:
    shown_children: list[str] = []
    async with app.run_test(size=(100, 30)):
        app.chat.show_child = shown_children.append  # type: ignore[method-assign]
        runtime, (_, old) = app.runtime, await app.runtime.shelf.list_conversations()
        runtime.session.begin_turn(TurnRequest(text="x"))
        await app.chat.stored._load(Opening(old.conversation_id, job_id="j"))
        assert (shown_children, "not possible while a turn runs" in shown(app)) == ([], True)
        runtime.session.current_turn = None
        await app.chat.stored._load(Opening(old.conversation_id, job_id="j"))
        assert shown_children == ["j"]


async def look_up(pilot: Pilot[None], app: SmithApp, line: str, word: str) -> None:
    """Open a screen by a command, wait until it shows a word, and open what it stands on."""
    await command(pilot, app, line)
    await until(pilot, lambda: app.screen is not app.chat and word in results(app))
    await pilot.press("enter")
    await until(pilot, lambda: app.screen is app.chat)


async def test_the_list_loads_a_conversation_and_begins_a_new_one(app: SmithApp) -> None:
    async with app.run_test(size=(100, 30)) as pilot:
        await command(pilot, app, "/list")
        await until(pilot, lambda: isinstance(app.screen, ConversationsScreen))
        await until(pilot, lambda: "What does the parser do?" in results(app))
        assert "this one" in results(app)
        await pilot.press("slash", *"parser", "enter")
        await until(pilot, lambda: app.screen is app.chat and "Nothing of interest." in shown(app))
        await command(pilot, app, "/list")
        await until(pilot, lambda: isinstance(app.screen, ConversationsScreen))
        await until(pilot, lambda: "Something else" in results(app))
        await pilot.press("n")
        await until(pilot, lambda: app.screen is app.chat and "Nothing of interest." not in shown(app))
        assert app.runtime.services.conversation.messages == ()


async def test_a_deletion_is_taken_back_and_the_open_conversation_stays(app: SmithApp) -> None:
    async with app.run_test(size=(100, 30)) as pilot:
        await command(pilot, app, "/list")
        await until(pilot, lambda: isinstance(app.screen, ConversationsScreen))
        await until(pilot, lambda: "What does the parser do?" in results(app))
        screen = app.screen
        # The list stands on the conversation that is open here.
        await pilot.press("d")
        await until(pilot, lambda: "you are in" in str(screen.query_one(".note").render()))
        await until(pilot, lambda: screen.query_one(ResultList).count == 2)
        await pilot.press("slash", *"parser", "tab", "d")
        await until(pilot, lambda: "Deleted" in str(screen.query_one(".note").render()))
        await pilot.press("u")
        await until(pilot, lambda: "is back" in str(screen.query_one(".note").render()))
        assert len(await app.runtime.shelf.list_conversations()) == 2
