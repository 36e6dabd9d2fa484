"""The ways to look at a call's output: lines, the screen that was drawn, the whole from its file; find, copy, tabs."""

import asyncio
from itertools import chain
from pathlib import Path

import pytest
from textual.geometry import Offset, Region
from textual.selection import Selection

from smith_tui.screens.finding import Finder
from smith_tui.transcript.cells import cell_width
from smith_tui.widgets.call_tabs import tab_row
from smith_tui.widgets.file_lines import FileLines, open_lines
from smith_tui.widgets.find_bar import FindBar
from smith_tui.widgets.line_store import LineStore
from smith_tui.widgets.tool_calls import PLAIN_FLOOD_BYTES, ToolCalls
from smith_tui.widgets.tool_output import MORE_BELOW, ToolOutputPane
from tests.support.widget_app import ODD_WIDTHS, WidgetApp, assert_exact_width, lines_of, until

PROGRESS = b"one\r\ntwo\r\n\x1b[2A\x1b[2K\rONE\r\n\x1b[2K\rTWO\r\n"


def rows_of(pane: ToolOutputPane) -> list[str]:
    rows = [line.rstrip() for line in lines_of(pane)[1:]]
    while rows and not rows[-1]:
        rows.pop()
    return rows


def found(pane: ToolOutputPane, needle: str) -> list[int]:
    return list(chain(*pane.find(needle)))


async def test_cursor_addressing_switches_to_the_screen_and_a_key_back() -> None:
    pane = ToolOutputPane()
    async with WidgetApp(pane).run_test(size=(80, 12)) as pilot:
        pane.start_call("c1", "bash", "npm install")
        pane.feed("c1", b"begin\r\n")
        await pilot.pause()
        assert "screen" not in lines_of(pane)[0]
        pane.feed("c1", PROGRESS)
        await until(pilot, lambda: rows_of(pane) == ["begin", "ONE", "TWO"])
        assert "screen" in lines_of(pane)[0]
        await pilot.press("s")
        assert rows_of(pane) == ["begin", "one", "two", "ONE", "TWO"]
        pane.feed("c1", PROGRESS)
        assert "screen" not in lines_of(pane)[0]
        await pilot.press("s")
        await until(pilot, lambda: rows_of(pane) == ["begin", "ONE", "TWO", "ONE", "TWO"])


async def test_rows_can_be_asked_for_while_the_view_changes_under_them() -> None:
    pane = ToolOutputPane()
    async with WidgetApp(pane).run_test(size=(80, 12)) as pilot:
        pane.start_call("c1", "bash", "npm install")
        pane.feed("c1", b"begin\r\nsecond\r\n")
        await until(pilot, lambda: "second" in rows_of(pane))
        pane.find("second")
        assert rows_of(pane) == ["begin", "second"]
        pane.feed("c1", PROGRESS)
        # The new view has no row yet; a click asks for single rows, a repaint for all.
        assert rows_of(pane) == ["begin", "second"]
        assert len(pane.render_lines(Region(0, 0, 80, 12))) == 12


async def test_a_view_that_was_scrolled_up_is_not_taken_away() -> None:
    pane = ToolOutputPane()
    async with WidgetApp(pane).run_test(size=(60, 6)) as pilot:
        pane.start_call("c1", "bash", "")
        pane.feed("c1", b"".join(b"line %d\r\n" % number for number in range(40)))
        await pilot.press("home")
        pane.feed("c1", PROGRESS)
        assert rows_of(pane)[0] == "line 0"
        await pilot.press("end")
        await until(pilot, lambda: rows_of(pane)[-2:] == ["ONE", "TWO"])
        assert "screen" in lines_of(pane)[0]


