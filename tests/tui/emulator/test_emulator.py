"""The emulated screen: what programs draw, what pyte alone gets wrong, and how little time a frame may take."""

import random
import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from smith_tui.emulator.addressing import Addressing
from smith_tui.emulator.emulator import FRAME_BUDGET_S, KEPT_BYTES, MAX_WAITING_BYTES, Emulator
from smith_tui.widgets.ansi_line import PLAIN, Sgr

WHOLE = 1_000_000


def emulated(data: bytes, piece: int = WHOLE) -> Emulator:
    emulator = Emulator()
    for start in range(0, len(data), piece):
        emulator.feed(data[start : start + piece])
        assert emulator.advance(60)
    return emulator


def texts(emulator: Emulator) -> list[str]:
    return [emulator.line(number).text for number in range(emulator.first_line, emulator.end_line)]


@pytest.mark.parametrize("piece", [WHOLE, 1])
@pytest.mark.parametrize(
    ("data", "shown"),
    [
        # B20's own lines
        (b"A\x1b[?4mB\x1b[?1;2rC\x1b[?6nD\x1b[1;1;1;1HE", "ABCDE"),
        (b"F\x1b_Ga=q;AAAA\x1b\\G\x1bP1;2|abc\x1b\\H", "FGH"),
        (b"I\x1b[38:2::1:2:3mJ", "IJ"),
        (b"end\x1b", "end"),
        # what pyte 0.8.2 raises on, or prints
        (b"a\x1b[1;2;3Ab", "ab"),
        (b"a\x1b[?25Ab", "ab"),
        ("a\x1b[²Ab".encode(), "a²Ab"),
        (b"a\x1b[" + b"9" * 5000 + b"Gb", "a".ljust(119) + "b"),
        (b"a\x1b[<ub\x1b[>1uc\x1b[?ud", "abcd"),
        (b"a\x1b]0;title\x07b\x1b]8;;http://x\x1b\\c", "abc"),
        (b"\x1b[?6h\x1b[1dok", "ok"),
        (b"a\x1b[999999999999;1mb\x1b[38;5mc\x1b[38;2;1md", "abcd"),
        (b"a\x1b[7Kb\x1b[9Jc\x1b[5gd", "abcd"),
        (b"a\x1b[?3h\x1b[?5hb\x1b%@c", "abc"),
        (b"a\x1b[!pb\x1b[2 qc\x1b[1$rd", "abcd"),
        # what it loses
        ("ok \u2764\ufe0f done".encode(), "ok ❤ done"),
        ("x\u200by z".encode(), "xy z"),
        ("\U0001f469\u200d\U0001f4bb end".encode(), "\U0001f469\U0001f4bb end"),
        # lines drawn with the other set of characters, and characters repeated, as curses does
        (b"\x1b(0lqk\x1b(B|", "┌─┐|"),
        (b"-\x1b[9b|", "-" * 10 + "|"),
    ],
)
def test_b20_b22_nothing_is_lost_printed_or_raised(data: bytes, shown: str, piece: int) -> None:
    assert texts(emulated(data, piece)) == [shown]


def test_b20_a_flood_of_marks_takes_no_time_and_is_bounded() -> None:
    flood = "e" + "\u0301\u0316" * 50_000 + " end"
    emulator = Emulator()
    for start in range(0, len(flood), 4_000):
        emulator.feed(flood[start : start + 4_000].encode())
        assert emulator.advance(60)
    (line,) = texts(emulator)
    assert line.endswith(" end")
    assert len(line) < 12


def test_b20_random_bytes_are_taken_and_never_answered() -> None:
    def answer(text: str) -> None:
        raise AssertionError(f"answered {text!r}")

    data = random.Random(7).randbytes(20_000) + b"\x1b[c\x1b[5n\x1b[6n\x1b[?6n\x1b[>c\x1bZ\x05"
    emulator = Emulator()
    emulator.screen.write_process_input = answer  # type: ignore[method-assign]
    for start in range(0, len(data), 333):
        emulator.feed(data[start : start + 333])
        assert emulator.advance(60)
    rows = [emulator.line(number) for number in range(emulator.first_line, emulator.end_line)]
    assert all(len(row.cells) <= 120 and len(row.cells) == len(row.styles) for row in rows)
    assert not any(character < " " for row in rows for character in row.text)


def test_the_alternate_screen_leaves_the_ordinary_one_as_it_was() -> None:
    emulator = emulated(b"$ vim\r\n\x1b[31m\x1b[?1049h\x1b[2J\x1b[5;20r\x1b[7;7Hin vim")
    assert texts(emulator) == [""] * 6 + ["      in vim"]
    assert emulator.page_top(10) == emulator.first_line
    emulator.feed(b"\x1b[?1049l\x1b[mback\r\n")
    assert emulator.advance(60)
    assert texts(emulator) == ["$ vim", "back"]
    assert emulator.page_top(10) is None


def test_rows_that_scroll_off_are_kept_with_their_colours_and_numbers() -> None:
    emulator = emulated(b"".join(b"\x1b[3%dmrow %d\x1b[m\r\n" % (number % 8, number) for number in range(100)))
    assert texts(emulator) == [f"row {number}" for number in range(100)]
    assert emulator.line(3).styles[0] == Sgr(foreground=3)
    assert emulator.line(99).styles[0] == Sgr(foreground=3)
    emulator.feed(b"more\r\n")
    assert emulator.advance(60)
    assert emulator.line(99).text == "row 99"


def test_a_region_scrolls_inside_itself() -> None:
    emulator = emulated(b"title\r\n\x1b[2;4r\x1b[2;1Ha\r\nb\r\nc\r\nd\r\ne\x1b[6;1Hfoot\x1b[6;5H\n\x1b[2;1H\x1bMtop")
    assert texts(emulator) == ["title", "top", "c", "d", "", "foot"]
    assert emulator.first_line == 0


