"""The tool-output pane in a running app."""

import time
import tracemalloc
from pathlib import Path

import pytest

from smith_core.messages import Message, ToolCall, ToolMetadata
from smith_tui.stored_calls import stored_calls
from smith_tui.widgets.tool_calls import MAX_BYTES, MAX_RESTING_BYTES, ToolCalls, header
from smith_tui.widgets.tool_calls import ToolCall as ShownCall
from smith_tui.widgets.tool_output import MIN_TABBED_ROWS, ToolOutputPane
from tests.support.widget_app import MARKUP, ODD_WIDTHS, WidgetApp, assert_exact_width, lines_of, running_timers


def head_rows(pane: ToolOutputPane) -> int:
    return 1 + (len(pane._calls.all) > 1 and pane.size.height >= MIN_TABBED_ROWS)


def header_of(pane: ToolOutputPane) -> str:
    return lines_of(pane)[head_rows(pane) - 1]


def body(pane: ToolOutputPane) -> list[str]:
    return [line.rstrip() for line in lines_of(pane)[head_rows(pane) :]]


async def test_live_output_is_shown_as_it_comes_with_a_header() -> None:
    pane = ToolOutputPane()
    async with WidgetApp(pane).run_test(size=(60, 10)) as pilot:
        assert "No tool has run yet" in lines_of(pane)[0]
        pane.start_call("c1", "bash", "make test")
        pane.feed("c1", b"one\ntw")
        await pilot.pause()
        assert lines_of(pane)[0].startswith("▶ bash  make test")
        pane.feed("c1", b"o\n")
        pane.end_call("c1", "error", 3)
        await pilot.pause()
        assert body(pane)[:2] == ["one", "two"]
        assert lines_of(pane)[0].startswith("✗ bash  make test")
        assert "exit 3  0 s" in lines_of(pane)[0]
        assert_exact_width(pane)


async def test_b20_sequences_of_one_call_leave_nothing_for_the_next() -> None:
    pane = ToolOutputPane()
    async with WidgetApp(pane).run_test(size=(60, 10)):
        pane.start_call("c1", "bash", "")
        pane.feed("c1", b"A\x1b[?4mB\x1b[?1;2rC\n\x1b[31;7mred\x1bP1;2|never closed")
        pane.start_call("c2", "bash", "")
        pane.feed("c2", b"plain")
        strip = pane.render_line(head_rows(pane))
        assert strip.text.startswith("plain")
        assert [segment.style.color for segment in strip][:1] == [pane.rich_style.color]
        assert not any(segment.style.reverse for segment in strip if segment.style)


async def test_b20_random_bytes_harm_nothing() -> None:
    import random

    pane = ToolOutputPane()
    async with WidgetApp(pane).run_test(size=(80, 24)) as pilot:
        pane.start_call("c1", "bash", "head -c 20000 /dev/urandom")
        data = random.Random(5).randbytes(20_000)
        for start in range(0, len(data), 777):
            pane.feed("c1", data[start : start + 777])
        await pilot.pause()
        assert_exact_width(pane)
        assert not any(character < " " for line in lines_of(pane) for character in line)


@pytest.mark.parametrize("width", [2, 8, 30, 80])
async def test_b22_borders_stay_straight(width: int) -> None:
    text = "\n".join(ODD_WIDTHS)
    pane = ToolOutputPane()
    async with WidgetApp(pane).run_test(size=(width, 24)):
        pane.start_call("漢字", "漢字\x1b", "\u202e漢字" * 20)
        pane.feed("漢字", text.encode())
        assert_exact_width(pane)
        if width >= 30:
            shown = "\n".join(body(pane))
            assert all(word in shown for word in ("done", "end", "xy z", "start", "fin", " k"))


async def test_b19_markup_is_shown_letter_for_letter() -> None:
    pane = ToolOutputPane()
    async with WidgetApp(pane).run_test(size=(80, 24)) as pilot:
        pane.start_call("c1", "[/tool]", "[red]x [/]")
        pane.feed("c1", "\n".join(MARKUP).encode())
        assert lines_of(pane)[0].startswith("▶ [/tool]  [red]x [/]")
        assert body(pane)[: len(MARKUP)] == MARKUP
        await pilot.click(ToolOutputPane, offset=(20, 5))
        pane.start_call("c2", "read", "")
        pane.set_text("c2", "\n".join(MARKUP))
        assert body(pane)[: len(MARKUP)] == MARKUP


async def test_the_result_of_a_silent_tool_and_a_diff() -> None:
    pane = ToolOutputPane()
    async with WidgetApp(pane).run_test(size=(60, 10)):
        pane.start_call("c1", "edit", "a.py")
        pane.set_text("c1", "@@ -1 +1 @@\n-old\n+new\n same\x1b[31m", diff=True)
        pane.end_call("c1", "ok")
        assert body(pane)[:4] == ["@@ -1 +1 @@", "-old", "+new", " same␛[31m"]
        removed, added = (next(iter(pane.render_line(y))).style.color.get_truecolor() for y in (2, 3))
        assert removed.red > removed.green
        assert added.green > added.red


