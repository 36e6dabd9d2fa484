"""The status bar: one line on what the session is and what the turn does; its timer runs only with the turn."""

import time
from collections.abc import Callable
from typing import Any

import msgspec
from rich.segment import Segment
from textual.geometry import Region
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from smith_tui.widgets.status_line import RUNNING, STILL, Activity, StatusState, compose

_SPINNER_S = 0.2
_CLOCK_S = 1.0


class StatusBar(Widget):
    """One line of exactly the width of the screen, never wrapped."""

    COMPONENT_CLASSES = {  # noqa: RUF012
        "status-bar--mark",
        "status-bar--role",
        "status-bar--text",
        "status-bar--muted",
        "status-bar--warning",
        "status-bar--error",
    }
    DEFAULT_CSS = """
    StatusBar { height: 1; width: 1fr; background: $surface; color: $foreground; }
    StatusBar > .status-bar--mark { color: $primary; }
    StatusBar > .status-bar--role { color: $primary; text-style: bold; }
    StatusBar > .status-bar--muted { color: $text-muted; }
    StatusBar > .status-bar--warning { color: $warning; }
    StatusBar > .status-bar--error { color: $error; }
    """

    def __init__(
        self, *, reduced_motion: bool = False, clock: Callable[[], float] = time.monotonic, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._is_reduced = reduced_motion
        self._clock = clock
        self._state = StatusState()
        self._frame = 0
        self._ticker: Timer | None = None
        self._ticker_period = 0.0

    @property
    def state(self) -> StatusState:
        """What is shown now."""
        return self._state

    def change(self, **fields: Any) -> None:
        """Change fields of the state, for example `change(model="m", tokens_in=5)`; equal values cost nothing."""
        state = msgspec.structs.replace(self._state, **fields)
        if state != self._state:
            self._state = state
            self._run_ticker()
            self.refresh()

    def move(self, *, is_reduced: bool) -> None:
        """Let the spinner turn, or stand still from now on."""
        if is_reduced != self._is_reduced:
            self._is_reduced = is_reduced
            self._run_ticker()
            self.refresh()

    def start_turn(self) -> None:
        """Begin to count the time of a turn."""
        self._frame = 0
        now = self._clock()
        self.change(activity="thinking", turn_started_at=now, turn_ended_at=None)

    def end_turn(self, activity: Activity = "idle") -> None:
        """Stop the time; `activity` says how the turn ended: idle, error or cancelled."""
        self.change(activity=activity, turn_ended_at=self._clock())

    def wait_for_retry(self, attempt: int, max_attempts: int, wait_s: float) -> None:
        """Count down to the next attempt."""
        retry_at = self._clock() + wait_s
        self.change(activity="retry", attempt=attempt, max_attempts=max_attempts, retry_at=retry_at)

    def render_line(self, y: int) -> Strip:
        """Return the bar at exactly the width of the widget."""
        width = self.size.width
        frame = self._frame if self._spins else None
        pieces = compose(self._state, self._clock(), width, frame=frame)
        segments = [Segment(text, self.get_component_rich_style(f"status-bar--{style}")) for text, style in pieces]
        return Strip(segments).adjust_cell_length(width, self.rich_style)

    def on_mount(self) -> None:
        """Start the timer if a turn runs already."""
        self._run_ticker()

    @property
    def _spins(self) -> bool:
        is_still = self._is_reduced or self._state.is_raining
        return not is_still and self._state.activity in RUNNING - STILL

    def _run_ticker(self) -> None:
        """Have a timer exactly while a turn runs: fast for the spinner, once a second for the clock alone."""
        period = 0.0
        if self._state.activity in RUNNING:
            period = _SPINNER_S if self._spins else _CLOCK_S
        if period == self._ticker_period or not self.is_mounted:
            return
        if self._ticker is not None:
            self._ticker.stop()
            self._ticker = None
        if period:
            self._ticker = self.set_interval(period, self._tick)
        self._ticker_period = period

    def _tick(self) -> None:
        self._frame += 1
        if self._spins and self._frame % round(_CLOCK_S / _SPINNER_S):
            self.refresh(Region(0, 0, 1, 1))
        else:
            self.refresh()
