"""The inspect view as one widget, for a pane beside the transcript as well as for a screen of its own."""

import time
from collections.abc import Callable, Sequence

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from smith_core.errors import AgentFailure
from smith_core.session.preview import NextRequest, RequestPart
from smith_tui.inspect.desk import Desk, copied_text
from smith_tui.inspect.editing import Editing, Mode
from smith_tui.inspect.hosting import InspectHost
from smith_tui.inspect.matching import FILTERS
from smith_tui.inspect.message_pane import MessagePane
from smith_tui.inspect.request_rows import bar_lines, copied_item
from smith_tui.inspect.state import InspectState, View
from smith_tui.inspect.table_pane import TablePane
from smith_tui.inspect.views import Lines
from smith_tui.keys import Scope
from smith_tui.sanitize import literal
from smith_tui.screens.look import Look
from smith_tui.transcript.lines import Line
from smith_tui.widgets.input_line import InputLine
from smith_tui.widgets.key_hints import KeyHints
from smith_tui.widgets.result_list import MOVING_KEYS

SHOW_WAIT_S = 0.03
"""How long the choice rests before its message is rendered, so that nothing is rendered on the way."""
FILTER_WAIT_S = 0.05
REQUEST_WAIT_S = 0.1
WIDE_COLUMNS = 100
"""From this width on, the message stands beside the table, below it otherwise."""

_SCOPES: dict[Mode, Scope] = {"browse": "inspect", "edit": "inspect_edit"}
_PARTS = 7
"""How many widgets of these kinds the view is made of."""
_ON_MESSAGES = (
    *("inspect_edit", "inspect_outside", "inspect_delete", "inspect_mark", "inspect_range", "inspect_fork"),
    "inspect_filter",
)
"""Actions that mean nothing in the model's view."""
_HINTS: dict[Mode, str] = {
    "browse": "",
    "filter": f"{FILTERS}. Tab keeps the filter, Esc shows all again.",
    "part": "Which part? The arrows choose, Enter takes it, Esc goes back.",
    "edit": "",
}


