"""How one passage stands in the results of a search: who, when and where, and below it what was said."""

from collections.abc import Iterator

from rich.style import Style

from smith_tui import wording
from smith_tui.sanitize import literal
from smith_tui.screens.stored import Passage, StoredConversation
from smith_tui.transcript.cells import cell_width, cut_to
from smith_tui.transcript.ink import Ink
from smith_tui.transcript.lines import BLANK, PLAIN, Line, Span, line_of, wrap
from smith_tui.widgets.result_list import Frame

EXCERPT_ROWS = 2
BAR = "▌ "
_GAP = "  "
_SEPARATOR = " · "
_MIN_FOLDER = 8


def passage_rows(passage: Passage, conversation: StoredConversation | None, now: float, frame: Frame) -> list[Line]:
    """Return the heading and EXCERPT_ROWS rows of excerpt; `now` in seconds since the epoch."""
    ink = frame.ink
    bar: Span = (BAR, ink.accent) if frame.is_selected else (_GAP, PLAIN)
    room = max(1, frame.width - len(BAR) - 1)
    heading = line_of([bar, *_heading(passage, conversation, now, room, ink)])
    rows = wrap(list(excerpt_spans(passage, ink)), room)
    if len(rows) > EXCERPT_ROWS:
        rows = [*rows[: EXCERPT_ROWS - 1], _ending_in_ellipsis(rows[EXCERPT_ROWS - 1], room)]
    rows += [BLANK] * (EXCERPT_ROWS - len(rows))
    return [heading, *(line_of([bar, *row.spans]) for row in rows)]


def speaker(passage: Passage, ink: Ink) -> Span:
    """Return who said it, in a colour of their own."""
    match passage.kind, passage.role:
        case _ if passage.job_id and passage.role in ("assistant", "task"):
            return "child" if passage.role == "assistant" else "task of a child", ink.accent
        case ("note", _):
            return f"note {literal(passage.note_id)}", ink.warning
        case ("project_memory", _):
            return f"project memory {literal(passage.note_id)}", ink.warning
        case (_, "user"):
            return "you", ink.bright
        case (_, "assistant"):
            return "agent", ink.accent
        case (_, "tool"):
            return literal(passage.tool) or "tool", ink.info
        case (_, role):
            return literal(role), ink.muted


def excerpt_spans(passage: Passage, ink: Ink) -> Iterator[Span]:
    """Return the excerpt as literal text, what was found in it marked; ranges beyond its end are ignored."""
    text, position = passage.excerpt, 0
    style = Style() if passage.role != "tool" else ink.muted
    for start, end in passage.highlights:
        if position <= start < end <= len(text):
            yield literal(text[position:start]), style
            yield literal(text[start:end]), ink.found
            position = end
    yield literal(text[position:]), style


def found_text(passage: Passage) -> str:
    """Return the longest piece of text that was found."""
    found = (passage.excerpt[start:end] for start, end in passage.highlights)
    return max(found, key=len, default="")


def _heading(
    passage: Passage, conversation: StoredConversation | None, now: float, room: int, ink: Ink
) -> Iterator[Span]:
    name, style = speaker(passage, ink)
    name = cut_to(name, max(5, room // 3))
    yield name, style + Style(bold=True)
    room -= cell_width(name)
    if when := wording.age(passage.time, now):
        yield f"{_SEPARATOR}{when}", ink.muted
        room -= cell_width(when) + len(_SEPARATOR)
    if conversation is None:
        return
    title = cut_to(literal(conversation.title) or "untitled", room - len(_SEPARATOR))
    if title:
        yield _SEPARATOR, ink.muted
        yield title, PLAIN
        room -= cell_width(title) + len(_SEPARATOR)
    folder = wording.cut_start(wording.folder(conversation.cwd), room - len(_SEPARATOR))
    if cell_width(folder) >= min(_MIN_FOLDER, cell_width(wording.folder(conversation.cwd))) > 0:
        yield f"{_SEPARATOR}{folder}", ink.muted


def _ending_in_ellipsis(row: Line, room: int) -> Line:
    if row.cells < room:
        return line_of([*row.spans, ("…", PLAIN)])
    *spans, (text, style) = row.spans
    return line_of([*spans, (cut_to(text, cell_width(text) - 1).removesuffix("…") + "…", style)])
