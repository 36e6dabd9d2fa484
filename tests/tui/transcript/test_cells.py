import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from smith_tui.transcript.cells import MAX_MARKS, cell_width, cut, cut_to, index_at_cell, visible
from tests.support.markdown_examples import FOREIGN, WIDE, WIDE_WORDS

ANY_TEXT = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("\x00\x1b\x07\x7f\x9b\u200d\ufe0f\u200b\u202e\u2028\u0301\u6f22\U0001f469\ud800\ufffe\n\t "),
    )
)


@given(ANY_TEXT)
@settings(deadline=None)
def test_nothing_that_is_left_acts_on_a_terminal(text: str) -> None:
    for character in visible(text):
        assert character in "\n\t" or unicodedata.category(character) not in {"Cc", "Cs", "Zl", "Zp"}
        assert unicodedata.bidirectional(character) not in {
            "RLO",
            "LRO",
            "RLE",
            "LRE",
            "PDF",
            "RLI",
            "LRI",
            "FSI",
            "PDI",
        }


@given(ANY_TEXT)
@settings(deadline=None)
def test_applying_it_twice_changes_nothing(text: str) -> None:
    assert visible(visible(text)) == visible(text)


@given(ANY_TEXT)
@settings(deadline=None)
def test_lines_can_be_cleaned_one_by_one(text: str) -> None:
    assert visible(text).split("\n") == [visible(line) for line in text.split("\n")]


@given(ANY_TEXT, ANY_TEXT)
@settings(deadline=None)
def test_b22_widths_add_up_and_agree_with_rich(left: str, right: str) -> None:
    left, right = visible(left).replace("\n", "").replace("\t", ""), visible(right).replace("\n", "").replace("\t", "")
    assert cell_width(left + right) == cell_width(left) + cell_width(right) == cell_len(left + right)


@given(ANY_TEXT, st.integers(0, 12))
@settings(deadline=None)
def test_cut_keeps_all_text_and_the_limit(text: str, cells: int) -> None:
    shown = visible(text).replace("\n", "").replace("\t", "")
    head, rest = cut(shown, cells)
    assert head + rest == shown
    assert cell_width(head) <= cells
    assert cell_width(cut_to(shown, cells)) <= cells


def test_controls_are_shown_not_obeyed() -> None:
    assert visible("a\x1b[31mb\x07\x00\x7f\x9b2J") == "a␛[31mb␇␀␡�2J"


def test_direction_overrides_are_named() -> None:
    assert visible("a\u202eb\u2066c\u200fd") == "a<U+202E>b<U+2066>cd"


@pytest.mark.parametrize("text", FOREIGN)
def test_b19_markup_of_the_toolkit_is_text(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(("text", "word"), zip(WIDE, WIDE_WORDS, strict=True))
def test_b22_words_behind_odd_characters_stay(text: str, word: str) -> None:
    shown = visible(text)
    assert word in shown
    assert not set(shown) & set("\u200d\ufe0f\u200b\ufeff\u20e3\U0001f3fd")


def test_marks_without_end_are_limited() -> None:
    assert len(visible("a" + "\u0316" * 100_000 + "b")) == 2 + MAX_MARKS


def test_letters_and_marks_become_one_character() -> None:
    assert visible("e\u0301") == "é"
    assert visible("\u1112\u1161\u11ab") == "한"


def test_index_at_cell_counts_wide_characters() -> None:
    assert [index_at_cell("漢a字", cell) for cell in range(7)] == [0, 0, 1, 2, 2, 3, 3]
