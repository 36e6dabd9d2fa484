"""A line of input with a label before it and a word at its end; whoever stands around it learns what is typed."""

from collections.abc import Container

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Offset
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from smith_tui.sanitize import literal
from smith_tui.transcript.cells import cell_width, cut_to
from smith_tui.widgets import edit_keys
from smith_tui.widgets.clusters import next_boundary
from smith_tui.widgets.edit_buffer import EditBuffer
from smith_tui.widgets.pastes import clean_paste

MAX_CHARACTERS = 1_000
"""Most characters that a paste adds."""
MIN_TEXT_CELLS = 20
"""Room that is kept for what is typed."""


class InputLine(Widget, can_focus=True):
    """One line that is edited with the usual keys; keys that mean nothing to it go on to its screen.

    leave: keys that the screen wants, whatever they do to a text elsewhere. hint: shown while nothing is typed.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES = {  # noqa: RUF012
        "input-line--label",
        "input-line--caret",
        "input-line--info",
        "input-line--selected",
    }
    DEFAULT_CSS = """
    InputLine { height: 1; width: 1fr; background: $panel; color: $foreground; }
    InputLine > .input-line--label { color: $primary; }
    InputLine > .input-line--caret { color: $background; background: $primary; }
    InputLine > .input-line--selected { background: $screen-selection-background; }
    InputLine > .input-line--info { color: $text-muted; }
    """

    class Changed(Message):
        """The text is another one now."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, label: str, *, hint: str = "", leave: Container[str] = (), id: str | None = None) -> None:
        super().__init__(id=id)
        self._label = f"{label}: "
        self._hint = hint
        self._leave = leave
        self._infos: tuple[str, ...] = ()
        self._buffer = EditBuffer()

    @property
    def text(self) -> str:
        """What is typed."""
        return self._buffer.text

    def load(self, text: str, *, label: str | None = None, select: bool = False) -> None:
        """Put a text in place of what is there, without a message; with `select`, typing replaces it."""
        if label is not None:
            self._label = f"{label}: "
        self._buffer = EditBuffer()
        self._buffer.insert(text)
        if select:
            self._buffer.move_to(0)
            self._buffer.move_to(len(text), select=True)
        self.place_caret()

    def show_info(self, *infos: str) -> None:
        """Show a few words at the right end: the first of these that leaves room for the text."""
        if infos != self._infos:
            self._infos = infos
            self.refresh()

    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        """Say whether the line types this key."""
        return key not in self._leave and edit_keys.types(key, character)

    def take_key(self, event: events.Key) -> None:
        """Do what a key is for that was pressed before the focus had come here."""
        self.on_key(event)

    def on_key(self, event: events.Key) -> None:
        """Edit the text."""
        before = self._buffer.text
        if event.key in self._leave:
            return
        if event.key == "ctrl+z":
            self._buffer.undo()
        elif not edit_keys.press(self._buffer, event.key, event.character):
            return
        event.stop()
        event.prevent_default()
        self._edited(before)

    def on_paste(self, event: events.Paste) -> None:
        """Take the first line of what was pasted."""
        event.stop()
        event.prevent_default()
        before = self._buffer.text
        line = clean_paste(event.text).strip("\n").partition("\n")[0]
        self._buffer.insert(line[:MAX_CHARACTERS])
        self._edited(before)

    def on_focus(self) -> None:
        """Show the caret, as soon as it is clear where the line stands."""
        self.call_after_refresh(self.place_caret)

    def on_resize(self) -> None:
        """Take the terminal's cursor along."""
        self.place_caret()

    def on_blur(self) -> None:
        """Hide the caret."""
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return the line at exactly the width of the widget, scrolled so that the caret is in it."""
        width, base = self.size.width, self.rich_style
        muted = self.get_component_rich_style("input-line--info")
        label = self._label if width > 2 * len(self._label) else ""
        left = width - cell_width(label) - MIN_TEXT_CELLS
        info = next((f" {info}" for info in self._infos if info and cell_width(info) + 2 <= left), "")
        room = max(1, width - cell_width(label) - cell_width(info))
        return Strip(
            [
                Segment(label, self.get_component_rich_style("input-line--label")),
                *self._text_strip(room, base, muted),
                Segment(info, muted),
            ]
        ).adjust_cell_length(width, base)

    def _text_strip(self, room: int, base: Style, muted: Style) -> Strip:
        text, caret = self._buffer.text, self._buffer.caret
        if not text:
            caret_style = self.get_component_rich_style("input-line--caret") if self.has_focus else base
            hint = Segment(cut_to(self._hint, room - 1), muted)
            return Strip([Segment(" ", caret_style), hint]).crop_extend(0, room, base)
        caret_end = next_boundary(text, caret)
        before, at, after = literal(text[:caret]), literal(text[caret:caret_end]) or " ", literal(text[caret_end:])
        caret_style = self.get_component_rich_style("input-line--caret") if self.has_focus else base
        if self._buffer.selected_text:
            base = self.get_component_rich_style("input-line--selected")
        strip = Strip([Segment(before, base), Segment(at, caret_style), Segment(after, base)])
        start = max(0, cell_width(before) + cell_width(at) - room)
        return strip.crop_extend(start, start + room, self.rich_style)

    def _edited(self, before: str) -> None:
        if self._buffer.text != before:
            self.post_message(self.Changed(self._buffer.text))
        self.place_caret()

    def place_caret(self) -> None:
        """Put the terminal's cursor at the caret, where input methods open their windows."""
        if self.is_attached and self.has_focus:
            column = cell_width(self._label) + cell_width(literal(self._buffer.text[: self._buffer.caret]))
            self.app.cursor_position = self.content_region.offset + Offset(min(column, self.size.width - 1), 0)
        self.refresh()
