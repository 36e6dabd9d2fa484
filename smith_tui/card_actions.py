"""The actions of the app that are about parts of the main screen: children, changed files, output, what waits."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.screen import Screen

    from smith_tui.screens.chat import ChatScreen


class CardActions:
    """A part of the app; its keys mean something while the main screen is to be seen."""

    if TYPE_CHECKING:
        chat: ChatScreen

        @property
        def screen(self) -> Screen[Any]:
            """The screen that is to be seen."""

    def action_focus_child(self, number: int) -> None:
        """Go to a child pane, from 1."""
        if self.screen is self.chat:
            self.chat.desk.focus(number)

    def action_pane_zoom(self) -> None:
        """Give a child pane the whole screen, or take it back."""
        if self.screen is self.chat:
            self.chat.desk.toggle_zoom()

    def action_panes_close(self) -> None:
        """Take the panes of children that are over away."""
        if self.screen is self.chat:
            self.chat.desk.close_finished()

    def action_open_child(self) -> None:
        """Show the whole transcript of a child."""
        if self.screen is self.chat:
            self.chat.desk.open_child()

    def action_move_files(self) -> None:
        """Take back what a turn did to files, or put it again."""
        if self.screen is self.chat:
            self.chat.turns.move_files()

    def action_output_focus(self) -> None:
        """Go to the tool output, or back."""
        if self.screen is self.chat:
            self.chat.enter_output()

    def action_queue(self) -> None:
        """Go to the prompts that wait, or back."""
        if self.screen is self.chat:
            self.chat.open_queue()

    def action_question(self) -> None:
        """Go to the call that waits for an answer, or back."""
        if self.screen is self.chat:
            self.chat.asking.toggle_focus()
