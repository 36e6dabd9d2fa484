"""Tool cards: what a call does, how it stands, and as much of its output as helps; they change in place."""

import json
from typing import Literal

from smith_core.messages import ToolResult
from smith_core.patterns import later
from smith_tui.sanitize import literal
from smith_tui.transcript.blocks import (
    MAX_UNFOLDED_ROWS,
    MIN_GUTTERED,
    Block,
    fold_row,
    in_gutter,
    inner_width,
    plain_rows,
)
from smith_tui.transcript.cells import cell_width, cut_to
from smith_tui.transcript.diffs import count_changes, lines_left_out, parse_diff, render_diff
from smith_tui.transcript.ink import Ink
from smith_tui.transcript.lines import PLAIN, Line, Span, indent, line_of
from smith_tui.transcript.summaries import format_duration, summarize

ToolState = Literal["running", "ok", "failed", "cancelled"]

PREVIEW_ROWS = {"bash": 10, "git": 10, "code_grep": 8, "dispatch": 8, "report": 8, "web_search": 6}
"""Rows of output that a finished call shows while it is folded; tools not listed show none."""
RUNNING_ROWS = 6
FAILED_ROWS = 6
DIFF_ROWS = 24
MAX_PREVIEW_CHARS = 40_000
MAX_WHOLE_CHARS = 120_000
"""Of an unfolded card: more than a result that the model gets can have."""
MAX_WHOLE_ROWS = 10_000
_SHOWS_END = frozenset({"bash"})
"""Tools whose output matters most at its end."""
_EXIT_NOTE = later(r"\n?\[exit code \d+\]$")
_SHOWS_DIFF = frozenset({"edit", "write"})


def has_gap_after(name: str, next_name: str) -> bool:
    """Whether a blank row stands between the cards of two calls: none where both take a single row as a rule.

    Those of children that work side by side stand together, too.
    """
    if name == next_name == "dispatch":
        return False
    return any(tool in PREVIEW_ROWS or tool in _SHOWS_DIFF for tool in (name, next_name))


