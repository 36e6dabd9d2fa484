"""The colours of the app as one table: three themes, each with a palette for every role."""

from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from textual.theme import Theme as TextualTheme

ThemeName = Literal["dark", "light", "contrast"]
MIN_CONTRAST = 4.5
"""Least contrast of text on its background: WCAG 2.2, success criterion 1.4.3, level AA."""


class CodeColors(msgspec.Struct, frozen=True, kw_only=True):
    """Colours of highlighted source code, each on the theme's `surface`."""

    keyword: str
    name: str
    function: str
    type: str
    string: str
    number: str
    comment: str
    operator: str
    decorator: str


class Theme(msgspec.Struct, frozen=True, kw_only=True):
    """Colours as #rrggbb.

    background: behind everything; surface: code, cards and fields; raised: what the person typed;
    selected: behind selected text; found: behind a match of a search. text, bright, muted: letters by weight.
    line: borders and rules, never letters. green, amber, cyan, violet: the roles' accents.
    added, removed: changed lines on added_background and removed_background.
    """

    name: str
    is_dark: bool
    background: str
    surface: str
    raised: str
    selected: str
    found: str
    line: str
    text: str
    bright: str
    muted: str
    green: str
    amber: str
    cyan: str
    violet: str
    error: str
    inline_code: str
    link: str
    added: str
    added_background: str
    removed: str
    removed_background: str
    code: CodeColors

    def accent(self, palette: str) -> str:
        """Return the colour of a role's palette (`RoleSpec.palette`); an unknown one is green."""
        accents = {"green": self.green, "amber": self.amber, "cyan": self.cyan, "violet": self.violet}
        return accents.get(palette, self.green)


DARK = Theme(
    name="dark",
    is_dark=True,
    background="#0a0f0c",
    surface="#111814",
    raised="#15211a",
    selected="#1f4a33",
    found="#5a4708",
    line="#2b3b31",
    text="#d3dad5",
    bright="#f0f5f1",
    muted="#86958b",
    green="#3fe08a",
    amber="#f2b84b",
    cyan="#5cd0dc",
    violet="#b79df5",
    error="#ff7b7b",
    inline_code="#a9dfb8",
    link="#6fc7e8",
    added="#9be8b0",
    added_background="#10291a",
    removed="#ffa8a8",
    removed_background="#341619",
    code=CodeColors(
        keyword="#57d98d",
        name="#d3dad5",
        function="#7cc8ec",
        type="#8fdccb",
        string="#d8c98a",
        number="#f0a873",
        comment="#7d8c82",
        operator="#aab8ae",
        decorator="#c3a8f7",
    ),
)

LIGHT = Theme(
    name="light",
    is_dark=False,
    background="#fafcfa",
    surface="#eef3ef",
    raised="#e2ece5",
    selected="#b9e3c9",
    found="#ffe08a",
    line="#c3cfc7",
    text="#1d2620",
    bright="#08100b",
    muted="#566359",
    green="#0a6b39",
    amber="#875100",
    cyan="#0b6470",
    violet="#6340b5",
    error="#b3261e",
    inline_code="#17603a",
    link="#0a5c8f",
    added="#0d5c2e",
    added_background="#d9f2e1",
    removed="#94201c",
    removed_background="#fae0de",
    code=CodeColors(
        keyword="#0a6b39",
        name="#1d2620",
        function="#0a5c8f",
        type="#0b6460",
        string="#7a5200",
        number="#9a3f0c",
        comment="#5a675e",
        operator="#47534b",
        decorator="#6340b5",
    ),
)

CONTRAST = Theme(
    name="contrast",
    is_dark=True,
    background="#000000",
    surface="#0c0c0c",
    raised="#1a1a1a",
    selected="#004d2b",
    found="#665200",
    line="#8a8a8a",
    text="#ffffff",
    bright="#ffffff",
    muted="#c8c8c8",
    green="#5cff9d",
    amber="#ffd24d",
    cyan="#66f0ff",
    violet="#d9c2ff",
    error="#ff9c9c",
    inline_code="#b8ffd2",
    link="#8fdcff",
    added="#b6ffc9",
    added_background="#003a17",
    removed="#ffc4c4",
    removed_background="#4a0a0a",
    code=CodeColors(
        keyword="#5cff9d",
        name="#ffffff",
        function="#8fdcff",
        type="#9ffff0",
        string="#ffe9a0",
        number="#ffc08a",
        comment="#c8c8c8",
        operator="#e6e6e6",
        decorator="#d9c2ff",
    ),
)

THEMES: dict[str, Theme] = {theme.name: theme for theme in (DARK, LIGHT, CONTRAST)}


def contrast(foreground: str, background: str) -> float:
    """Return the contrast ratio of two #rrggbb colours, 1 to 21, as WCAG 2.2 defines it."""
    lighter, darker = sorted((_luminance(foreground), _luminance(background)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: str) -> float:
    channels = [int(color[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    red, green, blue = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def text_pairs(theme: Theme) -> list[tuple[str, str, str]]:
    """Return each (name, foreground, background) that letters are shown in."""
    accents = ("green", "amber", "cyan", "violet", "error", "link", "inline_code")
    names = {"background": ("text", "bright", "muted", *accents), "raised": ("text", "bright", "muted", *accents[:4])}
    names["surface"] = ("text", "bright", "muted", *accents)
    names["selected"] = ("text", "bright")
    names["found"] = ("text", "bright")
    pairs = [
        (f"{name} on {ground}", getattr(theme, name), getattr(theme, ground))
        for ground, group in names.items()
        for name in group
    ]
    pairs += [(f"code.{name}", getattr(theme.code, name), theme.surface) for name in CodeColors.__struct_fields__]
    for change in ("added", "removed"):
        ground = getattr(theme, f"{change}_background")
        pairs += [(f"{name} on {change}", getattr(theme, name), ground) for name in (change, "text", "muted")]
    return pairs


def textual_theme(theme: Theme, palette: str = "green") -> "TextualTheme":
    """Return the theme as Textual's style sheets want it, named `smith-<theme>-<palette>`."""
    from textual.theme import Theme as TextualTheme

    return TextualTheme(
        name=f"smith-{theme.name}-{palette}",
        dark=theme.is_dark,
        primary=theme.accent(palette),
        secondary=theme.cyan,
        accent=theme.accent(palette),
        foreground=theme.text,
        background=theme.background,
        surface=theme.surface,
        panel=theme.raised,
        success=theme.green,
        warning=theme.amber,
        error=theme.error,
        variables={
            "border": theme.line,
            "border-blurred": theme.line,
            "text-muted": theme.muted,
            "screen-selection-background": theme.selected,
            "screen-selection-foreground": theme.bright,
            "scrollbar": theme.muted,
            "scrollbar-hover": theme.text,
            "scrollbar-active": theme.accent(palette),
            "scrollbar-background": theme.background,
            "scrollbar-background-hover": theme.background,
            "scrollbar-background-active": theme.background,
            "scrollbar-corner-color": theme.background,
            "footer-background": theme.background,
            "footer-foreground": theme.muted,
            "footer-key-foreground": theme.accent(palette),
            "footer-description-foreground": theme.muted,
            "input-selection-background": theme.selected,
            "block-cursor-background": theme.accent(palette),
            "block-cursor-foreground": theme.background,
        },
    )
