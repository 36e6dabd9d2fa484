"""The window on a line store: following, scrolling by rows, wrapping, dropped lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_tui.widgets.ansi_line import resolve_line
from smith_tui.widgets.line_store import LineStore
from smith_tui.widgets.tail_view import TailView, row_bounds


def view_of(text: str) -> tuple[LineStore, TailView]:
    store = LineStore()
    store.feed(text.encode())
    return store, TailView(store)


def texts(view: TailView, width: int, height: int) -> list[str]:
    return ["".join(text for text, _ in row.spans) for row in view.rows(width, height)]


NUMBERS = "".join(f"line {number}\n" for number in range(100))


def test_the_end_is_followed_until_somebody_scrolls_up() -> None:
    store, view = view_of(NUMBERS)
    assert texts(view, 20, 3) == ["line 97", "line 98", "line 99"]
    store.feed(b"more")
    assert texts(view, 20, 3) == ["line 98", "line 99", "more"]
    view.scroll(-2, 20, 3)
    assert not view.following
    store.feed(b" and more\n")
    assert texts(view, 20, 3) == ["line 96", "line 97", "line 98"]
    view.scroll(1, 20, 3)
    assert texts(view, 20, 3) == ["line 97", "line 98", "line 99"]
    view.scroll(5, 20, 3)
    assert view.following
    assert texts(view, 20, 3) == ["line 98", "line 99", "more and more"]


def test_start_and_end_and_how_far_down() -> None:
    _, view = view_of(NUMBERS)
    view.to_start(20, 10)
    assert texts(view, 20, 1) == ["line 0"]
    assert view.percent(20, 10) == 0
    view.scroll(45, 20, 10)
    assert view.percent(20, 10) == 50
    view.scroll(-1000, 20, 10)
    assert texts(view, 20, 1) == ["line 0"]
    view.to_end()
    assert view.percent(20, 10) == 100


def test_what_fits_is_always_followed() -> None:
    store, view = view_of("a\nb\n")
    view.scroll(-5, 20, 10)
    view.to_start(20, 10)
    assert view.following
    assert texts(view, 20, 10) == ["a", "b"]
    assert texts(TailView(LineStore()), 20, 10) == []
    assert store.end_line == 2


def test_a_long_line_is_wrapped_and_scrolled_row_by_row() -> None:
    _, view = view_of("0123456789" * 3 + "\n")
    assert texts(view, 10, 2) == ["0123456789"] * 2
    view.scroll(-1, 10, 2)
    assert not view.following
    view.scroll(1, 10, 2)
    assert view.following


def test_the_place_survives_another_width() -> None:
    _, view = view_of(("0123456789" * 10 + "\n") * 10)
    view.scroll(-55, 10, 5)
    assert not view.following
    assert texts(view, 100, 5) == ["0123456789" * 10] * 5
    assert len(texts(view, 7, 5)) == 5


def test_dropped_lines_move_the_view_to_the_first_one_kept() -> None:
    store = LineStore(max_bytes=100_000)
    view = TailView(store)
    store.feed(NUMBERS.encode())
    view.to_start(20, 5)
    for _ in range(400):
        store.feed(NUMBERS.encode())
    assert store.first_line > 0
    assert texts(view, 20, 1) == [f"line {store.first_line % 100}"]


@pytest.mark.parametrize("width", [1, 2, 3, 7])
def test_b22_wide_characters_are_never_cut(width: int) -> None:
    line = resolve_line("a漢字b漢".encode())
    bounds = row_bounds(line, width)
    assert "".join("".join(line.cells[start:end]) for start, end in bounds) == "a漢字b漢"
    assert all(line.cells[start] != "" and end - start <= max(width, 2) for start, end in bounds)


@given(
    st.lists(st.text("ab漢 ", max_size=30), max_size=12),
    st.integers(1, 12),
    st.integers(1, 6),
    st.lists(st.integers(-15, 15), max_size=8),
)
def test_any_scrolling_shows_consecutive_rows_of_the_whole(
    lines: list[str], width: int, height: int, moves: list[int]
) -> None:
    store, view = view_of("".join(line + "\n" for line in lines))
    everything = [
        "".join(line.cells[start:end])
        for line in (store.line(number) for number in range(store.end_line))
        for start, end in row_bounds(line, width)
    ]
    top = max(0, len(everything) - height)
    for move in moves:
        view.scroll(move, width, height)
        top = min(max(0, top + move), max(0, len(everything) - height))
        assert texts(view, width, height) == everything[top : top + height]
