"""Foreign text for one-line places."""

from hypothesis import given
from hypothesis import strategies as st

from smith_tui.sanitize import literal, literal_lines
from smith_tui.transcript.cells import visible


def test_b19_markup_stays_and_controls_show() -> None:
    assert literal("[/foo] [red]x") == "[/foo] [red]x"
    assert literal("a\x1b[31mb\x00\x7f") == "a␛[31mb␀␡"
    assert literal("one\ntwo\r\nthree\tfour\u2028five") == "one two three four five"
    assert literal_lines("a\tb\r\nc\x07\rd") == ["a   b", "c␇", "d"]


@given(st.text(st.characters(exclude_categories=[])))
def test_b19_the_result_is_one_line_that_can_be_encoded(text: str) -> None:
    shown = literal(text)
    shown.encode("utf-8")
    assert all(character >= " " and not "\x7f" <= character <= "\x9f" for character in shown)
    assert len(shown.splitlines()) <= 1
    assert literal(shown) == shown


def test_what_is_passed_through_untouched_is_what_every_terminal_shows_as_it_is() -> None:
    for character in map(chr, range(0x20, 0x400)):
        assert literal(f"a{character}b") == visible(f"a{character}b" if character != "\x85" else "a b")
