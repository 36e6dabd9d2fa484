"""The conversation view: the whole history, nothing elided, on a screen of its own."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.screen import Screen

from smith_core.messages import Message
from smith_tui.theme import Theme
from smith_tui.transcript.view import Transcript


class ConversationScreen(Screen[None]):
    """Shows messages from the last one backwards until Escape."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,alt+h", "dismiss", "Close"),
        Binding("n", "jump(1)", "Next prompt"),
        Binding("p", "jump(-1)", "Previous prompt"),
    ]

    def __init__(self, messages: Sequence[Message], role: str, theme: Theme) -> None:
        super().__init__()
        self._messages = messages
        self._role = role
        self._theme = theme

    def compose(self) -> ComposeResult:
        """Fill the screen with one transcript."""
        # The transcript paints its rows itself and leaves no room for a border of its own.
        with Container(id="history"):
            yield Transcript(theme=self._theme, role=self._role)

    def on_mount(self) -> None:
        """Load the messages; only what is visible is rendered."""
        transcript = self.query_one(Transcript)
        transcript.load(self._messages)
        transcript.focus()
        frame = self.query_one("#history", Container)
        frame.border_title = f"Conversation, {len(self._messages)} messages"
        frame.border_subtitle = "n / p next and previous prompt · Esc closes"

    def action_jump(self, direction: int) -> None:
        """Go to the next or the previous prompt."""
        self.query_one(Transcript).scroll_prompt(direction)
