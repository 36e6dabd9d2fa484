"""Editing, moving by visible characters, undo."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_tui.widgets import edit_keys
from smith_tui.widgets.clusters import clusters, next_boundary, previous_boundary
from smith_tui.widgets.edit_buffer import EditBuffer

VISIBLE = ["a", "\u00e9", "e\u0301", "漢", "\u2764\ufe0f", "\U0001f469\u200d\U0001f4bb", "1\ufe0f\u20e3"]
VISIBLE += ["\U0001f1e9\U0001f1ea", "\U0001f44d\U0001f3fd", "x\u200b"]


def typed(text: str) -> EditBuffer:
    buffer = EditBuffer()
    for character in text:
        assert edit_keys.press(buffer, character, character)
    return buffer


@pytest.mark.parametrize("character", VISIBLE)
def test_b22_one_backspace_removes_one_visible_character(character: str) -> None:
    buffer = typed("ab" + character)
    assert buffer.text == "ab" + character
    edit_keys.press(buffer, "backspace", None)
    assert buffer.text == "ab"


@pytest.mark.parametrize("character", VISIBLE)
def test_b22_the_caret_steps_over_a_visible_character_at_once(character: str) -> None:
    buffer = typed(f"a{character}b")
    edit_keys.press(buffer, "left", None)
    edit_keys.press(buffer, "left", None)
    assert buffer.caret == 1
    edit_keys.press(buffer, "right", None)
    assert buffer.caret == 1 + len(character)
    edit_keys.press(buffer, "left", None)
    edit_keys.press(buffer, "delete", None)
    assert buffer.text == "ab"


@given(st.lists(st.sampled_from([*VISIBLE, "\n", "\t", " ", "\u200d", "\u0301"]), max_size=20).map("".join))
def test_boundaries_agree_in_both_directions(text: str) -> None:
    spans = clusters(text) if text else []
    assert [start for start, _ in spans][1:] == [end for _, end in spans][:-1]
    if "\n" not in text and "\t" not in text:
        for start, end in spans:
            assert next_boundary(text, start) == end
            assert previous_boundary(text, end) == start


def test_undo_goes_back_by_words_and_redo_forth() -> None:
    buffer = typed("hello big world")
    for expected in ("hello big", "hello", ""):
        buffer.undo()
        assert buffer.text == expected
    buffer.undo()
    buffer.redo()
    buffer.redo()
    assert (buffer.text, buffer.caret) == ("hello big", 9)
    edit_keys.press(buffer, "x", "x")
    buffer.redo()
    assert buffer.text == "hello bigx"


def test_a_paste_is_one_step_of_undo() -> None:
    buffer = typed("ab")
    buffer.insert("pasted text\nof two lines")
    buffer.undo()
    assert buffer.text == "ab"


def test_selection_is_replaced_and_deleted() -> None:
    buffer = typed("one two")
    edit_keys.press(buffer, "ctrl+shift+left", None)
    assert buffer.selected_text == "two"
    edit_keys.press(buffer, "x", "x")
    assert buffer.text == "one x"
    edit_keys.press(buffer, "shift+home", None)
    edit_keys.press(buffer, "left", None)
    assert (buffer.caret, buffer.selected_text) == (0, "")
    edit_keys.press(buffer, "shift+end", None)
    edit_keys.press(buffer, "backspace", None)
    assert buffer.text == ""


@pytest.mark.parametrize(
    ("key", "text", "caret"),
    [
        ("ctrl+w", "first line\nsecond ", 18),
        ("ctrl+u", "first line\n", 11),
        ("ctrl+left", "first line\nsecond line", 18),
        ("home", "first line\nsecond line", 11),
        ("ctrl+home", "first line\nsecond line", 0),
        ("ctrl+end", "first line\nsecond line", 22),
        ("ctrl+k", "first line\nsecond line", 22),
    ],
)
def test_word_and_line_keys(key: str, text: str, caret: int) -> None:
    buffer = EditBuffer()
    buffer.insert("first line\nsecond line")
    assert edit_keys.press(buffer, key, None)
    assert (buffer.text, buffer.caret) == (text, caret)


@pytest.mark.parametrize(("key", "character"), [("ctrl+g", "\x07"), ("alt+x", "x"), ("f2", None), ("escape", "\x1b")])
def test_other_keys_are_left_alone(key: str, character: str | None) -> None:
    assert not edit_keys.press(EditBuffer(), key, character)


def test_undo_keeps_a_bounded_amount_of_text() -> None:
    buffer = EditBuffer()
    for _ in range(100):
        buffer.insert("y" * 100_000)
    steps = 0
    while buffer.text:
        before = buffer.text
        buffer.undo()
        steps += 1
        if buffer.text == before:
            break
    assert steps < 100


KEYS = [*edit_keys.MOVES, *edit_keys.DELETIONS, *(f"shift+{key}" for key in edit_keys.MOVES)]


@given(st.lists(st.one_of(st.sampled_from(KEYS), st.sampled_from([*VISIBLE, "\n", "word "])), max_size=40))
def test_any_keys_keep_the_caret_in_the_text_and_undo_leads_back(keys: list[str]) -> None:
    buffer = EditBuffer()
    for key in keys:
        if key in KEYS:
            edit_keys.press(buffer, key, None)
        else:
            buffer.insert(key)
        assert 0 <= buffer.selection[0] <= buffer.selection[1] <= len(buffer.text)
    for _ in range(len(keys) + 1):
        buffer.undo()
    assert buffer.text == ""