async def test_the_end_is_followed_unless_scrolled_up() -> None:
    pane = ToolOutputPane()
    async with WidgetApp(pane).run_test(size=(40, 6)) as pilot:
        pane.start_call("c1", "bash", "")
        pane.feed("c1", b"".join(b"line %d\n" % number for number in range(50)))
        await pilot.pause()
        assert body(pane) == [f"line {number}" for number in range(45, 50)]
        await pilot.press("pageup")
        assert body(pane)[0] == "line 41"
        assert "↑" in lines_of(pane)[0]
        pane.feed("c1", b"more\n")
        await pilot.pause()
        assert body(pane)[0] == "line 41"
        await pilot.press("home")
        assert body(pane)[0] == "line 0"
        await pilot.press("end")
        assert body(pane)[-1] == "more"


async def test_earlier_calls_are_reached_by_keys_and_stay_in_view() -> None:
    pane = ToolOutputPane()
    app = WidgetApp(pane, record=[ToolOutputPane.Shown])
    async with app.run_test(size=(60, 6)) as pilot:
        for number in (1, 2, 3):
            pane.start_call(f"c{number}", "bash", f"command {number}")
            pane.feed(f"c{number}", b"output %d" % number)
        assert pane.shown_call == "c3"
        await pilot.press("left_square_bracket", "ctrl+left", "left_square_bracket")
        assert pane.shown_call == "c1"
        assert body(pane)[0] == "output 1"
        assert "call 1/3" in header_of(pane)
        pane.start_call("c4", "bash", "command 4")
        assert pane.shown_call == "c1"
        await pilot.press(*["right_square_bracket"] * 5)
        pane.start_call("c5", "bash", "command 5")
        assert pane.shown_call == "c5"
        pane.show_call("c2")
        assert pane.shown_call == "c2"
        await pilot.pause()
        assert [message.call_id for message in app.messages][-2:] == ["c5", "c2"]


async def test_the_calls_of_a_stored_conversation_are_listed_again(tmp_path: Path) -> None:
    spill = tmp_path / "output.log"
    spill.write_text("all of it\n" * 50)
    edit, bash = ToolCall("c1", "edit", '{"path": "a.py"}'), ToolCall("c2", "bash", '{"command": "make [/x]"}')
    kept = ToolMetadata(exit_code=2, duration_s=61.0, full_output_path=str(spill))
    messages = [
        Message(role="user", content="go"),
        Message(role="assistant", tool_calls=(edit, bash, ToolCall("c3", "bash"))),
        Message(
            role="tool", tool_call_id="c1", name="edit", content="done", metadata=ToolMetadata(diff="-old\n+new\n")
        ),
        Message(role="tool", tool_call_id="c2", name="bash", ok=False, content="its [bold]end\x1b", metadata=kept),
    ]
    assert [call.call_id for call in stored_calls(messages, 1)] == ["c2"]
    pane = ToolOutputPane()
    app = WidgetApp(pane, record=[ToolOutputPane.Shown])
    async with app.run_test(size=(70, 8)) as pilot:
        pane.start_call("before", "bash", "of another conversation")
        pane.restore(stored_calls(messages))
        assert pane.shown_call == "c2" and body(pane)[0].startswith("its [bold]end")
        assert all(part in header_of(pane) for part in ("make [/x]", "exit 2", "1:01", "call 2/2"))
        await pilot.press("o")
        await app.workers.wait_for_complete()
        assert body(pane)[0] == "all of it"
        await pilot.press("left_square_bracket")
        assert body(pane)[:2] == ["-old", "+new"]
        pane.start_call("c4", "bash", "goes on")
        assert pane.shown_call == "c1"
        assert [message.call_id for message in app.messages] == ["before", "c1"]


async def test_unknown_calls_and_clear_are_harmless() -> None:
    pane = ToolOutputPane()
    async with WidgetApp(pane).run_test():
        pane.feed("nobody", b"x")
        pane.set_text("nobody", "x")
        pane.end_call("nobody", "ok")
        pane.start_call("c1", "bash", "")
        pane.clear()
        assert pane.shown_call is None
        pane.start_call("c1", "bash", "again")
        assert "again" in lines_of(pane)[0]


async def test_b24_timers_run_only_while_a_call_does() -> None:
    pane = ToolOutputPane()
    app = WidgetApp(pane)
    async with app.run_test() as pilot:
        assert running_timers(app) == 0
        pane.start_call("c1", "bash", "")
        pane.start_call("c2", "bash", "")
        assert running_timers(app) == 1
        pane.feed("c2", b"x")
        pane.end_call("c1", "ok", 0)
        pane.end_call("c2", "cancelled")
        await pilot.pause(0.05)
        assert running_timers(app) == 0