class ToolCard(Block):
    """One tool call from its start to its result."""

    __slots__ = ("_result", "arguments", "is_asked", "job_id", "name", "output", "state", "summary")

    def __init__(self, name: str, arguments: str, palette: str, *, has_gap: bool = True) -> None:
        super().__init__(palette, has_gap=has_gap)
        self.name = name
        self.arguments = arguments
        self.summary: str | None = None
        self.state: ToolState = "running"
        self.output = ""
        self.is_asked = False
        """Whether the call waits for the person to let it run."""
        self.job_id = ""
        """Of the child that a dispatch call runs."""
        self._result: ToolResult | None = None

    def show_output(self, text: str) -> None:
        """Show what a running call has put out; escape sequences must have been removed from it."""
        self.output = text[-MAX_PREVIEW_CHARS:]

    def end(self, result: ToolResult) -> None:
        """Show how the call ended; the result has its output, too."""
        self._result = result
        self.output = ""
        self.state = "cancelled" if result.cancelled else "ok" if result.ok else "failed"

    @property
    def text(self) -> str:
        """The arguments and the result."""
        result = self._result
        return f"{self.name} {self.arguments}\n{result.content if result else self.output}"

    @property
    def can_fold(self) -> bool:
        """A finished call can be looked at whole, and so can one that the person is asked about."""
        return self._result is not None or self.is_asked

    def estimate(self, width: int) -> int:
        """Count what a folded card shows."""
        if self._result is None:
            return 1 + min(RUNNING_ROWS, self.output.count("\n") + bool(self.output))
        if self.is_expanded:
            return super().estimate(width)
        if self._result.metadata.diff:
            return 1 + min(DIFF_ROWS, self._result.metadata.diff.count("\n"))
        rows = self._preview_rows()
        return 1 + min(rows, self._result.content.count("\n") + 1) if rows else 1

    def rows(self, width: int, ink: Ink) -> list[Line]:
        """Return the title and, behind a bar, arguments and output as far as they are shown."""
        bar = ("│ " if width >= MIN_GUTTERED else "", ink.rule)
        body = indent(self._body(inner_width(width) - len(bar[0]), ink), bar, bar)
        title = self._title(inner_width(width), ink)
        return in_gutter([title], width, ("  ", PLAIN)) + in_gutter(body, width, ("  ", PLAIN), repeat=True)

    def _title(self, width: int, ink: Ink) -> Line:
        what, (name, name_style) = self._who(ink)
        if self.summary is None:
            self.summary = literal(what)
        mark, style = self._mark(ink)
        facts = self._facts(ink)
        name = cut_to(name, width - 2)
        facts_width = sum(cell_width(text) for text, _ in facts)
        room = width - 2 - cell_width(name) - 2
        if room - facts_width - 2 < 8:
            facts, facts_width = [], 0
        summary = cut_to(self.summary, room - facts_width - (2 if facts else 0)) if room > 2 else ""
        spans: list[Span] = [(f"{mark} "[:width], style), (name, name_style)]
        if summary:
            spans.append((f"  {summary}", PLAIN))
        if facts:
            used = 2 + cell_width(name) + (2 + cell_width(summary) if summary else 0)
            spans.append((" " * (width - used - facts_width), PLAIN))
        return line_of([*spans, *facts], lead=2)

    def _mark(self, ink: Ink) -> Span:
        """Return the sign for how the call stands."""
        if self.is_asked:
            return ("?", ink.warning)
        return {
            "running": ("●", ink.accent),
            "ok": ("✓", ink.success),
            "failed": ("✗", ink.error),
            "cancelled": ("⊘", ink.muted),
        }[self.state]

    def _who(self, ink: Ink) -> tuple[str, Span]:
        """Return what the call does in one line, and the name before it."""
        return summarize(self.name, self.arguments), (literal(self.name), ink.strong)

    def _facts(self, ink: Ink) -> list[Span]:
        """Return what stands at the right of the title."""
        if self._result is None:
            return [("waits for your answer", ink.warning)] if self.is_asked else [("running", ink.accent)]
        metadata = self._result.metadata
        facts: list[Span] = []
        if metadata.diff:
            added, removed = count_changes(metadata.diff)
            facts += [(f"+{added}", ink.success), (f"−{removed}", ink.error)]
        elif metadata.lines >= 0:
            facts.append((f"{metadata.lines:,} line{'s' * (metadata.lines != 1)}", ink.muted))
        if metadata.timed_out:
            facts.append(("timed out", ink.error))
        if metadata.exit_code:
            facts.append((f"exit {metadata.exit_code}", ink.error))
        if self.state == "cancelled":
            facts.append(("cancelled", ink.muted))
        if metadata.duration_s:
            facts.append((format_duration(metadata.duration_s), ink.muted))
        spaced: list[Span] = []
        for fact in facts:
            spaced += [("  ", PLAIN), fact] if spaced else [fact]
        return spaced

    def _body(self, width: int, ink: Ink) -> list[Line]:
        if self.is_asked:
            return self._arguments(width, ink) if self.is_expanded else []
        if self._result is None:
            last_lines = self.output.strip("\n").rsplit("\n", RUNNING_ROWS)[-RUNNING_ROWS:]
            output = _end_of("\n".join(last_lines), RUNNING_ROWS * width * 2)
            return plain_rows(output, width, ink.muted, MAX_UNFOLDED_ROWS)[-RUNNING_ROWS:] if output else []
        if self.is_expanded:
            return self._arguments(width, ink) + self._output(width, ink, MAX_WHOLE_ROWS)
        return self._output(width, ink, self._preview_rows())

    def _preview_rows(self) -> int:
        if self._result is not None and self._result.metadata.diff:
            return DIFF_ROWS
        return PREVIEW_ROWS.get(self.name, 0) or (FAILED_ROWS if self.state == "failed" else 0)

    def _output(self, width: int, ink: Ink, limit: int) -> list[Line]:
        """Return at most about `limit` rows of the result: a diff, or the part of the text that matters."""
        result = self._result
        if result is None or not limit:
            return []
        if result.metadata.diff:
            lines = parse_diff(result.metadata.diff)
            rows = render_diff(lines[:limit], width, ink)
            hidden = len(lines) - limit + lines_left_out(result.metadata.diff)
            return rows + ([fold_row(f"{hidden:,} more lines", ink)] if hidden > 0 else [])
        text = self._result_text(result)
        style = ink.error if self.state == "failed" and self.name not in PREVIEW_ROWS else ink.muted
        if not text:
            return []
        if self.name not in _SHOWS_END or self.is_expanded:
            shown = text[: MAX_WHOLE_CHARS if self.is_expanded else MAX_PREVIEW_CHARS]
            return plain_rows(shown, width, style, limit)
        rows = plain_rows(_end_of(text, limit * max(1, width) * 2), width, style, MAX_UNFOLDED_ROWS)
        hidden = text.count("\n") + 1 - limit
        if len(rows) <= limit:
            return rows
        return [fold_row(f"{hidden:,} lines above" if hidden > 0 else "more above", ink), *rows[-limit:]]

    def _result_text(self, result: ToolResult) -> str:
        """Return the result without the exit code, which the title has; a failure without output says its message."""
        text = result.content.strip("\n")
        if result.metadata.exit_code is not None and not self.is_expanded:
            text = _EXIT_NOTE.sub("", text)
        says_itself = text and (self.name in PREVIEW_ROWS or result.error is None or result.error.message in text)
        if result.ok or says_itself or result.error is None:
            return text
        return f"{result.error.message}\n{text}".strip("\n")

    def _arguments(self, width: int, ink: Ink) -> list[Line]:
        """Return all arguments, one below the other."""
        try:
            decoded = json.loads(self.arguments)
        except (ValueError, RecursionError):
            decoded = None
        if not isinstance(decoded, dict):
            return plain_rows(self.arguments, width, ink.muted, MAX_UNFOLDED_ROWS)
        rows: list[Line] = []
        for name, value in decoded.items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            rows += plain_rows(f"{name}: {text}", width, PLAIN, MAX_UNFOLDED_ROWS)
        return rows


def _end_of(text: str, characters: int) -> str:
    """Return the end of a text, from the start of a line where there is one."""
    if len(text) <= characters:
        return text
    start = len(text) - characters
    newline = text.find("\n", start)
    return text[newline + 1 :] if 0 <= newline < len(text) - 1 else text[start:]
