"""The search line of the transcript: asks for text, shows how many matches there are, and posts what is wanted."""

from collections.abc import Iterable

from textual import events
from textual.message import Message

from smith_tui.keys import KEY_ACTIONS, KeyAction, keys_of
from smith_tui.widgets.input_line import InputLine


class FindBar(InputLine):
    """One line of input; it is hidden until `open` is called. A `Changed` without text means that nothing is wanted."""

    DEFAULT_CSS = """
    FindBar { display: none; }
    """

    class Next(Message):
        """The person wants the next match."""

    class Previous(Message):
        """The person wants the match before."""

    class Closed(Message):
        """The person is done searching."""

    def __init__(self, *, actions: Iterable[KeyAction] = KEY_ACTIONS, id: str | None = None) -> None:
        super().__init__("Find", id=id)
        self._actions = keys_of(actions, "find")
        self._messages = {"find_next": self.Next, "find_previous": self.Previous}

    def open(self) -> None:
        """Show the bar with the last search selected, and take the focus."""
        self.show_search(self.text)
        if self.text:
            self.post_message(self.Changed(self.text))

    def show_search(self, query: str) -> None:
        """Show the bar for a search that has been made already, and take the focus."""
        self.display = True
        self.screen.set_focus(self)
        self.load(query, select=True)

    def close(self) -> None:
        """Hide the bar and post `Closed`."""
        if self.display:
            self.display = False
            self.post_message(self.Closed())

    def show_matches(self, current: int, total: int) -> None:
        """Show that match `current` (from 1) of `total` is in view."""
        self.show_info(f"{current}/{total}" if total else "no match" if self.text else "")

    def on_key(self, event: events.Key) -> None:
        """Do what the key is for; the line that this one is built on gets every other key from Textual."""
        action = self._actions.get(event.key)
        if action is None:
            return
        event.stop()
        event.prevent_default()
        if action == "find_close":
            self.close()
        else:
            self.post_message(self._messages[action]())
