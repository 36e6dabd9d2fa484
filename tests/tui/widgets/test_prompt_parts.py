"""The pure parts of the prompt: pastes, history, wrapping."""

from hypothesis import given
from hypothesis import strategies as st

from smith_tui.transcript.cells import cell_width, visible
from smith_tui.widgets.pastes import PasteTokens, clean_paste
from smith_tui.widgets.prompt_history import MAX_CHARACTERS, PromptHistory
from smith_tui.widgets.prompt_layout import PromptLayout, wrap_line


def test_b21_pasted_controls_are_removed_and_line_ends_made_one_kind() -> None:
    assert clean_paste("a\x1b[31m\x00b\x07\tc\r\nd\re\n\x9b\x7ff\ud800") == "a[31mb\tc\nd\ne\nf\ufffd"


@given(st.text())
def test_b21_a_cleaned_paste_can_be_encoded_and_holds_no_control(text: str) -> None:
    cleaned = clean_paste(text)
    cleaned.encode("utf-8")
    assert all(character in "\n\t" or character >= " " for character in cleaned)
    assert clean_paste(cleaned) == cleaned


def test_large_texts_become_tokens_that_expand_to_the_same_text() -> None:
    pastes = PasteTokens()
    big = "".join(f"line {number}\n" for number in range(20_000))
    token = pastes.admit(big)
    assert len(token) == 1
    assert pastes.label(token) == f"[Pasted 20,000 lines, {len(big):,} characters #1]"
    assert pastes.expand(f"before {token} after") == f"before {big} after"
    assert pastes.admit(big) == token
    one_line = pastes.admit("x" * 1_000_000)
    assert pastes.label(one_line) == "[Pasted 1 line, 1,000,000 characters #2]"


def test_small_texts_stand_as_they_are() -> None:
    pastes = PasteTokens()
    assert pastes.admit("x" * 2_000) == "x" * 2_000
    assert pastes.admit("l\n" * 19) == "l\n" * 19


def test_text_that_looks_like_a_token_is_kept_apart() -> None:
    pastes = PasteTokens()
    pastes.admit("x" * 3_000)
    foreign = f"icon {chr(0x10F000)} here"
    assert pastes.expand(pastes.admit(foreign)) == foreign


def test_history_is_walked_with_the_draft_kept() -> None:
    history = PromptHistory(["one", "two", "one"])
    assert history.entries == ("two", "one")
    assert history.newer() is None
    assert history.older("draft") == "one"
    assert history.older("one, edited") == "two"
    assert history.older("two") is None
    assert [history.newer(), history.newer(), history.newer()] == ["one", "draft", None]
    history.add("two")
    assert history.entries == ("one", "two")
    assert history.older("") == "two"


def test_history_forgets_the_oldest_when_what_was_sent_is_long_but_never_the_newest() -> None:
    long = ["a" * MAX_CHARACTERS, "b" * (MAX_CHARACTERS - 8), "short"]
    history = PromptHistory(long)
    assert history.entries == tuple(long[1:])
    history.learn(["oldest", "old"])
    assert history.entries == ("old", *long[1:])
    history.add(long[0])
    assert history.entries == (long[0],)


def test_a_walk_through_history_goes_on_when_older_entries_become_known() -> None:
    history = PromptHistory(["new"])
    assert history.older("draft") == "new"
    history.learn(["oldest", "old"])
    assert history.older("new") == "old"
    assert [history.newer(), history.newer(), history.newer()] == ["new", "draft", None]


def test_b22_a_wide_character_behind_a_tab_begins_a_row_of_its_own() -> None:
    assert wrap_line(" \t漢", 5, lambda piece: cell_width(piece.replace("\t", "    "))) == [(0, 1), (1, 2), (2, 3)]


def test_rows_break_behind_spaces_and_long_words_are_cut() -> None:
    line = "the quick brown fox"
    assert [line[start:end] for start, end in wrap_line(line, 10, len)] == ["the quick ", "brown fox"]
    assert [end - start for start, end in wrap_line("x" * 25, 10, len)] == [10, 10, 5]
    assert wrap_line("", 10, len) == [(0, 0)]


TEXT = st.text("ab 漢\u0301\n\t\U0001f469\u200d\u2764\ufe0f", max_size=60)


@given(TEXT, st.integers(2, 20))
def test_rows_hold_the_whole_text_and_fit(text: str, width: int) -> None:
    layout = PromptLayout(lambda piece: visible(piece).replace("\t", "    "))
    layout.update(text, width)
    rows = [text[start:end] for start, end in layout.rows]
    assert "".join(rows) == text.replace("\n", "")
    for row in rows:
        stripped = visible(row).replace("\t", "    ").rstrip(" ")
        assert cell_width(stripped) <= max(width - 1, 4)


@given(TEXT, st.integers(2, 20), st.data())
def test_places_and_positions_lead_back_to_each_other(text: str, width: int, data: st.DataObject) -> None:
    layout = PromptLayout(lambda piece: visible(piece).replace("\t", "    "))
    layout.update(text, width)
    row, column = data.draw(st.integers(-2, len(layout.rows) + 2)), data.draw(st.integers(-2, 30))
    position = layout.position(row, column)
    assert 0 <= position <= len(text)
    again_row, again_column = layout.place(position)
    assert again_row == min(max(0, row), len(layout.rows) - 1)
    assert again_column <= max(column, 0) or again_column == 0 or again_column <= 4
