"""Views that are left twice, or before they are there: keys come faster than a loaded machine draws."""

import asyncio
import pkgutil
import weakref
from importlib import import_module
from pathlib import Path

import pytest
from textual.dom import NoScreen
from textual.geometry import Region
from textual.screen import Screen
from textual.widgets import Static

from smith_core.events import ConversationLoaded, HistoryEdited
from smith_tui import screens
from smith_tui.app import app_around
from smith_tui.screens.chat import ChatScreen
from smith_tui.screens.help import HelpScreen
from smith_tui.screens.leaving import LeftOnce
from smith_tui.transcript.scroll_bar import DocumentScrollBar
from tests.support.edited_history import engine


def kinds(of: type[Screen]) -> list[type[Screen]]:
    """Return the screens of the app below a class."""
    below = [kind for direct in of.__subclasses__() for kind in kinds(direct)]
    return [kind for kind in [*of.__subclasses__(), *below] if kind.__module__.startswith("smith_tui.")]


def test_every_screen_but_the_main_one_is_left_once() -> None:
    for module in pkgutil.iter_modules(screens.__path__, "smith_tui.screens."):
        import_module(module.name)
    assert [kind for kind in kinds(Screen) if not issubclass(kind, LeftOnce) and kind not in ChatScreen.mro()] == []


async def test_views_are_left_twice_and_before_they_are_built(tmp_path: Path) -> None:
    app = app_around(engine(tmp_path))
    async with app.run_test(size=(80, 24)) as pilot:
        app.action_conversation_view()
        await pilot.pause()
        view = app.screen
        app.push_screen(above := HelpScreen(()))
        view.dismiss()
        assert app.screen is above
        above.dismiss()
        for _ in range(2):
            view.dismiss()
        assert app.screen is app.chat
        # The view of messages is taken away with its parts half there.
        app.action_inspect_view()
        app.push_screen(above := HelpScreen(()))
        app.action_inspect_view()
        assert app.screen is above
        above.dismiss()
        app.action_inspect_view()
        await pilot.pause()
        assert (app.crash, app.screen, app.inspection.is_open) == (None, app.chat, False)
        # Nor is one asked to show what has changed before it is filled.
        app.action_inspect_view()
        runtime = app.runtime
        for _ in range(12):
            conversation = runtime.services.conversation
            edited = HistoryEdited(
                conversation_id=conversation.conversation_id, messages=(), sequences=(), title=conversation.title
            )
            app.inspection.show(edited)
            await asyncio.sleep(0)
        await pilot.pause()
        app.action_inspect_view()
        await pilot.pause()
        assert app.crash is None
        # One that stayed below another screen is left, too.
        app.action_inspect_view()
        await pilot.pause()
        app.push_screen(above := HelpScreen(()))
        app.inspection.switch_inspector()
        above.dismiss()
        await pilot.pause()
        await pilot.press("escape")
        assert app.screen is app.chat
        # A frame that was begun before shows what is gone.
        await app.chat.mount(gone := Static("here"))
        await pilot.pause()
        parent, gone._parent = gone._parent, None
        gone.refresh()
        await pilot.pause(0.1)
        gone._parent = parent
        assert app.crash is None


async def test_what_was_never_on_the_screen_is_a_mistake_when_asked_for_it(tmp_path: Path) -> None:
    app = app_around(engine(tmp_path))
    async with app.run_test():
        with pytest.raises(NoScreen) as caught:
            Static("nowhere").screen  # noqa: B018
        app._handle_exception(caught.value)
        assert app.crash is caught.value


async def test_escape_gives_the_keys_back_to_the_prompt(tmp_path: Path) -> None:
    app = app_around(engine(tmp_path))
    async with app.run_test(size=(80, 24)) as pilot:
        app.action_tool_output()
        await pilot.pause()
        for taker in (app.chat.transcript, app.chat.output):
            app.chat.set_focus(taker)
            await pilot.press("escape", "a", "b", "backspace")
        assert app.chat.prompt.text == "aa"


def test_a_bar_whose_view_is_gone_is_blank() -> None:
    assert [strip.text for strip in DocumentScrollBar().render_lines(Region(0, 0, 2, 3))] == ["  "] * 3


async def test_the_palette_takes_keys_where_there_is_no_room_for_a_row(tmp_path: Path) -> None:
    app = app_around(engine(tmp_path))
    async with app.run_test(size=(1, 1)) as pilot:
        await pilot.press("ctrl+p", "pagedown", "pageup")
        assert app.crash is None


class Cycle:
    """What only a collection of garbage frees."""

    def __init__(self) -> None:
        self.me = self


async def test_what_a_conversation_that_was_left_has_held_is_freed(tmp_path: Path) -> None:
    app = app_around(engine(tmp_path))
    async with app.run_test(size=(80, 24)):
        loaded = ConversationLoaded(conversation_id="c", title="", messages=())
        shown = Cycle()
        known = weakref.ref(shown)
        app.chat.show(loaded)
        del shown
        app.chat.show(loaded)
        assert known() is None
