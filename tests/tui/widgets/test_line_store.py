"""The line store against a slow, obvious model of a terminal that knows one line at a time."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from smith_tui.widgets.ansi_line import MAX_LINE_CELLS, PLAIN, LineGrid, Sgr, apply_sgr, resolve_line, sgr_sequence
from smith_tui.widgets.line_store import LineStore
from tests.support.line_model import LineModel
from tests.support.widget_app import ODD_WIDTHS


def shown(store: LineStore) -> list[str]:
    return [store.line(number).text for number in range(store.first_line, store.end_line)]


def styles_of(store: LineStore) -> list[list[Sgr]]:
    return [store.line(number).styles for number in range(store.first_line, store.end_line)]


def shown_of(*chunks: bytes) -> list[str]:
    store = LineStore()
    for chunk in chunks:
        store.feed(chunk)
    return shown(store)


CSI = ["31m", "0m", "K", "1K", "2K", "3C", "2D", "4G", "?25l", "2J", "1;5H", "38:2::1:2:3m", "12", ">4;1m", "1 q", ""]
STRINGS = ["]0;title\x07", "]8;;http://x\x1b\\", "_Ga=q;AAAA\x1b\\", "P1;2|abc\x1b\\", "Popen", "(B", "=", ""]
PIECES = st.one_of(
    st.sampled_from(["a", "bc", "hello world", " ", "\n", "\r", "\r\n", "\b", "\t", "\x07", "\x00", "\x18", "\\"]),
    st.sampled_from(CSI).map("\x1b[{}".format),
    st.sampled_from(STRINGS).map("\x1b{}".format),
)
TEXTS = st.lists(PIECES, max_size=40).map("".join)
FOREIGN = st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass"))
BYTES = st.one_of(TEXTS.map(str.encode), st.binary(max_size=200), FOREIGN)


@given(TEXTS)
@settings(max_examples=400, deadline=None)
def test_visible_text_equals_the_reference(text: str) -> None:
    data = text.encode() + b"\x18\nlast"
    assert shown_of(data) == LineModel(data.decode()).run()


@given(BYTES, st.data())
@settings(max_examples=300, deadline=None)
def test_the_way_the_bytes_are_cut_changes_nothing(data: bytes, draw: st.DataObject) -> None:
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(data)), max_size=8)))
    chunks = [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    whole, parts = LineStore(), LineStore()
    whole.feed(data + b"\n")
    for chunk in [*chunks, b"\n"]:
        parts.feed(chunk)
    assert shown(whole) == shown(parts)
    assert styles_of(whole) == styles_of(parts)


@given(BYTES)
@settings(max_examples=400, deadline=None)
def test_b20_no_control_is_ever_shown(data: bytes) -> None:
    for number, text in enumerate(shown_of(data)):
        assert all(character >= " " and not "\x7f" <= character <= "\x9f" for character in text)
        store = LineStore()
        store.feed(data)
        line = store.line(number)
        assert len(line.cells) == len(line.styles) == cell_len(line.text)
        text.encode("utf-8")


def test_b20_letters_stay_and_payloads_go() -> None:
    assert shown_of(b"A\x1b[?4mB\x1b[?1;2rC\x1b[?6nD\x1b[1;1;1;1HE\n") == ["ABCDE"]
    assert shown_of(b"F\x1b_Ga=q;AAAA\x1b\\G\x1bP1;2|abc\x1b\\H\n") == ["FGH"]
    assert shown_of(b"I\x1b[38:2::1:2:3mJ\n") == ["IJ"]
    assert shown_of(b"K\x1b") == ["K"]
    assert shown_of(b"L\x1b[3", b"1mM\x1b", b"]0;ti", b"tle\x1b", b"\\N\n") == ["LMN"]
    assert shown_of(b"x\x1b[" + b"9" * 5000 + b"my\x1b[" + b"\xc2\xb2Az\n") == ["xy\u00b2Az"]


def test_b20_an_unterminated_string_hides_no_more_than_its_line() -> None:
    assert shown_of(b"start\n\x1bPnever closed ", b"x" * 50_000, b"\nstill here\n") == ["start", "", "still here"]


def test_b22_zero_width_and_wide_characters_lose_nothing() -> None:
    text = "\n".join(ODD_WIDTHS)
    lines = shown_of(text.encode())
    assert [line.rpartition(" ")[2] for line in lines] == ["done", "end", "z", "start", "fin", "\u00e9te", "k"]
    assert [len(resolve_line(line.encode()).cells) for line in lines] == [9, 8, 4, 5, 8, 3, 3]


def test_overwriting_half_of_a_wide_character_blanks_the_other_half() -> None:
    assert shown_of("漢字\r".encode(), b"a\n") == ["a 字"]
    assert shown_of("漢字\x1b[2Da\n".encode()) == ["漢a "]
    assert shown_of("漢字\x1b[3D\x1b[K\n".encode()) == [" "]


def test_a_flood_of_combining_marks_is_bounded() -> None:
    [line] = shown_of(b"a" + b"\xcc\x81" * 100_000 + b"b\n")
    assert line[0] == "á" and line[-1] == "b" and len(line) < 20


def test_colours_carry_over_lines_and_end_with_a_reset() -> None:
    store = LineStore()
    store.feed(b"\x1b[1;31mred\nstill\n\x1b[0mplain\n\x1b[48;5;200mbg\x1b[49;38;2;1;2;3mfg\n")
    red = Sgr(foreground=1, bold=True)
    assert store.line(0).spans() == [("red", red)]
    assert store.line(1).spans() == [("still", red)]
    assert store.line(2).spans() == [("plain", PLAIN)]
    assert store.line(3).spans() == [("bg", Sgr(background=200)), ("fg", Sgr(foreground=(1, 2, 3)))]


def test_colours_carry_over_blocks() -> None:
    store = LineStore()
    store.feed(b"\x1b[32m")
    for _ in range(3000):
        store.feed(b"twenty bytes of text\n")
    assert store.line(2999).spans() == [("twenty bytes of text", Sgr(foreground=2))]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ("", PLAIN),
        ("1;4:3;9", Sgr(bold=True, underline=True, strike=True)),
        ("4:0", PLAIN),
        ("1;22", PLAIN),
        ("97;101", Sgr(foreground=15, background=9)),
        ("38:2:9:8:7", Sgr(foreground=(9, 8, 7))),
        ("38;5", PLAIN),
        ("38;2;1", PLAIN),
        ("38;5;999", PLAIN),
        ("48;2;1;2;300;1", Sgr(bold=True)),
        ("99999999999", PLAIN),
        (";;1", Sgr(bold=True)),
    ],
)
def test_sgr_parameters(parameters: str, expected: Sgr) -> None:
    assert apply_sgr(PLAIN, parameters) == expected


@given(
    st.builds(
        Sgr, st.none() | st.integers(0, 255), st.none() | st.tuples(*[st.integers(0, 255)] * 3), *[st.booleans()] * 6
    )
)
def test_a_state_survives_its_own_sequence(state: Sgr) -> None:
    assert apply_sgr(Sgr(foreground=3, dim=True), sgr_sequence(state)[2:-1]) == state


@given(TEXTS)
@settings(deadline=None)
def test_an_encoded_grid_resolves_to_the_same_line(text: str) -> None:
    grid = LineGrid()
    grid.feed(text.replace("\n", ""))
    again = resolve_line(grid.encode())
    assert again.spans() == grid.snapshot().spans()


def test_endless_lines_are_bounded_and_marked() -> None:
    store = LineStore()
    for _ in range(100):
        store.feed(b"x" * 10_000)
    store.feed(b"\nnext\n")
    first, second = shown(store)
    assert first == "x" * MAX_LINE_CELLS + "…"
    assert second == "next"
    assert shown_of(b"y" * 1_000_000 + b"\n", b"z") == ["y" * MAX_LINE_CELLS + "…", "z"]


def test_an_endless_progress_bar_stays_one_short_line() -> None:
    store = LineStore()
    for step in range(20_000):
        store.feed(f"\r\x1b[32m{step:6d}\x1b[0m of 20000 files".encode())
    store.feed(b"\rdone\x1b[K\nafter\n")
    assert shown(store) == ["done", "after"]


def test_old_lines_are_dropped_and_numbers_stay() -> None:
    store = LineStore(max_bytes=100_000)
    for number in range(20_000):
        store.feed(b"line %d\n" % number)
    assert store.end_line == 20_000
    assert 0 < store.first_line < 20_000
    assert store.line(19_999).text == "line 19999"
    assert store.line(store.first_line).text == f"line {store.first_line}"
    with pytest.raises(IndexError):
        store.line(store.first_line - 1)


def test_an_unfinished_line_is_shown_and_half_a_character_waits() -> None:
    store = LineStore()
    store.feed(b"caf\xc3")
    assert shown(store) == ["caf"]
    store.feed(b"\xa9\nb\xff\n")
    assert shown(store) == ["caf\u00e9", "b\ufffd"]


def test_twenty_megabytes_are_taken_at_speed() -> None:
    chunk = (b"\x1b[32mok\x1b[0m some ordinary output of a build tool, 70 bytes\n" * 1000)[:65536]
    store = LineStore()
    start = time.process_time()
    for _ in range(20_000_000 // len(chunk)):
        store.feed(chunk)
    assert time.process_time() - start < 0.5