async def test_a_flood_of_plain_lines_is_shown_as_lines_again() -> None:
    pane = ToolOutputPane()
    async with WidgetApp(pane).run_test(size=(60, 8)) as pilot:
        pane.start_call("c1", "bash", "clear; seq 100000")
        pane.feed("c1", b"\x1b[H\x1b[2J\x1b[3J")
        await until(pilot, lambda: "screen" in lines_of(pane)[0])
        numbers = b"".join(b"%d\r\n" % number for number in range(20_000))
        assert len(numbers) > PLAIN_FLOOD_BYTES
        for start in range(0, len(numbers), 10_000):
            pane.feed("c1", numbers[start : start + 10_000])
        await until(pilot, lambda: "screen" not in lines_of(pane)[0])
        await pilot.press("home")
        assert rows_of(pane)[:2] == ["0", "1"]


async def test_a_program_that_fills_the_screen_is_shown_from_its_top_and_shifted_sideways() -> None:
    pane = ToolOutputPane()
    async with WidgetApp(pane).run_test(size=(40, 8)) as pilot:
        pane.start_call("c1", "bash", "top")
        drawn = b"".join(b"\x1b[%d;1Hrow %d %s" % (y, y, b"0123456789" * 9) for y in range(1, 41))
        pane.feed("c1", b"\x1b[?25l\x1b[2J" + drawn)
        await pilot.pause(0.1)
        assert [row[:6] for row in rows_of(pane)[:3]] == ["row 1 ", "row 2 ", "row 3 "]
        assert_exact_width(pane)
        await pilot.press("right")
        assert rows_of(pane)[0].startswith("2345")
        await pilot.press("left", "down", "down")
        assert rows_of(pane)[0].startswith("row 3 ")
        pane.feed("c1", b"\x1b[3;1HROW 3 ")
        await pilot.pause(0.1)
        assert rows_of(pane)[0].startswith("ROW 3 ")
        await pilot.press("end")
        assert rows_of(pane)[0].startswith("row 1 ")


@pytest.mark.parametrize("width", [2, 30, 130])
async def test_b22_the_screen_keeps_the_width_of_the_pane(width: int) -> None:
    pane = ToolOutputPane()
    async with WidgetApp(pane).run_test(size=(width, 20)) as pilot:
        pane.start_call("c1", "bash", "")
        pane.feed("c1", b"\x1b[2A" + "\r\n".join(ODD_WIDTHS).encode())
        await until(pilot, lambda: len(rows_of(pane)) > 3)
        assert_exact_width(pane)
        if width >= 30:
            words = ("done", "end", "xy z", "start", "fin", "éte", " k")
            await until(pilot, lambda: all(word in "\n".join(rows_of(pane)) for word in words))
            assert_exact_width(pane)


async def test_lines_are_found_marked_and_shown() -> None:
    pane = ToolOutputPane()
    async with WidgetApp(pane).run_test(size=(60, 8)) as pilot:
        pane.start_call("c1", "bash", "")
        pane.feed("c1", b"".join(b"\x1b[3%dmline\x1b[m %d\r\n" % (number % 8, number) for number in range(200)))
        pane.feed("c1", b"10% of 12\r20% of 12\r\nunfinished line 12")
        hits = found(pane, "LINE 12")
        assert hits == [12, *range(120, 130), 201]
        assert found(pane, "10%") == [], "it was overwritten"
        assert found(pane, "") == []
        pane.find("line 12")
        pane.goto(hits[1])
        await pilot.pause()
        assert "line 120" in rows_of(pane)
        row = rows_of(pane).index("line 120") + 1
        ground = pane._style("found").bgcolor
        assert "".join(piece.text for piece in pane.render_line(row) if piece.style.bgcolor == ground) == "line 12"
        assert MORE_BELOW in lines_of(pane)[-1]
        pane.clear_find()
        assert pane.render_line(row).text.startswith("line 120")
        pane.feed("c1", b"\r\n" + PROGRESS)
        await pilot.press("end")
        await until(pilot, lambda: found(pane, "two") != [])
        assert [pane._calls.shown.view.lines.line(hit).text for hit in found(pane, "two")] == ["TWO"]


