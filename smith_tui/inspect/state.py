"""Where the person stands in the inspect view: kept while it changes between pane and whole screen."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal

View = Literal["messages", "request"]


@dataclass
class InspectState:
    """The choice, the marks and the filter; messages are named by their numbers.

    selected: 0 for the last one. anchor: where a range begins that reaches to the choice. request_row: the choice among
    what would be sent next. is_raw: messages are shown as they are stored.
    """

    selected: int = 0
    marked: set[int] = field(default_factory=set)
    anchor: int | None = None
    query: str = ""
    view: View = "messages"
    request_row: int = 0
    is_raw: bool = False

    @property
    def has_marks(self) -> bool:
        """Whether anything is marked, a range included."""
        return bool(self.marked) or self.anchor is not None

    def is_marked(self, sequence: int) -> bool:
        """Say whether a message is marked by itself or lies in the range."""
        if sequence in self.marked:
            return True
        low, high = sorted((self.anchor or 0, self.selected))
        return self.anchor is not None and low <= sequence <= high

    def marks(self, shown: Sequence[int]) -> set[int]:
        """Return what is marked among the messages that are shown."""
        return {sequence for sequence in shown if self.is_marked(sequence)} if self.has_marks else set()

    def toggle(self, sequence: int) -> None:
        """Mark a message, or take its mark away."""
        self.marked ^= {sequence}

    def switch_range(self, sequence: int, shown: Sequence[int]) -> None:
        """Begin a range at a message; end the one that is open, what lies in it stays marked."""
        if self.anchor is None:
            self.anchor = self.selected = sequence
        else:
            self.marked |= self.marks(shown)
            self.anchor = None

    def forget_marks(self) -> bool:
        """Take all marks away; say whether there were any."""
        had = self.has_marks
        self.marked.clear()
        self.anchor = None
        return had

    def keep_marks(self, known: Collection[int]) -> None:
        """Take away the marks of messages that are gone."""
        self.marked &= set(known)
