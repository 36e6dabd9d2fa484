"""How panes share a rectangle."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_tui.panes.tiling import MIN_COLUMNS, MIN_ROWS, MIN_TRANSCRIPT_ROWS, Item, Tile, area_rows, tile

ITEMS = st.lists(st.builds(Item, st.booleans(), st.integers(-1, 20)), max_size=16)


def shapes(columns: int, rows: int, count: int) -> list[tuple[int, int] | None]:
    """The (width, height) of each of so many running panes on a screen with so many rows for all."""
    items = [Item(True, number) for number in range(count)]
    tiles = tile(columns, area_rows(rows, columns, items), items).tiles
    return [(placed.width, placed.height) if placed else None for placed in tiles]


@pytest.mark.parametrize(
    ("columns", "rows", "count", "expected"),
    [
        (200, 47, 1, [(200, 30)]),
        (200, 47, 2, [(100, 30), (100, 30)]),
        (200, 47, 4, [(100, 15)] * 4),
        (300, 20, 4, [(75, 13)] * 4),
        (60, 40, 2, [(60, 13), (60, 13)]),
        (80, 21, 2, [(40, 13), (40, 13)]),
        (60, 12, 4, [(30, 7), (30, 7), (60, 1), (60, 1)]),
        (20, 2, 4, [(20, 1), None, None, None]),
        (20, 1, 4, [None] * 4),
    ],
)
def test_panes_stand_side_by_side_where_it_is_wide_and_above_each_other_where_it_is_high(
    columns: int, rows: int, count: int, expected: list[tuple[int, int] | None]
) -> None:
    assert shapes(columns, rows, count) == expected


@given(st.integers(0, 300), st.integers(0, 100), ITEMS)
def test_tiles_lie_in_the_rectangle_and_never_over_each_other(width: int, height: int, items: list[Item]) -> None:
    tiling = tile(width, height, items)
    placed = [found for found in [*tiling.tiles, tiling.more] if found is not None]
    cells: set[tuple[int, int]] = set()
    for found in placed:
        assert found.x >= 0 and found.x + found.width <= width
        assert found.y >= 0 and found.y + found.height <= height
        corners = {
            (x, y) for x in range(found.x, found.x + found.width) for y in range(found.y, found.y + found.height)
        }
        assert not cells & corners
        cells |= corners
    for found in placed:
        large = found.height >= MIN_ROWS and (found.width >= MIN_COLUMNS or found.width == width)
        assert large if found.is_open else found.height == 1


@given(st.integers(1, 300), st.integers(1, 100), ITEMS)
def test_who_has_no_room_is_counted_and_the_one_in_use_is_always_seen(
    width: int, height: int, items: list[Item]
) -> None:
    items = [Item(True, -2), *items]
    tiling = tile(width, height, items)
    hidden = tiling.tiles.count(None)
    assert tiling.tiles[0] is not None
    if height >= 8 or not hidden:
        assert (tiling.more is not None) == (hidden > 0)
    for item, placed in zip(items, tiling.tiles, strict=True):
        assert item.wants_room or placed is None or not placed.is_open


@given(st.integers(0, 300), st.integers(0, 100), ITEMS)
def test_the_transcript_keeps_some_rows(width: int, rows: int, items: list[Item]) -> None:
    taken = area_rows(rows, width, items)
    assert 0 <= taken <= max(0, rows - 1)
    if any(isinstance(found, Tile) and found.is_open for found in tile(width, taken, items).tiles):
        assert rows - taken >= MIN_TRANSCRIPT_ROWS