async def test_the_mark_at_the_bottom_leads_to_the_end() -> None:
    pane = ToolOutputPane()
    async with WidgetApp(pane).run_test(size=(60, 8)) as pilot:
        pane.start_call("c1", "bash", "")
        pane.feed("c1", b"".join(b"line %d\r\n" % number for number in range(50)))
        await pilot.pause()
        assert MORE_BELOW not in lines_of(pane)[-1]
        await pilot.press("pageup")
        assert lines_of(pane)[-1].endswith(MORE_BELOW)
        await pilot.click(ToolOutputPane, offset=(55, 7))
        assert rows_of(pane)[-1] == "line 49"


async def test_what_is_selected_is_copied_with_wrapped_rows_joined() -> None:
    pane = ToolOutputPane()
    async with WidgetApp(pane).run_test(size=(30, 10)) as pilot:
        pane.start_call("c1", "bash", "")
        pane.feed("c1", b"first\r\n" + b"words " * 9 + b"\r\n" + "漢字 last\r\n".encode())
        await pilot.pause()
        await pilot.mouse_down(ToolOutputPane, offset=(2, 1))
        await pilot.hover(ToolOutputPane, offset=(3, 4))
        await pilot.mouse_up(ToolOutputPane, offset=(3, 4))
        copied = pilot.app.screen.get_selected_text()
        assert copied == "rst\n" + ("words " * 9).rstrip() + "\n漢字"
        assert any(s.style.bgcolor == pane._style("selected").bgcolor for s in pane.render_line(2) if s.style)
        await pilot.press("c")
        assert pilot.app.clipboard == "first\n" + "words " * 9 + "\n漢字 last"
        assert "Copied" in lines_of(pane)[-1]
        everything = pane.get_selection(Selection(None, None))
        assert everything is not None
        assert everything[0].startswith("first\nwords")
        one = Selection(Offset(0, 2), Offset(1, 2))
        assert pane.get_selection(one) == ("漢", "\n")


async def test_tabs_tell_how_calls_stand_and_are_clicked() -> None:
    pane = ToolOutputPane()
    async with WidgetApp(pane).run_test(size=(60, 8)) as pilot:
        for number, name in enumerate(("bash", "git", "read"), 1):
            pane.start_call(f"c{number}", name, f"thing {number}")
        pane.end_call("c1", "error", 1)
        assert "✗ bash thing 1" in lines_of(pane)[0]
        assert "▶ read thing 3" in lines_of(pane)[0]
        await pilot.click(ToolOutputPane, offset=(lines_of(pane)[0].index("bash"), 0))
        assert pane.shown_call == "c1"
        assert lines_of(pane)[1].startswith("✗ bash  thing 1")


@pytest.mark.parametrize("width", [1, 2, 9, 33, 60])
def test_the_row_of_tabs_takes_exactly_the_width_and_shows_the_call(width: int) -> None:
    calls = ToolCalls()
    for number in range(12):
        calls.start(str(number), "bash", "漢字 make " * 3, 0.0)
    for number in range(12):
        calls.show(str(number))
        assert calls.shown is not None
        row = tab_row(calls.all, calls.shown, width)
        assert cell_width("".join(tab.text for tab in row)) == width
        if width > 2:
            assert str(number) in [tab.call_id for tab in row if tab.style == "mark"]


async def test_the_whole_output_is_opened_from_its_file_and_closed_again(tmp_path: Path) -> None:
    path = tmp_path / "output.log"
    path.write_bytes(b"".join(b"\x1b[32mline\x1b[m %d\n" % number for number in range(100_000)))
    pane = ToolOutputPane()
    async with WidgetApp(pane).run_test(size=(100, 8)) as pilot:
        pane.start_call("c1", "bash", "seq")
        pane.feed("c1", b"only the end\r\n")
        await pilot.press("o")
        assert "as soon as the call is over" in lines_of(pane)[-1]
        pane.end_call("c1", "ok", 0, str(path))
        await pilot.press("o")
        await pilot.app.workers.wait_for_complete()
        assert rows_of(pane)[0] == "line 0"
        assert "whole, 100,000 lines" in lines_of(pane)[0]
        hits = found(pane, "line 7777")
        assert hits == [7777, *range(77770, 77780)]
        pane.goto(hits[-1])
        assert "line 77779" in rows_of(pane)
        await pilot.press("end")
        assert rows_of(pane)[-1] == "line 99999"
        await pilot.press("o")
        assert rows_of(pane) == ["only the end"]


