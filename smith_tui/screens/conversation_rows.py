"""How one conversation stands in the list: its title and age, and below them folder, messages and size."""

from collections.abc import Iterator

from rich.style import Style

from smith_tui import wording
from smith_tui.sanitize import literal
from smith_tui.screens.stored import StoredConversation
from smith_tui.transcript.cells import cell_width, cut_to
from smith_tui.transcript.lines import PLAIN, Line, Span, line_of
from smith_tui.widgets.result_list import Frame

UNTITLED = "untitled"
_BAR = "▌ "
_INDENT = "  "
_SEPARATOR = " · "
_MIN_SPELLED_OUT = 40
"""Cells; narrower lists shorten what they say of the process that has a conversation."""
_BOLD = Style(bold=True)


def conversation_rows(
    conversation: StoredConversation, holder: int | None, now: float, frame: Frame, *, is_current: bool = False
) -> list[Line]:
    """Return two rows; the first suffices where there is little room.

    holder: the process that has the conversation open, 0 when it is not known, None when nobody has.
    now: seconds since the epoch. is_current: it is the conversation that is shown behind the list.
    """
    bar: Span = (_BAR, frame.ink.accent) if frame.is_selected else (_INDENT, PLAIN)
    room = max(1, frame.width - len(_BAR) - 1)
    return [
        line_of([bar, *_first_row(conversation, holder, now, room, frame, is_current=is_current)]),
        line_of([bar, *_second_row(conversation, room, frame)]),
    ]


def title_of(conversation: StoredConversation) -> str:
    """Return the title as one literal line, never empty."""
    return literal(conversation.title).strip() or UNTITLED


def _first_row(
    conversation: StoredConversation, holder: int | None, now: float, room: int, frame: Frame, *, is_current: bool
) -> Iterator[Span]:
    ink = frame.ink
    age = wording.age(conversation.updated_at, now)
    mark: Span = ("", PLAIN)
    if holder is not None:
        named = f"open in process {holder}" if room >= _MIN_SPELLED_OUT else f"pid {holder}"
        mark = (named if holder else "open elsewhere", ink.warning)
    elif is_current:
        mark = ("this one", ink.accent)
    ends = [(text, style) for text, style in (mark, (age, ink.muted)) if text]
    need = sum(cell_width(text) + len(_INDENT) for text, _ in ends)
    title = cut_to(title_of(conversation), room - need)
    yield title, ink.muted if not conversation.title.strip() else ink.bright + _BOLD if frame.is_selected else PLAIN
    yield " " * max(0, room - need - cell_width(title)), PLAIN
    for text, style in ends:
        yield _INDENT, PLAIN
        yield text, style


def _second_row(conversation: StoredConversation, room: int, frame: Frame) -> Iterator[Span]:
    count = conversation.message_count
    facts = f"{count:,} message{'' if count == 1 else 's'}{_SEPARATOR}{wording.size(conversation.size_bytes)}"
    folder = wording.cut_start(wording.folder(conversation.cwd), room - len(facts) - len(_SEPARATOR))
    if folder:
        yield f"{folder}{_SEPARATOR}", frame.ink.muted
    yield cut_to(facts, room), frame.ink.muted
