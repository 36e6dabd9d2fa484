"""Colours that programs write in, as the theme shows them: letters can be read on whatever ground they stand."""

import re
from functools import lru_cache

from rich.color import Color
from rich.style import Style

from smith_tui.theme import MIN_CONTRAST, contrast
from smith_tui.widgets.ansi_line import Colour, Sgr

_ON_DARK = (
    *("#6b7a71", "#ff7b7b", "#3fe08a", "#f2b84b", "#7fb2ff", "#d6a5f7", "#5cd0dc", "#d3dad5"),
    *("#8b998f", "#ffa0a0", "#8af0b8", "#ffd27a", "#a5ccff", "#e8c4ff", "#9ae9f1", "#ffffff"),
)
_ON_LIGHT = (
    *("#1d2620", "#a8201a", "#0a6b39", "#7a5200", "#1f4fb0", "#7d2f9a", "#0b6470", "#47534b"),
    *("#566359", "#b3261e", "#0c7a42", "#875100", "#2a5cc4", "#8d3bab", "#0c7280", "#08100b"),
)
_GROUNDS = (
    *("#000000", "#a8201a", "#0f6b3c", "#7a5200", "#1f4fb0", "#7d2f9a", "#0b6470", "#c3cfc7"),
    *("#566359", "#ff7b7b", "#3fe08a", "#f2b84b", "#7fb2ff", "#d6a5f7", "#5cd0dc", "#ffffff"),
)
"""The sixteen colours of ECMA-48 and its successors: as letters, and as what stands behind them."""
_FAINT_SHARE = 0.4
_STEPS = 10
_PICTURE = re.compile("[\\s\u2500-\u259f\u2800-\u28ff\U0001fb00-\U0001fbff]*")


def style_of(text: str, sgr: Sgr, base: Style) -> Style:
    """Return the style of a piece of output on the ground `base`; what is drawn, not written, keeps its colours."""
    return _style(sgr, base, _PICTURE.fullmatch(text) is None)


@lru_cache(4096)
def _style(sgr: Sgr, base: Style, is_text: bool) -> Style:
    ground, letters = _hex_of(base.bgcolor), _hex_of(base.color)
    palette = _ON_DARK if contrast(ground, "#ffffff") >= contrast(ground, "#000000") else _ON_LIGHT
    letters = _resolved(sgr.foreground, palette, letters)
    ground = _resolved(sgr.background, _GROUNDS, ground)
    if sgr.reverse:
        letters, ground = ground, letters
    if sgr.dim:
        letters = _mixed(letters, ground, _FAINT_SHARE)
    return base + Style(
        color=readable(letters, ground) if is_text else letters,
        bgcolor=ground,
        bold=sgr.bold or None,
        italic=sgr.italic or None,
        underline=sgr.underline or None,
        strike=sgr.strike or None,
    )


@lru_cache(4096)
def readable(letters: str, ground: str) -> str:
    """Return the nearest colour to `letters` that can be read on `ground`, on the way to black or white."""
    aim = max("#ffffff", "#000000", key=lambda color: contrast(color, ground))
    steps = (_mixed(letters, aim, step / _STEPS) for step in range(_STEPS))
    return next((color for color in steps if contrast(color, ground) >= MIN_CONTRAST), aim)


def _resolved(colour: Colour, palette: tuple[str, ...], default: str) -> str:
    if colour is None:
        return default
    if isinstance(colour, tuple):
        return Color.from_rgb(*colour).get_truecolor().hex
    return palette[colour] if colour < len(palette) else Color.from_ansi(colour).get_truecolor().hex


def _hex_of(color: Color | None) -> str:
    return "#000000" if color is None else color.get_truecolor().hex


def _mixed(color: str, other: str, share: float) -> str:
    pairs = ((int(color[at : at + 2], 16), int(other[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(ours + (theirs - ours) * share):02x}" for ours, theirs in pairs)
