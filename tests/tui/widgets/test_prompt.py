"""The prompt in a running app."""

import time

import pytest
from textual import events

from smith_tui.keys import resolve_keys
from smith_tui.widgets.prompt import MAX_ROWS, Prompt
from tests.support.widget_app import MARKUP, ODD_WIDTHS, WidgetApp, assert_exact_width, lines_of, running_timers


def app_with(prompt: Prompt) -> WidgetApp:
    return WidgetApp(prompt, record=[Prompt.Submitted, Prompt.Held, Prompt.HistoryAdded])


def sent(app: WidgetApp) -> list[str]:
    return [message.text for message in app.messages if isinstance(message, Prompt.Submitted)]


async def test_enter_sends_and_the_other_two_begin_a_line() -> None:
    prompt = Prompt()
    app = app_with(prompt)
    async with app.run_test() as pilot:
        await pilot.press("enter", "a", "shift+enter", "b", "ctrl+j", "c")
        assert prompt.size.height == 3
        await pilot.press("enter")
        await pilot.pause()
        assert sent(app) == ["a\nb\nc"]
        assert prompt.text == ""
        assert prompt.size.height == 1
        assert [message.text for message in app.messages if isinstance(message, Prompt.HistoryAdded)] == ["a\nb\nc"]


async def test_a_busy_prompt_keeps_its_text() -> None:
    prompt = Prompt()
    app = app_with(prompt)
    async with app.run_test() as pilot:
        prompt.busy = True
        await pilot.press("l", "a", "t", "e", "r", "enter")
        await pilot.pause()
        assert sent(app) == []
        assert [message.text for message in app.messages] == ["later"]
        assert prompt.text == "later"
        prompt.busy = False
        await pilot.press("enter")
        await pilot.pause()
        assert sent(app) == ["later"]


async def test_it_grows_to_a_limit_and_scrolls_with_the_caret() -> None:
    prompt = Prompt()
    app = app_with(prompt)
    async with app.run_test(size=(40, 30)) as pilot:
        prompt.load("\n".join(f"row {number}" for number in range(12)))
        await pilot.pause()
        assert prompt.size.height == MAX_ROWS
        assert lines_of(prompt)[0].startswith("↑ row 4")
        assert lines_of(prompt)[-1].startswith("  row 11")
        await pilot.press("ctrl+home")
        assert lines_of(prompt)[0].startswith("> row 0")
        assert lines_of(prompt)[-1].startswith("↓ row 7")


async def test_history_with_several_lines_and_the_draft() -> None:
    prompt = Prompt(history=["first", "second\nof two lines"])
    async with app_with(prompt).run_test() as pilot:
        await pilot.press("d", "up")
        assert prompt.text == "second\nof two lines"
        await pilot.press("up")
        assert prompt.caret == len("second")
        await pilot.press("up")
        assert prompt.text == "first"
        await pilot.press("up")
        assert prompt.text == "first"
        await pilot.press("down", "down")
        assert prompt.text == "d"


@pytest.mark.parametrize("repeat", [1, 2])
@pytest.mark.parametrize("body", ["x" * 1_000_000, ("y" * 19 + "\r") * 20_000])
async def test_b21_large_pastes_are_quick_and_sent_unchanged(body: str, repeat: int) -> None:
    prompt = Prompt()
    app = app_with(prompt)
    async with app.run_test() as pilot:
        started = time.perf_counter()
        for _ in range(repeat):
            prompt.post_message(events.Paste(body))
        await pilot.press("!")
        assert time.perf_counter() - started < 2
        assert "[Pasted " in lines_of(prompt)[0]
        assert sent(app) == []
        await pilot.press("enter")
        await pilot.pause()
        assert sent(app) == [body.replace("\r", "\n") * repeat + "!"]


async def test_b21_pasted_lines_and_controls_neither_send_nor_act() -> None:
    prompt = Prompt()
    app = app_with(prompt)
    async with app.run_test() as pilot:
        prompt.post_message(events.Paste("l1\nl2\r\nl3\x1b\x00\x07\tend\n/clear\n"))
        await pilot.pause()
        assert app.messages == []
        assert prompt.text == "l1\nl2\nl3\tend\n/clear\n"
        await pilot.press("enter")
        await pilot.pause()
        assert sent(app) == ["l1\nl2\nl3\tend\n/clear\n"]


