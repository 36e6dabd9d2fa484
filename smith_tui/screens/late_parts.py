"""What a first frame of the main screen does without: mounted when it is first asked for, and not shown before."""

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from textual import events
from textual.screen import Screen

from smith_tui.keys import KeyAction
from smith_tui.screens.finds_text import FindsText

if TYPE_CHECKING:
    from smith_tui.presenter import Presenter
    from smith_tui.screens.finding import Finder
    from smith_tui.screens.late_output import LateOutput
    from smith_tui.transcript.view import Transcript
    from smith_tui.widgets.choice_list import ChoiceList
    from smith_tui.widgets.find_bar import FindBar
    from smith_tui.widgets.status_bar import StatusBar
    from smith_tui.widgets.tool_output import ToolOutputPane


class LateParts(FindsText, Screen[None]):
    """A screen of transcript and status bar, with an output pane and a line to search in as soon as somebody asks."""

    transcript: "Transcript"
    status: "StatusBar"

    def __init__(self, actions: Iterable[KeyAction]) -> None:
        super().__init__()
        self._actions = tuple(actions)

    def on_resize(self, event: events.Resize) -> None:
        """Keep the terminal's cursor at the caret of what has the keys."""
        self.call_after_refresh(self._place_caret)

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Take the terminal's cursor back from the screen that stood above."""
        self.call_after_refresh(self._place_caret)

    def _place_caret(self) -> None:
        place = getattr(self.focused, "place_caret", None)
        if place is not None and self.is_current:
            place()

    @cached_property
    def output(self) -> "ToolOutputPane":
        """The output of tools."""
        return self._late_output.made()

    @cached_property
    def _late_output(self) -> "LateOutput":
        from smith_tui.screens.late_output import LateOutput

        def make() -> "ToolOutputPane":
            from smith_tui.widgets.tool_output import ToolOutputPane

            pane = ToolOutputPane(actions=self._actions, id="output")
            self.query_one("#panes").mount(pane, after=self.transcript)
            return pane

        return LateOutput(make)

    @cached_property
    def find_bar(self) -> "FindBar":
        """Where a search is typed."""
        from smith_tui.widgets.find_bar import FindBar

        bar = FindBar(actions=self._actions, again="find", id="find")
        above = self.query("#panes, #children").last()
        above.parent.mount(bar, after=above)  # type: ignore[union-attr]
        return bar

    @cached_property
    def finder(self) -> "Finder":
        """Whoever searches what is shown."""
        from smith_tui.screens.finding import Finder

        return Finder(self.find_bar, self.transcript)

    @cached_property
    def choices(self) -> "ChoiceList":
        """What can stand at the caret, in a box that floats over the screen."""
        from smith_tui.widgets.choice_list import ChoiceList

        choices = ChoiceList(id="choices")
        self.mount(choices)
        return choices

    def end_find(self) -> None:
        """Close the line to search in, if there ever was one."""
        if "find_bar" in self.__dict__:
            self.find_bar.close()

    @cached_property
    def presenter(self) -> "Presenter":
        """Whoever shows what a turn does."""
        from smith_tui.presenter import Presenter

        return Presenter(self.transcript, self._late_output, self.status)
