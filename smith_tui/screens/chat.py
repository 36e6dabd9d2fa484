"""The main screen: transcript, tool output, prompt, status bar and key hints, and the turn that runs on it."""

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.screen import Screen

from smith_core.errors import AgentFailure
from smith_core.events import QuitRequested
from smith_core.model import ModelChoice
from smith_core.roles import ROLES
from smith_core.runtime import Runtime
from smith_tui.keys import KeyAction, Scope
from smith_tui.presenter import Presenter
from smith_tui.transcript.view import Transcript
from smith_tui.widgets.find_bar import FindBar
from smith_tui.widgets.key_hints import KeyHints
from smith_tui.widgets.prompt import Prompt
from smith_tui.widgets.status_bar import StatusBar
from smith_tui.widgets.tool_output import ToolOutputPane

if TYPE_CHECKING:
    from smith_tui.app import SmithApp

WIDE_COLUMNS = 120
"""From this width on, tool output stands beside the transcript, below it otherwise."""


class ChatScreen(Screen[None]):
    """Where the person and the agent talk."""

    def __init__(self, runtime: Runtime, actions: Iterable[KeyAction], notices: Iterable[str]) -> None:
        super().__init__()
        self.runtime = runtime
        self._actions = tuple(actions)
        self._notices = tuple(notices)
        self._waiting: deque[str] = deque()
        self._work: set[asyncio.Task[None]] = set()
        self._turn: asyncio.Task[None] | None = None

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        reduced = self.runtime.services.config.effective.ui.motion == "reduced"
        with Vertical():
            with Container(id="panes"):
                yield Transcript(id="transcript")
                yield ToolOutputPane(actions=self._actions, id="output")
            yield FindBar(actions=self._actions, id="find")
            yield Prompt(actions=self._actions, placeholder="Type a task, or / for a command", id="prompt")
            yield StatusBar(reduced_motion=reduced, id="status")
            yield KeyHints(self._actions, id="hints")

    def on_mount(self) -> None:
        """Connect the presenter, show what is known, and find out the rest behind the first frame."""
        self.transcript = self.query_one(Transcript)
        self.output = self.query_one(ToolOutputPane)
        self.prompt = self.query_one(Prompt)
        self.status = self.query_one(StatusBar)
        self.find_bar = self.query_one(FindBar)
        self.presenter = Presenter(self.transcript, self.output, self.status)
        session = self.runtime.session
        self.transcript.set_role(session.active_role)
        self.status.change(
            role_alias=ROLES[session.active_role].alias,
            folder=str(session.cwd),
            model=self.runtime.services.config.effective.default_model or session.choice.model or "",
        )
        for notice in self._notices:
            self.transcript.add_notice("warning", notice)
        self.prompt.focus()
        self._start(self._look_around())

    async def _look_around(self) -> None:
        """Learn branch and model, which may need the disk and the endpoint."""
        session = self.runtime.session
        scope = await session.recompute_turn_scope()
        self.status.change(branch=scope.project.branch)
        try:
            selected = await session.select_model(ModelChoice(), ROLES[session.active_role])
            self.status.change(model=selected.model)
        except AgentFailure as caught:
            self.transcript.add_notice("info", caught.error.message)

    # Turns

    @on(Prompt.Submitted)
    def _submitted(self, message: Prompt.Submitted) -> None:
        self.submit(message.text)

    def submit(self, text: str) -> None:
        """Run a prompt or a command; a prompt waits while another one runs."""
        self.transcript.follow()
        if text.startswith("/"):
            self._start(self._run(text))
        elif self._turn is not None:
            self._waiting.append(text)
            self.transcript.add_notice("info", f"queued behind the running turn: {text}")
        else:
            self._turn = self._start(self._run(text))
            self._turn.add_done_callback(self._turn_over)

    async def _run(self, line: str) -> None:
        async for event in self.runtime.process_raw_input(line):
            self.presenter.show(event)
            if isinstance(event, QuitRequested):
                self.app.exit(return_code=0)

    def _turn_over(self, turn: asyncio.Task[None]) -> None:
        self._turn = None
        if self._waiting and self.app.is_running:
            self.submit(self._waiting.popleft())

    def _start(self, work: "asyncio.Coroutine[None, None, None]") -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._work.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._work.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and isinstance(error, Exception):
            self.app._handle_exception(error)

    def cancel_turn(self) -> bool:
        """Cancel the running turn and give waiting prompts back; say whether one was running."""
        if self._turn is None:
            return False
        self.runtime.cancel()
        if self._waiting:
            waiting = [*self._waiting, *([self.prompt.text] if self.prompt.text else [])]
            self._waiting.clear()
            self.prompt.load("\n\n".join(waiting))
        return True

    # Panes and keys

    def on_resize(self, event: events.Resize) -> None:
        """Put the tool output beside or below the transcript."""
        self.set_class(event.size.width >= WIDE_COLUMNS, "wide")

    def toggle_output(self) -> None:
        """Show or hide the tool-output pane."""
        shown = not self.has_class("with-output")
        self.set_class(shown, "with-output")
        if not shown and self.output.has_focus:
            self.prompt.focus()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Show the keys of the widget that has the focus."""
        scopes: dict[type, tuple[Scope, ...]] = {ToolOutputPane: ("tool_output",), FindBar: ("find",)}
        self.query_one(KeyHints).show_keys_for(scopes.get(type(event.widget), ("prompt",)))

    def on_key(self, event: events.Key) -> None:
        """Send typing to the prompt wherever the focus is, and page the transcript from the prompt."""
        if event.key in ("pageup", "pagedown") and self.prompt.has_focus:
            event.stop()
            page = self.transcript.scroll_page_up if event.key == "pageup" else self.transcript.scroll_page_down
            page(animate=False)
        elif event.is_printable and self.focused in (self.transcript, None):
            event.stop()
            self.prompt.focus()
            self.prompt.on_key(event)

    # Find

    def open_find(self) -> None:
        """Open the bar that searches the transcript."""
        self.find_bar.open()

    @on(FindBar.Changed)
    def _find_changed(self, message: FindBar.Changed) -> None:
        self.find_bar.show_matches(*self.transcript.find(message.query))

    @on(FindBar.Next)
    def _find_next(self) -> None:
        self.find_bar.show_matches(*self.transcript.find_step(1))

    @on(FindBar.Previous)
    def _find_previous(self) -> None:
        self.find_bar.show_matches(*self.transcript.find_step(-1))

    @on(FindBar.Closed)
    def _find_closed(self) -> None:
        self.transcript.find("")
        self.prompt.focus()

    @property
    def smith(self) -> "SmithApp":
        """The app, by its own type."""
        return cast("SmithApp", self.app)
