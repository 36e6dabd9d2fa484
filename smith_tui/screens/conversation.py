"""The conversation view: the whole history, nothing elided, on a screen of its own."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from smith_core.messages import Message
from smith_tui.transcript.view import Transcript


class ConversationScreen(Screen[None]):
    """Shows messages from the last one backwards until Escape."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,alt+h", "dismiss", "Close"),
        Binding("n", "jump(1)", "Next prompt"),
        Binding("p", "jump(-1)", "Previous prompt"),
    ]

    def __init__(self, messages: Sequence[Message], role: str) -> None:
        super().__init__()
        self._messages = messages
        self._role = role

    def compose(self) -> ComposeResult:
        """Fill the screen with one transcript."""
        yield Transcript(id="history")

    def on_mount(self) -> None:
        """Load the messages; only what is visible is rendered."""
        transcript = self.query_one(Transcript)
        transcript.load(self._messages)
        transcript.border_title = f"Conversation, {len(self._messages)} messages"
        transcript.border_subtitle = "n / p next and previous prompt · Esc closes"
        transcript.focus()

    def action_jump(self, direction: int) -> None:
        """Go to the next or the previous prompt."""
        self.query_one(Transcript).scroll_prompt(direction)
