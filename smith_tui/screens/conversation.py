"""The conversation view: the whole history, nothing elided, as a pager with search, turns and folds."""

from typing import TYPE_CHECKING, cast

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from smith_core.commands.views import conversation_markdown
from smith_core.errors import AgentFailure
from smith_core.secrets import child_environment
from smith_tui.outside import TerminalOwner, page_text
from smith_tui.sanitize import literal
from smith_tui.screens.finding import Finder
from smith_tui.screens.leaving import LeftOnce
from smith_tui.screens.look import Look
from smith_tui.transcript.cells import visible
from smith_tui.transcript.view import Transcript
from smith_tui.widgets.find_bar import FindBar
from smith_tui.widgets.key_hints import KeyHints

if TYPE_CHECKING:
    from smith_core.runtime import Runtime


class ConversationScreen(LeftOnce[None]):
    """Shows the conversation of the session as it is now, from its last message backwards."""

    DEFAULT_CSS = """
    #history { height: 1fr; border: round $border; }
    #history:focus-within { border: round $primary; }
    .note { height: auto; color: $warning; }
    """

    def __init__(self, runtime: "Runtime", look: Look) -> None:
        super().__init__()
        self._runtime = runtime
        self._look = look
        self._keys = look.keys("pager")
        self._is_folded = False

    def compose(self) -> ComposeResult:
        """Lay out the screen from the top down."""
        # The transcript paints its rows itself and leaves no room for a border of its own.
        with Container(id="history", classes="frame"):
            yield Transcript(theme=self._look.theme, role=self._runtime.session.active_role)
        yield FindBar(actions=self._look.actions)
        yield Static("", classes="note", markup=False)
        yield KeyHints(self._look.actions)

    def on_mount(self) -> None:
        """Load the messages; only what is visible is rendered."""
        self._transcript = self.query_one(Transcript)
        self._bar = self.query_one(FindBar)
        self._finder = Finder(self._bar, self._transcript)
        conversation = self._runtime.services.conversation
        self._transcript.load(conversation.messages)
        self._transcript.unfold_all()
        self._transcript.focus()
        self.query_one(KeyHints).show_only("pager")
        count = len(conversation.messages)
        frame = self.query_one("#history", Container)
        frame.border_title = Content(literal(conversation.title) or "Conversation")
        frame.border_subtitle = f"{count:,} message{'s' * (count != 1)}"

    def on_key(self, event: events.Key) -> None:
        """Do what a key is for."""
        if self.focused is self._bar:
            self._bar.take_key(event)
            return
        if not self._press(event.key):
            return
        event.stop()
        event.prevent_default()

    @on(KeyHints.Chosen)
    def _hint_clicked(self, message: KeyHints.Chosen) -> None:
        self._press(message.action.keys[0])

    def _press(self, key: str) -> bool:
        match self._keys.get(key):
            case "pager_close":
                self.dismiss(None)
            case "pager_find":
                self._finder.open(self._transcript)
            case "pager_next":
                self._finder.step(1)
            case "pager_previous":
                self._finder.step(-1)
            case "pager_turn_down":
                self._transcript.scroll_prompt(1)
            case "pager_turn_up":
                self._transcript.scroll_prompt(-1)
            case "pager_fold":
                self._is_folded = not self._is_folded
                self._transcript.unfold_tools(not self._is_folded)
            case "pager_outside":
                self._page()
            case _:
                return False
        return True

    def _page(self) -> None:
        environ = child_environment(self._runtime.services.config.effective)
        try:
            # The pager has the terminal, and nothing of a turn would go on meanwhile.
            self._runtime.session.require_idle("the pager")
            # Nothing in it may act on the terminal, whatever the pager lets through.
            text = visible(conversation_markdown(self._runtime.session))
            page_text(cast("TerminalOwner", self.app), text, environ)
        except AgentFailure as caught:
            self.query_one(".note", Static).update(Content(literal(caught.error.message)))

    # Find

    @on(FindBar.Changed)
    def _find_changed(self, message: FindBar.Changed) -> None:
        self._finder.change(message.text)

    @on(FindBar.Next)
    def _find_taken(self) -> None:
        # From here on the keys of the pager go from match to match.
        self._transcript.focus()

    @on(FindBar.Previous)
    def _find_previous(self) -> None:
        self._finder.step(-1)

    @on(FindBar.Closed)
    def _find_closed(self) -> None:
        self._finder.forget()
        self._transcript.focus()
