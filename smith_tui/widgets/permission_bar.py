"""The bar that asks whether a call may run: what it is, all of it that fits, and a key for each answer."""

import json
from collections.abc import Callable, Iterable
from typing import Any, get_args

from rich.segment import Segment
from textual import events
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from smith_core.events import PermissionAnswer, PermissionRequested
from smith_tui.keys import KEY_ACTIONS, KeyAction, hint_key, keys_of
from smith_tui.sanitize import literal, literal_lines
from smith_tui.transcript.cells import cell_width, cut, cut_to
from smith_tui.transcript.summaries import summarize
from smith_tui.who import alias_of

MAX_ROWS = 8
"""Rows of the call that are shown; the card in the transcript can be opened for the others."""
_LOOKED_AT = 20_000
_INDENT = "  "


class PermissionBar(Widget, can_focus=True):
    """Shows one question; hidden while there is none."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES = {  # noqa: RUF012
        "permission-bar--title",
        "permission-bar--key",
        "permission-bar--muted",
        "permission-bar--more",
    }
    DEFAULT_CSS = """
    PermissionBar { display: none; height: auto; width: 1fr; background: $surface; color: $foreground; }
    PermissionBar > .permission-bar--title { color: $warning; text-style: bold; }
    PermissionBar > .permission-bar--key { color: $primary; text-style: bold; }
    PermissionBar > .permission-bar--muted { color: $text-muted; }
    PermissionBar > .permission-bar--more { color: $warning; }
    """

    def __init__(
        self,
        answered: Callable[[PermissionAnswer], None],
        is_prompt_empty: Callable[[], bool],
        *,
        actions: Iterable[KeyAction] = KEY_ACTIONS,
        id: str | None = None,
    ) -> None:
        """Make it without a question; answered: takes the answer. is_prompt_empty: whether keys answer from there."""
        super().__init__(id=id)
        actions = tuple(actions)
        self._answered = answered
        self._is_prompt_empty = is_prompt_empty
        self._keys = {key: answer_of(name) for key, name in keys_of(actions, "permission").items()}
        self._labels = [(hint_key(action), action) for action in actions if action.scope == "permission"]
        self._way_in = next((hint_key(action) for action in actions if action.name == "question"), "")
        self.question: PermissionRequested | None = None

    def ask(self, question: PermissionRequested | None) -> None:
        """Show a question, or none."""
        self.question = question
        self.display = question is not None
        self.refresh(layout=True)

    def answer_for(self, key: str) -> PermissionAnswer | None:
        """Return the answer that a key stands for."""
        return self._keys.get(key) if self.question is not None else None

    def on_key(self, event: events.Key) -> None:
        """Answer by key; what types goes to the prompt."""
        answer = self.answer_for(event.key)
        if answer is not None:
            event.stop()
            event.prevent_default()
            self._answered(answer)

    def on_focus(self) -> None:
        """Show that the keys answer."""
        self.refresh()

    def on_blur(self) -> None:
        """Show where the keys go now."""
        self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return a row for the question, one for the keys, and some for the call: a third of the screen at most."""
        return 2 + min(len(self._call_rows(width)), self._room(viewport.height))

    def render_line(self, y: int) -> Strip:
        """Return a row at exactly the width of the widget."""
        width, base, height = self.size.width, self.rich_style, self.size.height
        if self.question is None or width < 1:
            return Strip.blank(width, base)
        if y == 0:
            segments = [Segment(cut_to(self._title(), width), self.get_component_rich_style("permission-bar--title"))]
        elif y == height - 1:
            segments = self._key_segments(width)
        else:
            segments = self._call_segments(y - 1, height - 2, width)
        return Strip(segments).adjust_cell_length(width, base)

    def _title(self) -> str:
        assert self.question is not None
        return f"? {alias_of(self.question.role)} wants to run {literal(self.question.name)}. Allow it?"

    def _call_segments(self, index: int, rows: int, width: int) -> list[Segment]:
        call = self._call_rows(width)
        hidden = len(call) - rows
        if hidden > 0 and index == rows - 1:
            text = f"{_INDENT}… {hidden + 1} more rows; a click on the card above, or Tab and Enter, unfolds them"
            return [Segment(cut_to(text, width), self.get_component_rich_style("permission-bar--more"))]
        return [Segment(cut_to(_INDENT + call[index], width), self.rich_style)] if index < len(call) else []

    def _key_segments(self, width: int) -> list[Segment]:
        muted = self.get_component_rich_style("permission-bar--muted")
        if not (self.has_focus or self._is_prompt_empty()):
            text = f"{_INDENT}What you type goes to the prompt; {self._way_in} answers"
            return [Segment(cut_to(text, width), muted)]
        key_style = self.get_component_rich_style("permission-bar--key")
        assert self.question is not None
        segments, left = [Segment(_INDENT, self.rich_style)], width - len(_INDENT)
        for key, action in self._labels:
            label = action.label.format(tool=literal(self.question.name), covers=literal(self.question.covers))
            text = f" {label}   "
            left -= cell_width(key) + cell_width(text.rstrip())
            if left < 0:
                break
            segments += [Segment(key, key_style), Segment(text, muted)]
            left -= 3
        return segments

    def _call_rows(self, width: int) -> list[str]:
        if self.question is None:
            return []
        room = max(1, width - len(_INDENT))
        rows: list[str] = []
        for line in literal_lines(call_text(self.question)):
            rest = line
            while True:
                row, rest = cut(rest, room) if cell_width(rest) > room else (rest, "")
                rows.append(row)
                if not rest or not row:
                    break
        return rows

    @staticmethod
    def _room(height: int) -> int:
        return max(1, min(MAX_ROWS, height // 3 - 2))


def call_text(question: PermissionRequested) -> str:
    """Return what a call would do: the whole command line of bash, one line for every other tool."""
    if question.name == "bash":
        command = _fields(question.arguments).get("command")
        if isinstance(command, str):
            return command[:_LOOKED_AT].strip("\n")
    return summarize(question.name, question.arguments)


def answer_of(action: str) -> PermissionAnswer:
    """Return the answer that an action of the table of keys gives."""
    answer = action.removeprefix("permit_")
    assert answer in get_args(PermissionAnswer)
    return answer  # type: ignore[return-value]


def _fields(arguments: str) -> dict[str, Any]:
    try:
        decoded = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return decoded if isinstance(decoded, dict) else {}
