"""The panel of the prompts that wait: one row for each, and keys to edit, move and remove them."""

from collections.abc import Iterable

from rich.segment import Segment
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from smith_tui.keys import KEY_ACTIONS, KeyAction, hint_key, keys_of
from smith_tui.prompt_queue import PromptQueue, Waiting
from smith_tui.sanitize import literal
from smith_tui.transcript.cells import cut_to

MAX_ROWS = 6
"""Rows of the panel, its title among them."""
_LOOKED_AT = 500
"""Characters of a prompt that can be seen on a row."""


class QueuePanel(Widget, can_focus=True):
    """Shows a queue; hidden while nothing waits, one line while the screen is low."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES = {  # noqa: RUF012
        "queue-panel--title",
        "queue-panel--said",
        "queue-panel--number",
        "queue-panel--selected",
    }
    DEFAULT_CSS = """
    QueuePanel { height: auto; width: 1fr; background: $surface; color: $foreground; }
    QueuePanel > .queue-panel--title { color: $text-muted; }
    QueuePanel > .queue-panel--number { color: $text-muted; }
    QueuePanel > .queue-panel--said { color: $primary; }
    QueuePanel > .queue-panel--selected { background: $screen-selection-background; text-style: bold; }
    """

    class Wanted(Message):
        """The person wants something done; action: edit, now, remove or leave. index: of the prompt, from 0."""

        def __init__(self, action: str, index: int) -> None:
            super().__init__()
            self.action = action
            self.index = index

    def __init__(
        self, queue: PromptQueue, *, actions: Iterable[KeyAction] = KEY_ACTIONS, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        actions = tuple(actions)
        self._queue = queue
        self._keys = keys_of(actions, "queue")
        self._way_in = next((hint_key(action) for action in actions if action.name == "queue"), "")
        self.selected = 0
        """Number of the selected prompt, from 0."""
        queue.changed = self._show
        self.display = len(queue) > 0

    def on_key(self, event: events.Key) -> None:
        """Select, or do what a key is for with the selected prompt."""
        action = self._keys.get(event.key)
        if event.key in ("up", "down"):
            self._select(self.selected + (1 if event.key == "down" else -1))
        elif action in ("queue_up", "queue_down"):
            self._select(self._queue.move(self.selected, -1 if action == "queue_up" else 1))
        elif action is not None:
            self.post_message(self.Wanted(action.removeprefix("queue_"), self.selected))
        else:
            return
        event.stop()
        event.prevent_default()

    def on_click(self, event: events.Click) -> None:
        """Select the prompt that was clicked."""
        if event.y > 0:
            self._select(self._first + event.y - 1)

    def on_focus(self) -> None:
        """Show what is selected."""
        self._select(self.selected)

    def on_blur(self) -> None:
        """Show no selection any longer."""
        self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return a row for each prompt and one for the title, a quarter of the screen at most."""
        return max(1, min(len(self._queue) + 1, MAX_ROWS, viewport.height // 4))

    def render_line(self, y: int) -> Strip:
        """Return a row at exactly the width of the widget."""
        width, base = self.size.width, self.rich_style
        if y == 0:
            title = Segment(cut_to(self._title(), width), self.get_component_rich_style("queue-panel--title"))
            return Strip([title]).adjust_cell_length(width, base)
        index = self._first + y - 1
        if index >= len(self._queue):
            return Strip.blank(width, base)
        item = self._queue.items[index]
        is_selected = self.has_focus and index == self.selected
        style = self.get_component_rich_style("queue-panel--selected") if is_selected else base
        mark = "→ " if item.is_said else f"{index + 1 - self._said} "
        kind = "said" if item.is_said else "number"
        mark_style = style if is_selected else self.get_component_rich_style(f"queue-panel--{kind}")
        lead = f"{'▸' if is_selected else ' '} {mark}"
        text = cut_to(_first_line(item), max(0, width - len(lead)))
        return Strip([Segment(lead, mark_style), Segment(text, style)]).adjust_cell_length(width, style)

    @property
    def _said(self) -> int:
        return sum(item.is_said for item in self._queue.items)

    @property
    def _first(self) -> int:
        """Number of the prompt in the first row."""
        rows = max(1, self.size.height - 1)
        return max(0, min(self.selected - rows + 1, len(self._queue) - rows))

    def _title(self) -> str:
        kept = sum(item.is_kept for item in self._queue.items)
        said, waiting = self._said, len(self._queue) - self._said - kept
        words = []
        if said:
            words.append(f"{said} for the running turn")
        if waiting:
            when = "held, the turn failed" if self._queue.is_held else "after it" if said else "next"
            words.append(f"{waiting} {when}")
        if kept:
            words.append(f"{kept} from last time, held")
        return f"  Waiting: {', '.join(words)} · {self._way_in} changes"

    def _show(self) -> None:
        """Bring the screen in line with the queue."""
        self.display = len(self._queue) > 0
        if not self.display and self.has_focus:
            self.post_message(self.Wanted("leave", 0))
        self._select(self.selected)
        self.refresh(layout=True)

    def _select(self, index: int) -> None:
        self.selected = max(0, min(index, len(self._queue) - 1))
        self.refresh()


def _first_line(item: Waiting) -> str:
    line, _, more = item.text.strip()[:_LOOKED_AT].partition("\n")
    return literal(line) + (" …" if more else "")
