"""Choosing what to copy or to open: a list, each of the first nine with its digit."""

from collections.abc import Iterable, Sequence

from textual import events, on
from textual.app import ComposeResult
from textual.geometry import Offset
from textual.screen import ModalScreen

from smith_tui.copying import Copyable
from smith_tui.keys import KeyAction, Scope, keys_of, local_hints
from smith_tui.screens.leaving import LeftOnce
from smith_tui.widgets.choice_list import Choice, ChoiceList
from smith_tui.widgets.key_hints import KeyHints

_DIGITS = 9


class CopyScreen(LeftOnce[str], ModalScreen[str]):
    """Ends with the text that was chosen, "" without any."""

    DEFAULT_CSS = """
    CopyScreen > KeyHints { dock: bottom; }
    """

    def __init__(self, offered: Sequence[Copyable], actions: Iterable[KeyAction], scope: Scope = "copy") -> None:
        super().__init__()
        self._scope = scope
        self._offered = tuple(offered)
        self._actions = tuple(actions)
        self._keys = keys_of(self._actions, scope)
        self._list = ChoiceList(max_rows=20)

    def compose(self) -> ComposeResult:
        """Put the list above the footer."""
        yield self._list
        yield KeyHints(local_hints(self._actions, self._scope))

    def on_mount(self) -> None:
        """Offer everything."""
        self.query_one(KeyHints).show_keys_for((self._scope,))
        self._place(0)

    def on_resize(self) -> None:
        """Keep the list in view."""
        self._place(max(0, self._list.selected))

    def _place(self, selected: int) -> None:
        choices = [
            Choice(f"{number if number <= _DIGITS else ' '}  {one.title}", one.first_line)
            for number, one in enumerate(self._offered, 1)
        ]
        self._list.show(choices, selected, Offset(2, self.app.size.height - 1), self.app.size)

    def on_key(self, event: events.Key) -> None:
        """Choose."""
        event.stop()
        action = self._keys.get(event.key)
        if event.key.isdecimal() and 1 <= int(event.key) <= min(_DIGITS, len(self._offered)):
            self.dismiss(self._offered[int(event.key) - 1].text)
        elif event.key in ("up", "down"):
            self._list.move(1 if event.key == "down" else -1)
        elif action in ("copy_take", "links_take"):
            self.dismiss(self._offered[self._list.selected].text)
        elif action in ("copy_leave", "links_leave"):
            self.dismiss("")

    @on(ChoiceList.Chosen)
    def _chosen(self, message: ChoiceList.Chosen) -> None:
        self.dismiss(self._offered[message.index].text)
