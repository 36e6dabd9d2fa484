"""Source code as rows: highlighted line by line, the state of the lexer carried from one line to the next."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from rich.style import Style

from smith_tui.transcript.cells import cell_width, cut, cut_to, visible
from smith_tui.transcript.ink import Ink
from smith_tui.transcript.lines import Line, Span, line_of

MAX_HIGHLIGHTED_LINE = 2_000
"""Characters; a longer line (minified code) is shown plain, lexers take too long over it."""
MAX_EMPTY_MATCHES = 200
"""Matches of no text in a row after which a lexer is taken to be stuck, as a few of pygments' are."""

Token = tuple[str, ...]
_COMMENT: Token = ("Comment", "Multiline")
_DELIMITERS = (("/*", "*/"), ("<!--", "-->"), ("--[[", "]]"), ("{-", "-}"), ("(*", "*)"))
"""Comments over several lines that many lexers take as one match, which a line alone cannot be."""
_LEXER_FAULTS = (AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


class LexerState(NamedTuple):
    """Where a lexer stands between two lines: its stack of states, and the mark that ends an open comment."""

    stack: tuple[str, ...] = ("root",)
    closing: str = ""


START = LexerState()


def language_of(info: str) -> str:
    """Return the language that a fence's info string names, or an empty string."""
    words = info.split(maxsplit=1)
    return words[0].strip("{}.").split(",")[0].lower() if words else ""


class LineLexer:
    """Splits the lines of one language into tokens; an unknown language gives one plain token a line."""

    def __init__(self, language: str) -> None:
        self._lexer, self._carries = _lexer(language)
        self._delimiters = _torn_delimiters(language) if self._carries else ()

    def lex(self, line: str, state: LexerState) -> tuple[list[tuple[Token, str]], LexerState]:
        """Return the tokens of one line without its newline, and the state behind it."""
        if self._lexer is None or len(line) > MAX_HIGHLIGHTED_LINE:
            return [((), line)], state
        try:
            if not self._carries:
                return _without_newline(self._lexer.get_tokens_unprocessed(line + "\n")), state
            return self._lex_carrying(line, state)
        except _LEXER_FAULTS:
            return [((), line)], START

    def _lex_carrying(self, line: str, state: LexerState) -> tuple[list[tuple[Token, str]], LexerState]:
        tokens: list[tuple[Token, str]] = []
        rest = line
        if state.closing:
            end = line.find(state.closing)
            if end < 0:
                return [(_COMMENT, line)], state
            end += len(state.closing)
            tokens.append((_COMMENT, line[:end]))
            rest = line[end:]
        stack = list(state.stack)
        lexed = _without_newline(lex_from(self._lexer, rest + "\n", stack))
        opening = self._opened_comment(rest, lexed)
        if opening is None:
            return tokens + lexed, LexerState(tuple(stack))
        start, closing = opening
        stack = list(state.stack)
        tokens += lex_from_text(self._lexer, rest[:start], stack)
        return [*tokens, (_COMMENT, rest[start:])], LexerState(tuple(stack), closing)

    def _opened_comment(self, line: str, tokens: Sequence[tuple[Token, str]]) -> tuple[int, str] | None:
        """Return where a comment begins that this line does not end, and its closing mark."""
        for opening, closing in self._delimiters:
            if opening not in line:
                continue
            position = 0
            for token, text in tokens:
                start = line.find(opening, position, position + len(text) + len(opening) - 1)
                is_inside = token[:2] == ("Literal", "String") or (start != position and token[:1] == ("Comment",))
                position += len(text)
                if start < 0 or is_inside:
                    continue
                if line.find(closing, start + len(opening)) < 0:
                    return start, closing
        return None


def lex_from_text(lexer: Any, text: str, stack: list[str]) -> list[tuple[Token, str]]:
    """Return the tokens of `text`, the lexer starting in `stack`, which is changed."""
    return [(token, value) for token, value in lex_from(lexer, text, stack) if value]


def lex_from(lexer: Any, text: str, stack: list[str]) -> Iterator[tuple[Token, str]]:
    """Do what pygments' RegexLexer.get_tokens_unprocessed does, but leave the final state in `stack`."""
    definitions = lexer._tokens
    position = 0
    stalled = 0
    while position < len(text):
        for match_at, action, new_state in definitions[stack[-1]]:
            match = match_at(text, position)
            if match is None:
                continue
            if isinstance(action, tuple):
                yield action, match.group()
            elif action is not None:
                yield from ((token, value) for _, token, value in action(lexer, match))
            stalled = stalled + 1 if match.end() == position else 0
            position = match.end()
            if new_state is not None:
                _change_state(stack, new_state)
            if stalled > MAX_EMPTY_MATCHES:
                raise ValueError("the lexer goes round in circles")
            break
        else:
            if text[position] == "\n":
                stack[:] = ["root"]
            yield (), text[position]
            position += 1


def _change_state(stack: list[str], new_state: Any) -> None:
    for step in new_state if isinstance(new_state, tuple) else (new_state,):
        if isinstance(step, int):
            del stack[max(1, len(stack) + step if step < 0 else step) :]
        elif step == "#pop":
            del stack[max(1, len(stack) - 1) :]
        else:
            stack.append(stack[-1] if step == "#push" else step)


def _without_newline(tokens: Iterable[Any]) -> list[tuple[Token, str]]:
    """Return (token, text) pairs without the newline at the end; takes pairs or pygments' triples."""
    pairs = [(item[-2], item[-1]) for item in tokens if item[-1]]
    while pairs and pairs[-1][1].endswith("\n"):
        token, text = pairs.pop()
        if len(text) > 1:
            pairs.append((token, text[:-1]))
            break
        break
    return pairs


@lru_cache(64)
def _lexer(language: str) -> tuple[Any, bool]:
    """Return pygments' lexer, or None, and whether its state can be carried over lines."""
    if not language:
        return None, False
    from pygments.lexer import ExtendedRegexLexer, RegexLexer
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None, False
    return lexer, isinstance(lexer, RegexLexer) and not isinstance(lexer, ExtendedRegexLexer)


@lru_cache(64)
def _torn_delimiters(language: str) -> tuple[tuple[str, str], ...]:
    """Return the comment marks of a language whose lexer finds such a comment only when it has all its lines."""
    lexer, _ = _lexer(language)
    try:
        return tuple(pair for pair in _DELIMITERS if _is_torn(lexer, *pair))
    except _LEXER_FAULTS:
        return ()


def _is_torn(lexer: Any, opening: str, closing: str) -> bool:
    whole = lex_from_text(lexer, f"{opening} a\n b {closing}\n", ["root"])
    stack = ["root"]
    lex_from_text(lexer, f"{opening} a\n", stack)
    second_line = lex_from_text(lexer, f" b {closing}\n", stack)
    is_comment = "\n b" in whole[0][1] and whole[0][0][:1] == ("Comment",)
    return is_comment and second_line[0][0][:1] != ("Comment",)


class CodeWriter:
    """Turns the lines of one fence into rows, one after the other."""

    def __init__(self, language: str, state: LexerState = START) -> None:
        self.lexer = LineLexer(language)
        self.state = state

    def rows(self, line: str, width: int, ink: Ink, *, advance: bool = True) -> list[Line]:
        """Return the rows of one line in `width` cells; without `advance` the state stays (an unfinished line)."""
        line = visible(line).expandtabs(4)
        tokens, state = self.lexer.lex(line, self.state)
        if advance:
            self.state = state
        return code_rows([(text, ink.code[token]) for token, text in tokens], width, ink.surface)


def render_code(source: str, language: str, width: int, ink: Ink) -> list[Line]:
    """Return all rows of a whole piece of code, `source` without its last newline, the language's name on top."""
    writer = CodeWriter(language)
    rows = code_head(language, width, ink)
    for line in source.split("\n"):
        rows += writer.rows(line, width, ink)
    return rows


def code_head(language: str, width: int, ink: Ink) -> list[Line]:
    """Return the row above a piece of code that names its language, none without one."""
    if not language:
        return []
    name = cut_to(f" {visible(language)}", width)
    return [Line(((name, ink.surface_muted),), cell_width(name), len(name), None, ink.surface)]


def code_rows(spans: Sequence[Span], width: int, ground: Style) -> list[Line]:
    """Break one line of code into rows of at most `width` cells on `ground`, with a cell of space at the left."""
    pad: Span = (" " if width > 2 else "", ground)
    lead = len(pad[0])
    room = max(1, width - lead)
    if sum(cell_width(text) for text, _ in spans) <= room:
        return [line_of((pad, *spans), lead=lead, fill=ground)]
    rows: list[Line] = []
    row: list[Span] = []
    used = 0
    for text, style in spans:
        rest = text
        while rest:
            head, tail = cut(rest, room - used)
            if not head and not row:
                head, tail = rest[:1], rest[1:]
            if head:
                row.append((head, style))
                used += cell_width(head)
            rest = tail
            if rest:
                rows.append(line_of((pad, *row), lead=lead, joint="" if rows else None, fill=ground))
                row, used = [], 0
    rows.append(line_of((pad, *row), lead=lead, joint="" if rows else None, fill=ground))
    return rows
