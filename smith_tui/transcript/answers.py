"""The blocks of an answer: pieces of its markdown, and pieces of its fences."""

from collections.abc import Mapping
from typing import Any

from smith_core.frozen import EMPTY_MAPPING
from smith_tui.transcript.blocks import Block, in_gutter, inner_width
from smith_tui.transcript.cells import visible
from smith_tui.transcript.code import START, CodeWriter, LexerState, code_head, language_of
from smith_tui.transcript.ink import Ink
from smith_tui.transcript.lines import PLAIN, Line, Span
from smith_tui.transcript.markdown import find_references, render_markdown
from smith_tui.transcript.splitter import MAX_CODE_LINES, Piece

MAX_HIGHLIGHTED_LINES = 2_000
"""Of one fence; the state of its lexer is not followed further than this."""


def may_define(source: str) -> bool:
    """Whether a text may define a link reference."""
    return "]:" in source


class Answer:
    """What all blocks of one answer share: its role's palette and its link reference definitions."""

    __slots__ = ("_references", "_unread", "palette")

    def __init__(self, palette: str) -> None:
        self.palette = palette
        self._references: Mapping[str, Any] = EMPTY_MAPPING
        self._unread: tuple[str, ...] = ()

    def note_definitions(self, source: str) -> bool:
        """Keep `source` for later when it may define a link reference; say whether it may."""
        if not may_define(source):
            return False
        self._unread += (source,)
        return True

    @property
    def references(self) -> Mapping[str, Any]:
        """The definitions of all text so far."""
        if self._unread:
            known = dict(self._references)
            for source in self._unread:
                find_references(source, known)
            self._references, self._unread = known, ()
        return self._references


class Prose(Block):
    """A piece of markdown of an answer; the first one of an answer carries its mark."""

    __slots__ = ("_ordinal", "_source", "answer", "is_first")

    def __init__(self, piece: Piece, answer: Answer, *, is_first: bool) -> None:
        super().__init__(answer.palette, has_gap=piece.has_gap or is_first)
        self.take(piece)
        self.answer = answer
        self.is_first = is_first

    def take(self, piece: Piece) -> None:
        """Show this piece from now on."""
        self._source = piece.source
        self._ordinal = piece.ordinal

    @property
    def text(self) -> str:
        """The markdown source."""
        return self._source

    def rows(self, width: int, ink: Ink) -> list[Line]:
        """Return the rendered markdown."""
        lines = render_markdown(self._source, inner_width(width), ink, self.answer.references, self._ordinal)
        return in_gutter(lines, width, _mark(self.is_first, ink))


def _mark(is_first: bool, ink: Ink) -> Span:
    """Return what stands in the gutter beside the first row of a block."""
    return ("◆ ", ink.accent) if is_first else ("  ", PLAIN)


class Code(Block):
    """A fence, or up to MAX_CODE_LINES lines of a longer one; `previous` is the part before."""

    __slots__ = ("_end", "_grown", "_number", "_previous", "is_first", "is_growing", "partial", "piece")

    def __init__(self, piece: Piece, answer: Answer, previous: "Code | None", *, is_first: bool) -> None:
        super().__init__(answer.palette, has_gap=piece.has_gap or is_first)
        self.piece = piece
        self.is_first = is_first
        self.is_growing = False
        self.partial = ""
        """An unfinished line behind the piece."""
        self._previous = None if piece.starts_fence else previous
        self._number: int = self._previous._number + 1 if self._previous else 0
        self._end: LexerState | None = None
        self._grown: _GrownCode | None = None

    def take(self, piece: Piece) -> None:
        """Show this piece from now on."""
        self.piece = piece

    @property
    def text(self) -> str:
        """The source without the fence's marks."""
        return self.piece.source

    def estimate(self, width: int) -> int:
        """Count the lines; few lines of code are longer than a row."""
        return 1 + self.piece.source.count("\n") + bool(self.piece.language)

    def freeze(self) -> None:
        """Take notice that the piece is complete: rows are no longer kept for growing."""
        self.is_growing = False
        self.partial = ""
        self._grown = None

    def rows(self, width: int, ink: Ink) -> list[Line]:
        """Return the highlighted lines; only those that came since the last call are lexed again."""
        has_lines = self.piece.source or not self.is_growing
        lines = self.piece.source.split("\n") if has_lines else []
        grown = self._grown
        if grown is None or grown.width != width or grown.ink is not ink:
            grown = self._grown = _GrownCode(width, ink, CodeWriter(self._language, self._start_state()))
            if self.piece.starts_fence:
                grown.rows += code_head(language_of(self.piece.language or ""), inner_width(width), ink)
        for line in lines[grown.line_count :]:
            grown.rows += grown.writer.rows(line, inner_width(width), ink)
        grown.line_count = len(lines)
        self._end = grown.writer.state
        if not self.is_growing:
            self._grown = None
        rows = list(grown.rows)
        if self.partial:
            rows += grown.writer.rows(self.partial, inner_width(width), ink, advance=False)
        return in_gutter(rows, width, _mark(self.is_first, ink))

    @property
    def _language(self) -> str:
        is_followed = self._number * MAX_CODE_LINES < MAX_HIGHLIGHTED_LINES
        return language_of(self.piece.language or "") if is_followed else ""

    def _start_state(self) -> LexerState:
        """Return the lexer's state behind the part before, lexing what nobody has shown yet."""
        if self._previous is None or not self._language:
            return START
        unknown: list[Code] = []
        part: Code | None = self._previous
        while part is not None and part._end is None:
            unknown.append(part)
            part = part._previous
        state = START if part is None or part._end is None else part._end
        for part in reversed(unknown):
            writer = CodeWriter(self._language, state)
            for line in part.piece.source.split("\n"):
                _, writer.state = writer.lexer.lex(visible(line).expandtabs(4), writer.state)
            state = part._end = writer.state
        return state


class _GrownCode:
    """The rows of a fence that is still coming in."""

    def __init__(self, width: int, ink: Ink, writer: CodeWriter) -> None:
        self.width = width
        self.ink = ink
        self.writer = writer
        self.rows: list[Line] = []
        self.line_count = 0
