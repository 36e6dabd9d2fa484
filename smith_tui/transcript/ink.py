"""The theme's colours as the styles that the transcript writes with."""

from functools import lru_cache
from typing import Any

import msgspec
from rich.style import Style

from smith_tui.theme import Theme


class TokenStyles(dict[tuple[str, ...], Style]):
    """Styles by pygments token type (a tuple of names, such as Keyword, Type); the longest known prefix counts."""

    def __missing__(self, token: tuple[str, ...]) -> Style:
        style = self[token] = self[tuple(token[:-1])]
        return style


class Ink(msgspec.Struct, frozen=True, kw_only=True):
    """Every style of the transcript, for one theme and the accent of one role."""

    base: Style
    """Background and letters of a row that says nothing else."""
    accent: Style
    alias: Style
    """The name of the role."""
    bright: Style
    muted: Style
    rule: Style
    reasoning: Style
    strong: Style
    emphasis: Style
    strike: Style
    link: Style
    inline_code: Style
    headings: tuple[Style, Style, Style]
    quote: Style
    surface: Style
    surface_muted: Style
    raised: Style
    prompt: Style
    prompt_bar: Style
    info: Style
    success: Style
    warning: Style
    error: Style
    added: Style
    removed: Style
    added_gutter: Style
    removed_gutter: Style
    selected: Style
    found: Style
    pill: Style
    code: TokenStyles


@lru_cache(32)
def make_ink(theme: Theme, palette: str) -> Ink:
    """Return the styles for a theme and a role's palette."""

    def on(color: str, background: str | None = None, **attributes: Any) -> Style:
        return Style(color=color, bgcolor=background, **attributes)

    accent = theme.accent(palette)
    return Ink(
        base=on(theme.text, theme.background),
        accent=on(accent),
        alias=on(accent, bold=True),
        bright=on(theme.bright),
        muted=on(theme.muted),
        rule=on(theme.line),
        reasoning=on(theme.muted, italic=True),
        strong=on(theme.bright, bold=True),
        emphasis=Style(italic=True),
        strike=on(theme.muted, strike=True),
        link=on(theme.link, underline=True),
        inline_code=on(theme.inline_code, theme.surface),
        headings=(
            on(accent, bold=True, underline=True),
            on(accent, bold=True),
            on(theme.bright, bold=True),
        ),
        quote=on(theme.muted),
        surface=on(theme.text, theme.surface),
        surface_muted=on(theme.muted, theme.surface),
        raised=Style(bgcolor=theme.raised),
        prompt=on(theme.bright, theme.raised),
        prompt_bar=on(accent, theme.raised),
        info=on(theme.cyan),
        success=on(theme.green),
        warning=on(theme.amber),
        error=on(theme.error),
        added=on(theme.added, theme.added_background),
        removed=on(theme.removed, theme.removed_background),
        added_gutter=on(theme.muted, theme.added_background),
        removed_gutter=on(theme.muted, theme.removed_background),
        selected=on(theme.bright, theme.selected),
        found=on(theme.bright, theme.found),
        pill=on(accent, theme.raised, bold=True),
        code=_code_styles(theme),
    )


def _code_styles(theme: Theme) -> TokenStyles:
    colors = theme.code

    def on(color: str, **attributes: Any) -> Style:
        return Style(color=color, bgcolor=theme.surface, **attributes)

    return TokenStyles(
        {
            (): on(theme.text),
            ("Keyword",): on(colors.keyword),
            ("Keyword", "Type"): on(colors.type),
            ("Keyword", "Constant"): on(colors.number),
            ("Name",): on(colors.name),
            ("Name", "Function"): on(colors.function),
            ("Name", "Class"): on(colors.type, bold=True),
            ("Name", "Namespace"): on(colors.type),
            ("Name", "Builtin"): on(colors.type),
            ("Name", "Exception"): on(colors.type),
            ("Name", "Decorator"): on(colors.decorator),
            ("Name", "Attribute"): on(colors.function),
            ("Name", "Tag"): on(colors.keyword),
            ("Name", "Constant"): on(colors.number),
            ("Name", "Variable"): on(colors.decorator),
            ("Literal",): on(colors.string),
            ("Literal", "Number"): on(colors.number),
            ("Literal", "String", "Interpol"): on(colors.number),
            ("Literal", "String", "Escape"): on(colors.number),
            ("Comment",): on(colors.comment, italic=True),
            ("Comment", "Preproc"): on(colors.decorator),
            ("Operator",): on(colors.operator),
            ("Operator", "Word"): on(colors.keyword),
            ("Punctuation",): on(colors.operator),
            ("Generic", "Heading"): on(theme.bright, bold=True),
            ("Generic", "Subheading"): on(colors.function),
            ("Generic", "Inserted"): on(theme.added),
            ("Generic", "Deleted"): on(theme.removed),
            ("Generic", "Emph"): on(theme.text, italic=True),
            ("Generic", "Strong"): on(theme.bright, bold=True),
            ("Generic", "Prompt"): on(colors.comment),
            ("Generic", "Output"): on(theme.muted),
        }
    )
