"""A short list of choices in a box that floats over the screen; their texts are foreign and shown letter for letter."""

from collections.abc import Sequence
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Offset, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from smith_tui.sanitize import literal
from smith_tui.transcript.cells import cell_width, cut_to

MAX_ROWS = 10
MAX_CELLS = 100
_ROWS_WITH_COUNT = 4
"""From so many rows on, the last one tells how many choices there are, unless all are in view."""
_MARK, _NO_MARK = "▸ ", "  "
_GAP = "  "
_LABEL_SHARE = 0.45
"""Part of the width that labels may take where details do not fit beside them otherwise."""
_LEAST_DETAIL = 6
"""Cells; a detail is left out where it would have fewer."""


class Choice(NamedTuple):
    """One row: what is chosen, and more about it, which is cut first."""

    label: str
    detail: str = ""


class ChoiceList(Widget):
    """Shows choices around the selected one; hidden while there are none. It never takes the focus."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES = {  # noqa: RUF012
        "choice-list--selected",
        "choice-list--detail",
        "choice-list--selected-detail",
        "choice-list--count",
    }
    DEFAULT_CSS = """
    ChoiceList { display: none; position: absolute; overlay: screen; background: $surface; color: $foreground; }
    ChoiceList > .choice-list--selected { background: $screen-selection-background; text-style: bold; }
    ChoiceList > .choice-list--detail { color: $text-muted; }
    ChoiceList > .choice-list--selected-detail { background: $screen-selection-background; }
    ChoiceList > .choice-list--count { color: $text-muted; background: $panel; }
    """

    class Chosen(Message):
        """The person has clicked on a choice; index: its number from 0."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, *, max_rows: int = MAX_ROWS, id: str | None = None) -> None:
        super().__init__(id=id)
        self._max_rows = max_rows
        self._choices: tuple[Choice, ...] = ()
        self._first = 0
        self._label_cells = self._detail_cells = 0
        self._box = (0, 0)
        self.selected = -1
        """Number of the selected choice from 0, -1 while none is."""

    @property
    def choices(self) -> tuple[Choice, ...]:
        """What is offered now."""
        return self._choices

    def show(self, choices: Sequence[Choice], selected: int, at: Offset, screen: Size) -> None:
        """Offer choices in a box beside a place of the screen: above it where there is more room, else below it.

        The place is that of the text that a choice replaces.
        """
        shown = tuple(Choice(literal(choice.label), literal(choice.detail)) for choice in choices)
        if shown != self._choices:
            self._choices, self._first = shown, 0
        self._label_cells = max((cell_width(choice.label) for choice in self._choices), default=0)
        self._detail_cells = max((cell_width(choice.detail) for choice in self._choices), default=0)
        above, below = at.y, screen.height - at.y - 1
        rows = min(len(self._choices), self._max_rows, max(above, below))
        # While it is open it does not become narrower, which would only make it flicker.
        least = self._box[0] if self.display else 0
        width = min(max(self._widest() + len(_MARK), least), MAX_CELLS, screen.width)
        if rows <= 0 or width <= 0:
            self.hide()
            return
        y = at.y - rows if above >= min(rows, below + 1) else at.y + 1
        x = max(0, min(at.x - len(_MARK), screen.width - width))
        place = Offset(x, y)
        if self._box != (width, rows):
            self._box = width, rows
            self.styles.width, self.styles.height = width, rows
        if place != self.absolute_offset:
            self.absolute_offset = place
            self.refresh(layout=True)
        self.display = True
        self.select(selected)

    def hide(self) -> None:
        """Offer nothing any longer."""
        self.display = False
        self._choices = ()
        self.selected = -1

    def select(self, index: int) -> None:
        """Select a choice, -1 for none, and bring it into view."""
        self.selected = index
        rows = self._rows
        self._first = max(0, min(self._first, len(self._choices) - rows))
        if index >= 0:
            self._first = max(index - rows + 1, min(self._first, index))
        self.refresh()

    def move(self, step: int) -> None:
        """Select the next choice or the one before, around the ends."""
        count = len(self._choices)
        if count:
            self.select((self.selected + step) % count if self.selected >= 0 else (0 if step > 0 else count - 1))

    def on_click(self, event: events.Click) -> None:
        """Tell which choice was clicked."""
        event.stop()
        index = self._first + event.y
        if event.y < self._rows and index < len(self._choices):
            self.post_message(self.Chosen(index))

    def render_line(self, y: int) -> Strip:
        """Return a choice, or how many there are, at exactly the width of the box."""
        width, base = self.size.width, self.rich_style
        index = self._first + y
        if y >= self._rows or index >= len(self._choices):
            style = self.get_component_rich_style("choice-list--count")
            last = min(self._first + self._rows, len(self._choices))
            words = cut_to(f"  {self._first + 1}–{last} of {len(self._choices)}", width)
            return Strip([Segment(words, style)]).adjust_cell_length(width, style)
        is_selected = index == self.selected
        style = self.get_component_rich_style("choice-list--selected") if is_selected else base
        detail = self.get_component_rich_style(f"choice-list--{'selected-' if is_selected else ''}detail")
        return self._strip(self._choices[index], _MARK if is_selected else _NO_MARK, width, style, detail)

    def _strip(self, choice: Choice, mark: str, width: int, style: Style, detail_style: Style) -> Strip:
        room = width - len(mark) - 1
        column = min(self._label_cells, room)
        if self._detail_cells:
            column = min(column, max(room - len(_GAP) - self._detail_cells, int(room * _LABEL_SHARE)))
        label = cut_to(choice.label, column)
        segments = [Segment(mark, style), Segment(label, style)]
        room -= column + len(_GAP)
        if choice.detail and room >= _LEAST_DETAIL:
            gap = column - cell_width(label) + len(_GAP)
            segments += [Segment(" " * gap, style), Segment(cut_to(choice.detail, room), detail_style)]
        return Strip(segments).adjust_cell_length(width, style)

    @property
    def _rows(self) -> int:
        """Rows for choices: all of them, or all but the one that counts."""
        height = self._box[1]
        return max(1, height - (len(self._choices) > height >= _ROWS_WITH_COUNT))

    def _widest(self) -> int:
        return self._label_cells + (len(_GAP) + self._detail_cells if self._detail_cells else 0) + 1
