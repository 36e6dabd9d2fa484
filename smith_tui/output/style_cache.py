"""The toolkit's cache of two styles, keyed without the widget: keyed with it, it keeps widgets' rows that are gone."""

from functools import lru_cache

from textual._styles_cache import StylesCache
from textual.color import Color
from textual.style import Style


@lru_cache(1024)
def inner_and_outer(base_background: Color, background: Color) -> tuple[Style, Style]:
    """Return the styles inside and outside of a border."""
    return Style(background=base_background + background), Style(background=base_background)


def let_rows_go() -> None:
    """Let the rows of a widget go with it, rather than with the 1024th pair of colours behind it."""
    StylesCache.get_inner_outer = staticmethod(inner_and_outer)  # type: ignore[assignment,method-assign]
