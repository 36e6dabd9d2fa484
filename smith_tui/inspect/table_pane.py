"""The table of the inspect view: stored messages, or what would be sent next, one row each."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message

from smith_core.session.preview import NextRequest
from smith_tui.inspect.matching import keep_matching
from smith_tui.inspect.request_rows import Item, item_row, items_of, number_of
from smith_tui.inspect.state import InspectState
from smith_tui.inspect.table import MARK, STATE_SIGNS, Entry, Facts, WindowState, head_line, message_row
from smith_tui.inspect.views import Lines
from smith_tui.screens.look import Look
from smith_tui.transcript.lines import BLANK, Line, line_of
from smith_tui.widgets.result_list import Frame, ResultList


class Count(NamedTuple):
    """How many messages the filter keeps, of how many."""

    shown: int
    known: int


class TablePane(Container):
    """Shows rows and knows which one is chosen; now: seconds since the epoch."""

    class Moved(Message):
        """Another row is chosen, or the same one holds something else."""

    class Opened(Message):
        """The person wants the chosen row."""

    def __init__(self, state: InspectState, look: Look, now: Callable[[], float]) -> None:
        super().__init__(classes="frame", id="inspect-table")
        self._state = state
        self._look = look
        self._now = now
        self._entries: Sequence[Entry] = ()
        self._shown: Sequence[Entry] = ()
        self._items: Sequence[Item] = ()
        self._states: Mapping[int, WindowState] = {}
        self._number_width = 2
        self._part_width = 2

    def compose(self) -> ComposeResult:
        """Put the names of the columns above the rows."""
        yield Lines(self._head, self._look.ink)
        yield ResultList(self._row, self._look.ink, item_height=1, is_ready=True)

    @property
    def rows(self) -> ResultList:
        """The list itself, which takes the focus."""
        return self.query_one(ResultList)

    @property
    def count(self) -> Count:
        """How many messages there are."""
        return Count(len(self._shown), len(self._entries))

    @property
    def entry(self) -> Entry | None:
        """The stored message that is chosen."""
        index = self.rows.selected
        is_message = self._state.view == "messages" and 0 <= index < len(self._shown)
        return self._shown[index] if is_message else None

    @property
    def item(self) -> Item | None:
        """The part of the next request that is chosen."""
        index = self.rows.selected
        return self._items[index] if self._state.view == "request" and 0 <= index < len(self._items) else None

    @property
    def marks(self) -> set[int]:
        """The numbers of the marked messages that are shown."""
        return self._state.marks([entry.sequence for entry in self._shown])

    @property
    def marked_entries(self) -> list[Entry]:
        """The marked messages that are shown, in order."""
        return [entry for entry in self._shown if self._state.is_marked(entry.sequence)]

    def load(self, entries: Sequence[Entry]) -> None:
        """Show other messages."""
        self._entries = entries
        self._number_width = max(2, len(str(entries[-1].sequence))) if entries else 2
        if self._state.marked:
            self._state.keep_marks({entry.sequence for entry in entries})
        self.filter(self._state.query)

    def filter(self, query: str) -> None:
        """Show the messages that a query keeps."""
        self._state.query = query
        self._shown = keep_matching(self._entries, query) if query.strip() else self._entries
        if self._state.view == "messages":
            self.fill()

    def show_request(self, request: NextRequest) -> None:
        """Take in what would be sent next, and what that does to the messages."""
        self._items = items_of(request)
        self._part_width = max(len(number_of(item)) for item in self._items)
        self._states = request.states
        if self._state.view == "request":
            self.fill()
        else:
            self.render_again()

    def fill(self) -> None:
        """Show the rows of the current view, and stand where the person stood, or near to it."""
        if self._state.view == "request":
            row = self._state.request_row or len(self._items) - 1
            self.rows.show_items(len(self._items), row, message=[BLANK])
        else:
            nothing = "Nothing fits the filter; Esc shows all." if self._entries else "There are no messages yet."
            message = [BLANK, line_of([(f"  {nothing}", self._look.ink.muted)])]
            self.rows.show_items(len(self._shown), self._row_of(self._state.selected), message=message)
        self._show_facts()

    def mark(self) -> None:
        """Mark the chosen message or take its mark away, and go on to the next."""
        if self.entry is not None:
            self._state.toggle(self.entry.sequence)
            self.render_again()
            self.rows.press("down")

    def switch_range(self) -> None:
        """Begin a range at the chosen message, or end it there."""
        if self.entry is not None:
            self._state.switch_range(self.entry.sequence, [entry.sequence for entry in self._shown])
            self.render_again()

    def forget_marks(self) -> bool:
        """Take all marks away; say whether there were any."""
        had = self._state.forget_marks()
        if had:
            self.render_again()
        return had

    def render_again(self) -> None:
        """Show what has changed of the messages' signs."""
        self.rows.render_again()
        self._show_facts()

    @on(ResultList.Moved)
    def _moved(self, message: ResultList.Moved) -> None:
        message.stop()
        if self.item is not None:
            self._state.request_row = message.index
        elif self.entry is not None:
            self._state.selected = self.entry.sequence
            if self._state.anchor is not None:
                self.render_again()
        self.post_message(self.Moved())

    @on(ResultList.Opened)
    def _opened(self, message: ResultList.Opened) -> None:
        message.stop()
        self.post_message(self.Opened())

    def _row_of(self, sequence: int) -> int:
        """Return the row of a message, of the next one when it is gone, of the last one for 0."""
        last = len(self._shown) - 1
        if not sequence:
            return last
        return next((row for row, entry in enumerate(self._shown) if entry.sequence >= sequence), last)

    def _show_facts(self) -> None:
        is_request = self._state.view == "request"
        self.border_title = "What would be sent next" if is_request else "Messages"
        counts = {name: sum(state == name for state in self._states.values()) for name in STATE_SIGNS}
        facts = [f"{STATE_SIGNS[name]} {count:,} {name}" for name, count in counts.items() if count]
        if self._state.has_marks and not is_request:
            facts.insert(0, f"{MARK} {len(self.marks):,} marked")
        self.border_subtitle = "  ".join(facts)

    @property
    def _numbers(self) -> int:
        """How wide the numbers of the current view are."""
        is_request = self._state.view == "request"
        return max(self._number_width, self._part_width) if is_request else self._number_width

    def _head(self, width: int) -> Sequence[Line]:
        # The rows leave a cell for their scroll bar.
        return [head_line(width - 1, self._numbers, self._look.ink)]

    def _row(self, index: int, frame: Frame) -> list[Line]:
        if self._state.view == "request":
            return [item_row(self._items[index], self._numbers, self._now(), frame)]
        entry = self._shown[index]
        facts = Facts(
            number=str(entry.sequence),
            state=self._states.get(entry.sequence, "sent"),
            is_marked=self._state.is_marked(entry.sequence),
            now=self._now(),
        )
        return [message_row(entry.message, facts, self._number_width, frame)]
