"""The colours of the rain, and how opaque they may be: text stays readable over the faintest of them."""

from collections.abc import Iterable
from functools import lru_cache

import msgspec

from smith_tui.graphics.rain import SHADES
from smith_tui.theme import MIN_CONTRAST, Theme, contrast, text_pairs

MAX_COLORS = 2
"""Colours in one picture: the roles that can be dispatched, and what a table of 16 entries has room for."""
LETTER_GROUNDS = ("background", "selected", "found")
"""Grounds of the theme that have the faintest shade behind letters; behind letters on any other one is no rain."""
Entry = tuple[int, int, int, int]

_MARGIN = 0.15
"""Contrast that is kept in reserve, for terminals that round or mix otherwise."""
_HEAD_OPACITY, _TAIL_OPACITY = 215, 165
_HEAD_BRIGHT = 0.6
"""How far the head of a drop is from the role's colour towards that of bright letters."""


class Shades(msgspec.Struct, frozen=True, kw_only=True):
    """Colours (#rrggbb) of heads and tails, for each colour of the rain; opacities: of each shade, 0 to 255."""

    colors: tuple[tuple[str, str], ...]
    opacities: tuple[int, ...]
    table: tuple[Entry, ...]
    """Red, green, blue and opacity of each shade of each colour, behind a first entry that is empty."""

    def index(self, color: int, shade: int) -> int:
        """Return a shade's place in `table`."""
        return color * SHADES + shade if shade else 0


@lru_cache(32)
def shades_of(theme: Theme, palettes: tuple[str, ...]) -> Shades:
    """Return the shades for the palettes of roles (`RoleSpec.palette`); those beyond MAX_COLORS are left out."""
    accents = [theme.accent(palette) for palette in palettes[:MAX_COLORS]]
    colors = tuple((mixed(theme.bright, accent, _HEAD_BRIGHT), accent) for accent in accents)
    faintest = min(readable_opacity(theme, color) for pair in colors for color in pair)
    steps = SHADES - 2
    between = (round(_TAIL_OPACITY + (faintest - _TAIL_OPACITY) * step / steps) for step in range(steps + 1))
    opacities = (0, _HEAD_OPACITY, *between)
    entries = [(*_channels(pair[shade > 1]), opacities[shade]) for pair in colors for shade in range(1, SHADES + 1)]
    return Shades(colors=colors, opacities=opacities, table=((0, 0, 0, 0), *entries))


@lru_cache(64)
def readable_opacity(theme: Theme, color: str) -> int:
    """Return how opaque (0 to 255) a #rrggbb colour may be behind the letters of a theme."""
    grounds = {getattr(theme, name) for name in LETTER_GROUNDS}
    pairs = [(letters, ground) for _, letters, ground in text_pairs(theme) if ground in grounds]
    opacity = 0
    while opacity < 255 and _is_readable(pairs, color, (opacity + 1) / 255):
        opacity += 1
    return opacity


def _is_readable(pairs: Iterable[tuple[str, str]], color: str, opacity: float) -> bool:
    least = MIN_CONTRAST + _MARGIN
    return all(contrast(letters, mixed(color, ground, opacity)) >= least for letters, ground in pairs)


def mixed(color: str, ground: str, opacity: float) -> str:
    """Return the colour of something with an opacity of 0 to 1 over a ground, all as #rrggbb."""
    channels = zip(_channels(color), _channels(ground), strict=True)
    return "#" + "".join(f"{round(below + (above - below) * opacity):02x}" for above, below in channels)


def _channels(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)
