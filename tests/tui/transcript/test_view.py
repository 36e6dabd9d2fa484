import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual import events
from textual.geometry import Region
from textual.pilot import Pilot

from smith_core.messages import Message, ToolMetadata, ToolResult
from smith_tui.theme import LIGHT
from smith_tui.transcript.document_view import MORE_BELOW
from smith_tui.transcript.view import Transcript
from tests.support.markdown_examples import FOREIGN, WIDE, WIDE_WORDS
from tests.support.widget_app import WidgetApp

TALK = [
    message
    for number in range(40)
    for message in (
        Message(role="user", content=f"question {number}"),
        Message(role="assistant", content=f"Answer **{number}** with " + "some words " * 30 + f"\n\n- item {number}"),
    )
]


@asynccontextmanager
async def shown(size: tuple[int, int] = (60, 20)) -> AsyncIterator[tuple[Transcript, Pilot[None], WidgetApp]]:
    """A transcript that fills a screen of `size`."""
    transcript = Transcript()
    app = WidgetApp(transcript, record=[Transcript.FollowChanged])
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield transcript, pilot, app


def screen(transcript: Transcript) -> list[str]:
    """What the widget paints, row by row."""
    strips = transcript.render_lines(Region(0, 0, transcript.document.width, transcript.page_rows))
    assert {strip.cell_length for strip in strips} == {transcript.document.width}
    return [strip.text.rstrip() for strip in strips]


def top(transcript: Transcript) -> str:
    return transcript.shown_rows[0].line.text


async def test_a_turn_shows_in_order() -> None:
    async with shown((60, 30)) as (transcript, _, _):
        transcript.add_user("fix it")
        transcript.start_assistant("orchestrator")
        transcript.append_reasoning("hm")
        transcript.append_text("I will.")
        transcript.end_assistant()
        transcript.start_tool("1", "bash", '{"command": "make"}')
        transcript.tool_output("1", "working")
        transcript.flush()
        assert "  │ working" in screen(transcript)
        transcript.end_tool("1", ToolResult(call_id="1", ok=True, content="done", metadata=ToolMetadata(exit_code=0)))
        transcript.add_notice("warning", "careful")
        transcript.add_plain("a  b\nc")
        transcript.flush()
        assert [row for row in screen(transcript) if row] == [
            "▌ fix it",
            "∴ thought",
            "┊ hm",
            "◆ I will.",
            "  ✓ bash  make",
            "  │ done",
            "▲ careful",
            "│ a  b",
            "│ c",
        ]


async def test_the_first_words_show_at_once_and_the_rest_at_most_thirty_times_a_second() -> None:
    async with shown() as (transcript, pilot, _):
        transcript.start_assistant("direct")
        transcript.flush()
        frames = 0

        def count() -> None:
            nonlocal frames
            frames += 1
            Transcript.flush(transcript)

        transcript.flush = count  # type: ignore[method-assign]
        for number in range(300):
            transcript.append_text(f"word{number} ")
        assert frames == 1
        assert "◆ word0" in screen(transcript)
        while "word299" not in "".join(screen(transcript)):
            await pilot.pause(0.01)
        assert frames == 2


async def test_the_view_follows_only_at_the_end() -> None:
    async with shown() as (transcript, pilot, app):
        transcript.load(TALK)
        assert screen(transcript)[-1].endswith("item 39")
        await pilot.press("pageup")
        assert not transcript.is_following
        assert screen(transcript)[-1].endswith(MORE_BELOW.rstrip())
        before = top(transcript)
        transcript.start_assistant("direct")
        transcript.append_text("new text\n\nand more")
        transcript.flush()
        assert top(transcript) == before
        await pilot.press("end")
        assert screen(transcript)[-1] == "  and more"
        transcript.append_text(" of it")
        transcript.flush()
        assert screen(transcript)[-1] == "  and more of it"
        await pilot.pause()
        assert [message.is_following for message in app.messages] == [False, True]


