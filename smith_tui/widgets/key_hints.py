"""The footer: which keys work now, the most important ones when there is little room."""

from collections.abc import Container, Iterable
from typing import Any

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from smith_tui.keys import KEY_ACTIONS, KeyAction, Scope, hint_key, hints, local_hints
from smith_tui.transcript.cells import cell_width

_GAP = "  "


def fitting(actions: list[KeyAction], width: int) -> list[KeyAction]:
    """Return the actions that fit into `width` cells, in their order; the important ones are placed first."""
    kept: set[str] = set()
    left = width + len(_GAP)
    for action in sorted(actions, key=lambda action: action.importance):
        need = len(_GAP) + cell_width(hint_key(action)) + 1 + cell_width(action.label)
        if need <= left:
            kept.add(action.name)
            left -= need
    return [action for action in actions if action.name in kept]


def hints_for(screen: Screen[Any]) -> "KeyHints | None":
    """Return the footer of what has the focus: the one that is most closely around it where there are several."""
    around = (screen.focused or screen).ancestors_with_self

    def distance(hints: KeyHints) -> tuple[int, int]:
        own = hints.ancestors_with_self
        shared = next(index for index, node in enumerate(own) if node in around)
        return around.index(own[shared]), shared

    return min(screen.query(KeyHints), key=distance, default=None)


class KeyHints(Widget):
    """One line of keys and what they do; a click on one of them is posted as `Chosen`."""

    COMPONENT_CLASSES = {"key-hints--key", "key-hints--label"}  # noqa: RUF012
    DEFAULT_CSS = """
    KeyHints { height: 1; width: 1fr; background: $background; }
    KeyHints > .key-hints--key { color: $primary; }
    KeyHints > .key-hints--label { color: $text-muted; }
    """

    class Chosen(Message):
        """The person has clicked on an action."""

        def __init__(self, action: KeyAction) -> None:
            super().__init__()
            self.action = action

    def __init__(self, actions: Iterable[KeyAction] = KEY_ACTIONS, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._actions = tuple(actions)
        self._scopes: frozenset[Scope] = frozenset({"prompt"})
        self._is_local = False
        self._without: Container[str] = ()

    @property
    def scopes(self) -> frozenset[Scope]:
        """Whose keys are shown."""
        return self._scopes

    @property
    def shown_scopes(self) -> frozenset[Scope]:
        """The scopes of all keys that are shown if there is room."""
        return frozenset(action.scope for action in self._shown)

    def show_keys_for(self, scopes: Iterable[Scope], *, without: frozenset[str] = frozenset()) -> None:
        """Show the keys of these scopes, besides those that always work; without: names of actions."""
        if without != self._without:
            self._without = without
            self.refresh()
        self._show(frozenset(scopes), is_local=False)

    def show_only(self, scope: Scope | None, *, without: Container[str] = ()) -> None:
        """Show the keys of a view that is a scope of its own, and few others; without: names of actions."""
        self._without = without
        self._show(frozenset() if scope is None else frozenset({scope}), is_local=True)
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Tell which action was clicked."""
        start = 0
        for action in fitting(self._shown, self.size.width):
            end = start + cell_width(hint_key(action)) + 1 + cell_width(action.label)
            if start <= event.x < end:
                self.post_message(self.Chosen(action))
            start = end + len(_GAP)

    def render_line(self, y: int) -> Strip:
        """Return the footer at exactly the width of the widget."""
        width = self.size.width
        base = self.rich_style
        key_style = self.get_component_rich_style("key-hints--key")
        label_style = self.get_component_rich_style("key-hints--label")
        segments: list[Segment] = []
        for action in fitting(self._shown, width):
            if segments:
                segments.append(Segment(_GAP, base))
            segments.append(Segment(hint_key(action), key_style))
            segments.append(Segment(f" {action.label}", label_style))
        return Strip(segments).adjust_cell_length(width, base)

    @property
    def _shown(self) -> list[KeyAction]:
        if not self._is_local:
            return [action for action in hints(self._actions, self._scopes) if action.name not in self._without]
        local = [action for scope in self._scopes for action in local_hints(self._actions, scope) if action.importance]
        shown = [action for action in local if action.name not in self._without]
        shown.sort(key=lambda action: action.scope not in self._scopes)
        return shown or [action for action in local_hints(self._actions, "always") if action.name == "help"]

    def _show(self, scopes: frozenset[Scope], *, is_local: bool) -> None:
        if (scopes, is_local) != (self._scopes, self._is_local):
            self._scopes, self._is_local = scopes, is_local
            self.refresh()
