"""The main screen: transcript, tool output, prompt, status bar and key hints, and the turn that runs on it."""

import asyncio
from bisect import bisect_left
from collections import deque
from collections.abc import Coroutine, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.screen import Screen

from smith_core.events import ConversationLoaded, PickerRequested, QuitRequested, SetupRequested, ViewRequested
from smith_core.roles import ROLES
from smith_tui.keys import KeyAction, Scope
from smith_tui.panes.desk import ChildDesk
from smith_tui.presenter import Presenter
from smith_tui.screens.finding import Finder
from smith_tui.theme import THEMES, Theme
from smith_tui.transcript.view import Transcript
from smith_tui.widgets.find_bar import FindBar
from smith_tui.widgets.key_hints import KeyHints
from smith_tui.widgets.prompt import Prompt
from smith_tui.widgets.status_bar import StatusBar
from smith_tui.widgets.tool_output import ToolOutputPane

if TYPE_CHECKING:
    from smith_core.events import AnyEvent, HistoryEdited
    from smith_core.runtime import Runtime
    from smith_tui.screens.first_start import SetupResult
    from smith_tui.screens.search import SearchScreen
    from smith_tui.screens.stored import Opening
    from smith_tui.start import AppStart, SmithHost

WIDE_COLUMNS = 120
"""From this width on, tool output stands beside the transcript, below it otherwise."""

WELCOME = """\
Agent Smith reads, changes and runs code in this folder. Say what you want done, for instance:
  fix the failing test in tests/, and say what was wrong
  add a --verbose flag to the command line, with a test
Enter sends, Ctrl+J begins a new line, Ctrl+C stops a turn, /help lists the commands, F1 all keys."""


