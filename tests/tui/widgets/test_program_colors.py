"""What programs colour can be read in every theme, and what they draw keeps its colours."""

import itertools

import pytest
from rich.style import Style

from smith_tui.theme import MIN_CONTRAST, THEMES, Theme, contrast
from smith_tui.widgets.ansi_line import Colour, Sgr
from smith_tui.widgets.program_colors import readable, style_of

COLOURS: tuple[Colour, ...] = (None, *range(16), 16, 21, 52, 196, 231, 244, (1, 2, 3), (250, 240, 10))


def hexes(style: Style) -> tuple[str, str]:
    assert style.color is not None and style.bgcolor is not None
    return style.color.get_truecolor().hex, style.bgcolor.get_truecolor().hex


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_letters_can_be_read_on_every_ground(theme: Theme) -> None:
    base = Style(color=theme.text, bgcolor=theme.surface)
    pairs = [Sgr(*pair) for pair in itertools.product(COLOURS, COLOURS)]
    changed = [Sgr(colour, dim=dim, reverse=not dim) for colour in COLOURS for dim in (False, True)]
    for sgr in (*pairs, *changed):
        assert contrast(*hexes(style_of("word", sgr, base))) >= MIN_CONTRAST, sgr


def test_what_is_drawn_keeps_its_colours_and_so_do_readable_letters() -> None:
    base = Style(color="#d3dad5", bgcolor="#111814")
    sgr = Sgr((20, 30, 40), (20, 30, 40))
    assert hexes(style_of("▀▄ ⣿", sgr, base)) == ("#141e28", "#141e28")
    assert hexes(style_of("a", Sgr((250, 240, 10)), base)) == ("#faf00a", "#111814")
    assert contrast(readable("#777777", "#777777"), "#777777") >= MIN_CONTRAST
    assert style_of("a", Sgr(bold=True, italic=True), base).bold
