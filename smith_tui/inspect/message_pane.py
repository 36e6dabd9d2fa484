"""The chosen message of the inspect view: to read, to choose a part of, and to edit."""

from collections.abc import Callable, Sequence
from typing import Literal

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message

from smith_core.session.editing import Part, parts_of
from smith_tui.inspect.desk import name_of_part, shown_text
from smith_tui.inspect.pieces import blocks_of_message, blocks_of_record, facts_of
from smith_tui.inspect.request_rows import Item, blocks_of_item, blocks_of_json
from smith_tui.inspect.table import Entry
from smith_tui.inspect.views import MessageView
from smith_tui.sanitize import literal
from smith_tui.screens.look import Look
from smith_tui.transcript.cells import cell_width
from smith_tui.transcript.document_view import DocumentView
from smith_tui.transcript.lines import BLANK, PLAIN, Line, line_of
from smith_tui.widgets.result_list import Frame, ResultList
from smith_tui.widgets.text_editor import TextEditor

Face = Literal["message", "parts", "editor"]
_SHOWN_CHARS = 400


class MessagePane(Container):
    """Shows one of three faces: the message, the list of its parts, or an editor; now: seconds since the epoch."""

    class PartChosen(Message):
        """The person wants to edit this part."""

        def __init__(self, part: Part) -> None:
            super().__init__()
            self.part = part

    def __init__(self, look: Look, now: Callable[[], float]) -> None:
        super().__init__(classes="frame message", id="inspect-message")
        self._look = look
        self._now = now
        self._parts: Sequence[Part] = ()
        self._entry: Entry | None = None
        self._text_before = ""
        self._shown: tuple[object, bool] | None = None
        self.part: Part | None = None
        """What is in the editor."""
        self.sequence = 0
        """The message that it belongs to."""

    def compose(self) -> ComposeResult:
        """Put all faces into one frame; the style sheet shows one of them."""
        yield MessageView(self._look.theme)
        yield ResultList(self._part_row, self._look.ink, item_height=1)
        yield TextEditor()

    @property
    def view(self) -> MessageView:
        """The readable message."""
        return self.query_one(MessageView)

    @property
    def parts(self) -> ResultList:
        """The list of parts."""
        return self.query_one(ResultList)

    @property
    def editor(self) -> TextEditor:
        """The editor."""
        return self.query_one(TextEditor)

    @property
    def is_changed(self) -> bool:
        """Whether the text in the editor is another one than at first."""
        return self.editor.text != self._text_before

    def show_entry(self, entry: Entry | None, *, is_raw: bool) -> None:
        """Show a stored message, or its record."""
        self._entry = entry
        # The number stands above the message: a frame with another title is painted again as a whole.
        self._turn("message", "Message", "as it is stored" if is_raw else "")
        if self._is_shown(entry.message if entry else None, is_raw):
            return
        if entry is None:
            self.view.show([])
            return
        make = blocks_of_record if is_raw else blocks_of_message
        self.view.show([facts_of(entry, self._now()), *make(entry.message, self._look.palette)])

    def show_item(self, item: Item | None, json_for: str = "") -> None:
        """Show a part of the next request; json_for: the model for which it is to be shown as JSON."""
        self._turn("message", "As it is sent", "as JSON" if json_for else "")
        if self._is_shown(item, bool(json_for)):
            return
        palette = self._look.palette
        if item is None:
            self.view.show([])
        else:
            self.view.show(blocks_of_json(item, json_for, palette) if json_for else blocks_of_item(item, palette))

    def choose_part(self, entry: Entry) -> None:
        """Ask which part of a message is meant."""
        self._entry = entry
        self._parts = parts_of(entry.message)
        self._turn("parts", f"Parts of message {entry.sequence}")
        self.parts.show_items(len(self._parts), 0 if entry.message.content else 1)
        self.parts.focus()

    def edit(self, entry: Entry, part: Part, text: str, *, before: str) -> None:
        """Edit a text; before: the text that counts as not changed."""
        self.part, self.sequence, self._text_before = part, entry.sequence, before
        self._turn("editor", f"Message {entry.sequence}: {literal(name_of_part(entry.message, part))}", "editing")
        self.editor.load(text)
        self.editor.focus()

    def stop(self) -> None:
        """Show the message again."""
        self.part = None
        self._turn("message", "Message")

    @on(ResultList.Opened)
    def _part_opened(self, message: ResultList.Opened) -> None:
        message.stop()
        self.post_message(self.PartChosen(self._parts[message.index]))

    @on(ResultList.Moved)
    @on(DocumentView.LinkOpened)
    def _keep_inside(self, message: Message) -> None:
        message.stop()

    def _is_shown(self, what: object, is_raw: bool) -> bool:
        """Say whether something is shown already, which it is from now on."""
        before, self._shown = self._shown, (what, is_raw)
        return before is not None and before[0] is what and before[1] == is_raw

    def _turn(self, face: Face, title: str, aside: str = "") -> None:
        self.set_class(face == "message", "message")
        self.set_class(face == "parts", "parts")
        self.set_class(face == "editor", "editor")
        if (title, aside) != (self.border_title, self.border_subtitle):
            self.border_title = title
            self.border_subtitle = aside

    def _part_row(self, index: int, frame: Frame) -> list[Line]:
        if self._entry is None or index >= len(self._parts):
            return [BLANK]
        part, ink = self._parts[index], frame.ink
        text = literal(shown_text(self._entry.message, part)[:_SHOWN_CHARS])
        bar = ("▌ ", ink.accent) if frame.is_selected else ("  ", PLAIN)
        names = [literal(name_of_part(self._entry.message, each)) for each in self._parts]
        room = max(map(cell_width, names)) + 2
        name = names[index] + " " * (room - cell_width(names[index]))
        return [line_of([bar, (name, ink.bright), (text or "(empty)", ink.muted)])]