async def test_twenty_megabytes_are_shown_at_speed_and_in_few_frames() -> None:
    class Counting(ToolOutputPane):
        frames = 0

        def refresh(self, *regions, **options):  # type: ignore[no-untyped-def]
            self.frames += 1
            return super().refresh(*regions, **options)

    pane = Counting()
    chunk = (b"\x1b[32mok\x1b[0m some ordinary output of a build tool, 70 bytes\n" * 1000)[:65536]
    async with WidgetApp(pane).run_test(size=(120, 40)) as pilot:
        pane.start_call("c1", "bash", "")
        before, frames = time.perf_counter(), pane.frames
        for number in range(20_000_000 // len(chunk)):
            pane.feed("c1", chunk)
            if number % 20 == 0:
                await pilot.pause(0)
        elapsed = time.perf_counter() - before
        assert elapsed < 2
        assert pane.frames - frames <= 2 + elapsed * 30
        pane.end_call("c1", "ok", 0)
        assert "lines dropped" in lines_of(pane)[0]


@pytest.mark.parametrize("size", [(2, 2), (20, 5), (60, 15), (300, 100)])
async def test_any_size(size: tuple[int, int]) -> None:
    pane = ToolOutputPane()
    async with WidgetApp(pane).run_test(size=size) as pilot:
        assert_exact_width(pane)
        pane.start_call("c1", "bash", "x" * 500)
        pane.feed("c1", b"long " * 1000)
        await pilot.press("up", "pageup", "home", "down")
        assert_exact_width(pane)


def test_calls_are_bounded_in_memory() -> None:
    calls = ToolCalls()
    for number in range(12):
        calls.start(str(number), "bash", "", 0.0)
        call = calls.get(str(number))
        assert call is not None
        call.store.feed(b"x" * 69 + b"\n")
        for _ in range(60):
            call.store.feed((b"x" * 69 + b"\n") * 1000)
        calls.end(str(number), "ok", 0, 1.0)
    kept = [number for number in range(12) if calls.get(str(number)) is not None]
    assert kept[-1] == 11
    assert len(kept) * 4_200_000 < MAX_BYTES + 8_400_000


def flooded(calls: ToolCalls, call_id: str, full_path: str) -> ShownCall:
    calls.start(call_id, "bash", "", 0.0)
    call = calls.get(call_id)
    assert call is not None
    call.feed(b"".join(b"line %d\n" % number for number in range(100_000)))
    calls.end(call_id, "ok", 0, 1.0, full_path)
    return call


def test_a_long_output_that_is_in_a_file_keeps_its_end_alone_once_another_call_is_shown() -> None:
    calls = ToolCalls()
    in_file = flooded(calls, "in a file", "/tmp/whole.log")
    size = in_file.store.size
    in_file.view.to_start(20, 1)
    in_memory = flooded(calls, "in memory", "")
    calls.start("next", "bash", "", 2.0)
    assert in_memory.store.size == size > 4 * MAX_RESTING_BYTES
    assert in_file.store.size <= MAX_RESTING_BYTES
    first, end = in_file.store.first_line, in_file.store.end_line
    assert end == 100_000
    assert in_file.store.line(end - 1).text == "line 99999"
    assert in_file.view.rows(20, 1)[0].number == first
    facts = [text.strip() for text, _ in header(in_file, (1, 3), None, 3.0, 100)]
    assert f"{first:,} lines dropped" in facts


def test_calls_that_were_looked_at_take_little_more_than_their_bytes() -> None:
    calls = ToolCalls()
    tracemalloc.start()
    try:
        for number in range(10):
            calls.start(str(number), "bash", "", 0.0)
            assert calls.shown is not None
            calls.shown.feed(b"y\n" * 20_000)
            calls.shown.view.rows(80, 20)
            calls.end(str(number), "ok", 0, 1.0)
        calls.start("last", "bash", "", 0.0)
        bytes_kept = sum(call.store.size for call in calls.all)
        assert tracemalloc.get_traced_memory()[0] < 2 * bytes_kept
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("width", range(0, 60, 7))
def test_the_header_takes_exactly_the_width(width: int) -> None:
    from smith_tui.transcript.cells import cell_width

    calls = ToolCalls()
    calls.start("1", "code_grep", "漢字 " * 20, 0.0)
    calls.start("2", "code_grep", "漢字 " * 20, 0.0)
    calls.end("2", "cancelled", 130, 75.0)
    assert calls.shown is not None
    pieces = header(calls.shown, calls.place, 50, 100.0, width)
    assert cell_width("".join(text for text, _ in pieces)) in (width, 2)
