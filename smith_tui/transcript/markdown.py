"""Markdown as rows; markup of the toolkit, HTML and escape sequences in it are plain text."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from rich.style import Style

from smith_core.patterns import later
from smith_tui.sanitize import literal
from smith_tui.transcript.cells import visible
from smith_tui.transcript.code import language_of, render_code
from smith_tui.transcript.ink import Ink
from smith_tui.transcript.lines import BLANK, MAX_PROSE_WIDTH, PLAIN, Line, Span, indent, line_of, wrap
from smith_tui.transcript.tables import render_table

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_NESTING = 50
"""Levels of lists and quotes; the parser drops what is deeper, so such a text is shown as it stands."""
MIN_INDENTED = 4
"""Cells; narrower rows get no bullets and no bars."""
BULLETS = "•◦▪"
References = Mapping[str, Any]
"""Link reference definitions, as markdown-it keeps them in its environment."""

_CONTAINERS = frozenset({"bullet_list_open", "ordered_list_open", "blockquote_open", "list_item_open"})
_BRACKETS = frozenset("[](){}")
_PLAIN_LINE = later(r"[^\W\d_][^\n*_`~\[\]<&|\\]*")
"""One line in which nothing can be a mark; importing the parser takes longer than a start should wait."""


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("gfm-like", {"linkify": False, "maxNesting": MAX_NESTING})
    parser.core.ruler.before("text_join", "keep_bracket_escapes", _keep_bracket_escapes)
    return parser


def _keep_bracket_escapes(state: Any) -> None:
    r"""Show `\[` as it stands: models write formulas and foreign markup with it far more often than escapes."""
    for block in state.tokens:
        for token in block.children or ():
            if token.type == "text_special" and token.info == "escape" and token.content in _BRACKETS:
                token.content = token.markup


def find_references(source: str, references: dict[str, Any]) -> None:
    """Add the link reference definitions of `source` to `references`; the first one of a name counts."""
    _parser().parse(visible(source), {"references": references})


def render_markdown(
    source: str, width: int, ink: Ink, references: References | None = None, ordinal: int | None = None
) -> list[Line]:
    """Return the rows of `source` in at most `width` cells, without a blank row at either end.

    ordinal: number of the first item, when `source` begins in the middle of a numbered list.
    """
    source = visible(source)
    if _PLAIN_LINE.fullmatch(source):
        return wrap([(source.strip(), PLAIN)], min(max(1, width), MAX_PROSE_WIDTH))
    tokens = _parser().parse(source, {"references": dict(references or {})})
    if any(token.level >= MAX_NESTING - 1 for token in tokens):
        return wrap([(source, PLAIN)], width)
    return _Page(tokens, source.split("\n"), ink, ordinal).blocks(0, len(tokens), max(1, width), PLAIN)


class _Page:
    """One parsed source while it is written out."""

    def __init__(self, tokens: "Sequence[Token]", lines: Sequence[str], ink: Ink, ordinal: int | None) -> None:
        self.tokens = tokens
        self.lines = lines
        self.ink = ink
        self.ordinal = ordinal
        self.list_depth = 0
        self.quote_depth = 0
        self.ends = _matching_ends(tokens)

    def blocks(self, start: int, end: int, width: int, style: Style) -> list[Line]:
        """Return the rows of all blocks between two tokens; blank rows stand where the source has blank lines."""
        rows: list[Line] = []
        last_line = -1
        while start < end:
            token = self.tokens[start]
            block = self._block(start, width, style)
            if block:
                if rows and self._has_gap(last_line, token):
                    rows.append(BLANK)
                rows += block
                last_line = self._last_line(token)
            start = self.ends[start] + 1
        return rows

    def _has_gap(self, last_line: int, token: "Token") -> bool:
        if token.type == "heading_open" and token.markup.startswith("#"):
            return True
        first_line = token.map[0] if token.map else 0
        return any(self._is_blank(line) for line in self.lines[last_line + 1 : first_line])

    def _last_line(self, token: "Token") -> int:
        """Return the last line of a block; lists and quotes count the blank lines behind them as their own."""
        if not token.map:
            return 0
        first, end = token.map
        while token.type in _CONTAINERS and end > first + 1 and self._is_blank(self.lines[end - 1]):
            end -= 1
        return end - 1

    def _is_blank(self, line: str) -> bool:
        """Whether a line separates blocks; inside a quote its mark alone does."""
        return not line.strip(" \t>" if self.quote_depth else " \t")

    def _block(self, start: int, width: int, style: Style) -> list[Line]:
        token = self.tokens[start]
        match token.type:
            case "paragraph_open":
                return self._text(self.tokens[start + 1], width, style)
            case "heading_open":
                return self._text(self.tokens[start + 1], width, self.ink.headings[min(int(token.tag[1]), 3) - 1])
            case "bullet_list_open" | "ordered_list_open":
                return self._list(start, width, style)
            case "blockquote_open":
                bar = ("▎ " if width >= MIN_INDENTED else "", self.ink.muted)
                self.quote_depth += 1
                inner = self.blocks(start + 1, self.ends[start], width - len(bar[0]), self.ink.quote)
                self.quote_depth -= 1
                return indent(inner, bar, bar)
            case "fence" | "code_block":
                source = token.content.removesuffix("\n")
                return render_code(source, language_of(token.info), width, self.ink)
            case "hr":
                return [line_of([("─" * min(width, MAX_PROSE_WIDTH), self.ink.rule)])]
            case "table_open":
                return self._table(start, width)
            case _:
                return wrap([(token.content.rstrip("\n"), self.ink.muted)], width) if token.content else []

    def _text(self, token: "Token", width: int, style: Style) -> list[Line]:
        return wrap(self._inline(token, style), min(width, MAX_PROSE_WIDTH))

    def _list(self, start: int, width: int, style: Style) -> list[Line]:
        opening = self.tokens[start]
        number = _start_number(opening)
        if self.ordinal is not None and start == 0 and number is not None:
            number = self.ordinal
        self.list_depth += 1
        rows: list[Line] = []
        last_line = -1
        item = start + 1
        while item < self.ends[start]:
            if rows and self._has_gap(last_line, self.tokens[item]):
                rows.append(BLANK)
            rows += self._item(item, number, width, style)
            last_line = self._last_line(self.tokens[item])
            number = None if number is None else number + 1
            item = self.ends[item] + 1
        self.list_depth -= 1
        return rows

    def _item(self, start: int, number: int | None, width: int, style: Style) -> list[Line]:
        marker = f"{BULLETS[(self.list_depth - 1) % 3]} " if number is None else f"{number}. "
        if len(marker) + MIN_INDENTED > width + 2:
            marker = ""
        inner = self.blocks(start + 1, self.ends[start], width - len(marker), style) or [BLANK]
        return indent(inner, (marker, self.ink.accent), (" " * len(marker), PLAIN), copied=True)

    def _table(self, start: int, width: int) -> list[Line]:
        table: list[list[list[Span]]] = []
        alignments: list[str] = []
        for token in self.tokens[start : self.ends[start]]:
            if token.type == "tr_open":
                table.append([])
            elif token.type == "th_open":
                alignments.append(str(token.attrs.get("style", "")).removeprefix("text-align:"))
            elif token.type == "inline":
                table[-1].append(self._inline(token, self.ink.strong if len(table) == 1 else PLAIN))
        return render_table(table, alignments, width, self.ink)

    def _inline(self, token: "Token", style: Style) -> list[Span]:
        spans: list[Span] = []
        styles = [style]
        target = ""
        for child in token.children or ():
            match child.type:
                case "softbreak" | "hardbreak":
                    spans.append(("\n", style))
                case "code_inline":
                    spans.append((child.content, styles[-1] + self.ink.inline_code))
                case "strong_open":
                    styles.append(styles[-1] + self.ink.strong)
                case "em_open":
                    styles.append(styles[-1] + self.ink.emphasis)
                case "s_open":
                    styles.append(styles[-1] + self.ink.strike)
                case "link_open":
                    target = str(child.attrs.get("href", ""))
                    styles.append(styles[-1] + self.ink.link)
                    label_start = len(spans)
                case "link_close":
                    styles.pop()
                    label = "".join(text for text, _ in spans[label_start:])
                    spans += self._link_target(label, target)
                case "image":
                    spans.append((f"▣ {child.content}", styles[-1] + self.ink.link))
                    spans += self._link_target(child.content, str(child.attrs.get("src", "")))
                case "strong_close" | "em_close" | "s_close":
                    styles.pop()
                case _:
                    spans.append((child.content, styles[-1]))
        return spans

    def _link_target(self, label: str, target: str) -> list[Span]:
        """Return the address behind a link, so that nobody has to guess it; none when it is the label itself."""
        address = literal(target)
        if not address or address.removeprefix("mailto:") == label:
            return []
        return [(f" ({address})", self.ink.muted)]


def _matching_ends(tokens: "Sequence[Token]") -> list[int]:
    """Return for each token the index of the one that closes it; a token that opens nothing closes itself."""
    ends = list(range(len(tokens)))
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.nesting == 1:
            opened.append(index)
        elif token.nesting == -1:
            ends[opened.pop()] = index
    return ends


def _start_number(token: "Token") -> int | None:
    if token.type == "bullet_list_open":
        return None
    return int(token.attrs.get("start", 1))
