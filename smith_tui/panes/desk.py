"""What the main screen has to do with dispatched children: their panes, and the transcripts of those that are over."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from textual.screen import Screen

from smith_tui.keys import KeyAction, Scope
from smith_tui.theme import Theme
from smith_tui.transcript.view import Transcript

if TYPE_CHECKING:
    from textual.widget import Widget

    from smith_core.events import AnyEvent
    from smith_core.runtime import Runtime
    from smith_tui.graphics.desk import RainDesk
    from smith_tui.output.app import OutputApp
    from smith_tui.panes.area import ChildPanes
    from smith_tui.panes.pane import ChildPane


class ChildDesk:
    """Owns the panes, which are made with the first child, and the rain behind the transcript while one waits.

    runtime, theme: asked when they are needed. leave: gives the keys back to the prompt. changed: called when panes
    came or went, or when the keys went from one to another. raining: called with whether rain is to be seen.
    """

    def __init__(
        self,
        screen: Screen[None],
        transcript: Transcript,
        actions: tuple[KeyAction, ...],
        *,
        runtime: Callable[[], "Runtime"],
        theme: Callable[[], Theme],
        leave: Callable[[], None],
        changed: Callable[[], None],
        raining: Callable[[bool], None],
    ) -> None:
        self._screen = screen
        self._transcript = transcript
        self._actions = actions
        self._runtime = runtime
        self._theme = theme
        self._changed = changed
        self._raining = raining
        self.leave = leave
        self.clock: Callable[[], float] = time.monotonic
        self.area: ChildPanes | None = None
        self.rain: RainDesk | None = None

    def show(self, event: "AnyEvent") -> None:
        """Keep the panes in line with what happens; they stay behind a turn, as strips, until the next one begins."""
        from smith_core import events

        if isinstance(event, events.ChildStarted):
            self._open_rain()
        if self.rain is not None:
            self.rain.show(event)
        if isinstance(event, events.ConversationLoaded | events.FilesChanged | events.TurnEnded):
            self._changed()  # the transcript may have other cards now
        if isinstance(event, events.ChildEvent | events.ChildStarted | events.ChildEnded):
            self._open_area().show(event)
            if isinstance(event, events.ChildEnded):
                self._changed()  # its keys are fewer now
        elif self.area is None:
            return
        elif isinstance(event, events.TurnEnded):
            self.area.end_turn()
        elif isinstance(event, events.TurnStarted | events.ConversationLoaded) or _is_cleared(event):
            self.area.close_finished()

    @property
    def current(self) -> "ChildPane | None":
        """The pane that has the keys."""
        return self.area.current if self.area is not None else None

    @property
    def dead_keys(self) -> frozenset[str]:
        """The actions of panes that nothing comes of now: a child that is over cannot be cancelled."""
        is_over = self.current is not None and not self.current.child.is_running
        return frozenset({"pane_cancel"}) if is_over else frozenset()

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """Which keys of children mean something now, besides those of a pane that has the focus."""
        with_panes: tuple[Scope, ...] = ("children",) if self.area is not None and self.area.panes else ()
        with_cards: tuple[Scope, ...] = ("changed",) if self._transcript.files_of() is not None else ()
        return (*with_panes, *with_cards, "dispatched") if self._transcript.has_children else (*with_panes, *with_cards)

    def note_focus(self, widget: "Widget | None") -> None:
        """Take notice of where the keys go now."""
        if self.area is not None:
            self.area.note_focus(widget)

    def set_theme(self, theme: Theme) -> None:
        """Show the panes in other colours."""
        if self.area is not None:
            self.area.set_theme(theme)
        self.rain_anew()

    def rain_anew(self) -> None:
        """Let it go on raining as theme and settings are now."""
        if self.rain is not None:
            self.rain.go_on()

    # What keys and clicks ask for

    def focus(self, number: int) -> None:
        """Go to a pane, from 1."""
        if self.area is not None:
            self.area.focus_number(number)

    def toggle_zoom(self) -> None:
        """Give a pane the whole screen, or take it back."""
        if self.area is not None:
            self.area.toggle_zoom()

    def close_finished(self) -> None:
        """Take the panes of children that are over away."""
        if self.area is not None:
            self.area.close_finished()

    def open_child(self, job_id: str = "") -> None:
        """Show the whole transcript of a child, by default the last one in view."""
        from smith_tui.screens.child import ChildScreen, stored_child

        cards = self._transcript.child_cards()
        jobs = [card.job_id for card in cards]
        wanted = job_id or self._transcript.child_in_view()
        if wanted not in jobs:
            return
        children = [stored_child(card, number) for number, card in enumerate(cards, 1)]
        load = self._runtime().child_messages
        screen = ChildScreen(children, jobs.index(wanted), load, theme=self._theme(), actions=self._actions)
        self._screen.app.push_screen(screen)

    # What the panes ask for

    def cancel_child(self, job_id: str) -> None:
        """End one child; the turn goes on."""
        self._runtime().cancel_child(job_id)

    def panes_changed(self) -> None:
        """Let one pane have the screen if that is wanted, and the footer its keys."""
        self._screen.set_class(self.area is not None and self.area.is_zoomed, "zoomed")
        self._changed()

    def _open_rain(self) -> None:
        if self.rain is None:
            from smith_tui.graphics.desk import RainDesk
            from smith_tui.graphics.scene import Stage

            self.rain = RainDesk(
                cast("OutputApp", self._screen.app),
                Stage(self._transcript),
                settings=lambda: self._runtime().services.config.effective.ui,
                theme=self._theme,
                told=self._raining,
            )

    def _open_area(self) -> "ChildPanes":
        if self.area is None:
            # Imported with the first child, behind the first frame.
            from smith_tui.panes.area import ChildPanes

            self.area = ChildPanes(self, theme=self._theme(), actions=self._actions, clock=self.clock, id="children")
            self._screen.query_one("#panes").parent.mount(self.area, after="#panes")  # type: ignore[union-attr]
        return self.area


def _is_cleared(event: "AnyEvent") -> bool:
    from smith_core.events import SessionChanged

    return isinstance(event, SessionChanged) and event.cleared
