"""The search line: asks for text, shows how many matches there are, and posts what the person wants to see."""

from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Offset
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from smith_tui.keys import KEY_ACTIONS, KeyAction, keys_of
from smith_tui.sanitize import literal
from smith_tui.transcript.cells import cell_width
from smith_tui.widgets import edit_keys
from smith_tui.widgets.clusters import next_boundary
from smith_tui.widgets.edit_buffer import EditBuffer
from smith_tui.widgets.pastes import clean_paste

_LABEL = "Find: "
_MAX_QUERY = 1_000


class FindBar(Widget, can_focus=True):
    """One line of input; it is hidden until `open` is called."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES = {"find-bar--label", "find-bar--caret", "find-bar--count", "find-bar--selected"}  # noqa: RUF012
    DEFAULT_CSS = """
    FindBar { height: 1; width: 1fr; background: $panel; color: $foreground; display: none; }
    FindBar > .find-bar--label { color: $primary; }
    FindBar > .find-bar--caret { color: $background; background: $primary; }
    FindBar > .find-bar--selected { background: $screen-selection-background; }
    FindBar > .find-bar--count { color: $text-muted; }
    """

    class Changed(Message):
        """The person wants matches of `query`; an empty one means none."""

        def __init__(self, query: str) -> None:
            super().__init__()
            self.query = query

    class Next(Message):
        """The person wants the next match."""

    class Previous(Message):
        """The person wants the match before."""

    class Closed(Message):
        """The person is done searching."""

    def __init__(self, *, actions: Iterable[KeyAction] = KEY_ACTIONS, id: str | None = None) -> None:
        super().__init__(id=id)
        self._actions = keys_of(actions, "find")
        self._buffer = EditBuffer()
        self._count = ""
        self._messages = {"find_next": self.Next, "find_previous": self.Previous}

    @property
    def query_text(self) -> str:
        """What is searched for."""
        return self._buffer.text

    def open(self) -> None:
        """Show the bar with the last search selected, and take the focus."""
        self.display = True
        self.screen.set_focus(self)
        self._buffer.move_to(0)
        self._buffer.move_to(len(self._buffer.text), select=True)
        if self._buffer.text:
            self.post_message(self.Changed(self._buffer.text))
        self.refresh()

    def close(self) -> None:
        """Hide the bar and post `Closed`."""
        if self.display:
            self.display = False
            self.post_message(self.Closed())

    def show_matches(self, current: int, total: int) -> None:
        """Show that match `current` (from 1) of `total` is in view."""
        self._count = f"{current}/{total}" if total else "no match"
        self.refresh()

    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        """Say whether the bar types this key."""
        return edit_keys.types(key, character)

    def on_key(self, event: events.Key) -> None:
        """Edit the query or do what the key is for."""
        action = self._actions.get(event.key)
        before = self._buffer.text
        if action == "find_close":
            self.close()
        elif action is not None:
            self.post_message(self._messages[action]())
        elif event.key == "ctrl+z":
            self._buffer.undo()
        elif not edit_keys.press(self._buffer, event.key, event.character):
            return
        event.stop()
        event.prevent_default()
        self._edited(before)

    def on_paste(self, event: events.Paste) -> None:
        """Take the first line of what was pasted."""
        event.stop()
        event.prevent_default()
        before = self._buffer.text
        line = clean_paste(event.text).strip("\n").partition("\n")[0]
        self._buffer.insert(line[:_MAX_QUERY])
        self._edited(before)

    def render_line(self, y: int) -> Strip:
        """Return the bar at exactly the width of the widget, scrolled so that the caret is in it."""
        width, base = self.size.width, self.rich_style
        count = self._count if self._buffer.text and len(self._count) + len(_LABEL) < width // 2 else ""
        label = _LABEL if width > 2 * len(_LABEL) else ""
        room = max(1, width - len(label) - len(count) - 1)
        query = self._query_strip(room, base)
        return Strip(
            [
                Segment(label, self.get_component_rich_style("find-bar--label")),
                *query,
                Segment(" ", base),
                Segment(count, self.get_component_rich_style("find-bar--count")),
            ]
        ).adjust_cell_length(width, base)

    def _query_strip(self, room: int, base: Style) -> Strip:
        text, caret = self._buffer.text, self._buffer.caret
        caret_end = next_boundary(text, caret)
        before, at, after = literal(text[:caret]), literal(text[caret:caret_end]) or " ", literal(text[caret_end:])
        caret_style = self.get_component_rich_style("find-bar--caret")
        if self._buffer.selected_text:
            base = self.get_component_rich_style("find-bar--selected")
        strip = Strip([Segment(before, base), Segment(at, caret_style), Segment(after, base)])
        start = max(0, cell_width(before) + cell_width(at) - room)
        return strip.crop_extend(start, start + room, base)

    def _edited(self, before: str) -> None:
        if self._buffer.text != before:
            self.post_message(self.Changed(self._buffer.text))
        if self.has_focus:
            column = len(_LABEL) + cell_width(literal(self._buffer.text[: self._buffer.caret]))
            self.app.cursor_position = self.content_region.offset + Offset(min(column, self.size.width - 1), 0)
        self.refresh()
