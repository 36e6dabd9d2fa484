"""Rows of styled text: how spans are wrapped to a width and how rows get bars, bullets and indents."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from rich.style import Style

from smith_tui.transcript.cells import cell_width, cut

Span = tuple[str, Style]
PLAIN = Style.null()
TAB = "    "

_ASCII_TOKENS = re.compile(r"\n|[ \t]+|[^ \t\n]+")
_TOKENS = (
    r"\n|[ \t]+"
    # A character of a script written without spaces, and the closing marks that may not begin a row.
    r"|[\u2e80-\u303f\u3040-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff00-\uff60][\u3001\u3002\uff01\uff09\uff0c\uff1f]*"
    r"|[^ \t\n\u2e80-\u303f\u3040-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff00-\uff60]+"
)


MAX_PROSE_WIDTH = 110
"""Cells; longer rows of prose are hard to read, so wide terminals leave room at the right."""


class Line(NamedTuple):
    """One row on the screen.

    cells: width of `spans`. lead: how many characters at the start are decoration, which a copy leaves out.
    joint: None where the source has a line break before this row, else the source's white space that the
    wrapping swallowed. fill: style of the rest of the row.
    """

    spans: tuple[Span, ...] = ()
    cells: int = 0
    lead: int = 0
    joint: str | None = None
    fill: Style | None = None

    @property
    def text(self) -> str:
        """The row's characters, decoration included."""
        return "".join(text for text, _ in self.spans)

    @property
    def content(self) -> str:
        """The row's characters without decoration and trailing space."""
        return self.text[self.lead :].rstrip()


BLANK = Line()


def line_of(spans: Iterable[Span], *, lead: int = 0, joint: str | None = None, fill: Style | None = None) -> Line:
    """Make a row of spans, neighbours of the same style joined."""
    merged = tuple(merge(spans))
    return Line(merged, sum(cell_width(text) for text, _ in merged), lead, joint, fill)


def merge(spans: Iterable[Span]) -> Iterable[Span]:
    """Join neighbouring spans of the same style and leave empty ones out."""
    text, style = "", PLAIN
    for next_text, next_style in spans:
        if not next_text:
            continue
        if text and next_style is style:
            text += next_text
            continue
        if text:
            yield text, style
        text, style = next_text, next_style
    if text:
        yield text, style


def indent(lines: Sequence[Line], first: Span, rest: Span, *, copied: bool = False) -> list[Line]:
    """Put `first` in front of the first row and `rest`, of the same width, in front of the others.

    copied: the prefix is part of the text (a bullet), not decoration.
    """
    result = []
    for index, line in enumerate(lines):
        text, style = rest if index else first
        decoration = line.joint is not None or line.lead or not copied
        result.append(
            Line(
                ((text, style), *line.spans),
                line.cells + cell_width(text),
                len(text) + line.lead if decoration else 0,
                line.joint,
                line.fill,
            )
        )
    return result


def wrap(spans: Sequence[Span], width: int) -> list[Line]:
    """Break spans into rows of at most `width` cells, at white space where possible; newlines end a row.

    A word of several styles is kept together; one longer than a row is cut. Leading space stays.
    """
    width = max(1, width)
    if len(spans) == 1:
        text = spans[0][0]
        if text.isascii() and len(text) <= width and text.isprintable():
            return [Line(((text.rstrip(), spans[0][1]),), len(text.rstrip()))] if text.rstrip() else [BLANK]
    filler = _Filler(width)
    word: list[Span] = []
    for text, style in spans:
        for token in _tokens(text):
            if token[0] in " \t\n" or token[0] >= "\u2e80":
                filler.add_word(word)
                word = []
            if token[0] == "\n":
                filler.end_row(None)
            elif token[0] in " \t":
                filler.add_space(token.replace("\t", TAB), style)
            elif token[0] >= "\u2e80":
                filler.add_word([(token, style)])
            else:
                word.append((token, style))
    filler.add_word(word)
    filler.end_row(None)
    return filler.lines


def _tokens(text: str) -> list[str]:
    return (_ASCII_TOKENS if text.isascii() else _all_tokens()).findall(text)


@cache
def _all_tokens() -> re.Pattern[str]:
    # Takes milliseconds, for it lists tens of thousands of characters, and a start needs none of them.
    return re.compile(_TOKENS)


class _Filler:
    """Fills rows word by word."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines: list[Line] = []
        self.row: list[Span] = []
        self.cells = 0
        self.joint: str | None = None
        self.space: Span = ("", PLAIN)

    def add_space(self, text: str, style: Style) -> None:
        if self.joint is None or self.row:
            self.space = (self.space[0] + text, style)

    def add_word(self, word: list[Span]) -> None:
        if not word:
            return
        need = sum(cell_width(text) for text, _ in word)
        if self.cells + len(self.space[0]) + need > self.width:
            if need <= self.width and self.row:
                self.end_row(self.space[0])
            else:
                self._add_long(word)
                return
        self._put_space()
        self.row += word
        self.cells += need

    def end_row(self, joint: str | None) -> None:
        """Close the row; `joint` is what the next one has swallowed, None for a line break of the source."""
        self.lines.append(line_of(self.row, joint=self.joint))
        self.row = []
        self.cells = 0
        self.joint = joint
        self.space = ("", PLAIN)

    def _put_space(self) -> None:
        text, style = self.space
        if text:
            self.row.append((text, style))
            self.cells += len(text)
            self.space = ("", PLAIN)

    def _add_long(self, word: list[Span]) -> None:
        """Cut a word that fits no row, beginning in the room that this row has left."""
        room = self.width - self.cells - 1
        if self.row and len(self.space[0]) > room:
            self.end_row(self.space[0])
        self.space = (self.space[0][:room], self.space[1])
        self._put_space()
        for text, style in word:
            rest = text
            while rest:
                head, tail = cut(rest, self.width - self.cells)
                if not head and not self.row:
                    head, tail = rest[:1], rest[1:]
                if head:
                    self.row.append((head, style))
                    self.cells += cell_width(head)
                rest = tail
                if rest:
                    self.end_row("")
