"""The inspect view driven by keys: choosing, filtering, marking, editing, deleting, undo, and the model's view."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from smith_core.messages import Message
from smith_tui.app import SmithApp, app_around
from smith_tui.inspect.host import InspectScreen
from smith_tui.inspect.inspector import Inspector
from smith_tui.inspect.message_pane import MessagePane
from smith_tui.inspect.table_pane import TablePane
from smith_tui.screens.chat import ChatScreen
from smith_tui.screens.help import HelpScreen
from tests.support.edited_history import NOW, engine, load, messages
from tests.support.widget_app import MARKUP, ODD_WIDTHS, lines_of


class Driven:
    """The app with its inspect view open, and what can be read from it."""

    def __init__(self, app: SmithApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def view(self) -> Inspector:
        return self.app.screen.query_one(Inspector)

    @property
    def table(self) -> list[str]:
        return [line.rstrip() for line in lines_of(self.view.query_one(TablePane).rows)]

    @property
    def message(self) -> str:
        view = self.view.query_one(MessagePane).view
        return "\n".join(row.line.text for row in view.shown_rows)

    @property
    def note(self) -> str:
        return str(self.view._note.render())

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.app.runtime.services.conversation.messages

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.settle()

    async def settle(self) -> None:
        # Every pause lets timers of a few hundredths of a second and workers come to their end.
        await self.pilot.pause(0.06)
        await self.app.screen.workers.wait_for_complete()
        await self.pilot.pause()

    async def until(self, condition: Callable[[], bool]) -> None:
        for _ in range(300):
            if condition():
                return
            await self.pilot.pause(0.01)
        raise AssertionError("never came true")


@asynccontextmanager
async def inspecting(
    folder: Path, conversation: tuple[Message, ...] = messages(), size: tuple[int, int] = (140, 40), **settings: Any
) -> AsyncIterator[Driven]:
    runtime = engine(folder, **settings)
    await load(runtime, conversation)
    app = app_around(runtime)
    async with app.run_test(size=size) as pilot:
        app.chat.transcript.load(conversation)
        app.inspection.now = lambda: NOW
        await pilot.press("alt+i")
        driven = Driven(app, pilot)
        await driven.settle()
        yield driven


async def test_the_table_says_what_each_message_is(tmp_path: Path) -> None:
    async with inspecting(tmp_path, size=(200, 40)) as driven:
        first, second, third, fourth = driven.table[:4]
        assert first.split() == [
            "1",
            "you",
            "text",
            "40",
            "10",
            "2",
            "h",
            *["Fix", "the", "parser", "of", "folded", "headers,", "please"],
        ]
        assert second.split()[:4] == ["2", "agent", "2", "calls"]
        # The window elides the old large result.
        assert "◐" in third and "read" in third
        assert "bash failed" in fourth
        assert driven.table[6].rstrip().endswith("http/parser.py:3 replace")
        assert driven.table[8].startswith("▌")
        # All sizes stay where the screen is as wide as most are.
        await driven.pilot.resize_terminal(100, 40)
        await driven.settle()
        assert driven.table[0].split()[:7] == first.split()[:7] and " Fix the" in driven.table[0]


async def test_the_message_is_shown_whole(tmp_path: Path) -> None:
    async with inspecting(tmp_path) as driven:
        assert "fixed now." in driven.message
        await driven.press("home", "down")
        for wanted in ("agent, 2 calls", "The person wants folded headers", "Let me look at it.", "call read  call_1"):
            assert wanted in driven.message
        assert '"command": "pytest -q tests/test_parser.py",\n' in driven.message.replace(" \n", "\n")
        await driven.press("t")
        assert '"role": "assistant"' in driven.message
        await driven.press("t", "end", "up")
        assert "replaced line 3" in driven.message and "+    return name.strip()" in driven.message


async def test_a_filter_keeps_what_fits(tmp_path: Path) -> None:
    async with inspecting(tmp_path) as driven:
        await driven.press(*"/role:tool bash")
        await driven.until(lambda: len([line for line in driven.table if line]) == 1)
        assert "bash failed" in driven.table[0]
        await driven.press("tab", "d")
        assert [message.role for message in driven.messages].count("tool") == 2
        await driven.press("slash", "escape")
        assert len([line for line in driven.table if line]) == 8


async def test_b16_deleting_by_key_keeps_pairs_and_undo_brings_them_back(tmp_path: Path) -> None:
    async with inspecting(tmp_path) as driven:
        before = driven.messages
        await driven.press("home", "down", "d")
        assert [message.role for message in driven.messages] == [
            "user",
            "assistant",
            "user",
            "assistant",
            "tool",
            "assistant",
        ]
        assert "2 more that belong to the same calls" in driven.note
        assert [line.split()[0] for line in driven.table if line] == ["1", "▌", "6", "7", "8", "9"]
        await driven.press("u")
        assert driven.messages == before and "3 messages back" in driven.note
        await driven.press("r")
        assert len(driven.messages) == 6
        await driven.press("u", "u")
        assert "nothing to undo" in driven.note


async def test_a_marked_range_is_deleted_at_once(tmp_path: Path) -> None:
    async with inspecting(tmp_path) as driven:
        await driven.press("home", "space", "end", "v", "up", "up", "up")
        assert [line[1] for line in driven.table if line] == ["●", " ", " ", " ", " ", "●", "●", "●", "●"]
        await driven.press("d")
        assert [message.role for message in driven.messages] == ["assistant", "tool", "tool", "assistant"]
        await driven.press("v", "up", "escape")
        assert not driven.view.state.has_marks and isinstance(driven.app.screen, InspectScreen)
        await driven.press("escape")
        assert isinstance(driven.app.screen, ChatScreen)


async def test_text_is_edited_in_place(tmp_path: Path) -> None:
    async with inspecting(tmp_path) as driven:
        await driven.press("end", "up", "e")
        await driven.press("ctrl+end", "enter", *"[/x]")
        await driven.press("escape")
        assert "again to throw away" in driven.note
        await driven.press("ctrl+s")
        assert driven.messages[7].content == "replaced line 3; new_hash cd34\n[/x]"
        assert "is changed, also for the next request" in driven.note
        assert "[/x]" in driven.message
        # What the transcript shows of the call is not its old diff.
        driven.app.chat.catch_up()
        assert "+    return name.strip()" not in driven.app.chat.transcript.document.blocks[-2].text


async def test_a_part_is_chosen_and_wrong_arguments_stay_in_the_editor(tmp_path: Path) -> None:
    async with inspecting(tmp_path) as driven:
        await driven.press("home", "down", "e")
        parts = [line.strip() for line in lines_of(driven.view.query_one(MessagePane).parts) if line.strip()]
        assert [part.split("  ")[0].lstrip("▌ ") for part in parts] == [
            "text", "reasoning", "arguments of read", "arguments of bash",
        ]  # fmt: skip
        await driven.press("down", "down", "enter")
        editor = driven.view.query_one(MessagePane).editor
        assert editor.text == '{\n  "path": "http/parser.py"\n}'
        await driven.press("backspace", "delete", "ctrl+s")
        assert "the arguments are no JSON" in driven.note and editor.has_focus
        await driven.press("{", "ctrl+s")
        assert "Nothing was changed" in driven.note
        assert driven.messages == messages()


async def test_b16_nothing_is_edited_while_a_turn_runs(tmp_path: Path) -> None:
    gate = asyncio.Event()
    runtime = engine(tmp_path, [gate])
    await load(runtime, messages())
    app = app_around(runtime)
    async with app.run_test(size=(140, 40)) as pilot:
        app.chat.submit("go on")
        driven = Driven(app, pilot)
        await driven.until(lambda: runtime.session.current_turn is not None)
        await pilot.press("alt+i")
        await pilot.pause(0.05)
        for key in ("d", "e", "o", "u", "r"):
            await pilot.press(key)
            await driven.until(lambda: "not possible while a turn runs" in driven.note)
            driven.view.say("")
        assert runtime.services.conversation.messages == messages()
        runtime.cancel()
        await driven.until(lambda: runtime.session.current_turn is None)
        # The view has followed the turn.
        await driven.until(lambda: any("go on" in line for line in driven.table))


async def test_the_models_view_shows_what_would_be_sent(tmp_path: Path) -> None:
    async with inspecting(tmp_path) as driven:
        await driven.press("m")
        table = "\n".join(driven.table)
        assert "schema bash" in table and "system text" in table and "what you type next" in table
        bar = "\n".join(lines_of(driven.view.query_one("#inspect-bar")))
        assert "of 128,000 tokens" in bar and "messages may take 102,400" in bar
        row = next(number for number, line in enumerate(driven.table) if "[elided" in line)
        driven.view.query_one(TablePane).rows._select(row)
        await driven.settle()
        assert "Elided" in driven.message and "line 40 of it" not in driven.message.split("in the conversation")[0]
        assert "1: line 1 of it" in driven.message
        await driven.press("t")
        assert '"role": "tool"' in driven.message and "in the conversation" not in driven.message
        await driven.press("t", "home", "c")
        assert '"type": "function"' in driven.app.clipboard and "1 part copied" in driven.note
        driven.view.query_one(TablePane).rows._select(row)
        await driven.settle()
        await driven.press("d")
        assert "goes back to the messages" in driven.note
        await driven.press("enter")
        assert driven.view.state.view == "messages" and driven.table[2].startswith("▌")


async def test_the_prompt_that_is_typed_counts_as_the_next_one(tmp_path: Path) -> None:
    async with inspecting(tmp_path) as driven:
        await driven.press("escape")
        await driven.pilot.press(*"and now")
        await driven.pilot.press("alt+i")
        await driven.settle()
        await driven.press("m")
        assert driven.table[-1] == "" and any(line.endswith("and now") for line in driven.table)


def footer(app: SmithApp) -> str:
    return lines_of(app.chat.query_one("#hints"))[0]


async def test_a_slow_edit_leaves_the_keys_where_the_person_is_meanwhile(tmp_path: Path) -> None:
    async with inspecting(tmp_path) as driven:
        await driven.press("w", "home", "e", "x")
        may_end = asyncio.Event()
        edit = driven.view._desk.edit

        async def slowly(*arguments: Any) -> str:
            await may_end.wait()
            return await edit(*arguments)

        driven.view._desk.edit = slowly  # type: ignore[method-assign]
        await driven.pilot.press("ctrl+s")
        prompt = driven.app.chat.prompt
        driven.app.chat.set_focus(prompt)
        may_end.set()
        await driven.until(lambda: driven.messages[0].content.startswith("xFix"))
        await driven.press(*"hi")
        assert (driven.app.chat.focused, prompt.text) == (prompt, "hi")
        assert "Message 1 is changed" in driven.note


async def test_the_help_begins_with_the_keys_of_what_has_the_focus(tmp_path: Path) -> None:
    async with inspecting(tmp_path) as driven:
        await driven.press("w")

        async def titles() -> list[str]:
            await driven.pilot.press("f1")
            shown = driven.app.screen
            assert isinstance(shown, HelpScreen)
            sections = shown._sections
            await driven.pilot.press("f1")
            assert ("e", "Inspect: edit the message here") in sections[0][1] or sections[0][0] == "Keys"
            return [title for title, _ in sections]

        assert await titles() == ["Keys here", "Other keys", "Commands"]
        driven.app.chat.set_focus(driven.app.chat.prompt)
        assert await titles() == ["Keys", "Commands"]


async def test_one_key_switches_between_pane_and_whole_screen(tmp_path: Path) -> None:
    async with inspecting(tmp_path, size=(140, 26)) as driven:
        await driven.press("home", "down", "space", "w")
        assert isinstance(driven.app.screen, ChatScreen)
        assert driven.view.region.x >= driven.app.chat.transcript.region.right
        # It goes on where it was, and what is typed does not end up in the prompt.
        assert any(line.startswith("▌") and "3 tool" in line for line in driven.table)
        assert driven.view.state.marked == {2}
        await driven.press(*"xyz9")
        assert driven.app.chat.prompt.text == ""
        # Each view has a footer of its own; that of the main screen has the prompt's keys only where they work.
        assert "send" not in footer(driven.app) and "Alt+H" in footer(driven.app)
        driven.app.chat.set_focus(driven.app.chat.prompt)
        await driven.settle()
        assert "Enter send" in footer(driven.app)
        driven.view.query_one(TablePane).rows.focus()
        await driven.press("enter")
        assert not driven.app.chat.transcript.is_following and driven.view.is_attached
        await driven.press("w")
        assert isinstance(driven.app.screen, InspectScreen)
        await driven.press("escape", "escape")
        assert isinstance(driven.app.screen, ChatScreen) and driven.app.chat.prompt.has_focus


async def test_a_message_is_found_in_the_transcript(tmp_path: Path) -> None:
    async with inspecting(tmp_path, size=(100, 12)) as driven:
        driven.app.chat.transcript.add_notice("warning", "something in between")
        await driven.press("home", "down", "down", "down", "enter")
        rows = driven.app.chat.transcript.shown_rows
        assert any("pytest -q" in row.line.text for row in rows[:2])


async def test_copy_takes_what_is_marked(tmp_path: Path) -> None:
    async with inspecting(tmp_path) as driven:
        await driven.press("home", "space", "end", "space", "c")
        assert (
            driven.app.clipboard
            == "Fix the parser of folded headers, please\n\nThe blank behind the colon; **fixed** now."
        )
        assert "2 messages copied" in driven.note


async def test_fork_goes_on_with_a_copy_up_to_the_message(tmp_path: Path) -> None:
    async with inspecting(tmp_path) as driven:
        await driven.press("home", "down", "down", "down", "down")
        await driven.pilot.press("f")
        await driven.until(lambda: len(driven.messages) == 5)
        assert driven.app.runtime.services.conversation.conversation_id != "edited"


async def test_a_click_on_a_key_does_what_the_key_does(tmp_path: Path) -> None:
    async with inspecting(tmp_path) as driven:
        hints = lines_of(driven.view.query_one("KeyHints"))[0]
        await driven.pilot.click(driven.view.query_one("KeyHints"), offset=(hints.index("next request"), 0))
        await driven.settle()
        assert driven.view.state.view == "request"


async def test_an_empty_conversation_has_nothing_to_edit(tmp_path: Path) -> None:
    async with inspecting(tmp_path, ()) as driven:
        assert "There are no messages yet." in driven.table[1]
        await driven.press("d", "e", "o", "space", "v", "c", "f", "enter", "u", "t")
        assert driven.messages == ()


@pytest.mark.parametrize("size", [(20, 5), (200, 40)])
async def test_b19_b22_foreign_text_is_literal_at_any_size(tmp_path: Path, size: tuple[int, int]) -> None:
    texts = [*MARKUP, *ODD_WIDTHS, "\x1b]0;gone\x07 \x1b[31mred"]
    conversation = tuple(Message(role="user", content=text, created_at=float(n)) for n, text in enumerate(texts, 1))
    async with inspecting(tmp_path, conversation, size) as driven:
        for number in range(len(texts)):
            driven.view.query_one(TablePane).rows._select(number)
            driven.view.show_chosen()
        await driven.press("t", "m", "m", "w", "w", "e", "escape")
        rows = driven.view.query_one(TablePane).rows
        width = rows.scrollable_content_region.width
        assert all(rows.render_line(y).cell_length == width for y in range(rows.size.height))
        assert driven.app.crash is None
        if size == (200, 40):
            shown = "\n".join(driven.table)
            assert all(text in shown for text in MARKUP)
            assert "␛[31mred" in shown and "\x1b" not in shown


async def test_a_view_that_was_closed_keeps_no_drawn_message(tmp_path: Path) -> None:
    async with inspecting(tmp_path) as driven:
        view = driven.view.query_one(MessagePane).view
        assert view.document.blocks
        await driven.press("escape")
        assert isinstance(driven.app.screen, ChatScreen)
        assert view.document.blocks == []