async def test_keys_and_wheel_scroll() -> None:
    async with shown() as (transcript, pilot, _):
        transcript.load(TALK)
        await pilot.press("home")
        first = screen(transcript)
        assert first[1] == "▌ question 0"
        await pilot.press("down", "down", "up")
        assert screen(transcript)[:10] == first[1:11]
        await pilot.press("pagedown", "pageup")
        assert screen(transcript)[:10] == first[1:11]
        transcript.post_message(events.MouseScrollDown(transcript, 5, 5, 0, 1, 0, False, False, False))
        await pilot.pause()
        assert screen(transcript)[:10] == [*first, *[""] * 9][3:13]
        assert transcript.scroll_y == transcript.document.offset(transcript.shown_rows[0].place)


async def test_wheeling_to_the_end_follows_again_and_the_scroll_bar_agrees() -> None:
    async with shown() as (transcript, pilot, _):
        transcript.load(TALK)
        for _ in range(4):
            transcript.post_message(events.MouseScrollUp(transcript, 5, 5, 0, -1, 0, False, False, False))
        await pilot.pause()
        assert not transcript.is_following
        for _ in range(4):
            transcript.post_message(events.MouseScrollDown(transcript, 5, 5, 0, 1, 0, False, False, False))
        await pilot.pause()
        assert transcript.is_following
        assert transcript.scroll_y == transcript.max_scroll_y == transcript.document.height - 20


