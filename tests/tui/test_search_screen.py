"""The search screen, driven by keys, over made-up passages."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Static

from smith_core.errors import AgentError
from smith_tui.screens.search import FILTERS, MAX_RESULTS, SearchScreen
from smith_tui.screens.search_rows import found_text, passage_rows
from smith_tui.screens.stored import Opening
from smith_tui.theme import DARK
from smith_tui.transcript.cells import cell_width
from smith_tui.transcript.ink import make_ink
from smith_tui.widgets.input_line import InputLine
from smith_tui.widgets.result_list import Frame, ResultList
from tests.support.screen_app import ScreenApp
from tests.support.shelf import NOW, Archive, Conversation, Hit, IndexState
from tests.support.widget_app import MARKUP, ODD_WIDTHS, assert_exact_width, lines_of

INK = make_ink(DARK, "green")


def opened(archive: Archive, query: str = "") -> tuple[ScreenApp, SearchScreen]:
    screen = SearchScreen(archive, query, now=lambda: NOW, timer=lambda: 1.0)
    return ScreenApp(screen), screen


def rows(screen: SearchScreen) -> list[str]:
    return [line.rstrip() for line in lines_of(screen.query_one(ResultList))]


def head(screen: SearchScreen) -> str:
    return lines_of(screen.query_one(InputLine))[0]


def note(screen: SearchScreen) -> str:
    return str(screen.query_one(".note").render())


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    for _ in range(300):
        if condition():
            return
        await pilot.pause(0.01)
    raise AssertionError("never came true")


async def test_results_come_while_somebody_types() -> None:
    archive = Archive(total=3)
    app, screen = opened(archive)
    async with app.run_test(size=(80, 24)) as pilot:
        assert "Whatever was said" in rows(screen)[1]
        await pilot.press(*"http")
        await until(pilot, lambda: "passage 0 of http" in "\n".join(rows(screen)))
        assert "3 results · 0 ms · best first" in head(screen)
        assert archive.asked[-1] == ("http", "best", 0)
        # Keys that follow each other closely share a search.
        assert len(archive.asked) <= 4


async def test_a_late_answer_does_not_take_the_place_of_a_newer_one() -> None:
    archive = Archive(total=2)
    archive.gates["slow"] = asyncio.Event()
    app, screen = opened(archive, "slow")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: bool(archive.asked))
        # The first key replaces the query that the screen was opened with, and none waits for the search.
        await pilot.press(*"quick")
        assert screen.query_text == "quick"
        await until(pilot, lambda: "passage 0 of quick" in "\n".join(rows(screen)))
        archive.gates["slow"].set()
        await pilot.pause()
        assert "passage 0 of quick" in "\n".join(rows(screen))


async def test_one_key_changes_the_order() -> None:
    archive = Archive(total=2)
    app, screen = opened(archive, "x")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "best first" in head(screen))
        await pilot.press("tab")
        await until(pilot, lambda: "newest first" in head(screen))
        assert archive.asked == [("x", "best", 0), ("x", "newest", 0)]
        await pilot.press("tab")
        await until(pilot, lambda: "best first" in head(screen))


async def test_enter_opens_the_conversation_at_the_message() -> None:
    archive = Archive(hits=[Hit(excerpt="one"), Hit(sequence=17, excerpt="see HTTP now", highlights=((4, 8),))])
    app, screen = opened(archive, "http")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "2 results" in head(screen))
        await pilot.press("down", "enter")
        await pilot.pause()
        assert app.results == [Opening("c0", 17, "HTTP")]


async def test_a_note_opens_its_conversation_and_project_memory_says_why_not() -> None:
    memory = Hit(kind="project_memory", conversation_id="", sequence=-1, role="", note_id="style", excerpt="tabs")
    archive = Archive(hits=[memory, Hit(kind="note", sequence=-1, role="", note_id="plan", excerpt="plan it")])
    app, screen = opened(archive, "x")
    async with app.run_test(size=(100, 24)) as pilot:
        await until(pilot, lambda: "2 results" in head(screen))
        assert "project memory style" in rows(screen)[0]
        await pilot.press("enter")
        assert "belongs to no conversation" in note(screen)
        await pilot.press("down", "enter")
        await pilot.pause()
        assert app.results == [Opening("c0")]


async def test_escape_goes_back() -> None:
    app, _ = opened(Archive())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("a", "escape")
        await pilot.pause()
        assert app.results == [None]


async def test_any_number_of_results_is_gone_through_page_by_page() -> None:
    archive = Archive(total=100_000)
    app, screen = opened(archive, "x")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "100,000 results" in head(screen))
        assert f"{MAX_RESULTS:,}" in note(screen)
        results = screen.query_one(ResultList)
        await pilot.press("ctrl+end")
        await until(pilot, lambda: f"passage {MAX_RESULTS - 1} of x" in "\n".join(rows(screen)))
        # Only what came into view was asked for.
        assert [offset for _, _, offset in archive.asked] == [0, 10_000]
        await pilot.press("ctrl+home", *["pagedown"] * 20)
        await until(pilot, lambda: f"passage {results.selected} of x" in "\n".join(rows(screen)))
        assert results.selected >= 50
        await pilot.press("up", "up", "down")
        assert any("▌" in line and "passage" in line for line in rows(screen))


async def test_the_wheel_scrolls_and_a_click_chooses() -> None:
    app, screen = opened(Archive(total=50), "x")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "50 results" in head(screen))
        results = screen.query_one(ResultList)
        for _ in range(4):
            pointer = {"x": 10, "y": 10, "delta_x": 0, "delta_y": 1, "button": 0}
            off: dict[str, Any] = {"shift": False, "meta": False, "ctrl": False}
            results.post_message(events.MouseScrollDown(results, **pointer, **off))
            await pilot.pause()
        await until(pilot, lambda: results.scroll_offset.y > 0)
        await pilot.click(results, offset=(5, 9))
        await until(pilot, lambda: results.selected > 0)
        assert results.selected in results.viewed


async def test_what_is_wrong_is_told_calmly() -> None:
    archive = Archive(total=1)
    archive.problems = ("after: needs a day such as after:2026-01-31.",)
    archive.notice = AgentError(kind="persistence", code="x", message="The index is being made anew. [/]")
    app, screen = opened(archive, "after:x y")
    async with app.run_test(size=(120, 24)) as pilot:
        await until(pilot, lambda: "needs a day" in note(screen))
        assert "made anew. [/]" in note(screen)
        assert "passage 0" in "\n".join(rows(screen))
        archive.is_broken = True
        await pilot.press("z")
        await until(pilot, lambda: "rebuild-index" in note(screen))
        archive.is_broken = False
        archive.problems, archive.notice, archive.total = (), None, 0
        await pilot.press("z")
        await until(pilot, lambda: "Nothing was found" in "\n".join(rows(screen)))
        assert note(screen) == FILTERS


async def test_a_long_sentence_about_what_is_wrong_is_shown_to_its_end() -> None:
    words = f"Search is off, as its index in /{'long/' * 20}index cannot be used; free some space."
    archive = Archive()
    archive.problems = (words,)
    app, screen = opened(archive, "x")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "free some space" in "".join(lines_of(screen.query_one(Static))))


async def test_more_is_found_as_the_index_takes_it_in() -> None:
    archive = Archive(total=0)
    archive.states = [IndexState(indexed=0, lag_bytes=9), IndexState(indexed=0, is_working=True), IndexState(indexed=2)]
    app, screen = opened(archive, "x")
    async with app.run_test(size=(100, 24)) as pilot:
        await until(pilot, lambda: "no result" in head(screen))
        assert "still taking in" in note(screen)
        archive.total = 2
        await until(pilot, lambda: "2 results" in head(screen))
        assert note(screen) == FILTERS
        assert len(archive.asked) == 2


async def test_titles_stand_with_the_results_as_soon_as_they_are_known() -> None:
    archive = Archive(hits=[Hit(excerpt="one")], conversations=[Conversation(conversation_id="c0", title="Fix it")])
    app, screen = opened(archive, "one")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "you · 2 h · Fix it · /home/neo/shop" in rows(screen)[0])


@pytest.mark.parametrize("text", [*MARKUP, *ODD_WIDTHS, "\x1b]0;x\x07", "a\nb\tc", "\ud800", ""])
@pytest.mark.parametrize("width", [24, 58, 120])
def test_b19_b22_foreign_text_stays_in_its_row(text: str, width: int) -> None:
    hit = Hit(role="tool", tool=text, excerpt=text * 3, highlights=((1, 3), (2, 9), (5, 500)), note_id=text)
    conversation = Conversation(conversation_id="c0", title=text, cwd=f"/{text}")
    for kind in ("message", "note"):
        passage = Hit(**{name: getattr(hit, name) for name in hit.__struct_fields__} | {"kind": kind})
        for line in passage_rows(passage, conversation, NOW, Frame(width, INK, is_selected=True)):
            assert not any(character in line.text for character in "\x1b\x07\n\t")
            assert line.cells == cell_width(line.text)
            assert line.cells <= width


def test_b19_markup_is_shown_letter_for_letter() -> None:
    for text in MARKUP:
        hit = Hit(excerpt=text, highlights=((0, 1),))
        heading, excerpt, _ = passage_rows(
            hit, Conversation(conversation_id="c", title=text), NOW, Frame(80, INK, True)
        )
        assert text in heading.text
        assert excerpt.text == f"▌ {text}"


def test_what_was_found_is_marked() -> None:
    hit = Hit(excerpt="漢字 http and parseHTTPRequest", highlights=((3, 7), (12, 28)))
    _, row, _ = passage_rows(hit, None, NOW, Frame(80, INK, is_selected=False))
    assert [text for text, style in row.spans if style == INK.found] == ["http", "parseHTTPRequest"]
    assert found_text(hit) == "parseHTTPRequest"
    assert found_text(Hit(excerpt="x")) == ""


@pytest.mark.parametrize("size", [(20, 6), (60, 15), (200, 50)])
async def test_b22_every_row_is_exactly_as_wide_as_the_screen(size: tuple[int, int]) -> None:
    hits = [Hit(excerpt=text * 20, highlights=((0, 3),)) for text in ODD_WIDTHS]
    app, screen = opened(Archive(hits=hits), "漢字 \U0001f469\u200d\U0001f4bb " * 10)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: screen.query_one(ResultList).count == len(hits))
        for key in ("down", "end", "left", "home"):
            await pilot.press(key)
            assert_exact_width(screen.query_one(InputLine))
            results = screen.query_one(ResultList)
            width = results.scrollable_content_region.width
            assert {results.render_line(y).cell_length for y in range(results.size.height)} == {width}
