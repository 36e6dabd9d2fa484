"""The main screen: transcript, tool output, prompt, status bar and key hints, and the turn that runs on it."""

import asyncio
import gc
from collections.abc import Coroutine, Iterable
from typing import TYPE_CHECKING, Any, cast

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container

from smith_tui.completing import Completing
from smith_tui.keys import KeyAction, Scope, keys_of
from smith_tui.panes.desk import ChildDesk
from smith_tui.prompt_queue import PromptQueue
from smith_tui.screens.beginning import Beginning
from smith_tui.screens.late_parts import LateParts
from smith_tui.screens.permission_desk import PermissionDesk
from smith_tui.screens.stored_desk import StoredDesk
from smith_tui.screens.turn_desk import TurnDesk
from smith_tui.start import WELCOME
from smith_tui.theme import THEMES, Theme
from smith_tui.transcript.view import Transcript
from smith_tui.widgets.key_hints import KeyHints
from smith_tui.widgets.prompt import Prompt
from smith_tui.widgets.status_bar import StatusBar

if TYPE_CHECKING:
    from smith_core.events import AnyEvent, HistoryEdited
    from smith_core.messages import Message
    from smith_core.runtime import Runtime
    from smith_tui.screens.first_start import SetupResult
    from smith_tui.screens.look import Look
    from smith_tui.start import AppStart, SmithHost
    from smith_tui.widgets.choice_list import ChoiceList
    from smith_tui.widgets.queue_panel import QueuePanel

WIDE_COLUMNS = 120
"""From this width on, tool output stands beside the transcript, below it otherwise."""
LOW_ROWS = 24
"""Below this height, the inspect view takes the place of the transcript instead of standing below it."""
_TURNS = {
    "pageup": Transcript.action_page_up,
    "pagedown": Transcript.action_page_down,
    "home": Transcript.action_scroll_home,
    "end": Transcript.action_scroll_end,
}
"""What the prompt leaves to the transcript."""