async def test_dragging_the_scroll_bar_goes_anywhere() -> None:
    async with shown() as (transcript, pilot, _):
        transcript.load(TALK)
        transcript.scroll_to(y=transcript.document.height // 2, animate=False)
        await pilot.pause()
        number = int(next(row for row in screen(transcript) if "question" in row).split()[-1])
        assert 10 < number < 30


async def test_a_resize_keeps_the_place() -> None:
    async with shown() as (transcript, pilot, _):
        transcript.load(TALK)
        transcript.goto(transcript.find("question 20")[0])
        index = next(row for row, line in enumerate(screen(transcript)) if "question 20" in line)
        transcript.scroll_rows(index)
        for width in (90, 24, 60):
            await pilot.resize_terminal(width, 20)
            await pilot.pause()
            assert "question 20" in top(transcript)
        await pilot.press("end")
        await pilot.resize_terminal(30, 9)
        await pilot.pause()
        assert screen(transcript)[-1].endswith("item 39")


async def test_prompts_are_stepped_through() -> None:
    async with shown() as (transcript, _, _):
        transcript.load(TALK)
        transcript.scroll_prompt(-1)
        transcript.scroll_prompt(-1)
        assert top(transcript) == "▌ question 37"
        transcript.scroll_prompt(1)
        assert top(transcript) == "▌ question 38"
        for _ in range(3):
            transcript.scroll_prompt(1)
        assert transcript.is_following
        for _ in range(50):
            transcript.scroll_prompt(-1)
        assert "question 0" in "".join(screen(transcript)[:2])


async def test_matches_are_found_marked_and_shown() -> None:
    async with shown() as (transcript, _, _):
        transcript.load(TALK)
        hits = transcript.find("QUESTION 1")
        assert len(hits) == 11
        transcript.goto(hits[3])
        row = next(y for y, text in enumerate(screen(transcript)) if "question 12" in text)
        strip = transcript.render_lines(Region(0, row, 59, 1))[0]
        marked = [segment.text for segment in strip if segment.style and segment.style.bgcolor == _found(transcript)]
        assert marked == ["question 1"]
        transcript.clear_find()
        strip = transcript.render_lines(Region(0, row, 59, 1))[0]
        assert all(segment.style is None or segment.style.bgcolor != _found(transcript) for segment in strip)
        assert list(transcript.find("")) == list(transcript.find("nowhere")) == []


def _found(transcript: Transcript) -> object:
    return transcript._ink.found.bgcolor


async def test_a_match_in_a_folded_card_unfolds_it() -> None:
    async with shown() as (transcript, _, _):
        transcript.start_tool("1", "read", '{"path": "x"}')
        transcript.end_tool("1", ToolResult(call_id="1", ok=True, content="\n" * 50 + "needle"))
        assert "needle" not in "".join(screen(transcript))
        transcript.goto(transcript.find("needle")[0])
        assert "  │ needle" in screen(transcript)


async def test_a_click_unfolds_and_folds() -> None:
    async with shown((60, 12)) as (transcript, pilot, _):
        transcript.start_assistant("direct")
        transcript.append_reasoning("\n".join(f"step {number}" for number in range(30)))
        transcript.append_text("done")
        transcript.end_assistant()
        transcript.flush()
        hint = screen(transcript).index("┊ … 27 more lines")
        await pilot.click(transcript, offset=(5, hint))
        assert "┊ step 5" in screen(transcript)
        await pilot.press("home", "enter")
        assert "┊ … 27 more lines" in screen(transcript)


async def test_enter_unfolds_around_the_call_that_is_looked_at() -> None:
    async with shown((60, 24)) as (transcript, pilot, _):
        for call in ("1", "2", "3"):
            transcript.start_tool(call, "read", f'{{"path": "file{call}"}}')
            content = "\n".join(f"{call}.{number}" for number in range(40))
            transcript.end_tool(call, ToolResult(call_id=call, ok=True, content=content))
        transcript.flush()
        transcript.focus()

        def row_of(text: str) -> int:
            return next((y for y, row in enumerate(screen(transcript)) if text in row), -1)

        last = row_of("file3")
        await pilot.press("enter")
        assert 0 < row_of("file3") == last < row_of("3.0"), "at the end the last one stays"
        await pilot.press("home")
        first = row_of("file1")
        for _ in range(2):
            await pilot.press("enter")
            assert 0 <= row_of("file1") == first, "elsewhere the first one"


async def test_the_mark_at_the_bottom_leads_to_the_end() -> None:
    async with shown() as (transcript, pilot, _):
        transcript.load(TALK)
        await pilot.press("home")
        await pilot.click(transcript, offset=(50, 19))
        assert transcript.is_following


async def test_selected_rows_are_copied_as_the_source_had_them() -> None:
    async with shown((40, 20)) as (transcript, pilot, app):
        transcript.add_user("say it")
        transcript.start_assistant("direct")
        transcript.append_text("one two three four five six seven eight nine ten\n\n```\n  code " + "x" * 40 + "\n```")
        transcript.end_assistant()
        transcript.flush()
        rows = screen(transcript)
        last = max(y for y, row in enumerate(rows) if "x" in row)
        await pilot.mouse_down(transcript, offset=(2, 3))
        await pilot.hover(transcript, offset=(30, last))
        await pilot.mouse_up(transcript, offset=(30, last))
        assert app.screen.get_selected_text() == (
            "one two three four five six seven eight nine ten\n\n  code " + "x" * 40
        )


async def test_a_double_click_takes_a_word_and_a_third_the_line() -> None:
    async with shown((30, 20)) as (transcript, pilot, app):
        transcript.start_assistant("direct")
        transcript.append_text("漢字 open src/app.py:12 and look what is in there")
        transcript.flush()
        await pilot.click(transcript, offset=(14, 1), times=2)
        assert app.screen.get_selected_text() == "src/app.py:12"
        await pilot.click(transcript, offset=(14, 1), times=3)
        assert app.screen.get_selected_text() == "漢字 open src/app.py:12 and look what is in there"


async def test_keys_select_by_characters_rows_and_pages_and_the_view_goes_along() -> None:
    async with shown((40, 10)) as (transcript, pilot, app):
        transcript.start_assistant("direct")
        transcript.append_text("e\u0301 漢字 one two three four five six seven eight nine ten\n\nlast words")
        transcript.flush()
        transcript.focus()
        await pilot.press("shift+down", *["shift+right"] * 4)
        assert app.screen.get_selected_text() == "\né 漢字"
        await pilot.press(*["shift+left"] * 2)
        assert app.screen.get_selected_text() == "\né"
        await pilot.press("shift+down", "shift+end")
        assert app.screen.get_selected_text() == "\né 漢字 one two three four five six seven eight nine ten"
        app.screen.clear_selection()
        await pilot.press("shift+up")
        assert app.screen.get_selected_text() == "\nlast words"
        transcript.load(TALK[:12])
        await pilot.press(*["shift+pageup"] * 5)
        assert not transcript.is_following
        selected = app.screen.get_selected_text()
        assert selected is not None
        assert selected.endswith("item 5")
        assert "question 4" in selected
        await pilot.press(*["shift+pageup"] * 8, "shift+up", "shift+left")
        assert transcript.shown_rows[0].place == (0, 0)
        await pilot.press(*["shift+pagedown"] * 12)
        assert transcript.is_following


async def test_keys_go_on_with_what_the_mouse_selected() -> None:
    async with shown((40, 10)) as (transcript, pilot, app):
        transcript.start_assistant("direct")
        transcript.append_text("one two three")
        transcript.flush()
        transcript.focus()
        await pilot.click(transcript, offset=(7, 1), times=2)
        await pilot.press("shift+right", "shift+right")
        assert app.screen.get_selected_text() == "two t"


async def test_everything_can_be_selected() -> None:
    async with shown() as (transcript, _, app):
        transcript.load(TALK[:2])
        transcript.text_select_all()
        assert app.screen.get_selected_text() == f"{TALK[0].content}\n\n{TALK[1].content}"


@pytest.mark.parametrize("width", [2, 3, 11, 12, 30, 80])
async def test_b22_every_row_is_as_wide_as_the_view(width: int) -> None:
    async with shown((width, 200)) as (transcript, pilot, _):
        text = "\n".join(WIDE)
        _say_everywhere(transcript, text)
        transcript.start_assistant("direct")
        transcript.append_text("| a | b |\n|---|---|\n" + "".join(f"| {line} | x |\n" for line in WIDE))
        transcript.end_assistant()
        transcript.flush()
        await pilot.pause()
        rows = screen(transcript)
        if width >= 30:
            joined = "\n".join(rows)
            assert all(joined.count(word) >= 5 for word in WIDE_WORDS)


@pytest.mark.parametrize("width", [9, 30, 80])
async def test_b22_right_to_left_text_keeps_its_letters_their_order_and_the_width(width: int) -> None:
    said = "שלום עולם, مرحبا بالعالم and e\u0301te \u202eturned"
    async with shown((width, 20)) as (transcript, _, app):
        transcript.add_user(said)
        transcript.start_assistant("direct")
        transcript.append_text(f"{said}\n\n| עברית | b |\n|---|---|\n| مرحبا | 1 |\n")
        transcript.end_assistant()
        transcript.flush()
        rows = "".join("".join(screen(transcript)).split())
        assert rows.count("שלום") == rows.count("مرحبابالعالم") == 2 or width < 30
        assert "\u202e" not in rows
        if width == 80:
            assert "<U+202E>turned" in rows
            transcript.text_select_all()
            assert str(app.screen.get_selected_text()).startswith(said[:20])


async def test_reasoning_is_dim_and_unfolds_with_a_key() -> None:
    async with shown((60, 40)) as (transcript, pilot, _):
        transcript.start_assistant("direct")
        transcript.append_reasoning("\n".join(f"thought {number}" for number in range(30)))
        transcript.append_text("the answer")
        transcript.end_assistant()
        transcript.flush()
        rows = screen(transcript)
        assert "… 27 more lines" in "\n".join(rows)
        y = next(index for index, row in enumerate(rows) if "thought 1" in row)
        styles = [piece.style for piece in transcript.render_lines(Region(0, y, 60, 1))[0] if "thought" in piece.text]
        assert styles
        assert styles[0] is not None
        assert (styles[0].color, styles[0].italic) == (transcript._ink.reasoning.color, True)
        transcript.focus()
        await pilot.press("enter")
        assert "thought 29" in "\n".join(screen(transcript))
        await pilot.press("enter")
        assert "thought 29" not in "\n".join(screen(transcript))


async def test_b19_foreign_text_is_literal_and_does_nothing() -> None:
    async with shown((100, 220)) as (transcript, pilot, app):
        for text in FOREIGN:
            _say_everywhere(transcript, text)
        transcript.flush()
        rows = screen(transcript)
        for text in FOREIGN:
            assert sum(text in row for row in rows) >= 7, text
        for y, row in enumerate(rows):
            if "go[/]" in row:
                await pilot.click(transcript, offset=(row.index("go[/]"), y))
        assert app.is_running
        for y in range(len(rows)):
            strip = transcript.render_lines(Region(0, y, 99, 1))[0]
            assert all(not segment.style.meta and segment.style.link is None for segment in strip if segment.style)


async def test_b20_no_control_character_reaches_the_terminal() -> None:
    async with shown((80, 100)) as (transcript, _, _):
        _say_everywhere(transcript, "a\x1b]0;evil\x07b\x9bc\x00d\x7fe\rf\x0bg\u202eh\tz")
        transcript.flush()
        for row in screen(transcript):
            assert row.isprintable()


def _say_everywhere(transcript: Transcript, text: str) -> None:
    """Put a text into every kind of block."""
    transcript.add_user(text)
    transcript.start_assistant("direct")
    transcript.append_reasoning(text)
    transcript.append_text(text)
    transcript.append_text(f"\n\n```\n{text}\n```\n")
    transcript.end_assistant()
    transcript.start_tool(text, text, text)
    transcript.tool_output(text, text)
    transcript.end_tool(text, ToolResult(call_id=text, ok=False, content=text))
    transcript.add_notice("error", text)
    transcript.add_plain(text)


async def test_a_request_made_again_takes_its_text_back() -> None:
    async with shown() as (transcript, _, _):
        transcript.add_user("go")
        transcript.start_assistant("direct")
        transcript.append_text("void")
        transcript.flush()
        transcript.append_text(" more")
        transcript.discard_live()
        # A click or Enter asks for the blocks of the rows on the screen.
        assert all(row.place.block < len(transcript.document.blocks) for row in transcript.shown_rows)
        transcript.append_text("good")
        transcript.end_assistant(interrupted=True)
        transcript.flush()
        assert [row for row in screen(transcript) if row] == ["▌ go", "◆ good", "▲ interrupted"]


async def test_clearing_leaves_an_empty_page() -> None:
    async with shown() as (transcript, pilot, _):
        transcript.load(TALK)
        await pilot.press("home")
        transcript.clear()
        assert not any(screen(transcript))
        assert transcript.is_following
        transcript.end_tool("unknown", ToolResult(call_id="unknown", ok=True, content=""))


async def test_colours_change_in_place() -> None:
    async with shown() as (transcript, pilot, _):
        transcript.load(TALK)
        await pilot.press("pageup")
        before = screen(transcript)
        transcript.set_theme(LIGHT)
        assert screen(transcript) == before
        style = next(iter(transcript.render_lines(Region(0, 0, 59, 1))[0])).style
        assert style is not None and style.bgcolor is not None
        assert style.bgcolor.name == LIGHT.background


async def test_text_that_comes_before_the_widget_is_shown_is_kept() -> None:
    transcript = Transcript()
    transcript.add_user("early")
    transcript.append_text("bird")
    async with WidgetApp(transcript).run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        assert [row for row in screen(transcript) if row] == ["▌ early", "◆ bird"]


def test_parsers_are_not_loaded_before_they_are_needed() -> None:
    code = (
        "import sys, smith_tui.transcript.view as v; t = v.Transcript(); t.add_user('x'); t.load([]);"
        "print(*sorted({'markdown_it', 'pygments', 'linkify_it'} & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert result.stdout.strip() == ""


async def test_no_color_is_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with shown() as (transcript, _, _):
        transcript.load(TALK[:2])
        strips = transcript.render_lines(Region(0, 0, 59, 10))
        transcript.add_user("\n".join(f"line {number}" for number in range(100)))
        transcript.flush()
        transcript.action_scroll_home()
        assert any(MORE_BELOW.strip() in row for row in screen(transcript))
        strips += transcript.render_lines(Region(0, 0, 59, transcript.page_rows))
        colors = {
            color.get_truecolor()
            for strip in strips
            for segment in strip
            if segment.style
            for color in (segment.style.color, segment.style.bgcolor)
            if color is not None
        }
        assert colors
        assert all(color.red == color.green == color.blue for color in colors)


async def test_a_view_that_grows_until_the_end_is_seen_says_no_more_that_there_is_more() -> None:
    async with shown((60, 8)) as (transcript, pilot, _):
        transcript.add_user("\n".join(f"line {number}" for number in range(20)))
        transcript.flush()
        transcript.action_scroll_home()
        assert any(MORE_BELOW.strip() in row for row in screen(transcript))
        await pilot.resize_terminal(60, 40)
        await pilot.pause()
        assert transcript.is_following
        assert not any(MORE_BELOW.strip() in row for row in screen(transcript))
