"""What a pane knows of its child, and the one row that says it: a frozen state, and pure functions of it."""

from typing import Literal

import msgspec

from smith_core.events import ChildStarted
from smith_core.report import DispatchResult
from smith_core.roles import ROLES
from smith_tui.sanitize import literal
from smith_tui.transcript.cells import cell_width, cut_to
from smith_tui.transcript.dispatch_card import OUTCOME_MARKS, Outcome
from smith_tui.who import alias_of, palette_of
from smith_tui.widgets.status_line import StatusState, format_count, format_seconds

Tone = Literal["line", "muted", "accent", "alias", "text", "success", "warning", "error"]
Piece = tuple[str, Tone]

_TONES: dict[Outcome, Tone] = {
    "running": "accent",
    "ok": "success",
    "partial": "warning",
    "blocked": "error",
    "cancelled": "muted",
}
_MIN_TASK_CELLS = 8
_ALIAS_CELLS = max(len(spec.alias) for spec in ROLES.values())
_COLUMNS = (len("cancelled"), len("↑12.3k ↓12.3k"), len("1:02:03"))
"""Cells of state, tokens and time in wide strips."""
_GAP = 2


class ChildState(msgspec.Struct, frozen=True, kw_only=True):
    """One dispatched child; `number` counts from 1 and is what Alt+digit names, times are seconds of a steady clock.

    status: model, activity and tokens, "idle" before the first request. summary: of its report.
    """

    job_id: str
    call_id: str
    number: int
    role: str
    task: str
    started_at: float
    status: StatusState = StatusState()
    outcome: Outcome = "running"
    summary: str = ""
    ended_at: float | None = None

    @property
    def alias(self) -> str:
        """The role's name on the screen."""
        return alias_of(self.role)

    @property
    def palette(self) -> str:
        """The role's colour."""
        return palette_of(self.role)

    @property
    def is_running(self) -> bool:
        """Whether it is not over yet."""
        return self.outcome == "running"


def begun(event: ChildStarted, number: int, now: float) -> ChildState:
    """Return the state of a child that has just begun."""
    return ChildState(
        job_id=event.job_id,
        call_id=event.call_id,
        number=number,
        role=event.role,
        task=event.task,
        started_at=now,
        status=StatusState(model=event.model),
    )


def ended(state: ChildState, result: DispatchResult, duration_s: float, now: float) -> ChildState:
    """Return the state after a child's end; its reported usage counts when it is more than was seen."""
    status = msgspec.structs.replace(
        state.status,
        activity="idle",
        tokens_in=max(state.status.tokens_in, result.usage.input_tokens),
        tokens_out=max(state.status.tokens_out, result.usage.output_tokens),
    )
    return msgspec.structs.replace(
        state,
        status=status,
        outcome="cancelled" if result.cancelled else result.status,
        summary=result.summary,
        ended_at=state.started_at + duration_s if duration_s else now,
    )


def activity_words(state: ChildState, now: float) -> Piece:
    """Return what the child does, or how it ended."""
    status = state.status
    if not state.is_running:
        return state.outcome, _TONES[state.outcome]
    match status.activity:
        case "retry":
            wait = max(0, round(status.retry_at - now))
            return f"retry {status.attempt}/{status.max_attempts} in {wait} s", "warning"
        case "streaming":
            return "writing", "accent"
        case "tool":
            return literal(status.tool_name) or "tool", "accent"
        case "thinking":
            return "thinking", "accent"
        case "asking":
            return "asks you", "warning"
        case _:
            return "waiting", "muted"


def title(state: ChildState, now: float, width: int, *, is_strip: bool) -> list[Piece]:
    """Return pieces of exactly `width` cells: who, what for, and at the right what it does, tokens and time.

    A strip has the summary of the report behind the task. When room is short, tokens go first, then time, then task.
    The piece in the middle, of tone "line", is what a frame continues in.
    """
    mark, tone = OUTCOME_MARKS[state.outcome], _TONES[state.outcome]
    # Strips stand one below the other, so what they say does, too.
    alias = literal(state.alias).ljust(_ALIAS_CELLS if is_strip else 0)
    who: list[Piece] = [(mark, tone), (f" {state.number} ", "muted"), (alias, "alias")]
    facts = _fitting_facts(state, now, width - _cells(who) - 2 * _GAP - _MIN_TASK_CELLS, in_columns=is_strip)
    room = width - _cells(who) - _cells(facts) - 2 * _GAP
    middle = _middle(state, room, with_summary=is_strip and not state.is_running)
    left = [*who, *([(" " * _GAP, "text"), *middle] if middle else [])]
    filler = " " * max(1, width - _cells(left) - _cells(facts))
    return clipped([*left, (filler, "line"), *facts], width)


def _middle(state: ChildState, room: int, *, with_summary: bool) -> list[Piece]:
    if room < 1:
        return []
    task = _one_line(state.task)
    summary = _one_line(state.summary) if with_summary else ""
    if not summary or room < 4 * _MIN_TASK_CELLS:
        return [(cut_to(task, room), "text")]
    task = cut_to(task, max(room // 2, room - cell_width(summary) - 3))
    return [(task, "text"), (" — ", "muted"), (cut_to(summary, room - cell_width(task) - 3), "muted")]


def _fitting_facts(state: ChildState, now: float, room: int, *, in_columns: bool) -> list[Piece]:
    """Return as many facts as fit, the most important ones; those for which nothing is left are shortened."""
    words, tone = activity_words(state, now)
    time = format_seconds((now if state.ended_at is None else state.ended_at) - state.started_at)
    status = state.status
    tokens = f"↑{format_count(status.tokens_in)} ↓{format_count(status.tokens_out)}"
    facts: list[Piece] = [(words, tone), (time, "muted")]
    if status.tokens_in or status.tokens_out:
        facts.insert(1, (tokens, "muted"))
    columns = zip(facts, _COLUMNS if len(facts) > 2 else (_COLUMNS[0], _COLUMNS[2]), strict=True)
    if in_columns and sum(_COLUMNS) + 2 * _GAP <= room // 2:
        facts = [(text.ljust(cells) if text is words else text.rjust(cells), style) for (text, style), cells in columns]
    while len(facts) > 1 and _cells(facts) + _GAP * (len(facts) - 1) > room:
        del facts[1]
    spaced: list[Piece] = []
    for text, style in facts:
        if spaced:
            spaced.append((" " * _GAP, "text"))
        spaced.append((cut_to(text, max(_MIN_TASK_CELLS, room)), style))
    return spaced


def _one_line(text: str) -> str:
    return literal(" ".join(text[:2000].split()))


def _cells(pieces: list[Piece]) -> int:
    return sum(cell_width(text) for text, _ in pieces)


def clipped(pieces: list[Piece], width: int) -> list[Piece]:
    """Return pieces cut off at `width` cells."""
    kept: list[Piece] = []
    for text, tone in pieces:
        shown = text if cell_width(text) <= width else cut_to(text, width)
        width -= cell_width(shown)
        if shown:
            kept.append((shown, tone))
    return kept
