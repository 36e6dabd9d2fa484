"""The whole transcript of a dispatched child, on a screen of its own."""

from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container, Vertical

from smith_core.errors import AgentFailure
from smith_core.messages import Message
from smith_tui.keys import KeyAction, keys_of, local_hints
from smith_tui.panes.child import ChildState
from smith_tui.panes.title_bar import PaneTitle
from smith_tui.screens.finding import Finder
from smith_tui.screens.finds_text import FindsText
from smith_tui.screens.leaving import LeftOnce
from smith_tui.theme import Theme
from smith_tui.transcript.dispatch_card import DispatchCard
from smith_tui.transcript.view import Transcript
from smith_tui.widgets.find_bar import FindBar
from smith_tui.widgets.key_hints import KeyHints
from smith_tui.widgets.status_line import StatusState

NOTHING_KEPT = "Nothing is kept of what this child said."


def stored_child(card: DispatchCard, number: int) -> ChildState:
    """Return what the card of a dispatch call knows of its child."""
    usage = card.report.usage if card.report is not None else None
    return ChildState(
        job_id=card.job_id,
        call_id="",
        number=number,
        role=card.role,
        task=card.task,
        started_at=0.0,
        ended_at=card.duration_s,
        outcome=card.outcome,
        summary=card.report.summary if card.report is not None else "",
        status=StatusState(
            tokens_in=usage.input_tokens if usage is not None else 0,
            tokens_out=usage.output_tokens if usage is not None else 0,
        ),
    )


class ChildScreen(FindsText, LeftOnce[None]):
    """Shows one child after the other until Escape.

    children: of the conversation, in order; first: index of the one to begin with. load: returns the messages of a
    job, () when there are none; it may raise AgentFailure.
    """

    def __init__(
        self,
        children: Sequence[ChildState],
        first: int,
        load: Callable[[str], Awaitable[tuple[Message, ...]]],
        *,
        theme: Theme,
        actions: Sequence[KeyAction],
    ) -> None:
        super().__init__()
        self._children = tuple(children)
        self._index = first
        self._load = load
        self._actions = tuple(actions)
        self._keys = keys_of(actions, "child")
        child = self._children[first]
        self._theme = theme
        self.title_row = PaneTitle(child, theme)
        self.title_row.is_current = True
        self.transcript = Transcript(theme=theme, role=child.role)
        self.find_bar = FindBar(actions=actions, id="find")

    def compose(self) -> ComposeResult:
        """Fill the screen with one transcript in a frame."""
        with Vertical():
            yield self.title_row
            yield Container(self.transcript, id="child")
            yield self.find_bar
            yield KeyHints(local_hints(self._actions, "child"), id="hints")

    async def on_mount(self) -> None:
        """Show the first one."""
        self.query_one(KeyHints).show_keys_for(("child",))
        self.transcript.focus()
        await self._show()

    async def _show(self) -> None:
        child = self._children[self._index]
        self.title_row.show(child, child.ended_at or 0.0)
        accent = self._theme.accent(child.palette)
        styles = self.query_one("#child").styles
        styles.background = self._theme.background
        styles.border_left = styles.border_right = styles.border_bottom = ("round", accent)
        self.transcript.set_role(child.role)
        self.transcript.clear()
        problem = ""
        messages: tuple[Message, ...] = ()
        try:
            messages = await self._load(child.job_id)
        except AgentFailure as caught:
            problem = caught.error.message
        if child is not self._children[self._index]:
            return  # the person has gone on meanwhile
        self.transcript.load(messages)
        if not messages:
            self.transcript.add_notice("warning" if problem else "info", problem or NOTHING_KEPT)

    async def on_key(self, event: events.Key) -> None:
        """Close, or go to another child."""
        action = None if self.find_bar.has_focus else self._keys.get(event.key)
        if action is None:
            return
        event.stop()
        if action == "child_close":
            self.dismiss()
        elif len(self._children) > 1:
            step = 1 if action == "child_next" else -1
            self._index = (self._index + step) % len(self._children)
            await self._show()

    # Find

    @cached_property
    def finder(self) -> Finder:
        """Whoever searches the transcript."""
        return Finder(self.find_bar, self.transcript)

    def open_find(self) -> None:
        """Search this transcript."""
        self.finder.open(self.transcript)

    @on(FindBar.Closed)
    def _find_closed(self) -> None:
        self.finder.forget()
        self.transcript.focus()
