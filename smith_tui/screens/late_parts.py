"""What a first frame of the main screen does without: mounted when it is first asked for, and not shown before."""

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from textual.screen import Screen

from smith_tui.keys import KeyAction

if TYPE_CHECKING:
    from smith_tui.presenter import Presenter
    from smith_tui.transcript.view import Transcript
    from smith_tui.widgets.status_bar import StatusBar
    from smith_tui.widgets.tool_output import ToolOutputPane


class LateParts(Screen[None]):
    """A screen of transcript and status bar, with an output pane behind the transcript as soon as a turn needs one."""

    transcript: "Transcript"
    status: "StatusBar"

    def __init__(self, actions: Iterable[KeyAction]) -> None:
        super().__init__()
        self._actions = tuple(actions)

    @cached_property
    def output(self) -> "ToolOutputPane":
        """The output of tools."""
        from smith_tui.widgets.tool_output import ToolOutputPane

        pane = ToolOutputPane(actions=self._actions, id="output")
        self.query_one("#panes").mount(pane, after=self.transcript)
        return pane

    @cached_property
    def presenter(self) -> "Presenter":
        """Whoever shows what a turn does."""
        from smith_tui.presenter import Presenter

        return Presenter(self.transcript, self.output, self.status)
