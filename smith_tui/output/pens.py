"""How a cell is drawn, as SGR parameters, and the shortest way from one such look to the next."""

from functools import lru_cache
from typing import NamedTuple

from rich.color import Color, ColorSystem
from rich.style import Style
from textual.strip import Strip

from smith_tui.output.sixteen import same_hue

RESET = "\x1b[m"
_DEFAULT_FOREGROUND, _DEFAULT_BACKGROUND = "39", "49"
_NO_LINK = "\x1b]8;;\x1b\\"


class Pen(NamedTuple):
    """Attributes, colours and link of a cell; colours and attributes are SGR parameters (ECMA-48, 8.3.117).

    "" is the terminal's default. link: what OSC 8 takes, `id=…;address`.
    """

    attributes: str = ""
    foreground: str = ""
    background: str = ""
    link: str = ""

    @property
    def is_bare(self) -> bool:
        """Whether a blank cell shows nothing but the background."""
        return not (self.attributes or self.link)


PLAIN = Pen()


class PenBox:
    """Makes pens of styles, one object for each look, in the colours that the terminal has.

    colors: None for a terminal that does not tell (TERM=dumb); it gets the sixteen that all others know, too.
    """

    def __init__(self, colors: ColorSystem | None) -> None:
        self._colors = colors or ColorSystem.STANDARD
        self._by_codes: dict[str, Pen] = {"": PLAIN}
        self._linked: dict[Pen, Pen] = {}

    def pen(self, style: Style | None) -> Pen:
        """Return the pen of a style."""
        if style is None:
            return PLAIN
        codes = style._ansi
        if codes is None:
            codes = Strip.render_ansi(style, self._colors)
        if self._colors is ColorSystem.STANDARD and style.color is not None:
            # Colours of different hues can have the same nearest one.
            codes = f"{codes} {style.color.triplet}"
        pen = self._by_codes.get(codes)
        if pen is None:
            pen = self._by_codes[codes] = self._make(style)
        link = style._link
        if not link or not link.isprintable():
            return pen
        pen = pen._replace(link=f"id={style._link_id};{link}")
        return self._linked.setdefault(pen, pen)

    def _make(self, style: Style) -> Pen:
        return Pen(
            Strip.render_ansi(style.without_color, self._colors),
            self._color(style.color, is_foreground=True),
            self._color(style.bgcolor, is_foreground=False),
        )

    def _color(self, color: Color | None, *, is_foreground: bool) -> str:
        if color is None:
            return ""
        if is_foreground and self._colors is ColorSystem.STANDARD and color.triplet is not None:
            number = same_hue(color.triplet)
            color = color if number is None else Color.from_ansi(number)
        codes = ";".join(color.downgrade(self._colors).get_ansi_codes(is_foreground))
        return "" if codes == (_DEFAULT_FOREGROUND if is_foreground else _DEFAULT_BACKGROUND) else codes


@lru_cache(1024)
def switch(before: Pen, after: Pen) -> str:
    """Return the control sequences that lead from one look to another."""
    if before is after or before == after:
        return ""
    sequence = ""
    if before.link != after.link:
        sequence = f"\x1b]8;{after.link}\x1b\\" if after.link else _NO_LINK
    if after[:3] == PLAIN[:3] != before[:3]:
        return sequence + RESET
    if before.attributes != after.attributes:
        codes = ";".join(filter(None, ("" if before[:3] == PLAIN[:3] else "0", *after[:3])))
        return f"{sequence}\x1b[{codes}m"
    codes = ""
    if before.foreground != after.foreground:
        codes = after.foreground or _DEFAULT_FOREGROUND
    if before.background != after.background:
        codes += f"{';' if codes else ''}{after.background or _DEFAULT_BACKGROUND}"
    return f"{sequence}\x1b[{codes}m" if codes else sequence
