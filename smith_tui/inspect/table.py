"""How messages stand in the table: number, who, what, sizes, age and first line, as much of it as there is room for."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, NamedTuple, Protocol

from rich.style import Style

from smith_core.messages import Message
from smith_core.text import shorten
from smith_core.tokens import whole_tokens
from smith_core.weighing import message_quarters
from smith_tui import wording
from smith_tui.sanitize import literal
from smith_tui.transcript.cells import cell_width, cut_to
from smith_tui.transcript.ink import Ink
from smith_tui.transcript.lines import PLAIN, Line, Span, line_of, merge
from smith_tui.transcript.summaries import summarize
from smith_tui.widgets.result_list import Frame

WindowState = Literal["sent", "elided", "cut", "dropped"]

STATE_SIGNS: dict[str, str] = {"elided": "◐", "cut": "◓", "dropped": "○"}
"""What stands beside a message that the window does not send as it is."""
MARK = "●"
FAILED, CANCELLED = "✗", "⊘"
_BAR = "▌"
_SIGNS_WIDTH = 4
_MOST_FIRST_CHARS = 400
_LEAST_FIRST_LINE = 12
"""Cells that the first line keeps; the last columns of `_BY_IMPORTANCE` are left out for it."""
_BY_IMPORTANCE = ("tokens", "age", "chars")
_SIZE_WIDTH = 6
_WIDE_FROM = 84
"""Cells from which on the columns stand apart."""
_KIND_WIDTHS = ((72, 14), (64, 11), (0, 9))
"""From how many cells on the kind has how many."""
_BOLD = Style(bold=True)
_EMPTY: Span = ("", PLAIN)


class Entry(Protocol):
    """A stored message and its number."""

    @property
    def sequence(self) -> int: ...  # noqa: D102
    @property
    def message(self) -> Message: ...  # noqa: D102


class Column(NamedTuple):
    """A column: its name, how wide it is, and whether texts stand at its right."""

    name: str
    width: int
    is_right: bool = False
    gap: int = 2


class Facts(NamedTuple):
    """What a row says of a message besides the message; now: seconds since the epoch."""

    number: str
    state: WindowState = "sent"
    is_marked: bool = False
    tokens: int | None = None
    now: float = 0.0


def head_line(width: int, number_width: int, ink: Ink) -> Line:
    """Return the names of the columns."""
    names = [_fitted(column.name, column) for column in _columns(width, number_width)]
    return line_of([(" " * _SIGNS_WIDTH + "".join(names) + "first line", ink.muted)])


def message_row(message: Message, facts: Facts, number_width: int, frame: Frame) -> Line:
    """Return the row of one message."""
    ink = frame.ink
    is_dropped = facts.state == "dropped"
    name, style = speaker(message.role, ink)
    strong = _BOLD if frame.is_selected else PLAIN
    tokens = whole_tokens(message_quarters(message)) if facts.tokens is None else facts.tokens
    texts = {
        "#": (facts.number, ink.muted),
        "role": (name, ink.muted if is_dropped else style + strong),
        "kind": (
            literal(_kind_within(message, _kind_cells(frame.width))),
            ink.muted if is_dropped else _kind_style(message, ink),
        ),
        "chars": (wording.short_count(size_of(message)), ink.muted),
        "tokens": (wording.short_count(tokens), ink.muted),
        "age": (wording.short_age(message.created_at, facts.now), ink.muted),
    }
    first_style = ink.muted if is_dropped or message.role == "tool" else ink.bright if frame.is_selected else PLAIN
    signs = (MARK if facts.is_marked else " ", STATE_SIGNS.get(facts.state, " "))
    return row_line(texts, (first_line(message), first_style), number_width, frame, signs)


def row_line(
    texts: Mapping[str, Span], rest: Span, number_width: int, frame: Frame, signs: tuple[str, str] = (" ", " ")
) -> Line:
    """Return a row of texts by column; signs: the mark, and what the window does."""
    ink = frame.ink
    spans: list[Span] = [
        (_BAR if frame.is_selected else " ", ink.accent),
        (signs[0], ink.warning),
        (f"{signs[1]} ", ink.info),
    ]
    used = _SIGNS_WIDTH
    for column in _columns(frame.width, number_width):
        text, style = texts.get(column.name, _EMPTY)
        spans.append((_fitted(text, column), style))
        used += column.width + column.gap
    text = cut_to(rest[0], max(0, frame.width - used - 1))
    # The columns are as wide as they are: only the last text has to be measured.
    return Line(tuple(merge([*spans, (text, rest[1])])), used + cell_width(text))


def speaker(role: str, ink: Ink) -> Span:
    """Return who said it, in a colour of their own."""
    match role:
        case "user":
            return "you", ink.bright
        case "assistant":
            return "agent", ink.accent
        case "tool":
            return "tool", ink.info
    return literal(role), ink.warning


def kind_of(message: Message) -> str:
    """Return what kind of message it is, in a word or two."""
    if message.role == "tool":
        state = " cancelled" if message.cancelled else "" if message.ok else " failed"
        return f"{message.name or 'result'}{state}"
    if message.metadata is not None and message.metadata.command:
        return "shell line"
    if message.metadata is not None and message.metadata.typed_chars >= 0:
        return "text, files"
    if message.tool_calls:
        count = len(message.tool_calls)
        return message.tool_calls[0].name if count == 1 else f"{count} calls"
    return "interrupted" if message.interrupted else "text"


def first_line(message: Message) -> str:
    """Return the beginning of a message as one literal line; that of an answer without text is its first call."""
    text = message.content[:_MOST_FIRST_CHARS]
    if not text.strip() and message.tool_calls:
        call = message.tool_calls[0]
        text = summarize(call.name, call.arguments) if len(call.arguments) <= 20_000 else call.name
    return literal(shorten(text.strip() or message.reasoning[:_MOST_FIRST_CHARS], _MOST_FIRST_CHARS))


def size_of(message: Message) -> int:
    """Return the characters of a message that are sent to the model."""
    return len(message.content) + sum(len(call.name) + len(call.arguments) for call in message.tool_calls)


def _kind_within(message: Message, cells: int) -> str:
    """Return the kind, with a sign in place of the word for what went wrong with a tool where that is too long."""
    kind = kind_of(message)
    if message.role != "tool" or message.ok or cell_width(kind) <= cells:
        return kind
    return f"{CANCELLED if message.cancelled else FAILED} {message.name or 'result'}"


def _kind_cells(width: int) -> int:
    return next(cells for least, cells in _KIND_WIDTHS if width >= least)


def _kind_style(message: Message, ink: Ink) -> Style:
    if message.role == "tool" and not message.ok:
        return ink.muted if message.cancelled else ink.error
    return ink.warning if message.interrupted else PLAIN


@lru_cache(16)
def _columns(width: int, number_width: int) -> tuple[Column, ...]:
    """Return the columns that there is room for."""
    gap = 2 if width >= _WIDE_FROM else 1
    columns = (
        Column("#", number_width, is_right=True, gap=gap),
        Column("role", 6, gap=gap),
        Column("kind", _kind_cells(width), gap=gap),
    )
    used = _SIGNS_WIDTH + sum(column.width + gap for column in columns)
    count = max(0, width - used - _LEAST_FIRST_LINE) // (_SIZE_WIDTH + gap)
    kept = _BY_IMPORTANCE[:count]
    sizes = (Column(name, _SIZE_WIDTH, is_right=True, gap=gap) for name in ("chars", "tokens", "age") if name in kept)
    return (*columns, *sizes)


def _fitted(text: str, column: Column) -> str:
    """Return a text at the width of its column, with the gap behind it: fewer spans are painted sooner."""
    room = column.width
    if not text.isascii() or len(text) > column.width:
        text = cut_to(text, column.width)
        room += len(text) - cell_width(text)
    return (text.rjust(room) if column.is_right else text.ljust(room)) + " " * column.gap
