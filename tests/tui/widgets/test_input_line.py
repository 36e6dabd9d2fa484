"""The line of input that screens of lists share."""

from textual import events
from textual.geometry import Offset
from textual.widgets import Static

from smith_tui.widgets.input_line import InputLine
from tests.support.widget_app import WidgetApp, assert_exact_width, lines_of


async def test_typing_is_told_and_other_keys_go_on() -> None:
    line = InputLine("Find", hint="words", leave={"ctrl+home"})
    app = WidgetApp(line, record=[InputLine.Changed])
    async with app.run_test(size=(60, 5)) as pilot:
        assert "words" in lines_of(line)[0]
        await pilot.press("a", "[", "ctrl+home", "b", "ctrl+z", "down", "enter")
        await pilot.pause()
        assert [message.text for message in app.messages] == ["a", "a[", "a[b", ""]
        line.load("old", label="Title", select=True)
        assert lines_of(line)[0].startswith("Title: old")
        await pilot.press("n")
        assert line.text == "n"


async def test_the_info_gives_way_to_the_text() -> None:
    line = InputLine("Find")
    async with WidgetApp(line).run_test(size=(60, 5)) as pilot:
        line.show_info("a very long information, really", "short")
        assert "really" in lines_of(line)[0]
        await pilot.resize_terminal(40, 5)
        assert lines_of(line)[0].rstrip().endswith("short")
        await pilot.resize_terminal(12, 5)
        assert "short" not in lines_of(line)[0]
        assert_exact_width(line)


async def test_b21_a_paste_gives_its_first_line() -> None:
    line = InputLine("Find")
    async with WidgetApp(line).run_test(size=(60, 5)) as pilot:
        line.post_message(events.Paste("\nfirst\x1b\nsecond"))
        await pilot.pause()
        assert line.text == "first"


async def test_the_terminals_cursor_comes_along_when_the_line_appears() -> None:
    line = InputLine("Find")
    line.display = False
    app = WidgetApp(Static("above"), line)
    async with app.run_test(size=(60, 5)) as pilot:
        line.display = True
        line.focus()
        await pilot.pause()
        assert app.cursor_position == Offset(6, 1)
