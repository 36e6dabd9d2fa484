from hypothesis import given, settings
from hypothesis import strategies as st

from smith_tui.theme import DARK, LIGHT
from smith_tui.transcript.blocks import Plain, Prompt
from smith_tui.transcript.model import MAX_CACHED_ROWS, TOP, Document, Place
from tests.support.transcript_rows import all_rows, texts


def _document(heights: list[int], width: int = 40) -> Document:
    document = Document(DARK, width)
    document.extend(Plain("\n".join(f"{block}.{row}" for row in range(height))) for block, height in enumerate(heights))
    return document


HEIGHTS = st.lists(st.integers(1, 5), min_size=1, max_size=12)


@given(HEIGHTS, st.integers(-80, 80), st.integers(0, 60))
@settings(deadline=None)
def test_moving_goes_row_by_row_and_stops_at_the_ends(heights: list[int], by: int, start: int) -> None:
    document = _document(heights)
    places = [Place(block, row) for block, height in enumerate(heights) for row in range(height + 1)]
    first = min(start, len(places) - 1)
    assert document.move(places[first], by) == places[max(0, min(len(places) - 1, first + by))]


@given(HEIGHTS, st.integers(1, 20))
@settings(deadline=None)
def test_the_view_at_the_end_shows_the_last_rows(heights: list[int], height: int) -> None:
    document = _document(heights)
    shown = document.view(document.end_place(height), height)
    assert [row.line for row in shown] == all_rows(document)[-height:]


@given(HEIGHTS)
@settings(deadline=None)
def test_offsets_and_places_are_inverse_once_rows_are_known(heights: list[int]) -> None:
    document = _document(heights)
    rows = len(all_rows(document))
    assert document.height == rows
    assert [document.offset(document.place_at(offset)) for offset in range(rows)] == list(range(rows))


def test_an_empty_document_has_places_too() -> None:
    document = Document(DARK)
    assert document.move(TOP, 5) == document.place_at(9) == document.end_place(10) == TOP
    assert document.view(TOP, 5) == []


def test_only_the_rows_looked_at_are_kept() -> None:
    document = _document([150] * 100)
    all_rows(document)
    assert sum(len(rows) for rows in document._cache.values()) <= MAX_CACHED_ROWS


def test_looking_at_the_end_renders_nothing_else() -> None:
    document = _document([20] * 1000)
    document.view(document.end_place(50), 50)
    assert len(document._cache) <= 4


@given(st.integers(20, 120), st.integers(20, 120), st.integers(0, 60))
@settings(deadline=None)
def test_another_width_keeps_the_text_at_the_place(old: int, new: int, row: int) -> None:
    document = Document(DARK, old)
    document.extend([Prompt("first", "green"), Prompt(" ".join(f"word{number}" for number in range(150)), "green")])
    document.blocks[1].is_expanded = True
    place = document.move(Place(1, 1), min(row, 9))
    first_word = document.rows(1)[place.row].content.split()[0]
    moved = document.reshape(new, DARK, place)
    assert first_word in document.rows(1)[moved.row].text.split()


def test_another_theme_writes_with_other_colours() -> None:
    document = _document([1])
    dark = document.rows(0)
    assert document.reshape(40, LIGHT, Place(0, 1)) == Place(0, 1)
    assert texts(document.rows(0)) == texts(dark)
    assert document.rows(0) != dark


def test_removing_keeps_the_heights_of_the_others() -> None:
    document = _document([2, 5, 3])
    all_rows(document)
    document.remove([document.blocks[1]])
    assert document.height == 7
    assert document.index(document.blocks[1]) == 1
    document.clear()
    assert document.height == 0
