"""The arithmetic of the field: it stays inside its region, within its limits, and covers reach all that they should."""

from hypothesis import given, settings
from hypothesis import strategies as st

from smith_tui.graphics.field import CLEAR, DIM, MAX_COLUMNS, MAX_ROWS, SHARE, Field, Patch, covers_of, field_in

SIZES = st.integers(0, 600)
PLACES = st.integers(-40, 200)


@given(PLACES, PLACES, SIZES, SIZES)
def test_a_field_lies_in_the_left_part_of_its_region_and_never_exceeds_its_budget(
    x: int, y: int, width: int, height: int
) -> None:
    field = field_in(x, y, width, height)
    if field is None:
        assert width * SHARE < 10 or height < 3
        return
    assert (field.x, field.y) == (x, y)
    assert field.width <= width * SHARE
    assert height - field.span < field.height <= height
    assert 1 <= field.columns <= MAX_COLUMNS and 1 <= field.rows <= MAX_ROWS
    assert field.width == 2 * field.columns
    # No more than a column is given away, unless the limit says so.
    assert field.columns == MAX_COLUMNS or field.width > width * SHARE - 2


@given(st.integers(160, 5000), st.integers(160, 5000), st.integers(3, 400))
def test_the_picture_has_the_same_size_on_every_wide_terminal(width: int, other: int, height: int) -> None:
    assert field_in(0, 0, width, height) == field_in(0, 0, other, height)


@settings(max_examples=40)
@given(
    st.builds(Field, PLACES, PLACES, st.integers(1, 40), st.integers(1, 30), st.integers(1, 3)),
    st.lists(st.builds(Patch, PLACES, PLACES, PLACES, PLACES, st.sampled_from([DIM, CLEAR])), max_size=4),
)
def test_every_cell_of_a_patch_is_covered_and_no_sign_that_is_far_from_all_of_them(
    field: Field, patches: list[Patch]
) -> None:
    covers = covers_of(field, patches)
    assert [len(row) for row in covers] == [field.columns] * field.rows
    for row in range(field.rows):
        rows = range(field.y + row * field.span, field.y + (row + 1) * field.span)
        for column in range(field.columns):
            left = field.x + 2 * column
            touching = [patch.cover for patch in patches if _touches(patch, left, left + 2, rows)]
            near = [patch.cover for patch in patches if _touches(patch, left - 1, left + 3, rows)]
            assert max(touching, default=0) <= covers[row][column] <= max(near, default=0)


def _touches(patch: Patch, left: int, right: int, rows: range) -> bool:
    if patch.left >= patch.right or patch.top >= patch.bottom:
        return False
    return patch.left < right and patch.right > left and patch.top < rows.stop and patch.bottom > rows.start
