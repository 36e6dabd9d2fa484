"""The cleaner: sequences vanish, cursor movement acts, text stays, and where the stream is cut does not matter."""

import itertools
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from smith_core.ansi import OPEN_COLUMNS, OPEN_ROWS, TerminalText, clean_output


@pytest.mark.parametrize(
    ("stream", "text"),
    [
        (b"A\x1b[?4mB\x1b[?1;2rC\x1b[?6nD\x1b[1;1;1;1HE\n", "ABCD\nE\n"),
        (b"F\x1b_Ga=q;AAAA\x1b\\G\x1bP1;2|abc\x1b\\H\n", "FGH\n"),
        (b"I\x1b[38:2::1:2:3mJ\n", "IJ\n"),
        (b"K\x1b]0;a title\x07L\x1b]8;;http://x\x1b\\M\x1b^private\x1b\\N\x1bXstart\x1b\\O", "KLMNO"),
        (b"P\x1b[<1;2MQ\x1b[=1;1uR\x1b[>4;2mS\x1b[1$pT\x1b[!pU\x1b[ qV", "PQRSTUV"),
        (b"W\x1b(0X\x1b#8Y\x1b%GZ\x1b7a\x1b=b\x1bMc", "WXYZabc"),
        (b"d\x1b", "d"),
        (b"e\x1b[38;5", "e"),
        (b"f\x1b]0;never ended", "f"),
        (b"g\x1b]0;never ended\nnext line", "g\nnext line"),
        (b"h\x1bP never ended \x1b[1mi", "hi"),
        (b"j\x1b[3\n1mk", "j\nk"),
        (b"l\x1b[1\x1b[2mm\x1b\x1b[mn", "lmn"),
        (b"o\x1b[12\x18p\x1b]x\x1aq", "opq"),
        (b"r\x1b[\xc3\xa9s", "r\u00e9s"),
        (b"t\x07\x0e\x0f\x05\x7fu", "tu"),
        (b"\x1b[" + b"9" * 5000 + b"Cv", " " * (OPEN_COLUMNS - 1) + "v"),
        ("w\u00b2\x1b[\u00b2Ax".encode(), "w\u00b2\u00b2Ax"),
    ],
)
def test_b20_sequences_vanish_and_letters_stay(stream: bytes, text: str) -> None:
    assert clean_output(stream) == text


@pytest.mark.parametrize(
    ("stream", "text"),
    [
        (b"a\0b\xffc\n", "a\ufffdb\ufffdc\n"),
        (b"\x80\x81\0\n", "\ufffd\ufffd\ufffd\n"),
        (b"C1: \xc2\x9b31m \xc2\x85 \xc2\x90 end", "C1: \ufffd31m \ufffd \ufffd end"),
        (b"cut \xe6\xbc", "cut \ufffd"),
        (b"surrogate \xed\xa0\xbd", "surrogate \ufffd\ufffd\ufffd"),
        (b"too long \xc0\x80 \xf5\x80", "too long \ufffd\ufffd \ufffd\ufffd"),
    ],
)
def test_b04_bad_bytes_become_replacement_characters(stream: bytes, text: str) -> None:
    assert clean_output(stream) == text


@pytest.mark.parametrize(
    ("stream", "text"),
    [
        (b"one\r\ntwo\r\r\nthree", "one\ntwo\nthree"),
        (b"10%\r 20%\r100%\n", "100%\n"),
        (b"a long line\rshort\n", "shortg line\n"),
        (b"a long line\r\x1b[Kshort\n", "short\n"),
        (b"a long line\x1b[2K\rshort\n", "short\n"),
        (b"abc\x1b[2D\x1b[1Kx", " xc"),
        (b"abc\b\bX\n", "aXc\n"),
        (b"N\bNA\bA_\bM\n", "NAM\n"),
        (b"\b\b\bstart\n", "start\n"),
        (b"ab\x1b[5Gc\x1b[2Cd\n", "ab  c  d\n"),
        (b"bar 1\nbar 2\n\x1b[2Adone1\ndone2\n", "done1\ndone2\n"),
        (b"bar 1\nbar 2\n\x1b[2F\x1b[Jgone\n", "gone\n"),
        (b"frame 1\x1b[2J\x1b[Hframe 2", "frame 1\nframe 2"),
        (b"\x1b[H\x1b[2J\x1b[3Jcleared", "cleared"),
        (b"step 1\x1b7\x1b[40;1fprogress 10%\x1b8step 2", "step 1\nprogress 10%\nstep 2"),
        (b"page 1\x0cpage 2\x0bend", "page 1\npage 2\nend"),
    ],
)
def test_cursor_movement_leaves_what_a_person_would_see_last(stream: bytes, text: str) -> None:
    assert clean_output(stream) == text


