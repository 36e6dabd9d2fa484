"""The area of the child panes: who has the keys, which pane is open, and the one clock of all of them."""

import time
from bisect import insort
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol, cast

from textual import events
from textual.app import ComposeResult
from textual.geometry import Size
from textual.timer import Timer
from textual.widget import Widget

from smith_core.events import AnyEvent, ChildEnded, ChildEvent, ChildStarted
from smith_core.report import DispatchResult
from smith_tui.keys import KEY_ACTIONS, KeyAction, hint_key, keys_of
from smith_tui.panes.layout import MoreRow, TileLayout
from smith_tui.panes.pane import ChildPane
from smith_tui.panes.tiling import Item, area_rows
from smith_tui.theme import DARK, Theme

if TYPE_CHECKING:
    from textual.layout import Layout

CLOCK_S = 1.0
MOST_FINISHED = 12
"""Strips of children that are over; a turn that dispatches on and on would make each layout slower than the last."""
_ENDED_RANK = 1000


class PaneHost(Protocol):
    """What the panes ask of the screen that they are on."""

    def cancel_child(self, job_id: str) -> None:
        """End one child."""

    @property
    def leave(self) -> Callable[[], None]:
        """Gives the keys back to the prompt."""

    def panes_changed(self) -> None:
        """Take notice that panes came or went, or that the keys or the screen went to another one."""


