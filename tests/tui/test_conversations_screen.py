"""The conversation picker, driven by keys, over conversations in memory."""

import asyncio
from collections.abc import Callable

import pytest
from textual.pilot import Pilot

from smith_tui.screens.conversation_filter import keep_matching
from smith_tui.screens.conversation_rows import conversation_rows
from smith_tui.screens.conversations import ConversationsScreen
from smith_tui.screens.stored import Opening
from smith_tui.theme import DARK
from smith_tui.transcript.cells import cell_width
from smith_tui.transcript.ink import make_ink
from smith_tui.transcript.view import Transcript
from smith_tui.widgets.input_line import InputLine
from smith_tui.widgets.result_list import Frame, ResultList
from tests.support.screen_app import ScreenApp
from tests.support.shelf import NOW, Conversation, Shelf
from tests.support.widget_app import MARKUP, ODD_WIDTHS, assert_exact_width, lines_of

INK = make_ink(DARK, "green")
PARSER = Conversation(conversation_id="c0", title="Fix the parser")
FLAKY = Conversation(conversation_id="c1", title="Why is the test flaky?", cwd="/srv/bank", message_count=1)
NAMELESS = Conversation(conversation_id="c2", updated_at=NOW - 86400 * 12, size_bytes=1_230_000)


def opened(shelf: Shelf, query: str = "", current: str = "") -> tuple[ScreenApp, ConversationsScreen]:
    screen = ConversationsScreen(shelf, query, current=current, now=lambda: NOW)
    return ScreenApp(screen), screen


def shelf_of(*conversations: Conversation) -> Shelf:
    return Shelf(conversations or (PARSER, FLAKY, NAMELESS))


def rows(screen: ConversationsScreen) -> list[str]:
    return [line.rstrip() for line in lines_of(screen.query_one(ResultList)) if line.strip()]


def head(screen: ConversationsScreen) -> str:
    return lines_of(screen.query_one(InputLine))[0]


def note(screen: ConversationsScreen) -> str:
    return str(screen.query_one(".note").render())


def preview(screen: ConversationsScreen) -> str:
    transcript = screen.query_one(Transcript)
    transcript.flush()
    return "\n".join(row.line.text for row in transcript.shown_rows)


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    for _ in range(300):
        if condition():
            return
        await pilot.pause(0.01)
    raise AssertionError("never came true")


async def listed(pilot: Pilot[None], screen: ConversationsScreen, count: int = 3) -> None:
    await until(pilot, lambda: screen.query_one(ResultList).count == count)
    await until(pilot, lambda: not screen._changes.locked())


async def test_each_row_says_what_there_is_to_know() -> None:
    shelf = shelf_of()
    shelf.held = {"c1": 4242}
    app, screen = opened(shelf, current="c2")
    async with app.run_test(size=(100, 24)) as pilot:
        await listed(pilot, screen)
        shown = rows(screen)
        assert shown[0].startswith("  Fix the parser") and shown[0].endswith("2 h")
        assert shown[1] == "  /home/neo/shop · 2 messages · 13 kB"
        assert "open in process 4242" in shown[2]
        assert "/srv/bank · 1 message · 13 kB" in shown[3]
        # The list begins on the conversation that is open here.
        assert shown[4].startswith("▌ untitled") and "this one  12 d" in shown[4]
        assert shown[5].endswith("1.2 MB")


async def test_enter_loads_and_escape_goes_back() -> None:
    for keys, result in ((("down", "enter"), Opening("c1")), (("escape",), None), (("n",), Opening(""))):
        app, screen = opened(shelf_of())
        async with app.run_test(size=(80, 24)) as pilot:
            await listed(pilot, screen)
            await pilot.press(*keys)
            await pilot.pause()
            assert app.results == [result]


async def test_the_preview_follows_the_choice_and_skips_what_is_passed() -> None:
    shelf = shelf_of(*(Conversation(conversation_id=f"c{number}") for number in range(40)))
    app, screen = opened(shelf)
    async with app.run_test(size=(120, 24)) as pilot:
        await until(pilot, lambda: "the prompt of c0" in preview(screen))
        for _ in range(12):
            screen.query_one(ResultList).press("down")
        await until(pilot, lambda: "the prompt of c12" in preview(screen))
        assert shelf.previewed == ["c0", "c12"]


async def test_a_late_preview_does_not_take_the_place_of_a_newer_one() -> None:
    shelf = shelf_of()
    shelf.gates["c0"] = asyncio.Event()
    app, screen = opened(shelf)
    async with app.run_test(size=(120, 24)) as pilot:
        await until(pilot, lambda: shelf.previewed == ["c0"])
        await pilot.press("down")
        await until(pilot, lambda: "the prompt of c1" in preview(screen))
        shelf.gates["c0"].set()
        await pilot.pause()
        assert "the prompt of c1" in preview(screen)


async def test_letters_filter_only_when_the_filter_is_open() -> None:
    app, screen = opened(shelf_of())
    async with app.run_test(size=(80, 24)) as pilot:
        await listed(pilot, screen)
        await pilot.press("slash", *"fnd")
        assert "Nothing fits" in rows(screen)[0]
        await pilot.press("backspace", "backspace", *"lky")
        assert "1 of 3" in head(screen)
        assert rows(screen)[0].startswith("▌ Why is the test flaky?")
        await pilot.press("escape")
        assert screen.query_one(ResultList).count == 3
        # What was found stays chosen.
        assert rows(screen)[2].startswith("▌ Why is the test flaky?")
        await pilot.press("slash", *"bank", "enter")
        await pilot.pause()
        assert app.results == [Opening("c1")]


