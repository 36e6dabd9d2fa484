"""The question before an address of the web is opened: it is shown whole, and the host beside it."""

from collections.abc import Iterable
from typing import Literal
from urllib.parse import urlsplit

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from smith_tui.keys import KeyAction, keys_of, local_hints
from smith_tui.sanitize import literal
from smith_tui.screens.leaving import LeftOnce
from smith_tui.widgets.key_hints import KeyHints

Answer = Literal["open", "copy", "leave"]


def host_of(address: str) -> str:
    """Return the host of an address as the network knows it, letters that only look like others spelled out."""
    try:
        host = urlsplit(address).hostname or ""
        return host if host.isascii() else host.encode("idna").decode("ascii")
    except (ValueError, UnicodeError):
        return ""


class OpenLinkScreen(LeftOnce[Answer], ModalScreen[Answer]):
    """Asks what to do with an address."""

    DEFAULT_CSS = """
    OpenLinkScreen { align: center middle; }
    OpenLinkScreen > Vertical {
        width: 90; max-width: 95%; height: auto; max-height: 90%;
        background: $surface; border: round $primary; padding: 0 1;
    }
    OpenLinkScreen Static { height: auto; }
    OpenLinkScreen .host { color: $text-muted; }
    OpenLinkScreen > KeyHints { dock: bottom; }
    """

    def __init__(self, address: str, actions: Iterable[KeyAction]) -> None:
        super().__init__()
        self._address = address
        self._actions = tuple(actions)
        self._keys = keys_of(self._actions, "link")

    def compose(self) -> ComposeResult:
        """Show the address."""
        with Vertical() as box:
            box.border_title = "Open in the browser?"
            yield Static(literal(self._address), markup=False)
            yield Static(f"host: {literal(host_of(self._address)) or 'none'}", markup=False, classes="host")
        yield KeyHints(local_hints(self._actions, "link"))

    def on_mount(self) -> None:
        """Show the keys."""
        self.query_one(KeyHints).show_keys_for(("link",))

    def on_key(self, event: events.Key) -> None:
        """Take the answer."""
        event.stop()
        answers: dict[str, Answer] = {"link_open": "open", "link_copy": "copy", "link_leave": "leave"}
        answer = answers.get(self._keys.get(event.key, ""))
        if answer is not None:
            self.dismiss(answer)