class ChildPanes(Widget):
    """All panes of a turn, in the order of their numbers."""

    DEFAULT_CSS = """
    ChildPanes { height: auto; width: 1fr; }
    """

    def __init__(
        self,
        host: PaneHost,
        *,
        theme: Theme = DARK,
        actions: Iterable[KeyAction] = KEY_ACTIONS,
        clock: Callable[[], float] = time.monotonic,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        actions = tuple(actions)
        self._host = host
        self._theme = theme
        self._clock = clock
        self._actions = keys_of(actions, "pane")
        self._panes: list[ChildPane] = []
        self._ticker: Timer | None = None
        self.current: ChildPane | None = None
        self.is_zoomed = False
        next_key = next((hint_key(action) for action in actions if action.name == "pane_next"), "")
        self._more = MoreRow(next_key)
        self._tiles = TileLayout(self._asking, self._more)

    # What is shown

    @property
    def panes(self) -> tuple[ChildPane, ...]:
        """The panes, that of the smallest number first."""
        return tuple(self._panes)

    @property
    def running(self) -> int:
        """How many children run."""
        return sum(pane.child.is_running for pane in self._panes)

    def pane_of(self, job_id: str) -> ChildPane | None:
        """Return the pane of a child, or None."""
        return next((pane for pane in reversed(self._panes) if pane.child.job_id == job_id), None)

    def show(self, event: AnyEvent) -> None:
        """Show an event of a child; others, and those of children without a pane, are ignored."""
        match event:
            case ChildEvent(job_id=job_id, event=inner):
                if (pane := self.pane_of(job_id)) is not None:
                    pane.show(inner)
            case ChildStarted():
                self._begin(event)
            case ChildEnded(job_id=job_id):
                if (pane := self.pane_of(job_id)) is not None and pane.child.is_running:
                    pane.end(event)
                    self._retile()
            case _:
                pass

    def end_turn(self) -> None:
        """Show that nothing runs any more, whatever was reported."""
        for pane in self._panes:
            if pane.child.is_running:
                child = pane.child
                result = DispatchResult(
                    job_id=child.job_id, role=child.role, status="blocked", summary="", cancelled=True
                )
                self.show(ChildEnded(job_id=child.job_id, call_id=child.call_id, result=result))

    def close_finished(self) -> None:
        """Take the panes of all children that are over away."""
        gone = [pane for pane in self._panes if not pane.child.is_running]
        had_focus = any(pane.has_focus_within for pane in gone)
        if self.current in gone:
            self.current, self.is_zoomed = None, False
        self._take_away(gone)
        if had_focus:
            self._host.leave()
        if gone:
            self._retile()

    def set_theme(self, theme: Theme) -> None:
        """Show everything in other colours."""
        self._theme = theme
        for pane in self._panes:
            pane.set_theme(theme)

    # Who has the keys

    def focus_number(self, number: int) -> None:
        """Go to the pane of a number, from 1; it opens if it was folded."""
        pane = next((pane for pane in self._panes if pane.child.number == number), None)
        if pane is not None:
            self._go_to(pane)

    def note_focus(self, widget: Widget | None) -> None:
        """Take notice of where the keys go now; None leaves the panes."""
        pane = None
        if widget is not None:
            pane = next((pane for pane in self._panes if pane in widget.ancestors_with_self), None)
        if pane is self.current or (pane is None and self.is_zoomed):
            return
        for other in self._panes:
            other.set_current(other is pane)
        self.current = pane
        self._retile()

    def toggle_zoom(self) -> None:
        """Give one pane all the room, or take it back."""
        if self.is_zoomed:
            self.is_zoomed = False
            self._retile()
        elif self._panes:
            running = (pane for pane in self._panes if pane.child.is_running)
            self.zoom(self.current or next(running, self._panes[-1]))

    def zoom(self, pane: ChildPane) -> None:
        """Give a pane all the room, and the keys."""
        self.is_zoomed = True
        self._go_to(pane)
        self._retile()

    def toggle_fold(self, pane: ChildPane) -> None:
        """Make a strip of an open pane, or open a strip."""
        pane.wish = "open" if pane.title.is_strip else "closed"
        self.is_zoomed = False
        self._retile()

    def on_key(self, event: events.Key) -> None:
        """Do what a key of the panes is for; scrolling is up to the stream that has the focus."""
        pane, action = self.current, self._actions.get(event.key)
        if pane is None:
            return
        if action is None and event.key == "enter" and pane.title.is_strip:
            action = "pane_fold"
        if action is None:
            return
        event.stop()
        event.prevent_default()
        self._do(action, pane)

    def _do(self, action: str, pane: ChildPane) -> None:
        match action:
            case "pane_leave" if self.is_zoomed:
                self.toggle_zoom()
            case "pane_leave":
                self._host.leave()
            case "pane_cancel" if pane.child.is_running:
                self._host.cancel_child(pane.child.job_id)
            case "pane_fold":
                self.toggle_fold(pane)
            case "pane_next" | "pane_previous":
                step = 1 if action == "pane_next" else -1
                self._go_to(self._panes[(self._panes.index(pane) + step) % len(self._panes)])

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Go to the pane whose title is pressed; a strip opens, to stay open."""
        pane = next((pane for pane in self._panes if event.widget is pane.title), None)
        if pane is None:
            return
        if pane.title.is_strip:
            pane.wish = "open"
            self._retile()
        self._go_to(pane)

    # Inside

    def compose(self) -> ComposeResult:
        """Begin without panes."""
        yield self._more

    @property
    def layout(self) -> "Layout":
        """Tiles."""
        return self._tiles

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the rows of the panes: a part of what prompt, status bar and the like leave."""
        parent = cast(Widget, self.parent)
        others = (widget for widget in parent.displayed_children if widget is not self and widget.id != "panes")
        rows = container.height - sum(widget.outer_size.height for widget in others)
        return area_rows(rows, width, [item for _, item in self._asking()])

    def _asking(self) -> list[tuple[Widget, Item]]:
        if self.is_zoomed and self.current is not None:
            return [(self.current, Item(True))]
        return [(pane, Item(pane.wants_room, self._rank(pane))) for pane in self._panes]

    def _rank(self, pane: ChildPane) -> int:
        if pane is self.current:
            return -1
        return pane.child.number + (0 if pane.child.is_running else _ENDED_RANK)

    def _begin(self, event: ChildStarted) -> None:
        finished = [pane for pane in self._panes if not pane.child.is_running and pane is not self.current]
        finished.sort(key=lambda pane: pane.child.ended_at or 0.0)
        self._take_away(finished[:-MOST_FINISHED])
        # The smallest free one, for only nine numbers have a key.
        numbers = {pane.child.number for pane in self._panes}
        number = next(number for number in range(1, len(numbers) + 2) if number not in numbers)
        pane = ChildPane(event, number, theme=self._theme, clock=self._clock)
        insort(self._panes, pane, key=lambda pane: pane.child.number)
        self.mount(pane)
        self._retile()

    def _take_away(self, gone: list[ChildPane]) -> None:
        self._panes = [pane for pane in self._panes if pane not in gone]
        for pane in gone:
            pane.remove()

    def _go_to(self, pane: ChildPane) -> None:
        if pane.wish == "closed":
            pane.wish = "auto"
        self.note_focus(pane)
        pane.take_focus()

    def _retile(self) -> None:
        """Bring tiles, clock and footer in line with the panes."""
        self.display = bool(self._panes)
        # A widget that asks for a layout has it made by those around it; the tiles are made here.
        self._more.refresh(layout=True)
        self._run_clock()
        self._host.panes_changed()

    def _run_clock(self) -> None:
        """Have the one timer exactly while a child runs."""
        if self.running and self._ticker is None:
            self._ticker = self.set_interval(CLOCK_S, self._tick)
        elif not self.running and self._ticker is not None:
            self._ticker.stop()
            self._ticker = None

    def _tick(self) -> None:
        for pane in self._panes:
            if pane.child.is_running:
                pane.show_time()