async def test_the_list_begins_with_a_filter_that_the_command_gave() -> None:
    app, screen = opened(shelf_of(), "parser")
    async with app.run_test(size=(80, 24)) as pilot:
        await listed(pilot, screen, 1)
        assert "1 of 3" in head(screen)
        # A deletion that is taken back, or a copy, is shown even if the filter would hide it.
        await pilot.press("d")
        await listed(pilot, screen, 0)
        await pilot.press("u")
        await listed(pilot, screen, 1)


@pytest.mark.parametrize("key", ["d", "delete"])
async def test_deletions_are_taken_back_one_by_one(key: str) -> None:
    shelf = shelf_of()
    app, screen = opened(shelf)
    async with app.run_test(size=(80, 24)) as pilot:
        await listed(pilot, screen)
        # Two presses in a row mean two conversations.
        await pilot.press(key, key)
        await listed(pilot, screen, 1)
        assert [each.conversation_id for each in shelf.conversations] == ["c2"]
        assert "Deleted “Why is the test flaky?”; u takes that back." in note(screen)
        await pilot.press("u")
        await listed(pilot, screen, 2)
        assert "is back" in note(screen)
        assert screen.chosen == FLAKY
        await pilot.press("u")
        await listed(pilot, screen, 3)
        await pilot.press("u")
        await until(pilot, lambda: "Nothing was deleted" in note(screen))


async def test_what_cannot_be_deleted_stays_and_says_why() -> None:
    shelf = shelf_of()
    shelf.held = {"c0": 7}
    app, screen = opened(shelf)
    async with app.run_test(size=(80, 24)) as pilot:
        await listed(pilot, screen)
        await pilot.press("d")
        await until(pilot, lambda: "open in another smith-tui" in note(screen))
        await listed(pilot, screen, 3)


async def test_a_copy_is_chosen_once_it_is_made() -> None:
    app, screen = opened(shelf_of())
    async with app.run_test(size=(80, 24)) as pilot:
        await listed(pilot, screen)
        await pilot.press("down", "f")
        await listed(pilot, screen, 4)
        assert "a copy of “Why is the test flaky?”" in note(screen)
        await pilot.press("enter")
        await pilot.pause()
        assert app.results == [Opening("c1-fork")]


async def test_a_title_is_typed_in_place() -> None:
    shelf = shelf_of()
    app, screen = opened(shelf)
    async with app.run_test(size=(80, 24)) as pilot:
        await listed(pilot, screen)
        await pilot.press("t")
        assert head(screen).startswith("Title: Fix the parser")
        await pilot.press(*"fun", "enter")
        await until(pilot, lambda: shelf.conversations[0].title == "fun")
        await until(pilot, lambda: rows(screen)[0].startswith("▌ fun"))
        # Escape leaves the title, and typing a title filters nothing.
        await pilot.press("t", *"zzz", "escape")
        assert shelf.conversations[0].title == "fun"
        assert screen.query_one(ResultList).count == 3
        assert head(screen).startswith("Filter:")


async def test_an_empty_store_says_so_and_every_key_is_harmless() -> None:
    app, screen = opened(Shelf(()))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "No conversation is stored yet." in "\n".join(rows(screen)))
        await pilot.press("enter", "d", "f", "t", "down", "pagedown", "end")
        await pilot.pause()
        assert app.results == []
        await pilot.press("escape")
        await pilot.pause()
        assert app.results == [None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["c0", "c1", "c2"]),
        ("PARSER", ["c0"]),
        ("fxprs", ["c0"]),
        ("bank flaky", ["c1"]),
        ("shop", ["c0", "c2"]),
        ("zzz", []),
        ("[/", []),
    ],
)
def test_filter(text: str, expected: list[str]) -> None:
    assert [each.conversation_id for each in keep_matching([PARSER, FLAKY, NAMELESS], text)] == expected


def test_the_filter_puts_what_fits_best_first() -> None:
    titles = ["t-e-s-t", "latest news", "run the tests"]
    found = keep_matching([Conversation(conversation_id=title, title=title) for title in titles], "test")
    assert [each.title for each in found] == ["run the tests", "latest news", "t-e-s-t"]


@pytest.mark.parametrize("text", [*MARKUP, *ODD_WIDTHS, "\x1b]0;x\x07", "a\nb\tc", "\ud800", "", "  "])
@pytest.mark.parametrize("width", [24, 58, 120])
def test_b19_b22_foreign_text_stays_in_its_row(text: str, width: int) -> None:
    conversation = Conversation(conversation_id="c", title=text, cwd=f"/{text}")
    for holder in (None, 0, 4_194_304):
        for line in conversation_rows(conversation, holder, NOW, Frame(width, INK, is_selected=True)):
            assert not any(character in line.text for character in "\x1b\x07\n\t")
            assert line.cells == cell_width(line.text) <= width
    if text in MARKUP:
        assert text in conversation_rows(conversation, None, NOW, Frame(120, INK, is_selected=True))[0].text


@pytest.mark.parametrize("size", [(20, 8), (60, 15), (200, 50)])
async def test_b19_b22_the_screen_keeps_its_width_with_any_text(size: tuple[int, int]) -> None:
    texts = [*MARKUP, *ODD_WIDTHS]
    shelf = Shelf([Conversation(conversation_id=f"c{n}", title=text * 9) for n, text in enumerate(texts)])
    app, screen = opened(shelf)
    async with app.run_test(size=size) as pilot:
        await listed(pilot, screen, len(texts))
        results = screen.query_one(ResultList)
        for key in ("down", "end", "t", "escape"):
            await pilot.press(key)
            assert_exact_width(screen.query_one(InputLine))
            width = results.scrollable_content_region.width
            assert {results.render_line(y).cell_length for y in range(results.size.height)} <= {width}
        assert any("▌" in line for line in lines_of(results))
