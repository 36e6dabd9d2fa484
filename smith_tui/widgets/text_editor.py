"""A text of many lines under edit, as high as there is room: caret, selection, undo, paste, mouse."""

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip

from smith_tui.widgets.edited_text import EditedText
from smith_tui.widgets.prompt_editor import PromptEditor

MAX_CHARACTERS = 200_000
"""Texts beyond this are wrapped too slowly to be edited here."""
MAX_LINE_CHARACTERS = 10_000
_GUTTER = "│ "
_WHEEL_ROWS = 3


def can_edit(text: str) -> bool:
    """Say whether a text is short enough to be edited here."""
    return len(text) <= MAX_CHARACTERS and max(map(len, text.split("\n"))) <= MAX_LINE_CHARACTERS


class TextEditor(EditedText):
    """Edits a text with the keys of the prompt; Enter begins a new line, and keys it does not know go on."""

    COMPONENT_CLASSES = {  # noqa: RUF012
        "text-editor--gutter",
        "text-editor--caret",
        "text-editor--selected",
        "text-editor--token",
    }
    DEFAULT_CSS = """
    TextEditor { height: 1fr; width: 1fr; background: $panel; color: $foreground; pointer: text; }
    TextEditor > .text-editor--gutter { color: $primary; }
    TextEditor > .text-editor--caret { color: $background; background: $primary; }
    TextEditor > .text-editor--selected { background: $screen-selection-background; }
    TextEditor > .text-editor--token { color: $primary; }
    """

    class Changed(Message):
        """The text or the caret is another one now."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(PromptEditor(), id=id)

    @property
    def gutter_cells(self) -> int:
        """How many cells stand before the text."""
        return len(_GUTTER)

    def load(self, text: str) -> None:
        """Edit another text, the caret at its start."""
        self._editor = PromptEditor()
        self._editor.fit(self._room)
        self._editor.insert(text)
        self._editor.buffer.move_to(0)
        self._editor.forget_steps()
        self._edited()

    def on_key(self, event: events.Key) -> None:
        """Edit and move."""
        match event.key:
            case "enter":
                self._editor.insert("\n")
            case "ctrl+z":
                self._editor.undo()
            case "ctrl+y":
                self._editor.redo()
            case "pageup" | "pagedown":
                for _ in range(max(1, self.size.height - 1)):
                    self._editor.press("up" if event.key == "pageup" else "down", None)
            case _ if not self._editor.press(event.key, event.character):
                return
        event.stop()
        event.prevent_default()
        self._edited()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Go down a few rows."""
        self._wheel("down", event)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Go up a few rows."""
        self._wheel("up", event)

    def on_resize(self) -> None:
        """Wrap anew and keep the caret in view."""
        self._editor.fit(self._room)
        self._edited()

    def on_focus(self) -> None:
        """Show the caret."""
        self._edited()

    def on_blur(self) -> None:
        """Hide the caret."""
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return one row at exactly the width of the widget."""
        width, base = self.size.width, self.rich_style
        row = self._editor.first_row + y
        segments = [Segment(_GUTTER, self.get_component_rich_style("text-editor--gutter"))]
        if row < self._editor.row_count:
            for text, kind in self._editor.pieces(row, caret=self.has_focus):
                style = base if kind == "text" else self.get_component_rich_style(f"text-editor--{kind}")
                segments.append(Segment(text, style))
        return Strip(segments).adjust_cell_length(width, base)

    @property
    def _room(self) -> int:
        return max(1, self.size.width - len(_GUTTER))

    def _wheel(self, key: str, event: events.MouseEvent) -> None:
        event.stop()
        for _ in range(_WHEEL_ROWS):
            self._editor.press(key, None)
        self._edited()

    def _edited(self) -> None:
        self.post_message(self.Changed())
        if not self.is_attached:
            return
        self._editor.scroll(max(1, self.size.height))
        self.refresh()
        if self.has_focus:
            self.take_cursor()
