"""The footer: which keys work now, the most important ones when there is little room."""

from collections.abc import Iterable

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from smith_tui.keys import KEY_ACTIONS, KeyAction, Scope, hint_key, hints
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


class KeyHints(Widget):
    """One line of keys and what they do."""

    COMPONENT_CLASSES = {"key-hints--key", "key-hints--label"}  # noqa: RUF012
    DEFAULT_CSS = """
    KeyHints { height: 1; width: 1fr; background: $background; }
    KeyHints > .key-hints--key { color: $primary; }
    KeyHints > .key-hints--label { color: $text-muted; }
    """

    def __init__(self, actions: Iterable[KeyAction] = KEY_ACTIONS, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._actions = tuple(actions)
        self._scopes: frozenset[Scope] = frozenset({"prompt"})

    def show_keys_for(self, scopes: Iterable[Scope]) -> None:
        """Show the keys of these scopes, besides those that always work."""
        if frozenset(scopes) != self._scopes:
            self._scopes = frozenset(scopes)
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return the footer at exactly the width of the widget."""
        width = self.size.width
        base = self.rich_style
        key_style = self.get_component_rich_style("key-hints--key")
        label_style = self.get_component_rich_style("key-hints--label")
        segments: list[Segment] = []
        for action in fitting(hints(self._actions, self._scopes), width):
            if segments:
                segments.append(Segment(_GAP, base))
            segments.append(Segment(hint_key(action), key_style))
            segments.append(Segment(f" {action.label}", label_style))
        return Strip(segments).adjust_cell_length(width, base)
