"""What every widget does in which a text of several rows is edited: paste, mouse, and the terminal's cursor."""

from textual import events
from textual.geometry import Offset
from textual.message import Message
from textual.widget import Widget

from smith_tui.widgets import edit_keys
from smith_tui.widgets.prompt_editor import PromptEditor


class EditedText(Widget, can_focus=True):
    """Shows what an editor holds, from the cell `gutter_cells` on."""

    ALLOW_SELECT = False

    class Selected(Message):
        """The person has selected this with the mouse."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, editor: PromptEditor, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._editor = editor
        self._dragging = False

    @property
    def text(self) -> str:
        """The whole text, pastes in full."""
        return self._editor.text

    @property
    def selected_text(self) -> str:
        """What is selected of it, pastes in full; "" without a selection."""
        return self._editor.selected_text

    def unselect(self) -> None:
        """Select nothing any more; the caret stays where it is."""
        self._editor.unselect()
        self._edited()

    @property
    def gutter_cells(self) -> int:
        """How many cells stand before the text."""
        return 0

    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        """Say whether this types the key, so that nothing else is offered for it."""
        return edit_keys.types(key, character)

    def on_paste(self, event: events.Paste) -> None:
        """Take pasted text; it never sends anything."""
        event.stop()
        event.prevent_default()
        self._editor.paste(event.text, event.time)
        self._edited()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Put the caret where the mouse is and begin to select; what was selected elsewhere is so no longer."""
        self.screen.clear_selection()
        self._dragging = True
        self.capture_mouse()
        self._point(event, select=False)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Select up to the mouse while its button is down."""
        if self._dragging:
            self._point(event, select=True)

    def on_mouse_up(self) -> None:
        """End the selection by mouse."""
        if self._dragging:
            self._dragging = False
            self.release_mouse()
            if self.selected_text:
                self.post_message(self.Selected(self.selected_text))

    def take_cursor(self) -> None:
        """Put the terminal's cursor to the caret, where the window of an input method opens."""
        row, column = self._editor.caret_place
        place = Offset(self.gutter_cells + column, row - self._editor.first_row)
        self.app.cursor_position = self.content_region.offset + place

    def _point(self, event: events.MouseEvent, *, select: bool) -> None:
        self._editor.point(event.y, max(0, event.x - self.gutter_cells), select=select)
        self._edited()

    def _edited(self) -> None:
        """Bring the screen up to date with the text and the caret."""
        raise NotImplementedError
