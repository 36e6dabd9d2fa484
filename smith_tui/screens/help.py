"""The help screen: every key and every command, made from the tables that define them."""

from collections.abc import Iterable
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from smith_tui.screens.leaving import LeftOnce

Row = tuple[str, str]


class HelpScreen(LeftOnce[None], ModalScreen[None]):
    """Shows rows of (key or command, meaning) until Escape."""

    DEFAULT_CSS = """
    HelpScreen { align: center middle; }
    #help {
        width: 90; max-width: 95%; height: auto; max-height: 90%;
        background: $surface; border: round $primary; padding: 1 2;
    }
    #help Static { height: auto; margin-bottom: 1; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,f1", "dismiss", "Close")]

    def __init__(self, keys: Iterable[Row], commands: Iterable[Row]) -> None:
        super().__init__()
        self._keys = list(keys)
        self._commands = list(commands)

    def compose(self) -> ComposeResult:
        """Lay out both tables in one scrolling box."""
        with VerticalScroll(id="help") as box:
            box.border_title = "Help"
            box.border_subtitle = "Esc closes"
            yield Static(_table("Keys", self._keys))
            yield Static(_table("Commands", self._commands))

    def on_mount(self) -> None:
        """Let the arrow keys scroll at once."""
        self.query_one("#help").focus()


def _table(title: str, rows: list[Row]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), title=Text(title, "bold"), title_justify="left")
    table.add_column(no_wrap=True)
    table.add_column()
    for name, meaning in rows:
        table.add_row(Text(name, "bold"), Text(meaning))
    return table
