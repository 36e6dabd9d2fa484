"""Large pastes of the prompt: the token opens, what is changed in it is sent, and nothing is too long to look at."""

from pathlib import Path

import pytest
from textual import events

from smith_tui.app import SmithApp, app_around
from smith_tui.screens.paste import PasteScreen
from smith_tui.widgets.text_editor import TextEditor
from smith_tui.widgets.tool_output import ToolOutputPane
from tests.support.engine import open_engine
from tests.support.scripted_client import ScriptedClient
from tests.support.widget_app import lines_of


def paste(app: SmithApp, text: str) -> None:
    app.chat.prompt.on_paste(events.Paste(text))


async def test_b21_a_token_opens_and_what_was_changed_is_sent(tmp_path: Path) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient("x")))
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("a")
        paste(app, "".join(f"line {number}\n" for number in range(500)))
        await pilot.press("b", "alt+v")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, PasteScreen)
        assert "500 lines, 4,390 characters" in "\n".join(str(part.render()) for part in screen.query("Static"))
        editor = screen.query_one(TextEditor)
        assert editor.text.startswith("line 0\nline 1\n")
        await pilot.press("X", "ctrl+s")
        await pilot.pause()
        assert app.chat.prompt.text == "aX" + "".join(f"line {number}\n" for number in range(500)) + "b"
        assert len(app.chat.prompt.edited_text) == 3, "it is one token again"
        await pilot.press("left", "alt+v")
        await pilot.pause()
        await pilot.press("Y", "escape")
        await pilot.pause()
        assert app.chat.prompt.text.startswith("aXline 0")
        await pilot.press("ctrl+z")
        assert app.chat.prompt.text.startswith("aline 0")


@pytest.mark.parametrize("text", ["漢x" * 500_000, "x" * 19 + "\n" + "y" * 999_980])
async def test_b21_a_million_characters_are_looked_at(tmp_path: Path, text: str) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient("x")))
    async with app.run_test(size=(80, 24)) as pilot:
        paste(app, text)
        await pilot.press("alt+v")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, PasteScreen)
        view = screen.query_one(ToolOutputPane)
        assert lines_of(view)[1].startswith(text[:19])
        await pilot.press("end")
        assert lines_of(view)[-1].rstrip().endswith(text[-9:])
        await pilot.press("escape")
        await pilot.pause()
        assert app.chat.prompt.text == text


async def test_without_a_paste_nothing_opens(tmp_path: Path) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient("x")))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("a", "alt+v")
        await pilot.pause()
        assert app.screen is app.chat
        assert app.chat.prompt.text == "a"
        paste(app, "y" * 3_000)
        await pilot.pause()
        await pilot.click(app.chat.prompt, offset=(8, 0), times=2)
        await pilot.pause()
        assert isinstance(app.screen, PasteScreen)
