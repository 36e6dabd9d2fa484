"""Input from the terminal: pastes reach the app as pastes, keys as keys, however the bytes are cut."""

import signal
import time
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual._xterm_parser import XTermParser
from textual.message import Message

from smith_tui.paste_parser import PASTE_END, PASTE_START, AltIsALetter, InputDecoder, PasteParser


def described(messages: Iterable[Message]) -> list[str]:
    return [
        f"paste {message.text!r}" if isinstance(message, events.Paste) else f"key {message.key}"
        for message in messages
        if isinstance(message, events.Paste | events.Key)
    ]


def parsed(*chunks: str) -> list[str]:
    parser = PasteParser()
    return [item for chunk in chunks for item in described(parser.feed(chunk))]


def test_b21_nothing_inside_a_paste_is_a_key() -> None:
    body = "a\x1bb\x00\x07\t\x1b[31m and more than thirty-two characters behind it\r/clear\r"
    assert parsed(PASTE_START + body + PASTE_END) == [f"paste {body!r}"]


def test_b21_a_burst_of_lines_without_markers_is_a_paste() -> None:
    assert parsed("l1\nl2\r\nl3") == ["paste 'l1\\nl2\\r\\nl3'"]
    assert parsed("one\rtwo\rthree\r") == ["paste 'one\\rtwo\\rthree\\r'"]
    assert parsed("x" * 4096) == ["paste " + repr("x" * 4096)]


def test_b21_the_end_of_a_paste_inside_of_one_lets_nothing_act() -> None:
    smuggled = "\r!rm -rf x\r"
    for behind in (smuggled, f"{smuggled}\x1b[A", f"x{smuggled}"):
        pasted = parsed(f"{PASTE_START}safe{PASTE_END}{behind}{PASTE_END}\r")
        assert pasted[0] == "paste 'safe'" and pasted[1].startswith("paste ") and "key enter" not in pasted[:-1]
        apart = parsed(f"{PASTE_START}safe{PASTE_END}", f"{behind}{PASTE_END}")
        assert all(item.startswith("paste ") for item in apart)
        again = parsed(f"{PASTE_START}safe{PASTE_END}{behind}{PASTE_START}more{PASTE_END}")
        assert all(item.startswith("paste ") for item in again)
    assert parsed(f"{PASTE_START}safe{PASTE_END}", "\r") == ["paste 'safe'", "key enter"]


def test_typed_keys_stay_keys() -> None:
    assert parsed("hi\r") == ["key h", "key i", "key enter"]
    assert parsed("\r\r") == ["key enter", "key enter"]
    assert parsed("\x1b[A", "\x0f", "\n") == ["key up", "key ctrl+o", "key ctrl+j"]
    assert parsed("a\x0f\rb") == ["key a", "key ctrl+o", "key enter", "key b"]


def test_b23_key_reports_of_which_more_is_told_than_was_asked_for_are_keys_all_the_same() -> None:
    told = {"97;5:1u": "ctrl+a", "97:65;5u": "ctrl+a", "97:65u": "a", "1;1:2A": "up", "98::99;1:1;98u": "b"}
    for report, key in told.items():
        assert parsed(f"\x1b[{report}") == [f"key {key}"], report
    let_go_or_no_character = ("97;5:3u", "1;1:3A", "9999999u", "9999999;1u", "97;1;9999999u", "99999999999999999999u")
    for report in let_go_or_no_character:
        assert parsed(f"\x1b[{report}x") == ["key x"], report


@given(st.sampled_from(["", "<", "?", "48;"]), st.text("0123456789:;", max_size=25), st.sampled_from("u~ABHPRStmMy"))
def test_b23_no_report_breaks_the_parser(mark: str, numbers: str, end: str) -> None:
    parser = PasteParser()
    list(parser.feed(f"\x1b[{mark}{numbers}{end}"))
    assert "key x" in described([*parser.feed("\x1b\x1b\x1b"), *parser.feed("x" * 40)])


def test_alt_with_a_digit_or_enter_is_what_it_is_with_and_without_the_kitty_protocol() -> None:
    assert parsed(*(f"\x1b{digit}" for digit in range(10))) == [f"key alt+{digit}" for digit in range(10)]
    assert parsed("\x1b\r", "\r", "\x1b[13;3u") == ["key alt+enter", "key enter", "key alt+enter"]
    assert parsed("\x1b", "2", "\x1b[49;3u") == ["key alt+2", "key alt+1"]


