"""The tool-output pane: the live output of the running call, or of an earlier one, with its state in a header."""

import time
from collections.abc import Callable, Iterable
from functools import lru_cache

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from smith_tui.keys import KEY_ACTIONS, KeyAction, keys_of
from smith_tui.transcript.cells import cut_to
from smith_tui.widgets.ansi_line import Colour, Sgr, Span
from smith_tui.widgets.tool_calls import CallState, HeaderStyle, ToolCall, ToolCalls, header

FRAME_S = 1 / 30
_WHEEL_ROWS = 3
_NOTHING = " No tool has run yet"
_SCROLL_KEYS = {"up": -1, "down": 1, "k": -1, "j": 1}
_PAGE_KEYS = {"pageup": -1, "pagedown": 1, "b": -1, "space": 1}


class ToolOutputPane(Widget, can_focus=True):
    """A header line and the output below it; the end is followed unless somebody scrolled up."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES = {  # noqa: RUF012
        "tool-output--header",
        "tool-output--mark",
        "tool-output--muted",
        "tool-output--good",
        "tool-output--bad",
    }
    DEFAULT_CSS = """
    ToolOutputPane { height: 1fr; width: 1fr; background: $surface; color: $foreground; }
    ToolOutputPane > .tool-output--header { background: $panel; text-style: bold; }
    ToolOutputPane > .tool-output--mark { background: $panel; color: $primary; }
    ToolOutputPane > .tool-output--muted { background: $panel; color: $text-muted; }
    ToolOutputPane > .tool-output--good { background: $panel; color: $success; }
    ToolOutputPane > .tool-output--bad { background: $panel; color: $error; }
    ToolOutputPane:focus > .tool-output--header { color: $primary; }
    """

    class Shown(Message):
        """The pane shows another call now."""

        def __init__(self, call_id: str) -> None:
            super().__init__()
            self.call_id = call_id

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.monotonic,
        actions: Iterable[KeyAction] = KEY_ACTIONS,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._clock = clock
        self._calls = ToolCalls()
        self._actions = keys_of(actions, "tool_output")
        self._frame_timer: Timer | None = None
        self._last_frame_at = 0.0
        self._second_timer: Timer | None = None
        self._rows: list[list[Span]] | None = None
        self._posted_call: str | None = None

    @property
    def shown_call(self) -> str | None:
        """Id of the call that is shown."""
        call = self._calls.shown
        return None if call is None else call.call_id

    def start_call(self, call_id: str, name: str, summary: str) -> None:
        """Begin a call and show it, unless somebody went back to an earlier one; `summary` is its command or path."""
        self._calls.start(call_id, name, summary, self._clock())
        self._calls_changed()

    def feed(self, call_id: str, chunk: bytes) -> None:
        """Take raw output of a call, cut anywhere; an unknown id is ignored."""
        call = self._calls.get(call_id)
        if call is not None:
            call.store.feed(chunk)
            if call is self._calls.shown:
                self._refresh_soon()

    def set_text(self, call_id: str, text: str, *, diff: bool = False) -> None:
        """Show `text` as the whole output of a call that had no live output; `diff` colours + and - lines."""
        call = self._calls.get(call_id)
        if call is not None:
            call.set_text(text, diff=diff)
            self._refresh_soon()

    def end_call(self, call_id: str, state: CallState, exit_code: int | None = None) -> None:
        """Stop the time of a call and say how it ended: ok, error or cancelled."""
        self._calls.end(call_id, state, exit_code, self._clock())
        self._calls_changed()

    def clear(self) -> None:
        """Forget all calls."""
        self._calls = ToolCalls()
        self._calls_changed()

    def show_call(self, call_id: str) -> None:
        """Show a call, for example one that was clicked in the transcript."""
        if self._calls.show(call_id):
            self._calls_changed()

    def on_mount(self) -> None:
        """Start the clock if a call runs already."""
        self._run_clock()

    def on_key(self, event: events.Key) -> None:
        """Scroll, or go to another call."""
        if self._press(event.key):
            event.stop()
            event.prevent_default()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll up by some rows."""
        self._scroll(-_WHEEL_ROWS)
        event.stop()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll down by some rows."""
        self._scroll(_WHEEL_ROWS)
        event.stop()

    def on_resize(self) -> None:
        """Wrap again."""
        self._refresh_now()

    def on_show(self) -> None:
        """Catch up with what came while the pane was hidden."""
        self._refresh_now()

    def render_line(self, y: int) -> Strip:
        """Return the header or a row of output, at exactly the width of the widget."""
        width = self.size.width
        call = self._calls.shown
        if y == 0:
            return self._header_strip(call).adjust_cell_length(width, self.rich_style)
        if call is None:
            return Strip.blank(width, self.rich_style)
        if self._rows is None:
            self._rows = call.view.rows(*self._room)
        row = self._rows[y - 1] if y <= len(self._rows) else []
        return row_strip(row, self.rich_style).adjust_cell_length(width, self.rich_style)

    @property
    def _room(self) -> tuple[int, int]:
        """The (width, height) of the part that shows output."""
        return self.size.width, max(0, self.size.height - 1)

    def _header_strip(self, call: ToolCall | None) -> Strip:
        width = self.size.width
        if call is None:
            pieces: list[tuple[str, HeaderStyle]] = [(cut_to(_NOTHING, width).ljust(width), "muted")]
        else:
            percent = None if call.view.following else call.view.percent(*self._room)
            pieces = header(call, self._calls.place, percent, self._clock(), width)
        return Strip([Segment(text, self.get_component_rich_style(f"tool-output--{style}")) for text, style in pieces])

    def _press(self, key: str) -> bool:
        call = self._calls.shown
        action = self._actions.get(key)
        if action is not None:
            if self._calls.step(-1 if action == "previous_call" else 1):
                self._calls_changed()
        elif call is None:
            return False
        elif key in _SCROLL_KEYS:
            self._scroll(_SCROLL_KEYS[key])
        elif key in _PAGE_KEYS:
            self._scroll(_PAGE_KEYS[key] * max(1, self._room[1] - 1))
        elif key in ("home", "g"):
            call.view.to_start(*self._room)
            self._refresh_now()
        elif key in ("end", "G"):
            call.view.to_end()
            self._refresh_now()
        else:
            return False
        return True

    def _scroll(self, rows: int) -> None:
        if self._calls.shown is not None:
            self._calls.shown.view.scroll(rows, *self._room)
            self._refresh_now()

    def _calls_changed(self) -> None:
        self._run_clock()
        self._refresh_now()
        if self.shown_call is not None and self.shown_call != self._posted_call:
            self._posted_call = self.shown_call
            self.post_message(self.Shown(self.shown_call))

    def _refresh_soon(self) -> None:
        """Paint within a frame; however much comes in, there are at most 30 frames a second."""
        if self._frame_timer is None and self.is_mounted and self.display:
            wait = self._last_frame_at + FRAME_S - self._clock()
            if wait <= 0:
                self._refresh_now()
            else:
                self._frame_timer = self.set_timer(wait, self._refresh_now)

    def _refresh_now(self) -> None:
        if self._frame_timer is not None:
            self._frame_timer.stop()
            self._frame_timer = None
        self._last_frame_at = self._clock()
        self._rows = None
        self.refresh()

    def _run_clock(self) -> None:
        """Have the timer of the elapsed time exactly while a call runs."""
        running = self._calls.running
        if running and self._second_timer is None and self.is_mounted:
            self._second_timer = self.set_interval(1.0, self._tick)
        elif not running and self._second_timer is not None:
            self._second_timer.stop()
            self._second_timer = None

    def _tick(self) -> None:
        self.refresh(Region(0, 0, self.size.width, 1))


def row_strip(row: Iterable[Span], base: Style) -> Strip:
    """Return a row of output as a strip on the style `base`."""
    return Strip([Segment(text, base + style_of(sgr)) for text, sgr in row])


@lru_cache(maxsize=4096)
def style_of(sgr: Sgr) -> Style:
    """Return the toolkit's style for colours and attributes; unset ones are left to what is below."""
    return Style(
        color=_colour_of(sgr.foreground),
        bgcolor=_colour_of(sgr.background),
        bold=sgr.bold or None,
        dim=sgr.dim or None,
        italic=sgr.italic or None,
        underline=sgr.underline or None,
        reverse=sgr.reverse or None,
        strike=sgr.strike or None,
    )


def _colour_of(colour: Colour) -> Color | None:
    if colour is None:
        return None
    return Color.from_rgb(*colour) if isinstance(colour, tuple) else Color.from_ansi(colour)
