"""The parts of the inspect view that only show: the names of the columns, the window's bar, one message in full."""

from collections.abc import Callable, Sequence

from textual.strip import Strip
from textual.widget import Widget

from smith_tui.theme import Theme
from smith_tui.transcript.blocks import Block
from smith_tui.transcript.document_view import DocumentView
from smith_tui.transcript.ink import Ink
from smith_tui.transcript.lines import BLANK, Line
from smith_tui.transcript.model import TOP
from smith_tui.transcript.painting import SeenStyles, paint


class Lines(Widget):
    """A few rows that somebody else makes for the width there is."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Lines { width: 1fr; height: 1; }
    """

    def __init__(self, make: Callable[[int], Sequence[Line]], ink: Ink, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._make = make
        # Textual applies its filters to what a widget of this kind returns.
        self._styles = SeenStyles(ink.base)

    def render_line(self, y: int) -> Strip:
        """Return one row at exactly the width of the widget."""
        width = self.size.width
        rows = self._make(width)
        return paint(rows[y] if y < len(rows) else BLANK, width, self._styles)


class MessageView(DocumentView):
    """Shows blocks from their top."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme=theme)

    def show(self, blocks: Sequence[Block]) -> None:
        """Show these blocks in place of those before."""
        self.document.clear()
        self.document.extend(blocks)
        self.go_to(TOP)
        self.sync(repaint=True)