class ChatScreen(Screen[None]):
    """Where the person and the agent talk."""

    def __init__(self, start: "AppStart", actions: Iterable[KeyAction], notices: Iterable[str]) -> None:
        super().__init__()
        self._start_with = start
        self._actions = tuple(actions)
        self._notices = (*start.notices, *notices)
        self._waiting: deque[str] = deque()
        self._work: set[asyncio.Task[None]] = set()
        self._turn: asyncio.Task[None] | None = None
        self._last_search = ""
        self._edited: HistoryEdited | None = None

    @property
    def runtime(self) -> "Runtime":
        """The engine."""
        return cast("SmithHost", self.app).runtime

    @property
    def _theme(self) -> Theme:
        return THEMES[self.runtime.services.config.effective.ui.theme]

    def wear_theme(self) -> None:
        """Show everything in the theme that the configuration names now."""
        self.transcript.set_theme(self._theme)
        self.desk.set_theme(self._theme)

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        self.set_class(self.app.size.width >= WIDE_COLUMNS, "wide")
        ui = self._start_with.config.ui
        with Vertical():
            with Container(id="panes"):
                yield Transcript(theme=THEMES[ui.theme], id="transcript")
                yield ToolOutputPane(actions=self._actions, id="output")
            yield FindBar(actions=self._actions, id="find")
            yield Prompt(actions=self._actions, placeholder="Type a task, or / for a command", id="prompt")
            yield StatusBar(reduced_motion=ui.motion == "reduced", id="status")
            yield KeyHints(self._actions, id="hints")

    def on_mount(self) -> None:
        """Connect the presenter, show what is known, and find out the rest behind the first frame."""
        self.transcript = self.query_one(Transcript)
        self.output = self.query_one(ToolOutputPane)
        self.prompt = self.query_one(Prompt)
        self.status = self.query_one(StatusBar)
        self.find_bar = self.query_one(FindBar)
        self.finder = Finder(self.find_bar, self.transcript)
        self.presenter = Presenter(self.transcript, self.output, self.status)
        self.desk = ChildDesk(
            self,
            self.transcript,
            self._actions,
            runtime=lambda: self.runtime,
            theme=lambda: self._theme,
            leave=lambda: self.set_focus(self.prompt),
            changed=self._show_keys,
        )
        start = self._start_with
        self.transcript.set_role(start.config.active_role)
        self.status.change(role_alias=ROLES[start.config.active_role].alias, folder=str(start.cwd), model=start.model)
        self.transcript.add_plain(start.welcome or WELCOME)
        for notice in self._notices:
            self.transcript.add_notice("warning", notice)
        self.set_focus(self.prompt)
        if not start.asks_first:
            self.call_after_refresh(self._begin_to_look_around)

    def _begin_to_look_around(self) -> None:
        # The toolkit awaits what a callback returns, and the screen would stand still until the engine is open.
        self._start(self._look_around())

    async def _look_around(self) -> None:
        """Go on with the conversation of the last time, and learn branch and model, which needs disk and endpoint."""
        await asyncio.to_thread(self._start_with.import_engine)
        from smith_core.errors import AgentFailure
        from smith_core.model import ModelChoice

        async for event in self.runtime.open():
            self._show(event)
        session = self.runtime.session
        scope = await session.recompute_turn_scope()
        self.status.change(branch=scope.project.branch)
        try:
            selected = await session.select_model(ModelChoice(), ROLES[session.active_role])
            self.status.change(model=selected.model)
        except AgentFailure as caught:
            self.transcript.add_notice("info", caught.error.message)

    def setup_over(self, result: "SetupResult | None") -> None:
        """Go on with what the setup screen has brought."""
        self.set_focus(self.prompt)
        self._start(self._take_up(result))

    async def _take_up(self, result: "SetupResult | None") -> None:
        await self._look_around()
        if result is None or result.kind != "saved":
            self.transcript.add_notice("info", "/setup, or smith-tui setup, asks again which model to use.")
            return
        self.transcript.add_notice("info", result.message)
        selected = self.runtime.session.model
        if selected is not None and selected.model != result.model:
            self.transcript.add_notice("warning", f"In this session {selected.model} stays (from {selected.source}).")

    # Turns

    @on(Prompt.Submitted)
    def _submitted(self, message: Prompt.Submitted) -> None:
        self.submit(message.text)

    def submit(self, text: str) -> None:
        """Run a prompt or a command; a prompt waits while another one runs."""
        if text.startswith("/"):
            self._start(self._run(text))
            return
        self.transcript.follow()
        if self._turn is not None:
            self._waiting.append(text)
            self.transcript.add_notice("info", f"queued behind the running turn: {text}")
        else:
            self._turn = self._start(self._run(text))
            self._turn.add_done_callback(self._turn_over)

    async def _run(self, line: str) -> None:
        is_first = line.startswith("/")
        async for event in self.runtime.process_raw_input(line):
            # Who comes back from a screen without having chosen finds the transcript where it was.
            if is_first and not isinstance(event, PickerRequested | ViewRequested):
                self.transcript.follow()
            is_first = False
            self._show(event)

    def _show(self, event: "AnyEvent", found: str = "") -> None:
        """Show an event, or open what it asks for; found: what to mark in a conversation that is loaded."""
        if not self.is_attached:
            return  # the app is ending, and the turn with it
        self.presenter.show(event)
        self.desk.show(event)
        match event:
            case QuitRequested():
                self.app.exit(return_code=0)
            case SetupRequested():
                cast("SmithHost", self.app).open_setup()
            case PickerRequested():
                self._open_picker(event)
            case ViewRequested(view=view):
                cast("SmithHost", self.app).open_view(view)
            case ConversationLoaded():
                # What is wrong with the settings stays visible.
                for notice in self._notices:
                    self.transcript.add_notice("warning", notice)
                self._go_to(event, found)

    # Stored conversations

    def history_edited(self, event: "HistoryEdited") -> None:
        """Show the conversation as it is after a change, as soon as this screen is to be seen."""
        self._edited = event
        if self.is_current:
            self.catch_up()

    def on_screen_resume(self) -> None:
        """Show what has changed behind another screen."""
        self.catch_up()

    def catch_up(self) -> None:
        """Show the conversation after its last change, at about the same place."""
        event, self._edited = self._edited, None
        if event is None:
            return
        transcript = self.transcript
        place = None if transcript.is_following or not transcript.shown_rows else transcript.shown_rows[0].place
        transcript.load(event.messages)
        if place is not None and transcript.document.blocks:
            transcript.go_to(place._replace(block=min(place.block, len(transcript.document.blocks) - 1)))
        self.finder.forget()

    def _open_picker(self, request: PickerRequested) -> None:
        from smith_tui.screens.conversations import ConversationsScreen
        from smith_tui.screens.look import Look
        from smith_tui.screens.search import SearchScreen

        role = self.runtime.session.active_role
        look = Look(theme=self._theme, palette=ROLES[role].palette, actions=self._actions)
        if request.kind == "search":
            search = SearchScreen(self.runtime.shelf, request.query or self._last_search, look=look)
            self.app.push_screen(search, partial(self._search_over, search))
        else:
            current = self.runtime.services.conversation.conversation_id
            picker = ConversationsScreen(self.runtime.shelf, request.query, current=current, role=role, look=look)
            self.app.push_screen(picker, self._open_stored)

    def _search_over(self, search: "SearchScreen", opening: "Opening | None") -> None:
        # The next search begins with this one, so that a person can go on to the next result.
        self._last_search = search.query_text
        self._open_stored(opening)

    def _open_stored(self, opening: "Opening | None") -> None:
        if opening is not None and opening.conversation_id:
            self._start(self._load(opening))
        elif opening is not None:
            self.submit("/new")

    async def _load(self, opening: "Opening") -> None:
        async for event in self.runtime.open_conversation(opening.conversation_id, opening.sequence):
            self._show(event, opening.found)

    def _go_to(self, loaded: ConversationLoaded, found: str) -> None:
        """Show the message that a conversation was opened for, with what was found in it marked."""
        from smith_tui.screens.passages import go_to_message

        marked = None
        index = bisect_left(loaded.sequences, loaded.shown_sequence)
        if loaded.shown_sequence and index < len(loaded.messages):
            marked = go_to_message(self.transcript, loaded.messages, index, found)
        if marked is None:
            self.find_bar.close()
        else:
            self.finder.show(marked.text, marked.hits, marked.number)

    def _turn_over(self, turn: asyncio.Task[None]) -> None:
        self._turn = None
        if self._waiting and self.app.is_running:
            self.submit(self._waiting.popleft())

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
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
            self.set_focus(self.prompt)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Show the keys of the widget that has the focus."""
        # A search in a pane leaves the pane what it is.
        if event.widget is not self.find_bar:
            self.desk.note_focus(event.widget)
        self._show_keys()

    def on_document_view_link_opened(self, message: Transcript.LinkOpened) -> None:
        """Open the child that a card stands for."""
        self.desk.open_child(message.link)

    def _show_keys(self) -> None:
        scopes: dict[type, Scope] = {Prompt: "prompt", ToolOutputPane: "tool_output", FindBar: "find"}
        scope = scopes.get(type(self.focused), "prompt" if self.desk.current is None else "pane")
        self.query_one(KeyHints).show_keys_for((scope, *self.desk.scopes))

    def on_key(self, event: events.Key) -> None:
        """Send typing to the prompt wherever the focus is, and page the transcript from the prompt."""
        if event.key in ("pageup", "pagedown") and self.prompt.has_focus:
            event.stop()
            if event.key == "pageup":
                self.transcript.action_page_up()
            else:
                self.transcript.action_page_down()
        elif event.is_printable and self.focused is not self.output:
            event.stop()
            self.set_focus(self.prompt)
            self.prompt.on_key(event)

    def on_paste(self, event: events.Paste) -> None:
        """Give the prompt what was pasted while something else had the focus."""
        if self.focused not in (self.prompt, self.find_bar):
            event.stop()
            self.set_focus(self.prompt)
            self.prompt.on_paste(event)

    # Find

    def open_find(self) -> None:
        """Open the bar that searches the transcript, or the stream of the child pane that has the keys."""
        pane = self.desk.current
        self.finder.open(self.transcript if pane is None else pane.transcript)

    @on(FindBar.Changed)
    def _find_changed(self, message: FindBar.Changed) -> None:
        self.finder.change(message.text)

    @on(FindBar.Next)
    def _find_next(self) -> None:
        self.finder.step(1)

    @on(FindBar.Previous)
    def _find_previous(self) -> None:
        self.finder.step(-1)

    @on(FindBar.Closed)
    def _find_closed(self) -> None:
        self.finder.forget()
        pane = self.desk.current
        if pane is None:
            self.set_focus(self.prompt)
        else:
            pane.take_focus()
