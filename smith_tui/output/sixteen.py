"""Letters in a terminal of sixteen colours: the one of the same hue, where the nearest one would be a grey."""

import colorsys

from rich.color_triplet import ColorTriplet

from smith_tui.theme import contrast

_HUES = ((20, 1), (75, 3), (165, 2), (200, 6), (250, 4), (330, 5), (360, 1))
"""Ends of hues in degrees, and the number of the colour that is meant by those below."""
_LEAST_SATURATION, _LEAST_VALUE = 0.15, 0.3


def same_hue(color: ColorTriplet) -> int | None:
    """Return the number of the colour, 0 to 15; None for greys and near blacks, for which the nearest one is right."""
    hue, saturation, value = colorsys.rgb_to_hsv(*color.normalized)
    if saturation < _LEAST_SATURATION or value < _LEAST_VALUE:
        return None
    number = next(number for end, number in _HUES if hue * 360 <= end)
    # Letters for a light ground stay dark there: bright yellow on white cannot be read.
    is_bright = contrast(color.hex, "#000000") >= contrast(color.hex, "#ffffff")
    return number + 8 if is_bright else number