def test_wide_characters_that_lose_a_half_become_blanks() -> None:
    (line,) = texts(emulated("漢字漢\x1b[2Gx\x1b[6Gy".encode()))
    assert line == " x字 y"
    row = emulated("漢".encode() * 61).screen.row(0)
    assert row.text == "漢" * 60
    assert len(row.cells) == 120


def test_erasing_leaves_the_ground_and_nothing_else_of_the_colours() -> None:
    emulator = emulated(b"\x1b[4;7;44mab\x1b[K\x1b[0m")
    row = emulator.screen.row(0)
    assert row.styles[0].underline
    assert len(row.cells) == 120
    assert row.styles[5] == Sgr(background=4)
    assert emulated(b"abc\x1b[1;1H\x1b[2J").end_line == 0


def test_no_colour_or_region_is_left_over_after_a_reset() -> None:
    emulator = emulated(b"\x1b[31;7m\x1b[5;8r\x1b[?7lx\x1bcplain")
    row = emulator.screen.row(0)
    assert (row.text, set(row.styles)) == ("plain", {PLAIN})
    assert emulator.screen.margins is None


def test_a_frame_takes_its_time_and_no_more() -> None:
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 0.001  # each look at the clock is a millisecond later
        return now

    emulator = Emulator(clock=clock)
    emulator.feed(b"\x1b[5;5H\x1b[31mword\x1b[m" * 600)
    frames = 0
    while not emulator.advance():
        frames += 1
        assert now <= (frames + 1) * (FRAME_BUDGET_S + 0.002)
    assert frames > 10
    assert emulator.is_up_to_date


def test_of_a_flood_the_newest_part_is_drawn_on_the_right_screen() -> None:
    emulator = Emulator()
    emulator.feed(b"\x1b[?1049h\x1b[2;5r" + b"\x1b[3;3Hframe" * 10_000 + b"\x1b[r\x1b[Hlast")
    assert emulator.skipped > 10_000 * 11 - MAX_WAITING_BYTES
    assert emulator.advance(60)
    assert emulator.screen.in_alternate_screen
    assert texts(emulator)[0] == "last"
    emulator = Emulator()
    for number in range(20_000):
        emulator.feed(b"number %d, " % number)
    assert emulator.advance(60)
    assert texts(emulator)[-1].endswith("number 19999,")
    assert sum(map(len, texts(emulator))) <= MAX_WAITING_BYTES + KEPT_BYTES


_SEQUENCES = [b"\x1b[H", b"\x1b[3;9H", b"\x1b[2A", b"\x1b[K", b"\x1b[J", b"\x1b[31m", b"\x1b[m", b"\x1b[2;6r", b"\x1bM"]
_SEQUENCES += [
    b"\x1b[L",
    b"\x1b[2P",
    b"\x1b[3@",
    b"\r",
    b"\n",
    b"\b",
    b"\t",
    b"\x1b[?1049h",
    b"\x1b[?1049l",
    b"\x1b[5b",
]
_SEQUENCES += [
    b"\x1b]0;t\x07",
    b"\x1bPq\x1b\\",
    b"text ",
    "漢字".encode(),
    "e\u0301".encode(),
    b"x" * 130,
    b"\x1b7\x1b8",
]


@example(["e\u0301".encode(), b"\x1b[5b"], 1)
@given(st.lists(st.sampled_from(_SEQUENCES), max_size=40), st.integers(1, 9))
def test_where_output_is_cut_never_matters(parts: list[bytes], piece: int) -> None:
    data = b"".join(parts)
    whole, cut = emulated(data), emulated(data, piece)
    assert texts(whole) == texts(cut)
    assert [whole.screen.row(y) for y in range(40)] == [cut.screen.row(y) for y in range(40)]


@pytest.mark.parametrize("piece", [WHOLE, 1, 3])
def test_only_addressing_wants_a_screen(piece: int) -> None:
    def wants(data: bytes) -> bool:
        watch = Addressing()
        return any([watch.feed(data[start : start + piece]) for start in range(0, len(data), piece)])

    plain = b"\x1b[31mred\x1b[m\r10%\r20%\x1b[K\x1b[2K\x1b[5G\x1b[3C\x1b[2D\x1b]8;;x\x07\x1b[?25l\x1b[6n\x1b[<u\n"
    assert not wants(plain * 3)
    assert not wants(b"A\x1b[?4mB\x1b[?1;2rC\x1b[?6nD\x1b[1;1;1;1HE\n")
    for sequence in (b"\x1b[2A", b"\x1b[H", b"\x1b[10;20H", b"\x1b[J", b"\x1b[2J", b"\x1b[?1049h", b"\x1bM", b"\x1b[s"):
        assert wants(plain + sequence + plain), sequence


def test_the_alternate_screen_is_known_without_a_screen() -> None:
    watch = Addressing()
    watch.feed(b"\x1b[?1049h")
    assert watch.in_alternate_screen
    watch.feed(b"\x1b[2J\x1b[?10")
    watch.feed(b"49l")
    assert not watch.in_alternate_screen


def test_the_library_is_not_loaded_before_a_program_needs_it() -> None:
    check = (
        "import sys; from smith_tui.widgets.tool_calls import ToolCall; import smith_tui.widgets.tool_output\n"
        "call = ToolCall('1', 'bash', '', 0.0); call.feed(b'plain'); call.view.rows(80, 20)\n"
        "assert 'pyte' not in sys.modules\n"
        "call.feed(b'\\x1b[2A'); call.view.rows(80, 20); assert 'pyte' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", check], check=True)
