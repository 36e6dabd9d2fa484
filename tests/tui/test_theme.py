import re

import msgspec
import pytest

from smith_core.roles import ROLES
from smith_tui.theme import MIN_CONTRAST, THEMES, CodeColors, Theme, contrast, text_pairs, textual_theme


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_all_letters_are_readable(theme: Theme) -> None:
    faint = {
        name: round(contrast(*colors), 2) for name, *colors in text_pairs(theme) if contrast(*colors) < MIN_CONTRAST
    }
    assert not faint


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_every_colour_is_a_colour_and_every_letter_colour_is_checked(theme: Theme) -> None:
    colors = {name: value for name, value in msgspec.structs.asdict(theme).items() if isinstance(value, str)}
    del colors["name"]
    assert all(re.fullmatch("#[0-9a-f]{6}", color) for color in colors.values())
    checked = {color for _, *pair in text_pairs(theme) for color in pair}
    assert set(colors.values()) - checked == {theme.line} - checked
    assert {getattr(theme.code, name) for name in CodeColors.__struct_fields__} <= checked


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_each_role_has_its_own_accent(theme: Theme) -> None:
    assert len({theme.accent(role.palette) for role in ROLES.values()}) == len(ROLES)
    assert theme.accent("unheard of") == theme.green


def test_textual_takes_the_theme() -> None:
    theme = textual_theme(THEMES["light"], "amber")
    assert (theme.name, theme.dark, theme.primary) == ("smith-light-amber", False, THEMES["light"].amber)
    assert theme.to_color_system().generate()["background"].lower() == THEMES["light"].background
