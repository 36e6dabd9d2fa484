"""The help screen: every key and every command, made from the tables that define them."""

from collections.abc import Sequence
from typing import ClassVar

from rich.style import Style
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget

from smith_tui.sanitize import literal
from smith_tui.screens.leaving import LeftOnce
from smith_tui.transcript.cells import cell_width
from smith_tui.transcript.lines import BLANK, PLAIN, Line, indent, wrap
from smith_tui.transcript.painting import SeenStyles, paint

Row = tuple[str, str]
Section = tuple[str, Sequence[Row]]
_BOLD = Style(bold=True)
_GAP = 2
_MOST_NAME_SHARE = 0.4
"""Part of the width from which on a name has a line of its own, so that its meaning has room."""


class HelpScreen(LeftOnce[None], ModalScreen[None]):
    """Shows rows of (key or command, meaning) until Escape."""

    DEFAULT_CSS = """
    HelpScreen { align: center middle; }
    #help {
        width: 90; max-width: 95%; height: auto; max-height: 90%;
        background: $surface; border: round $primary; padding: 1 2;
    }
    #help HelpRows { height: auto; margin-bottom: 1; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,f1", "dismiss", "Close")]

    def __init__(self, sections: Sequence[Section]) -> None:
        super().__init__()
        self._sections = sections

    def compose(self) -> ComposeResult:
        """Lay out the sections in one scrolling box."""
        with VerticalScroll(id="help") as box:
            box.border_title = "Help"
            box.border_subtitle = "Esc closes"
            for title, rows in self._sections:
                yield HelpRows(title, rows)

    def on_mount(self) -> None:
        """Let the arrow keys scroll at once."""
        self.query_one("#help").focus()


class HelpRows(Widget):
    """A title with rows below it, their names in a column."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES = {"help-rows--title"}  # noqa: RUF012
    DEFAULT_CSS = """
    HelpRows > .help-rows--title { color: $primary; text-style: bold; }
    """

    def __init__(self, title: str, rows: Sequence[Row]) -> None:
        super().__init__()
        self._title = title
        self._rows = rows
        self._lines: tuple[int, list[Line]] = (0, [])

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return how many lines there are at a width."""
        return len(self._lines_at(width))

    def render_line(self, y: int) -> Strip:
        """Return one line at exactly the width of the widget."""
        width = self.size.width
        lines = self._lines_at(width)
        base = self.get_component_rich_style("help-rows--title") if y == 0 else self.rich_style
        return paint(lines[y] if y < len(lines) else BLANK, width, SeenStyles(base))

    def _lines_at(self, width: int) -> list[Line]:
        if self._lines[0] != width:
            self._lines = width, help_lines(self._title, self._rows, width)
        return self._lines[1]


def help_lines(title: str, rows: Sequence[Row], width: int) -> list[Line]:
    """Return a title and rows of (name, meaning) at a width."""
    most = int(width * _MOST_NAME_SHARE)
    column = _GAP + max((cell_width(name) for name, _ in rows if cell_width(name) <= most), default=0)
    lines = wrap([(title, _BOLD)], width)
    for name, meaning in rows:
        room = " " * column
        start = name + room[cell_width(name) :]
        if cell_width(name) > most:
            lines += wrap([(name, _BOLD)], width)
            start = room
        meanings = wrap([(literal(meaning), PLAIN)], width - column)
        lines += indent(meanings, (start, _BOLD), (room, PLAIN))
    return lines
