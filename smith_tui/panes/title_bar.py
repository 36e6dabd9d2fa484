"""The first row of a child pane: the upper edge of its frame with what the child is and does, or a strip alone."""

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from smith_tui.panes.child import ChildState, Tone, title
from smith_tui.theme import Theme
from smith_tui.transcript.ink import make_ink

_CORNERS = ("╭─ ", " ─╮")
_NARROW = 16
"""Cells; narrower frames have shorter corners."""


class PaneTitle(Widget):
    """One row of exactly the width of the pane; as a strip, without a frame below it, it takes the focus."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    PaneTitle { height: 1; width: 1fr; }
    """

    def __init__(self, state: ChildState, theme: Theme) -> None:
        super().__init__()
        self.state = state
        self.theme = theme
        self.now = state.started_at
        self.is_strip = False
        self.is_current = False

    def show(self, state: ChildState, now: float) -> None:
        """Show a state at a time of its clock; what looks the same is not painted again."""
        width = self.size.width
        before = (title(self.state, self.now, width, is_strip=self.is_strip), self.state.outcome)
        self.state, self.now = state, now
        if (title(state, now, width, is_strip=self.is_strip), state.outcome) != before:
            self.refresh()

    def restyle(self, *, is_strip: bool | None = None, is_current: bool | None = None) -> None:
        """Change between frame and strip, or mark the pane that has the keys."""
        before = (self.is_strip, self.is_current)
        self.is_strip = self.is_strip if is_strip is None else is_strip
        self.is_current = self.is_current if is_current is None else is_current
        if (self.is_strip, self.is_current) != before:
            self.can_focus = self.is_strip
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return the row at exactly the width of the widget."""
        width = self.size.width
        styles = self._styles()
        left, right = ("  ", " ") if self.is_strip else _CORNERS if width >= _NARROW else ("╭", "╮")
        if self.is_strip and self.is_current:
            left = "▌ "
        edge = styles["line"] if not self.is_current else styles["accent"]
        pieces = title(self.state, self.now, width - len(left) - len(right), is_strip=self.is_strip)
        segments = [Segment(left, edge)]
        for text, tone in pieces:
            if tone == "line" and not self.is_strip and len(text) > 2:
                segments.append(Segment(f" {'─' * (len(text) - 2)} ", edge))
            else:
                segments.append(Segment(text, styles[tone]))
        return Strip([*segments, Segment(right, edge)]).adjust_cell_length(width, styles["text"])

    def _styles(self) -> dict[Tone, Style]:
        ink = make_ink(self.theme, self.state.palette)
        base = ink.base
        return {
            "line": base + ink.rule,
            "muted": base + ink.muted,
            "accent": base + ink.accent,
            "alias": base + ink.alias,
            "text": base + (ink.bright if self.is_current else Style.null()),
            "success": base + ink.success,
            "warning": base + ink.warning,
            "error": base + ink.error,
        }
