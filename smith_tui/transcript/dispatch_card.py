"""The card of a dispatch call: who works on what, what came of it, and the way to the child's transcript."""

import json
from typing import Any, Literal

import msgspec
from rich.style import Style

from smith_core.messages import ToolResult
from smith_core.report import LIST_FIELDS, DispatchResult
from smith_tui.sanitize import literal
from smith_tui.transcript.blocks import MAX_UNFOLDED_ROWS, plain_rows
from smith_tui.transcript.cards import MAX_PREVIEW_CHARS, ToolCard
from smith_tui.transcript.ink import Ink
from smith_tui.transcript.lines import PLAIN, Line, Span, indent, line_of
from smith_tui.transcript.summaries import format_duration, one_line
from smith_tui.who import alias_of, palette_of

Outcome = Literal["running", "ok", "partial", "blocked", "cancelled"]
OUTCOME_MARKS: dict[Outcome, str] = {"running": "●", "ok": "✓", "partial": "◐", "blocked": "✗", "cancelled": "⊘"}

SUMMARY_ROWS = 4
"""Rows of a report's summary that a folded card shows."""
LINK = "↗ open the whole transcript"


class DispatchCard(ToolCard):
    """A dispatch call, in the colour of the child's role; its last row opens the transcript once there is a child."""

    __slots__ = ("report", "role", "task")

    def __init__(self, name: str, arguments: str, palette: str, *, has_gap: bool = True) -> None:
        wanted = _fields(arguments)
        self.role = _text(wanted, "role") or name
        self.task = _text(wanted, "task") or arguments
        self.report: DispatchResult | None = None
        super().__init__(name, arguments, palette_of(self.role), has_gap=has_gap)

    def end(self, result: ToolResult) -> None:
        """Show what the child reported."""
        super().end(result)
        self.job_id = result.metadata.job_id or self.job_id
        try:
            self.report = msgspec.json.decode(result.content, type=DispatchResult, strict=False)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            self.report = None  # a refusal, or what an older version wrote

    @property
    def text(self) -> str:
        """Who, what for, and what was reported."""
        if self.report is None:
            return f"{alias_of(self.role)} {self.task}\n{self._result.content if self._result else ''}"
        items = [item for _, items in self._lists() for item in items]
        return "\n".join([f"{alias_of(self.role)} {self.task}", self.report.summary, *items])

    @property
    def link(self) -> str:
        """The child's job id, once the child is over."""
        return self.job_id if self._result is not None else ""

    @property
    def outcome(self) -> Outcome:
        """How the child stands."""
        if self.state == "running" or self.state == "cancelled":
            return self.state
        return self.report.status if self.report is not None else "blocked"

    @property
    def duration_s(self) -> float:
        """How long the call took, in seconds."""
        return self._result.metadata.duration_s if self._result is not None else 0.0

    def estimate(self, width: int) -> int:
        """Count title, summary and link."""
        if self.is_expanded:
            return super().estimate(width) + 1
        summary = self.report.summary if self.report else ""
        return 1 + min(SUMMARY_ROWS, -(-len(summary) // max(1, width - 6))) + bool(self.link)

    def _who(self, ink: Ink) -> tuple[str, Span]:
        return one_line(self.task[:MAX_PREVIEW_CHARS]), (literal(alias_of(self.role)), ink.alias)

    def _mark(self, ink: Ink) -> Span:
        return OUTCOME_MARKS[self.outcome], self._style(ink)

    def _facts(self, ink: Ink) -> list[Span]:
        if self._result is None and not self.job_id:
            return [("waiting", ink.muted)]  # as many children as may run do so already
        facts: list[Span] = [(self.outcome if self.report is not None else self.state, self._style(ink))]
        if self.duration_s:
            facts += [("  ", PLAIN), (format_duration(self.duration_s), ink.muted)]
        return facts

    def _style(self, ink: Ink) -> Style:
        styles = {"running": ink.accent, "ok": ink.success, "partial": ink.warning, "cancelled": ink.muted}
        return styles.get(self.outcome, ink.error)

    def _body(self, width: int, ink: Ink) -> list[Line]:
        rows: list[Line] = []
        if self.is_expanded:
            rows += plain_rows(self.task, width, ink.muted, MAX_UNFOLDED_ROWS)
        if self.report is not None:
            limit = MAX_UNFOLDED_ROWS if self.is_expanded else SUMMARY_ROWS
            if summary := self.report.summary.strip():
                rows += plain_rows(summary[:MAX_PREVIEW_CHARS], width, PLAIN, limit)
            if self.is_expanded:
                rows += self._list_rows(width, ink)
        elif self._result is not None:
            text = self._result.content or (self._result.error.message if self._result.error else "")
            rows += plain_rows(text[:MAX_PREVIEW_CHARS], width, ink.muted, SUMMARY_ROWS) if text else []
        if self.link:
            rows.append(line_of([(LINK, ink.accent)], lead=len(LINK)))
        return rows

    def _lists(self) -> list[tuple[str, tuple[str, ...]]]:
        assert self.report is not None
        return [(name, items) for name in LIST_FIELDS if (items := getattr(self.report, name))]

    def _list_rows(self, width: int, ink: Ink) -> list[Line]:
        rows: list[Line] = []
        for name, items in self._lists():
            rows.append(line_of([(name, ink.muted)], lead=len(name)))
            for item in items:
                lines = plain_rows(item[:MAX_PREVIEW_CHARS], max(1, width - 2), PLAIN, MAX_UNFOLDED_ROWS)
                rows += indent(lines, ("• ", ink.accent), ("  ", PLAIN))
        return rows


def _fields(arguments: str) -> dict[str, Any]:
    try:
        decoded = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return decoded if isinstance(decoded, dict) else {}


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""
