"""Shows the inspect view in the app: on the whole screen, or as a pane beside the transcript."""

import time
from bisect import bisect_left
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container

from smith_core.events import AnyEvent, ConversationLoaded, HistoryEdited, MessagesFollowed, SessionChanged, TurnEnded
from smith_tui.inspect.desk import Desk
from smith_tui.inspect.inspector import Inspector
from smith_tui.inspect.jumping import place_of_message
from smith_tui.inspect.state import InspectState
from smith_tui.screens.leaving import LeftOnce
from smith_tui.screens.look import Look

if TYPE_CHECKING:
    from smith_core.runtime import Runtime
    from smith_tui.screens.chat import ChatScreen

PANE_SHARE, PANE_WIDE_COLUMNS = 55, 120
"""Per cent of the screen that the pane gets where it stands beside the transcript, and from which width on it does."""
_BESIDE = """
#panes > Inspector { height: 60%; }
ChatScreen.wide #panes > Inspector { height: 1fr; width: 55%; }
ChatScreen.with-inspector #output { display: none; }
/* Too low for both, one above the other. */
ChatScreen.-low #panes > Inspector { height: 1fr; }
ChatScreen.-low.with-inspector #transcript { display: none; }
ChatScreen.-low.wide.with-inspector #transcript { display: block; }
"""
"""The layout of the main screen with the pane; a start has nothing to do with it."""

_CHANGES_MESSAGES = (ConversationLoaded, HistoryEdited, MessagesFollowed, SessionChanged, TurnEnded)


class InspectScreen(LeftOnce[None]):
    """The inspect view on the whole screen."""

    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self, inspector: Inspector) -> None:
        super().__init__()
        self._inspector = inspector

    def compose(self) -> ComposeResult:
        """Give the view everything."""
        yield self._inspector


class InspectionHost:
    """Opens and closes the view, and does what it asks of the main screen; one at a time.

    look: how the view looks when it is opened.
    """

    def __init__(self, chat: "ChatScreen", runtime: "Runtime", look: Callable[[], Look]) -> None:
        self._chat = chat
        self._runtime = runtime
        self._look = look
        self._view: Inspector | None = None
        self._screen: InspectScreen | None = None
        self._state = InspectState()
        self._is_pane = False
        self.now: Callable[[], float] = time.time
        """The clock for ages, in seconds since the epoch."""

    @property
    def is_open(self) -> bool:
        """Whether the view is there."""
        return self._view is not None

    @property
    def draft(self) -> str:
        """What stands in the prompt."""
        return self._chat.prompt.text

    def open(self) -> None:
        """Show the view in the form it had last."""
        if self._view is None:
            self._state = InspectState()
            self._show()

    def close_inspector(self) -> None:
        """Take the view away; what was changed in it cannot be undone any more. Below another screen it stays."""
        if self._view is not None and (self._screen is None or self._screen.is_active):
            self._hide()
            self._chat.set_focus(self._chat.prompt)
            self._chat.run_worker(self._runtime.history.close())
        elif self._view is None and isinstance(left := self._chat.app.screen, InspectScreen):
            # One that was switched away below another screen.
            left.dismiss()

    def switch_inspector(self) -> None:
        """Show the view as a pane instead of the whole screen, or the other way round."""
        if self._view is not None and (self._screen is None or self._screen.is_active):
            self._hide()
            self._is_pane = not self._is_pane
            self._show()

    def show_in_transcript(self, sequence: int) -> None:
        """Show a message in the transcript; a view that hides it is taken away."""
        conversation = self._runtime.services.conversation
        index = bisect_left(conversation.sequences, sequence)
        if not self._is_pane:
            self.close_inspector()
        if index < len(conversation.messages):
            transcript = self._chat.transcript
            self._chat.catch_up()
            transcript.flush()
            transcript.go_to(place_of_message(transcript.document.blocks, conversation.messages, index))

    def fork_at(self, sequence: int) -> None:
        """Go on with a copy of the conversation up to and with a message."""
        self.close_inspector()
        self._chat.submit(f"/fork {sequence}")

    def show(self, event: AnyEvent) -> None:
        """Follow what happens to the messages."""
        if self._view is not None and self._view.is_whole and isinstance(event, _CHANGES_MESSAGES):
            self._view.refresh_messages()

    def _show(self) -> None:
        self._view = Inspector(Desk(self._runtime), self, self._state, self._look(), now=self.now)
        width = self._chat.size.width
        self._view.width_hint = width * PANE_SHARE // 100 if self._is_pane and width >= PANE_WIDE_COLUMNS else width
        if self._is_pane:
            self._chat.app.stylesheet.add_source(_BESIDE, read_from=(__file__, "_BESIDE"))
            self._chat.add_class("with-inspector")
            self._chat.query_one("#panes", Container).mount(self._view)
        else:
            self._screen = InspectScreen(self._view)
            self._chat.app.push_screen(self._screen)

    def _hide(self) -> None:
        view, self._view = self._view, None
        if self._screen is not None:
            self._screen.dismiss()
            self._screen = None
        elif view is not None:
            self._chat.remove_class("with-inspector")
            view.remove()