class ChatScreen(LateParts):
    """Where the person and the agent talk."""

    AUTO_FOCUS = "#prompt"
    VERTICAL_BREAKPOINTS = [(0, "-low"), (LOW_ROWS, "-high")]  # noqa: RUF012

    def __init__(self, start: "AppStart", actions: Iterable[KeyAction], notices: Iterable[str]) -> None:
        super().__init__(actions)
        self._start_with = start
        self._notices = (*start.notices, *notices)
        self._work: set[asyncio.Task[None]] = set()
        self.queue = PromptQueue()
        self.queue.changed = self._show_queue
        self.turns = TurnDesk(self, self.queue)
        self.stored = StoredDesk(self)
        self.beginning = Beginning(self, start)
        self._edited: HistoryEdited | None = None
        self._has_loaded = False

    @property
    def runtime(self) -> "Runtime":
        """The engine."""
        return cast("SmithHost", self.app).runtime

    @property
    def look(self) -> "Look":
        """How screens look now."""
        return cast("SmithHost", self.app).look

    @property
    def _theme(self) -> Theme:
        return THEMES[self.runtime.services.config.effective.ui.theme]

    def wear_theme(self) -> None:
        """Show everything in the theme that the configuration names now."""
        self.transcript.set_theme(self._theme)
        self.desk.set_theme(self._theme)

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        # No widget is there yet whose styles could change.
        size = self.app.size
        self.set_class(size.width >= WIDE_COLUMNS, "wide", update=False)
        self.set_class(size.height < LOW_ROWS, "-low", update=False)
        self.set_class(size.height >= LOW_ROWS, "-high", update=False)
        ui = self._start_with.config.ui
        with Container(id="panes"):
            yield Transcript(theme=THEMES[ui.theme], id="transcript")
        yield Prompt(actions=self._actions, placeholder="Type a task, or / for a command", id="prompt")
        yield StatusBar(reduced_motion=ui.motion == "reduced", id="status")
        yield KeyHints(self._actions, id="hints")

    def on_mount(self) -> None:
        """Connect the parts, show what is known, and find out the rest behind the first frame."""
        self.transcript = self.query_one(Transcript)
        self.prompt = self.query_one(Prompt)
        self.status = self.query_one(StatusBar)
        self.desk = ChildDesk(
            self,
            self.transcript,
            self._actions,
            runtime=lambda: self.runtime,
            theme=lambda: self._theme,
            leave=lambda: self.set_focus(self.prompt),
            changed=self._show_keys,
            raining=lambda rains: self.status.change(is_raining=rains),
        )
        self.completing = Completing(
            self.prompt,
            lambda: self.choices,
            self._actions,
            engine=self.beginning.engine,
            open_engine=lambda: self.beginning.open_engine,
            changed=self._show_keys,
        )
        self.asking = PermissionDesk(self, self._actions, changed=self._show_keys)
        start = self._start_with
        self.transcript.set_role(start.config.active_role)
        self.status.change(**start.status)
        self.transcript.add_plain(start.welcome or WELCOME)
        for notice in self._notices:
            self.transcript.add_notice("warning", notice)
        self.set_focus(self.prompt)
        if not start.asks_first:
            self.call_after_refresh(self._begin_to_look_around)

    def _begin_to_look_around(self) -> None:
        # The toolkit awaits what a callback returns, and the screen would stand still until the engine is open.
        self.start(self.beginning.look_around())

    def setup_over(self, result: "SetupResult | None") -> None:
        """Go on with what the setup screen has brought."""
        self.set_focus(self.prompt)
        self.start(self.beginning.take_up(result))

    # Turns

    @on(Prompt.Submitted)
    def _submitted(self, message: Prompt.Submitted) -> None:
        self.completing.close()
        self.submit(message.text)

    @on(Prompt.PasteWanted)
    def _paste_wanted(self, message: Prompt.PasteWanted) -> None:
        from smith_tui.screens.paste import PasteScreen

        def put_back(text: str | None) -> None:
            if text is not None:
                self.prompt.replace_range(message.position, message.position + 1, text)

        self.app.push_screen(PasteScreen(message.text, self._actions), put_back)

    @on(Prompt.Steered)
    def _steered(self, message: Prompt.Steered) -> None:
        self.completing.close()
        self.turns.steer(message.text)

    def submit(self, text: str) -> None:
        """Run a prompt or a command; a prompt waits while another one runs."""
        self.turns.submit(text)

    def said(self) -> "list[Message]":
        """Return all messages of the conversation, those of the running turn included."""
        return [*self.runtime.services.conversation.messages, *self.turns.said]

    def begin_command(self, name: str) -> None:
        """Put the begin of a command into the prompt, and show what can follow."""
        self.prompt.load(f"/{name} ")
        self.set_focus(self.prompt)
        self.completing.suggest()

    def cancel_turn(self) -> bool:
        """Cancel the running turn and give waiting prompts back; say whether one was running."""
        return self.turns.cancel()

    def on_queue_panel_wanted(self, message: "QueuePanel.Wanted") -> None:
        """Do what is wanted with a prompt that waits."""
        if message.action == "remove":
            self.turns.remove(message.index)
        elif message.action == "now":
            self.turns.send_now(message.index)
        else:
            if message.action == "edit":
                self.turns.edit(message.index)
            self.set_focus(self.prompt)
        self._show_keys()

    def show(self, event: "AnyEvent", found: str = "") -> None:
        """Show an event, or open what it asks for; found: what to mark in a conversation that is loaded."""
        if not self.is_attached:
            return  # the app is ending, and the turn with it
        from smith_core.events import ConversationLoaded, PickerRequested, QuitRequested, SetupRequested, ViewRequested
        from smith_core.messages import typed_text

        kept = self.stored.place_in_end(event, self.beginning.shown) if isinstance(event, ConversationLoaded) else None
        self.presenter.show(event)
        self.stored.go_back(kept)
        self.desk.show(event)
        self.turns.note(event)
        self.beginning.note(event)
        self.asking.show(event)
        match event:
            case QuitRequested():
                self.app.exit(return_code=0)
            case SetupRequested():
                cast("SmithHost", self.app).open_setup()
            case PickerRequested():
                self.stored.open_picker(event)
            case ViewRequested(view=view):
                cast("SmithHost", self.app).open_view(view)
            case ConversationLoaded():
                # What is wrong with the settings stays visible.
                for notice in self._notices:
                    self.transcript.add_notice("warning", notice)
                self.prompt.learn_history(typed_text(said) for said in event.messages if said.role == "user")
                self.stored.go_to(event, found)
                if event.is_whole:
                    self._hide_from_collections()

    def _hide_from_collections(self) -> None:
        """Let collections of garbage pass over what shows a long conversation: it would take longer than a frame."""
        if self._has_loaded:
            # Of what was hidden with the conversation before, much is garbage now; nothing else would ever free it.
            gc.unfreeze()
            gc.collect()
        self._has_loaded = True
        gc.freeze()

    # Stored conversations

    def history_edited(self, event: "HistoryEdited") -> None:
        """Show the conversation as it is after a change, as soon as this screen is to be seen."""
        self._edited = event
        if self.is_current:
            self.catch_up()

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Show what has changed behind another screen."""
        if self.stack_updates == 0:
            # Every widget has got its styles a moment ago, when it was mounted.
            event.refresh_styles = False
        self.catch_up()

    def catch_up(self) -> None:
        """Show the conversation after its last change, at about the same place."""
        event, self._edited = self._edited, None
        if event is None:
            return
        self.status.change(context_percent=None)
        self.stored.show_again(event)

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run something in the background; what it throws ends the app in good order."""
        task = asyncio.create_task(work)
        self._work.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._work.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and isinstance(error, Exception):
            self.app._handle_exception(error)

    # Panes and keys

    def on_resize(self, event: events.Resize) -> None:
        """Put the tool output beside or below the transcript."""
        if event.size == self.outer_size:
            # A start announces the size three times; Textual would lay all out again at each.
            event.prevent_default()
        self.set_class(event.size.width >= WIDE_COLUMNS, "wide")
        self.call_after_refresh(self.completing.place)
        self.call_after_refresh(self.prompt.place_caret)

    def toggle_output(self) -> None:
        """Show or hide the tool-output pane."""
        had_focus, shown = self.output.has_focus, not self.has_class("with-output")
        self.set_class(shown, "with-output")
        if had_focus and not shown:
            self.set_focus(self.prompt)

    def enter_output(self) -> None:
        """Give the keys to the tool-output pane, which is shown for that, or back to the prompt."""
        if self.output.has_focus:
            self.set_focus(self.prompt)
        else:
            self.add_class("with-output")
            self.call_after_refresh(self._give_output_keys)

    def _give_output_keys(self) -> None:
        # A view that takes the whole screen hides it all the same.
        if self.output.is_on_screen:
            self.set_focus(self.output)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Show the keys of the widget that has the focus."""
        # A search in a pane leaves the pane what it is.
        if event.widget.id != "find":
            self.desk.note_focus(event.widget)
        self._show_keys()

    def on_document_view_link_opened(self, message: Transcript.LinkOpened) -> None:
        """Open the child that a card stands for, or move the files that it shows."""
        if not self.turns.open_link(message.link):
            self.desk.open_child(message.link)

    def show_child(self, job_id: str) -> None:
        """Show the whole transcript of a child of this conversation."""
        self.desk.open_child(job_id)

    def _show_keys(self) -> None:
        scopes: dict[str | None, Scope] = {
            "prompt": "completion" if self.completing.is_open else "prompt",
            "output": "tool_output",
            "find": "find",
            "queue": "queue",
        }
        scope = scopes.get(self.focused.id if self.focused else None, "prompt" if self.desk.current is None else "pane")
        # The inspect view has a footer of its own.
        near = {scope} if self.query("Inspector:focus-within") else set()
        waiting: tuple[Scope, ...] = ("waiting",) if len(self.queue) else ()
        here = {*self.asking.scopes(scope), *self.desk.scopes, *waiting} - near
        self.query_one("#hints", KeyHints).show_keys_for(here, without=self.desk.dead_keys)

    def on_key(self, event: events.Key) -> None:
        """Send typing to the prompt wherever the focus is, and page the transcript from the prompt."""
        if event.key in _TURNS and self.prompt.has_focus:
            event.stop()
            _TURNS[event.key](self.transcript)
        elif self.find_bar.is_closed_by(event.key):
            event.stop()
            self.find_bar.close()
        elif event.key == "escape" or self._leaves_output(event.key):
            # Tab and the mouse can give the keys to what knows nothing to do with most of them.
            self.set_focus(self.prompt)
        elif event.is_printable:
            event.stop()
            self.set_focus(self.prompt)
            self.prompt.on_key(event)
        elif self.focused is self.prompt:
            # It was pressed before the focus had come to the prompt, which does nothing for a key of its own again.
            self.prompt.on_key(event)

    def _leaves_output(self, key: str) -> bool:
        has_keys = self.focused is not None and self.focused.id == "output"
        return has_keys and keys_of(self._actions, "tool_output").get(key) == "output_leave"

    def on_paste(self, event: events.Paste) -> None:
        """Give the prompt what was pasted while something else had the focus."""
        if self.focused not in (self.prompt, self.find_bar):
            event.stop()
            self.set_focus(self.prompt)
            self.prompt.on_paste(event)

    def on_choice_list_chosen(self, message: "ChoiceList.Chosen") -> None:
        """Put the choice that was clicked into the prompt."""
        self.completing.take(message.index)

    def _show_queue(self) -> None:
        # Imported with the first prompt that waits, behind the first frame; from then on the panel shows itself.
        if len(self.queue) and self.is_attached:
            from smith_tui.widgets.queue_panel import QueuePanel

            self.mount(QueuePanel(self.queue, actions=self._actions, id="queue"), before=self.prompt)

    def open_queue(self) -> None:
        """Give the keys to the prompts that wait, or back to the prompt."""
        if len(self.queue):
            panel = self.query_one("#queue")
            self.set_focus(self.prompt if panel.has_focus else panel)

    # Find

    def open_find(self) -> None:
        """Open the bar that searches what has the keys: the tool output, a child pane, or else the transcript."""
        pane = self.desk.current
        streams = self.transcript if pane is None else pane.transcript
        self.finder.open(self.output if self.output.has_focus else streams)

    def on_find_bar_closed(self) -> None:
        """Go back to where the person was."""
        self.finder.forget()
        pane = self.desk.current
        if self.finder.searched is self.output and self.output.display:
            self.set_focus(self.output)
        elif pane is None:
            self.set_focus(self.prompt)
        else:
            pane.take_focus()
