"""The rain and its pixels: the same for the same seed, and never different from what a whole picture would be."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smith_tui.graphics.field import CLEAR, DIM, Field
from smith_tui.graphics.glyphs import GLYPHS, HEIGHT, KATAKANA, WIDTH
from smith_tui.graphics.png import indexed_png
from smith_tui.graphics.rain import SHADES, Drop, Rain, fading
from smith_tui.graphics.raster import ColorRaster, IndexedRaster, Raster
from smith_tui.graphics.shades import LETTER_GROUNDS, MAX_COLORS, mixed, shades_of
from smith_tui.theme import DARK, THEMES, Theme, contrast, text_pairs
from smith_tui.transcript.cells import cell_width
from tests.support.pictures import decode_png

FIELD = Field(0, 0, 6, 9)
BOTH = shades_of(DARK, ("cyan", "violet"))
COVERS = st.lists(st.binary(min_size=6, max_size=6), min_size=9, max_size=9).map(
    lambda rows: [bytes(byte % 3 for byte in row) for row in rows]
)


def rain(seed: int = 1, steps: int = 0) -> Rain:
    made = Rain(FIELD.columns, FIELD.rows, signs=len(GLYPHS), colors=2, seed=seed)
    for _ in range(steps):
        made.step()
    return made


def test_signs_are_all_different_and_katakana_take_one_cell() -> None:
    assert len(set(GLYPHS)) == len(GLYPHS) >= 24
    assert all(len(sign) == HEIGHT and any(sign) and max(sign) < 1 << WIDTH for sign in GLYPHS)
    assert all(cell_width(sign) == 1 for sign in KATAKANA)


@given(st.integers(0, 1000), st.integers(1, 60))
def test_the_same_seed_gives_the_same_rain(seed: int, steps: int) -> None:
    one, other = rain(seed), rain(seed)
    for _ in range(steps):
        assert one.step() == other.step()
    assert (one.shades, one.signs, one.colors) == (other.shades, other.signs, other.colors)
    assert sorted(one.colors) == [0, 0, 0, 1, 1, 1]


@given(st.floats(-20, 40), st.integers(1, 30), st.integers(1, 30))
def test_a_drop_has_one_bright_head_and_a_tail_that_only_fades(head: float, length: int, rows: int) -> None:
    shades = Drop(head, 1.0, length).shades(rows)
    assert len(shades) == rows
    lit = [row for row in range(rows) if shades[row]]
    assert lit == list(range(max(0, int(head // 1) + 1 - length), min(rows, int(head // 1) + 1)))
    assert shades.count(1) == (0 <= head < rows)
    seen = [shades[row] for row in lit]
    assert seen == sorted(seen, reverse=True)
    assert all(2 <= shade <= SHADES for shade in fading(length))


@settings(max_examples=10)
@given(st.integers(0, 100), st.integers(0, 40), COVERS, COVERS)
def test_what_was_drawn_bit_by_bit_is_what_a_new_picture_shows(
    seed: int, steps: int, first: list[bytes], second: list[bytes]
) -> None:
    for kind in (ColorRaster, IndexedRaster):
        falling, grown = rain(seed), kind(FIELD, BOTH)
        for step in range(steps):
            grown.draw(falling, falling.step())
            grown.cover(falling, first if step % 2 else second)
        grown.cover(falling, second)
        anew = kind(FIELD, BOTH)
        anew.cover(falling, second)
        anew.draw(falling, falling.lit())
        assert grown.pixels == anew.pixels


def test_both_kinds_of_pixels_are_the_same_picture() -> None:
    falling = rain(steps=30)
    rasters: list[Raster] = [ColorRaster(FIELD, BOTH), IndexedRaster(FIELD, BOTH)]
    for raster in rasters:
        raster.draw(falling, falling.lit())
    color, indexed = rasters
    shown = decode_png(indexed_png(indexed.width, indexed.height, indexed.pixels, BOTH.table))
    assert (shown.width, shown.height) == (color.width, color.height) == (36, 72)
    assert shown.pixels == color.pixels
    # A sign of its own, head first, where the rain says that it is.
    column, row = next((x, y) for x, y in falling.lit() if falling.shades[x][y] == 1)
    sign = GLYPHS[falling.signs[column][row]]
    head = BOTH.table[BOTH.index(falling.colors[column], 1)]
    for y in range(8):
        for x in range(6):
            at = ((row * 8 + y) * color.width + column * 6 + x) * 4
            is_on = y < HEIGHT and x < WIDTH and sign[y] >> (WIDTH - 1 - x) & 1
            assert tuple(color.pixels[at : at + 4]) == (head if is_on else (0, 0, 0, 0))


@pytest.mark.parametrize("cover", [DIM, CLEAR])
def test_behind_letters_is_the_faintest_shade_or_nothing(cover: int) -> None:
    falling, raster = rain(steps=30), ColorRaster(FIELD, BOTH)
    raster.draw(falling, falling.lit())
    raster.cover(falling, [bytes([cover] * FIELD.columns)] * FIELD.rows)
    opacities = set(raster.pixels[3::4])
    assert opacities == ({0, BOTH.opacities[SHADES]} if cover == DIM else {0})


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
@pytest.mark.parametrize("palettes", [("cyan",), ("violet",), ("cyan", "violet"), ("green", "amber")])
def test_letters_stay_readable_over_the_brightest_pixel_that_can_be_behind_them(
    theme: Theme, palettes: tuple[str, ...]
) -> None:
    shades = shades_of(theme, palettes)
    grounds = [getattr(theme, name) for name in LETTER_GROUNDS]
    faintest = shades.opacities[SHADES] / 255
    pairs = [(letters, ground) for _, letters, ground in text_pairs(theme) if ground in grounds]
    assert len(pairs) > 10
    for letters, ground in pairs:
        for color in (color for pair in shades.colors for color in pair):
            assert contrast(letters, mixed(color, ground, faintest)) >= 4.5
    # It is to be seen all the same, and a head is brighter than any tail.
    assert faintest > 0.08
    assert list(shades.opacities[1:]) == sorted(shades.opacities[1:], reverse=True)
    assert len(shades.table) == 1 + SHADES * len(palettes) <= 16


def test_more_colours_than_a_table_holds_are_left_out() -> None:
    assert len(shades_of(DARK, ("green", "amber", "cyan", "violet")).colors) == MAX_COLORS
