"""The search line and the footer."""

import pytest
from textual import events

from smith_tui.keys import KEY_ACTIONS, hints
from smith_tui.widgets.find_bar import FindBar
from smith_tui.widgets.key_hints import KeyHints, fitting
from smith_tui.widgets.prompt import Prompt
from tests.support.widget_app import WidgetApp, assert_exact_width, lines_of


async def test_find_asks_steps_and_closes() -> None:
    bar = FindBar()
    record = [FindBar.Changed, FindBar.Next, FindBar.Previous, FindBar.Closed]
    app = WidgetApp(Prompt(), bar, record=record)
    async with app.run_test(size=(60, 10)) as pilot:
        assert not bar.display
        bar.open()
        await pilot.press("a", "[", "backspace", "b", "enter", "shift+enter", "up")
        await pilot.pause()
        changes = [message.text for message in app.messages if isinstance(message, FindBar.Changed)]
        assert changes == ["a", "a[", "a", "ab"]
        assert [type(message).__name__ for message in app.messages[-3:]] == ["Next", "Previous", "Previous"]
        bar.show_matches(3, 17)
        assert lines_of(bar)[0].startswith("Find: ab")
        assert lines_of(bar)[0].endswith("3/17")
        bar.show_matches(0, 0)
        assert lines_of(bar)[0].endswith("no match")
        await pilot.press("escape")
        await pilot.pause()
        assert not bar.display
        assert isinstance(app.messages[-1], FindBar.Closed)


async def test_opening_again_selects_the_last_search() -> None:
    bar = FindBar()
    async with WidgetApp(Prompt(), bar).run_test() as pilot:
        bar.open()
        await pilot.press("o", "l", "d", "escape")
        bar.open()
        await pilot.press("n")
        assert bar.text == "n"


async def test_b21_a_paste_of_many_lines_searches_the_first() -> None:
    bar = FindBar()
    app = WidgetApp(Prompt(), bar, record=[FindBar.Next])
    async with app.run_test() as pilot:
        bar.open()
        bar.post_message(events.Paste("\nfirst\x1b\nsecond\n"))
        await pilot.pause()
        assert bar.text == "first"
        assert app.messages == []


@pytest.mark.parametrize("width", [2, 20, 60, 300])
async def test_find_keeps_its_width_with_any_text(width: int) -> None:
    bar = FindBar()
    async with WidgetApp(Prompt(), bar).run_test(size=(width, 5)) as pilot:
        bar.open()
        bar.post_message(events.Paste("[/foo] 漢字 \U0001f469\u200d\U0001f4bb " * 20))
        await pilot.pause()
        for key in ("left", "home", "right", "end"):
            await pilot.press(key)
            assert_exact_width(bar)


def test_the_footer_drops_what_matters_least() -> None:
    shown = hints(KEY_ACTIONS, ["prompt"])
    assert [action.name for action in fitting(shown, 500)] == [action.name for action in shown]
    assert [action.name for action in fitting(shown, 18)] == ["cancel"]
    assert fitting(shown, 3) == []


@pytest.mark.parametrize("width", [2, 20, 60, 100, 300])
async def test_the_footer_shows_the_keys_that_work_now(width: int) -> None:
    footer = KeyHints()
    async with WidgetApp(footer).run_test(size=(width, 5)):
        assert_exact_width(footer)
        if width >= 100:
            assert "Enter send" in lines_of(footer)[0]
            footer.show_keys_for(["find", "children"])
            line = lines_of(footer)[0]
            assert "Esc close" in line and "send" not in line
            assert ("Alt+1…9 panes" in line) == (width == 300)
