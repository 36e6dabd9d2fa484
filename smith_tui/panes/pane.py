"""One child's pane: its title, and its stream in a transcript of its own inside a frame."""

from collections.abc import Callable, Iterable
from typing import Any, Literal

import msgspec
from textual import events
from textual.app import ComposeResult
from textual.containers import Container, Vertical

from smith_core.events import AnyEvent, ChildEnded, ChildStarted, TurnEnded, TurnStarted
from smith_tui.panes.child import ChildState, begun, ended
from smith_tui.panes.title_bar import PaneTitle
from smith_tui.presenter import Presenter
from smith_tui.stored_calls import StoredCall
from smith_tui.theme import Theme
from smith_tui.transcript.view import Transcript
from smith_tui.widgets.status_line import Activity, StatusState
from smith_tui.widgets.tool_calls import CallState

FOCUSED_FPS, VISIBLE_FPS, HIDDEN_FPS = 30.0, 10.0, 1.0
"""Frames a second of the pane that has the keys, of another one, and of one of which only the title is seen."""

Wish = Literal["auto", "open", "closed"]


class ChildStatus:
    """Where the presenter of a child says how it stands; `changed` is called with the state behind each change."""

    def __init__(self, child: ChildState, clock: Callable[[], float], changed: Callable[[], None]) -> None:
        self.child = child
        self._clock = clock
        self._changed = changed

    @property
    def state(self) -> StatusState:
        """Model, activity and tokens."""
        return self.child.status

    def change(self, **fields: Any) -> None:
        """Change fields of the state."""
        status = msgspec.structs.replace(self.child.status, **fields)
        if status != self.child.status:
            self.replace(msgspec.structs.replace(self.child, status=status))

    def replace(self, child: ChildState) -> None:
        """Take another state of the child."""
        self.child = child
        self._changed()

    def start_turn(self) -> None:
        """Nothing to do: a child has a single turn."""

    def end_turn(self, activity: Activity = "idle") -> None:
        """Leave it to the child's end to say how the turn ended."""

    def wait_for_retry(self, attempt: int, max_attempts: int, wait_s: float) -> None:
        """Count down to the next attempt."""
        retry_at = self._clock() + wait_s
        self.change(activity="retry", attempt=attempt, max_attempts=max_attempts, retry_at=retry_at)


class NoOutput:
    """Takes the output of a child's tools, of which the cards in its transcript show enough."""

    def start_call(self, call_id: str, name: str, summary: str) -> None:
        """Ignore it."""

    def feed(self, call_id: str, chunk: bytes) -> None:
        """Ignore it."""

    def set_text(self, call_id: str, text: str, *, diff: bool = False) -> None:
        """Ignore it."""

    def end_call(self, call_id: str, state: CallState, exit_code: int | None = None, full_path: str = "") -> None:
        """Ignore it."""

    def restore(self, stored: Iterable[StoredCall]) -> None:
        """Ignore it."""

    def clear(self) -> None:
        """Ignore it."""


class ChildPane(Vertical):
    """A child from its start on; one row high it is a strip, higher it is a frame around the stream."""

    DEFAULT_CSS = """
    ChildPane { height: 1; width: 1; }  /* the tiles say how large; a size that depends on the area would fill it */
    ChildPane > .frame { height: 1fr; width: 1fr; }
    """

    def __init__(self, event: ChildStarted, number: int, *, theme: Theme, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock
        self._status = ChildStatus(begun(event, number, clock()), clock, self.show_time)
        self.wish: Wish = "auto"
        self.is_current = False
        self.title = PaneTitle(self.child, theme)
        self.transcript = Transcript(theme=theme, role=event.role, frames_per_second=VISIBLE_FPS)
        self._frame = Container(self.transcript, classes="frame")
        self._presenter = Presenter(self.transcript, NoOutput(), self._status, role=event.role, source_role=event.role)
        self._theme = theme
        self.transcript.add_user(event.task, has_gap=False)
        self._paint_frame()

    @property
    def child(self) -> ChildState:
        """What is known of the child."""
        return self._status.child

    @property
    def wants_room(self) -> bool:
        """Whether the stream should be seen: while the child runs or the pane has the keys, or as a person wished."""
        if self.wish == "auto":
            return self.child.is_running or self.is_current
        return self.wish == "open"

    def compose(self) -> ComposeResult:
        """Put the title above the stream."""
        yield self.title
        yield self._frame

    def show(self, event: AnyEvent) -> None:
        """Show something that happened inside the child."""
        if not isinstance(event, TurnStarted | TurnEnded):  # the task is shown, and the child's own end says more
            self._presenter.show(event)

    def end(self, event: ChildEnded) -> None:
        """Show how the child ended."""
        result = event.result
        self._presenter.end_answer()
        self._status.replace(ended(self.child, result, event.duration_s, self._clock()))
        if result.cancelled:
            self.transcript.add_notice("info", "cancelled")
        elif result.error is not None:
            self.transcript.add_notice("error", result.error.message)

    def show_time(self) -> None:
        """Bring the title up to date."""
        self.title.show(self.child, self._clock())

    def set_theme(self, theme: Theme) -> None:
        """Show everything in other colours."""
        self._theme = self.title.theme = theme
        self.transcript.set_theme(theme)
        self.title.refresh()
        self._paint_frame()

    def set_current(self, is_current: bool) -> None:
        """Mark the pane as the one that has the keys, or no longer."""
        if is_current != self.is_current:
            self.is_current = is_current
            self.title.restyle(is_current=is_current)
            self._paint_frame()
            self._pace()

    def take_focus(self) -> None:
        """Give the keys to the stream, or to the title while nothing else is seen."""
        target = self.title if self.title.is_strip else self.transcript
        self.screen.set_focus(target, scroll_visible=False)

    def on_resize(self, event: events.Resize) -> None:
        """Become a strip or a frame, as the room is."""
        is_strip = event.size.height < 2
        if is_strip == self.title.is_strip:
            return
        self.title.restyle(is_strip=is_strip)
        self._pace()
        if self.is_current and self.screen.focused in (self.title, self.transcript, None):
            self.take_focus()

    def on_mount(self) -> None:
        """Begin in the pace of a pane that is looked at."""
        self._pace()

    def _pace(self) -> None:
        rate = HIDDEN_FPS if self.title.is_strip else FOCUSED_FPS if self.is_current else VISIBLE_FPS
        self.transcript.set_frame_rate(rate)

    def _paint_frame(self) -> None:
        color = self._theme.accent(self.child.palette) if self.is_current else self._theme.line
        styles = self._frame.styles
        styles.background = self._theme.background
        styles.border_left = styles.border_right = styles.border_bottom = ("round", color)