async def test_b21_paste_then_undo_and_one_backspace_for_a_token() -> None:
    prompt = Prompt()
    async with app_with(prompt).run_test() as pilot:
        await pilot.press("a")
        prompt.post_message(events.Paste("z" * 5_000))
        await pilot.pause()
        await pilot.press("ctrl+z")
        assert prompt.text == "a"
        await pilot.press("ctrl+y")
        assert prompt.text == "a" + "z" * 5_000
        await pilot.press("backspace")
        assert prompt.text == "a"


async def test_b21_a_paste_in_pieces_is_one_token() -> None:
    prompt = Prompt()
    async with app_with(prompt).run_test() as pilot:
        for _ in range(5):
            prompt.post_message(events.Paste("z" * 4_096))
        await pilot.pause()
        assert lines_of(prompt)[0].rstrip() == "> [Pasted 1 line, 20,480 characters #1]"
        assert prompt.text == "z" * 20_480


async def test_b21_a_paste_while_busy_is_kept() -> None:
    prompt = Prompt()
    async with app_with(prompt).run_test() as pilot:
        prompt.busy = True
        prompt.post_message(events.Paste("kept\n"))
        await pilot.press("x", "enter")
        assert prompt.text == "kept\nx"


async def test_b19_markup_is_shown_letter_for_letter() -> None:
    prompt = Prompt(placeholder="[/foo] [red]x")
    async with app_with(prompt).run_test() as pilot:
        assert lines_of(prompt)[0].startswith("> [/foo] [red]x")
        for text in MARKUP:
            prompt.load(text)
            await pilot.pause()
            assert lines_of(prompt)[0].rstrip() == f"> {text}"


async def test_b22_rows_keep_the_width_wherever_the_caret_stands() -> None:
    text = "\n".join(ODD_WIDTHS)
    prompt = Prompt()
    async with app_with(prompt).run_test(size=(30, 30)) as pilot:
        prompt.load(text)
        await pilot.pause()
        shown = "\n".join(lines_of(prompt))
        assert all(word in shown for word in ("done", "end", "y z", "start", "fin", "k"))
        prompt.post_message(events.Key("ctrl+home", None))
        await pilot.pause()
        seen = [prompt.caret]
        while seen[-1] < len(text) and len(seen) < 60:
            assert_exact_width(prompt)
            prompt.post_message(events.Key("right", None))
            await pilot.pause()
            seen.append(prompt.caret)
        assert seen == sorted(set(seen))
        assert seen[-1] == len(text)


@pytest.mark.parametrize("size", [(2, 2), (20, 5), (60, 15), (300, 100)])
async def test_any_size_shows_something_and_fails_nowhere(size: tuple[int, int]) -> None:
    prompt = Prompt(placeholder="Ask")
    async with app_with(prompt).run_test(size=size) as pilot:
        await pilot.press(*"漢a bc")
        prompt.post_message(events.Paste("z" * 5_000))
        prompt.post_message(events.Paste("\n\n\n"))
        await pilot.press("up", "left", "a")
        assert_exact_width(prompt)
        assert 1 <= prompt.size.height <= max(1, size[1] // 3)


async def test_the_mouse_places_the_caret() -> None:
    prompt = Prompt()
    async with app_with(prompt).run_test() as pilot:
        prompt.load("hello\nworld")
        await pilot.pause()
        await pilot.click(Prompt, offset=(4, 1))
        assert prompt.caret == len("hello\nwo")


async def test_keys_it_does_not_know_go_on_and_a_list_of_completions_goes_first() -> None:
    prompt = Prompt()
    app = app_with(prompt)
    async with app.run_test() as pilot:
        app.bind("ctrl+t", "bell")
        passed: list[str] = []

        def take_tab(event: events.Key) -> bool:
            passed.append(event.key)
            return event.key == "up"

        prompt.intercept = take_tab
        prompt.load("/he")
        await pilot.press("up", "x")
        assert passed == ["up", "x"]
        assert prompt.text == "/hex"
        prompt.replace_range(0, 4, "/help")
        assert (prompt.text, prompt.caret) == ("/help", 5)


async def test_the_send_key_can_be_changed() -> None:
    actions, problems = resolve_keys({"send": "ctrl+s", "newline": "enter"})
    assert problems == ()
    prompt = Prompt(actions=actions)
    app = app_with(prompt)
    async with app.run_test() as pilot:
        await pilot.press("a", "enter", "b", "ctrl+s")
        await pilot.pause()
        assert sent(app) == ["a\nb"]


async def test_b24_it_has_no_timers() -> None:
    prompt = Prompt()
    app = app_with(prompt)
    async with app.run_test() as pilot:
        await pilot.press("a", "b")
        assert running_timers(app) == 0