def test_alt_with_a_letter_is_there_at_once() -> None:
    assert parsed("\x1bi", "\x1b", "h", "\x1b[105;3u") == ["key alt+i", "key alt+h", "key alt+i"]


def test_keys_around_a_paste_are_kept() -> None:
    assert parsed(f"a{PASTE_START}p{PASTE_END}b{PASTE_START}{PASTE_END}\r") == [
        "key a",
        "paste 'p'",
        "key b",
        "paste ''",
        "key enter",
    ]


def test_a_million_characters_come_as_one_paste() -> None:
    text = PASTE_START + "x" * 1_000_000 + PASTE_END
    chunks = [text[start : start + 4096] for start in range(0, len(text), 4096)]
    assert parsed(*chunks) == ["paste " + repr("x" * 1_000_000)]


@given(st.text("ab\x1b[201~\r\n\t", max_size=40).filter(lambda body: PASTE_END not in body), st.data())
def test_b21_cutting_the_bytes_changes_nothing(body: str, data: st.DataObject) -> None:
    text = f"k{PASTE_START}{body}{PASTE_END}\x1b[B{PASTE_START}z{PASTE_END}q"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    chunks = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    expected = ["key k", f"paste {body!r}", "key down", "paste 'z'", "key q"]
    assert parsed(*(chunk for chunk in chunks if chunk)) == expected


def test_b23_the_end_of_input_is_a_hang_up() -> None:
    received: list[int] = []
    before = signal.signal(signal.SIGHUP, lambda number, _: received.append(number))
    try:
        decoder = InputDecoder()
        assert [decoder.decode(data) for data in (b"a\xc3", b"\xa9", b"\xff")] == ["a", "\u00e9", "\ufffd"]
        assert received == []
        decoder.decode(b"", final=True)
        assert received == []
        for _ in range(3):
            decoder.decode(b"")
        assert received == [signal.SIGHUP]
    finally:
        signal.signal(signal.SIGHUP, before)


KEYS = ["a", "\x1b[A", "\x1b[1;5C", "\x0f", "\t", "漢", "\x1b[<0;3;4M", "\x1b[I"]


REPORTS = [
    "\x1b[?62;22c",
    "\x1b[>1;4000;29c",
    "\x1b[?0u",
    "\x1b[?997;1n",
    "\x1b_Gi=31;OK\x1b\\",
    "\x1bP1+r524742\x1b\\",
    "\x1bP>|XTerm(370)\x1b\\",
    "\x1b]11;rgb:0000/0000/0000\x07",
    "\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
]


@given(st.sampled_from(REPORTS), st.data())
def test_b23_what_a_terminal_reports_types_nothing_wherever_it_is_cut(report: str, data: st.DataObject) -> None:
    text = f"a{report}b"
    # A lone Escape at the end of a read is a key, as is Escape with one letter.
    cut = data.draw(st.integers(4, len(text) - 1) | st.just(len(text)))
    assert parsed(*filter(None, (text[:cut], text[cut:]))) == ["key a", "key b"]


def test_b23_a_report_between_pastes_and_one_that_never_ends() -> None:
    assert parsed(f"\x1b[?62c{PASTE_START}p\x1b[?62c{PASTE_END}\x1b[?62c\r") == ["paste 'p\\x1b[?62c'", "key enter"]
    parser = PasteParser()
    assert described(parser.feed("\x1b]x")) == []
    end = time.monotonic() + 5
    events_given: list[str] = []
    while not events_given and time.monotonic() < end:
        events_given = described(parser.tick())
    assert events_given[-1] == "key x"


@given(st.integers(3, 13))
def test_a_terminal_where_alt_is_a_letter_is_noticed_wherever_its_report_is_cut(cut: int) -> None:
    report = "\x1b[?1039;2$yb"
    parser = PasteParser()
    got = [*parser.feed(report[:cut]), *parser.feed(report[cut:] + "\x1b[?1036;1$y")]
    assert [message.mode for message in got if isinstance(message, AltIsALetter)] == ["1039"]
    assert described(got) == ["key b"]


@given(st.lists(st.sampled_from(KEYS), max_size=12))
def test_without_pastes_it_is_the_stock_parser(keys: list[str]) -> None:
    text = "".join(keys)
    ours, stock = PasteParser(), XTermParser()
    if text:
        assert [repr(message) for message in ours.feed(text)] == [repr(message) for message in stock.feed(text)]
