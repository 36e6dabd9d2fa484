"""The conversation view: everything in full, search, turns, folds, and $PAGER."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from smith_core.messages import Message, ToolCall
from smith_tui.app import app_around
from smith_tui.screens.chat import ChatScreen
from smith_tui.screens.conversation import ConversationScreen
from smith_tui.widgets.find_bar import FindBar
from tests.support.edited_history import engine, load, messages


@asynccontextmanager
async def paging(
    folder: Path, conversation: tuple[Message, ...] = messages(), size: tuple[int, int] = (100, 24)
) -> AsyncIterator[tuple[ConversationScreen, Pilot[None]]]:
    runtime = engine(folder)
    await load(runtime, conversation)
    app = app_around(runtime)
    async with app.run_test(size=size) as pilot:
        await pilot.press("alt+h")
        assert isinstance(app.screen, ConversationScreen)
        yield app.screen, pilot


def shown(screen: ConversationScreen) -> str:
    return "\n".join(row.line.text for row in screen._transcript.shown_rows)


def everything(screen: ConversationScreen) -> str:
    document = screen._transcript.document
    return "\n".join(line.text for index in range(len(document.blocks)) for line in document.rows(index))


async def test_nothing_is_elided_or_folded(tmp_path: Path) -> None:
    rounds = tuple(
        message
        for number in range(6)
        for message in (
            Message(role="user", content=f"prompt {number}"),
            Message(role="assistant", tool_calls=(ToolCall(f"c{number}", "read"),)),
            Message(
                role="tool",
                tool_call_id=f"c{number}",
                name="read",
                content="\n".join(f"{number}.{n} x" for n in range(900)),
            ),
        )
    )
    async with paging(tmp_path, rounds) as (screen, pilot):
        text = everything(screen)
        assert all(f"{number}.{line} x" in text for number in range(6) for line in (0, 450, 899))
        await pilot.press("f")
        assert "3.450 x" not in everything(screen)
        await pilot.press("f")
        assert "3.450 x" in everything(screen)


async def test_search_goes_from_match_to_match(tmp_path: Path) -> None:
    async with paging(tmp_path) as (screen, pilot):
        await pilot.press("slash", *"parser")
        bar = screen.query_one(FindBar)
        assert bar.has_focus and "/" in str(bar._infos[0])
        total = int(bar._infos[0].split("/")[1])
        assert bar._infos[0] == f"{total}/{total}"
        await pilot.press("enter", "n")
        assert bar._infos[0] == f"1/{total}" and "Fix the parser" in shown(screen)
        await pilot.press("n", "N", "N")
        assert bar._infos[0] == f"{total}/{total}"
        await pilot.press("slash", "escape")
        assert not bar.display and isinstance(screen.app.screen, ConversationScreen)


async def test_turns_are_jumped_to(tmp_path: Path) -> None:
    async with paging(tmp_path, size=(100, 12)) as (screen, pilot):
        await pilot.press("left_square_bracket")
        assert "Why does the request [/] fail?" in shown(screen).split("\n")[0]
        await pilot.press("left_square_bracket")
        assert "Fix the parser" in shown(screen).split("\n")[0]
        await pilot.press("right_square_bracket", "q")
        assert isinstance(screen.app.screen, ChatScreen)


async def test_the_pager_cannot_be_opened_without_a_terminal(tmp_path: Path) -> None:
    async with paging(tmp_path) as (screen, pilot):
        await pilot.press("o")
        assert "cannot be handed to another program" in str(screen.query_one(".note").render())


async def test_the_commands_open_both_views(tmp_path: Path) -> None:
    async with paging(tmp_path) as (screen, pilot):
        app = screen.app
        await pilot.press("escape", *"/inspect", "enter")
        await pilot.pause(0.1)
        assert type(app.screen).__name__ == "InspectScreen"
        await pilot.press("escape", *"/pager", "enter")
        await pilot.pause(0.1)
        assert isinstance(app.screen, ConversationScreen)


async def test_a_view_that_was_closed_keeps_nothing_of_the_conversation(tmp_path: Path) -> None:
    async with paging(tmp_path) as (screen, pilot):
        view = screen._transcript
        assert view.document.blocks
        await pilot.press("q")
        await pilot.pause()
        assert isinstance(pilot.app.screen, ChatScreen)
        assert view.document.blocks == []