def test_a_megabyte_of_progress_leaves_one_line() -> None:
    bar = b"".join(b"\rbuilding %5d/20000 %s" % (step, b"#" * 40) for step in range(20_000))
    assert len(bar) > 1_000_000
    assert clean_output(bar + b"\ndone\n") == "building 19999/20000 " + "#" * 40 + "\ndone\n"


def test_rows_above_the_open_ones_can_no_longer_change() -> None:
    lines = [f"line {number}" for number in range(OPEN_ROWS + 10)]
    text = clean_output("\n".join(lines).encode() + b"\x1b[999A\rX")
    expected = lines.copy()
    expected[10] = "X" + expected[10][1:]
    assert text == "\n".join(expected)


def test_b22_zero_width_and_wide_characters_stay_byte_for_byte() -> None:
    text = "ok \u2764\ufe0f done\n\U0001f469\u200d\U0001f4bb end\nx\u200by z\n\ufeffstart\n"
    text += "漢字 fin\ne\u0301te\n1\ufe0f\u20e3 k\n"
    assert clean_output(text.encode()) == text


PRINTABLE = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
PLAIN = st.lists(st.one_of(PRINTABLE, st.sampled_from(["\n", "\t", "\n\n", "x" * 9000])), max_size=30).map("".join)
FRAGMENTS = st.one_of(
    PRINTABLE.map(str.encode),
    st.sampled_from([b"\r", b"\n", b"\b", b"\t", b"\0", b"\x07", b"\x18", b"\x0c", b"\x1b", b"\x1b\\", b"\xc2\x9b"]),
    st.sampled_from([b"\x1b[", b"\x1b]0;t", b"\x1bP", b"\x1b_G", b"\x1b(", b"\x1b8", b"\xe6\xbc\xa2", b"\xf0\x9f"]),
    st.sampled_from(
        [b"\x1b[K", b"\x1b[2K", b"\x1b[J", b"\x1b[2A", b"\x1b[F", b"\x1b[3;1H", b"\x1b[38:5:1m", b"a" * 9000]
    ),
    st.builds(
        lambda number, final: b"\x1b[%d%c" % (number, final), st.integers(0, 20_000), st.sampled_from(b"ABCDEFGJK")
    ),
    st.binary(max_size=8),
)
STREAMS = st.lists(FRAGMENTS, max_size=40).map(b"".join)


@given(STREAMS, st.lists(st.integers(0, 2000), max_size=12))
@example(b"a" * 9000 + b"\n" + b"b" * 40000 + b"\rX", [1, 16383, 16384])
@example(b"\n".join(b"%d" % n for n in range(200)) + b"\x1b[30A\rX\nY", [100, 101, 102])
def test_where_the_stream_is_cut_does_not_matter(stream: bytes, cuts: list[int]) -> None:
    cleaner = TerminalText()
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    pieces = [cleaner.feed(stream[start:end]) for start, end in itertools.pairwise(edges)]
    assert "".join(pieces) + cleaner.finish() == clean_output(stream)


@given(STREAMS)
def test_byte_by_byte_is_the_same_as_all_at_once(stream: bytes) -> None:
    cleaner = TerminalText()
    text = "".join(cleaner.feed(stream[at : at + 1]) for at in range(len(stream))) + cleaner.finish()
    assert text == clean_output(stream)


@given(st.one_of(STREAMS, st.binary(max_size=400)))
def test_newline_and_tab_are_the_only_controls_in_the_text(stream: bytes) -> None:
    text = clean_output(stream)
    assert not [char for char in text if (char < " " and char not in "\n\t") or "\x7f" <= char <= "\x9f"]
    text.encode()


@given(PLAIN)
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert clean_output(text.encode()) == text


@given(PLAIN)
def test_line_ends_of_a_terminal_become_newlines(text: str) -> None:
    assert clean_output(text.replace("\n", "\r\n").encode()) == text


@pytest.mark.parametrize(
    "unit",
    [
        b"x" * 1000,
        b"y\n" * 500,
        b"\r" + b"=" * 999,
        b"x\b" * 500,
        b"\x1b[" * 500,
        b"\x1b]0;" + b"t" * 996,
        b"\x1b[9" * 333,
    ],
    ids=["endless line", "short lines", "progress bar", "backspaces", "broken sequences", "endless string", "digits"],
)
def test_time_grows_with_the_length_and_not_with_its_square(unit: bytes) -> None:
    def seconds(units: int) -> float:
        best = float("inf")
        for _ in range(3):
            cleaner = TerminalText()
            started = time.process_time()
            for _ in range(units):
                cleaner.feed(unit)
            best = min(best, time.process_time() - started)
        return best

    assert seconds(320) < 4 * 4 * seconds(80) + 0.01
