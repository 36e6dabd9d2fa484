"""The search line of the transcript: asks for text, shows how many matches there are, and posts what is wanted."""

from collections.abc import Iterable

from textual import events
from textual.message import Message

from smith_tui.keys import KEY_ACTIONS, KeyAction, hint_key, keys_of
from smith_tui.widgets.input_line import InputLine


class FindBar(InputLine):
    """One line of input; it is hidden until `open` is called. A `Changed` without text means that nothing is wanted.

    again: the action that comes back to the bar when the focus is elsewhere, named then beside the matches.
    """

    DEFAULT_CSS = """
    FindBar { display: none; }
    """

    class Next(Message):
        """The person wants the next match."""

    class Previous(Message):
        """The person wants the match before."""

    class Closed(Message):
        """The person is done searching."""

    def __init__(self, *, actions: Iterable[KeyAction] = KEY_ACTIONS, again: str = "", id: str | None = None) -> None:
        super().__init__("Find", id=id)
        actions = tuple(actions)
        self._actions = keys_of(actions, "find")
        keys = {action.name: hint_key(action) for action in actions}
        self._way_back = f"{keys[again]} goes on, {keys['find_close']} ends it" if again else ""
        self._matches = ""
        self._messages = {"find_next": self.Next, "find_previous": self.Previous}

    def open(self) -> None:
        """Show the bar with the last search selected, and take the focus."""
        self.show_search(self.text)
        self.take_focus()
        if self.text:
            self.post_message(self.Changed(self.text))

    def show_search(self, query: str) -> None:
        """Show the bar for a search that has been made already; the focus stays where it is."""
        self.display = True
        self.load(query)

    def take_focus(self) -> None:
        """Go on with the search that is shown."""
        self.screen.set_focus(self)
        self.load(self.text, select=True)

    def is_closed_by(self, key: str) -> bool:
        """Say whether the bar is shown and a key, pressed elsewhere, means that the person is done with it."""
        return bool(self.display) and self._actions.get(key) == "find_close"

    def close(self) -> None:
        """Hide the bar and post `Closed`."""
        if self.display:
            self.display = False
            self.post_message(self.Closed())

    def show_matches(self, current: int, total: int) -> None:
        """Show that match `current` (from 1) of `total` is in view."""
        self._matches = f"{current}/{total}" if total else "no match" if self.text else ""
        self._say(has_focus=self.has_focus)

    def show_count(self, total: int) -> None:
        """Show that there are `total` matches so far."""
        self._matches = f"{total}…"
        self._say(has_focus=self.has_focus)

    def on_focus(self) -> None:
        """Say no longer how to get here."""
        self._say(has_focus=True)

    def on_blur(self) -> None:
        """Say how to get back here."""
        self._say(has_focus=False)

    def _say(self, *, has_focus: bool) -> None:
        is_away = self._way_back and self._matches and not has_focus
        self.show_info(*([f"{self._matches} · {self._way_back}"] if is_away else []), self._matches)

    def take_key(self, event: events.Key) -> None:
        """Do what a key is for that was pressed before the focus had come here."""
        if event.key in self._actions:
            self.on_key(event)
        else:
            super().on_key(event)

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