async def test_a_search_through_a_long_file_leaves_room_for_keys_and_ends_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "output.log"
    path.write_bytes(b"".join(b"line %d\n" % number for number in range(200_000)))
    pane, bar = ToolOutputPane(), FindBar()
    async with WidgetApp(pane, bar).run_test(size=(60, 12)) as pilot:
        pane.start_call("c1", "bash", "seq")
        pane.end_call("c1", "ok", 0, str(path))
        await pilot.press("o")
        await pilot.app.workers.wait_for_complete()
        finder = Finder(bar, pane)
        finder.open(pane)
        await pilot.pause()
        finder.change("line 7")
        finder.change("line 777")
        turns = 0
        while "111/111" not in lines_of(bar)[0]:
            finder.step(1)
            await asyncio.sleep(0)
            turns += 1
        assert turns > 30
        assert "line 77799" in rows_of(pane)
        finder.change("line")
        await asyncio.sleep(0)
        pane.focus()
        await pilot.press("o")
        finder.forget()
        assert rows_of(pane) == []


async def test_an_output_that_is_gone_or_was_short_says_so(tmp_path: Path) -> None:
    pane = ToolOutputPane()
    async with WidgetApp(pane).run_test(size=(150, 8)) as pilot:
        pane.start_call("c1", "bash", "seq")
        pane.feed("c1", b"the end\r\n")
        pane.end_call("c1", "ok", 0)
        await pilot.press("o")
        assert "All of the output is here" in lines_of(pane)[-1]
        pane.end_call("c1", "ok", 0, str(tmp_path / "gone.log"))
        await pilot.press("o")
        await pilot.app.workers.wait_for_complete()
        assert "no longer on the disk" in lines_of(pane)[-1]
        assert rows_of(pane)[0] == "the end"
        await pilot.press("down")
        assert "no longer" not in lines_of(pane)[-1]
    assert "a folder" in str(await open_lines(str(tmp_path)))


def test_lines_of_a_file_are_those_of_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "output.log"
    long_line = b"x" * 200_000
    parts = [b"\x1b[31mred\n", long_line + b"\n", b"\n", b"\x1b[mplain \xe6\xbc\xa2\n", b"open end"]
    path.write_bytes(b"".join(parts[:4]) + b"".join(b"l %d\n" % number for number in range(40_000)) + parts[4])
    lines = FileLines(path)
    assert lines.end_line == 4 + 40_000 + 1
    assert lines.line(0).styles[0].foreground == 1
    assert lines.line(1).truncated
    assert lines.line(2).text == ""
    assert lines.line(3).text == "plain 漢"
    assert [lines.line(number).text for number in (4, 20_004, 40_003)] == ["l 0", "l 20000", "l 39999"]
    assert lines.line(40_004).text == "open end"
    assert list(chain(*lines.matching("l 3999"))) == [3999 + 4, *range(39990 + 4, 40000 + 4)]
    with pytest.raises(IndexError):
        lines.line(lines.end_line)
    lines.close()


def test_the_last_output_begins_with_a_line() -> None:
    store = LineStore()
    store.feed(b"".join(b"line %d\r\n" % number for number in range(20_000)) + b"tail")
    recent = store.recent(10_000)
    assert len(recent) <= 10_000
    assert recent.startswith(b"line ")
    assert recent.endswith(b"line 19999\r\ntail")
    assert LineStore().recent(100) == b""
