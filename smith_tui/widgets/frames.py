"""When a widget paints: at most so many frames a second however much comes in, and once a second while time counts."""

from collections.abc import Callable

from textual.timer import Timer
from textual.widget import Widget

FRAME_S = 1 / 30


class Frames:
    """The timers of one widget; none runs while nothing changes.

    paint: paints what there is now, and says whether more is to be painted soon. tick: called every second.
    """

    def __init__(
        self, widget: Widget, paint: Callable[[], bool], tick: Callable[[], None], clock: Callable[[], float]
    ) -> None:
        self._widget = widget
        self._paint = paint
        self._tick = tick
        self._clock = clock
        self._frame_timer: Timer | None = None
        self._second_timer: Timer | None = None
        self._last_frame_at = 0.0

    def paint_soon(self) -> None:
        """Paint within a frame, if the widget is to be seen."""
        if self._frame_timer is None and self._is_seen:
            wait = self._last_frame_at + FRAME_S - self._clock()
            if wait <= 0:
                self.paint()
            else:
                self._frame_timer = self._widget.set_timer(wait, self.paint)

    def paint(self) -> None:
        """Paint now."""
        if self._frame_timer is not None:
            self._frame_timer.stop()
            self._frame_timer = None
        self._last_frame_at = self._clock()
        if self._paint() and self._is_seen:
            self._frame_timer = self._widget.set_timer(FRAME_S, self.paint)

    def count_seconds(self, running: bool) -> None:
        """Call `tick` every second exactly while `running` is set."""
        if running and self._second_timer is None and self._widget.is_mounted:
            self._second_timer = self._widget.set_interval(1.0, self._tick)
        elif not running and self._second_timer is not None:
            self._second_timer.stop()
            self._second_timer = None

    @property
    def _is_seen(self) -> bool:
        return self._widget.is_mounted and self._widget.display