class Inspector(Widget):
    """Shows, filters, marks and edits messages; now: seconds since the epoch."""

    DEFAULT_CSS = """
    Inspector { height: 1fr; width: 1fr; layout: vertical; background: $background; }
    .note { height: auto; max-height: 3; color: $text-muted; padding: 0 1; }
    .note.said { color: $warning; }
    .frame { border: round $border; border-title-color: $foreground; border-subtitle-color: $text-muted; }
    .frame:focus-within { border: round $primary; border-title-color: $primary; }
    #inspect-panes { height: 1fr; layout: vertical; }
    #inspect-table, #inspect-message { height: 1fr; }
    Inspector.wide #inspect-panes { layout: horizontal; }
    Inspector.wide #inspect-table { height: 1fr; width: 3fr; }
    Inspector.wide #inspect-message { height: 1fr; width: 2fr; }
    #inspect-bar { display: none; height: 2; }
    Inspector.request #inspect-bar { display: block; }
    Inspector.request InputLine { display: none; }
    #inspect-message > * { display: none; }
    #inspect-message.message > MessageView { display: block; }
    #inspect-message.parts > ResultList { display: block; }
    #inspect-message.editor > TextEditor { display: block; }
    """

    def __init__(
        self,
        desk: Desk,
        host: InspectHost,
        state: InspectState,
        look: Look,
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self.state = state
        self.width_hint = 0
        """How wide the view is going to be, so that it need not be laid out twice."""
        self._desk = desk
        self._host = host
        self._look = look
        self._keys = look.keys("inspect")
        self._edit_keys = look.keys("inspect_edit")
        self._now = now
        self._mode: Mode = "browse"
        self._request: NextRequest | None = None
        self._wait: Timer | None = None
        self._filter_wait: Timer | None = None
        self._request_wait: Timer | None = None
        self._is_sure = False

    # Layout

    def compose(self) -> ComposeResult:
        """Lay out the view from the top down."""
        self.set_class(self.width_hint >= WIDE_COLUMNS, "wide")
        slash = self._look.key_of("inspect_filter")
        yield InputLine("Filter", hint=f"{slash} filters by role, tool and text", leave=MOVING_KEYS - {"home", "end"})
        yield Lines(self._bar, self._look.ink, id="inspect-bar")
        with Container(id="inspect-panes"):
            yield TablePane(self.state, self._look, self._now)
            yield MessagePane(self._look, self._now)
        yield Static("", classes="note", markup=False)
        yield KeyHints(self._look.actions)

    def on_mount(self) -> None:
        """Fill the table and stand where the person stood, on the last message at first."""
        self._input = self.query_one(InputLine)
        self._table = self.query_one(TablePane)
        self._message = self.query_one(MessagePane)
        self._note = self.query_one(".note", Static)
        self._editing = Editing(self, self._desk, self._table, self._message, self._look.key_of("inspect_outside"))
        self._input.load(self.state.query)
        self.set_mode("browse")
        self.set_class(self.state.view == "request", "request")
        self.refresh_messages()
        self.show_chosen()
        self._table.rows.focus()

    @property
    def is_whole(self) -> bool:
        """Whether it is filled and nothing is missing; one that is taken away loses its parts before it is gone."""
        parts = self.query("Lines, ResultList, MessageView, TextEditor, KeyHints")
        return self.is_mounted and self.is_attached and len(parts) == _PARTS

    def on_resize(self, event: events.Resize) -> None:
        """Put the message beside the table or below it."""
        self.set_class(event.size.width >= WIDE_COLUMNS, "wide")

    def refresh_messages(self) -> None:
        """Take in that the conversation has other messages now."""
        self._table.load(self._desk.entries)
        self._show_count()
        # It takes longer than a frame, and the table has the first claim on the time.
        if self._request_wait is None:
            self._request_wait = self.set_timer(REQUEST_WAIT_S, self._ask_for_request)

    # Keys

    def on_key(self, event: events.Key) -> None:
        """Do what a key is for; no other key may type into the prompt behind this view."""
        presses: dict[Mode, Callable[[str], bool]] = {
            "browse": self._press,
            "filter": self._press_in_filter,
            "part": self._press_in_parts,
            "edit": self._press_in_editor,
        }
        was_pressed = presses[self._mode](event.key)
        if not was_pressed and self._mode == "filter":
            self._input.take_key(event)
        if was_pressed or event.is_printable:
            event.stop()
            event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """Keep what is pasted here from the prompt behind this view."""
        event.stop()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Filter when the line is clicked; end that when the focus goes elsewhere."""
        if event.widget is self._input and self._mode == "browse":
            self.set_mode("filter")
        elif event.widget is not self._input and self._mode == "filter":
            self.set_mode("browse")

    @on(KeyHints.Chosen)
    def _hint_clicked(self, message: KeyHints.Chosen) -> None:
        message.stop()
        (self._press if self._mode == "browse" else self._press_in_editor)(message.action.keys[0])

    def _press(self, key: str) -> bool:
        match self._keys.get(key):
            case None:
                return False
            case "inspect_close":
                self._step_back()
            case "inspect_size":
                self._host.switch_inspector()
            case "inspect_next":
                (self._message.view if self._table.rows.has_focus else self._table.rows).focus()
            case "inspect_filter" if self.state.view == "messages":
                self.set_mode("filter")
                self.screen.set_focus(self._input)
            case "inspect_request":
                self._turn_to("messages" if self.state.view == "request" else "request")
            case "inspect_jump":
                self._jump()
            case "inspect_record":
                self.state.is_raw = not self.state.is_raw
                self.show_chosen()
            case "inspect_copy":
                self._copy()
            case "inspect_undo":
                self._editing.undo()
            case "inspect_redo":
                self._editing.redo()
            case name:
                self._press_on_message(name)
        return True

    def _press_on_message(self, name: str) -> None:
        """Do what is possible with stored messages only."""
        entry = self._table.entry
        if entry is None:
            if self.state.view == "request":
                back = self._look.key_of("inspect_request")
                self.say(f"{back} goes back to the messages, which can be filtered and edited.")
            return
        match name:
            case "inspect_mark":
                self._table.mark()
            case "inspect_range":
                self._table.switch_range()
            case "inspect_delete":
                self._editing.delete()
            case "inspect_fork":
                self._host.fork_at(entry.sequence)
            case "inspect_edit" | "inspect_outside":
                self._editing.begin(entry, outside=name == "inspect_outside")

    def _press_in_filter(self, key: str) -> bool:
        if key == "escape":
            self._input.load("")
            self._filter("")
        elif key not in ("tab", "enter"):
            return self._table.rows.press(key)
        self._table.rows.focus()
        return True

    def _press_in_parts(self, key: str) -> bool:
        if key != "escape":
            return self._message.parts.press(key)
        self._editing.stop()
        return True

    def _press_in_editor(self, key: str) -> bool:
        match self._edit_keys.get(key):
            case "edit_keep":
                self._editing.keep()
            case "edit_drop" if self._message.is_changed and not self._is_sure:
                self._is_sure = True
                self.say(f"Press {self._look.key_of('edit_drop')} again to throw away what you changed.")
            case "edit_drop":
                self._editing.stop()
            case _:
                return False
        return True

    def _step_back(self) -> None:
        """Let go of the marks, then of the model's view, then of the whole view."""
        if self._table.forget_marks():
            return
        if self.state.view == "request":
            self._turn_to("messages")
        else:
            self._host.close_inspector()

    # Showing

    def set_mode(self, mode: Mode) -> None:
        """Let the keys mean something else from now on."""
        self._mode = mode
        self._is_sure = False
        self.say(_HINTS[mode], is_hint=True)
        self._show_keys()

    def _show_keys(self) -> None:
        without = _ON_MESSAGES if self.state.view == "request" else ()
        self.query_one(KeyHints).show_only(_SCOPES.get(self._mode), without=without)

    def say(self, text: str, *, is_hint: bool = False) -> None:
        """Show a sentence below the table; is_hint: it is nothing to worry about."""
        self._note.set_class(bool(text) and not is_hint, "said")
        self._note.update(Content(literal(text)))

    def _show_count(self) -> None:
        shown, known = self._table.count
        count = f"{shown:,} of {known:,}" if self.state.query.strip() else f"{known:,}"
        self._input.show_info(f"{count} message{'s' * (known != 1)}", count)

    def _bar(self, width: int) -> Sequence[Line]:
        return bar_lines(self._request, width, self._look.ink) if self._request is not None else []

    @on(InputLine.Changed)
    def _typed(self, message: InputLine.Changed) -> None:
        message.stop()
        if self._filter_wait is None:
            self._filter_wait = self.set_timer(FILTER_WAIT_S, lambda: self._filter(self._input.text))

    def _filter(self, query: str) -> None:
        if self._filter_wait is not None:
            self._filter_wait.stop()
            self._filter_wait = None
        self._table.filter(query)
        self._show_count()

    @on(TablePane.Moved)
    def _moved(self, message: TablePane.Moved) -> None:
        message.stop()
        if self._wait is None:
            self._wait = self.set_timer(SHOW_WAIT_S, self.show_chosen)

    def show_chosen(self) -> None:
        """Show the chosen message, or the chosen part of the next request."""
        if self._wait is not None:
            self._wait.stop()
            self._wait = None
        if self._mode in ("part", "edit"):
            return
        if self.state.view == "request":
            request = self._request if self.state.is_raw else None
            self._message.show_item(self._table.item, request.model if request is not None else "")
        else:
            self._message.show_entry(self._table.entry, is_raw=self.state.is_raw)

    @on(MessagePane.PartChosen)
    def _part_chosen(self, message: MessagePane.PartChosen) -> None:
        message.stop()
        self._editing.edit_part(message.part)

    @on(TablePane.Opened)
    def _opened(self, message: TablePane.Opened) -> None:
        message.stop()
        self._jump()

    def _jump(self) -> None:
        """Show a message in the transcript, or a part of the request among the messages."""
        item = self._table.item
        if self._table.entry is not None:
            self._host.show_in_transcript(self._table.entry.sequence)
        elif isinstance(item, RequestPart) and item.sequences:
            self.state.selected = item.sequences[0]
            self._turn_to("messages")

    def _turn_to(self, view: View) -> None:
        self.state.view = view
        self.set_class(view == "request", "request")
        self._show_keys()
        self.say("")
        self._table.fill()
        self._table.rows.focus()

    def _ask_for_request(self) -> None:
        self._request_wait = None
        self.run_worker(self._learn_request(), group="request", exclusive=True)

    async def _learn_request(self) -> None:
        try:
            self._request = await self._desk.request(self._host.draft)
        except AgentFailure as caught:
            if self.state.view == "request" and self.is_whole:
                self.say(caught.error.message)
            return
        if self.is_whole:
            self.query_one("#inspect-bar", Lines).refresh()
            self._table.show_request(self._request)

    def _copy(self) -> None:
        item = self._table.item
        entries = self._table.marked_entries or ([self._table.entry] if self._table.entry else [])
        texts = [copied_item(item)] if item is not None else [copied_text(entry.message) for entry in entries]
        if texts:
            self.app.copy_to_clipboard("\n\n".join(texts))
            what = "part" if item is not None else "message"
            self.say(f"{len(texts)} {what}{'s' * (len(texts) != 1)} copied.", is_hint=True)
