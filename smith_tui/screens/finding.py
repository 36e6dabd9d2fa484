"""A search in a transcript or an output: what the find bar asks for, and which match is in view."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from smith_tui.widgets.find_bar import FindBar


class Searchable(Protocol):
    """A widget that can be searched; a hit is something that only it understands."""

    @property
    def is_attached(self) -> bool:
        """Whether it is on the screen."""

    def find(self, needle: str) -> Sequence[Any]:
        """Return all matches from the top down, and mark them."""

    def goto(self, hit: Any) -> None:
        """Show a match."""

    def clear_find(self) -> None:
        """Mark matches no longer."""


class Finder:
    """Looks through one widget at a time."""

    def __init__(self, bar: "FindBar", searched: Searchable) -> None:
        self._bar = bar
        self.searched = searched
        """Where it looks."""
        self._hits: Sequence[Any] = ()
        self.hit = 0
        """Number of the match in view, from 0."""

    def open(self, searched: Searchable) -> None:
        """Let the person search something; what was found elsewhere is marked no longer."""
        if searched is not self.searched:
            self.forget()
            self.searched = searched
        if self._hits and self._bar.display:
            self._bar.take_focus()
        else:
            self._bar.open()

    def show(self, text: str, hits: Sequence[Any], number: int) -> None:
        """Show a search that has been made already, with one of its matches in view; the focus stays where it is."""
        self._bar.show_search(text)
        self._hits = hits
        self._show_hit(number)

    def change(self, text: str) -> None:
        """Look for another text; the newest match is what a person is most likely to look for."""
        self._hits = self.searched.find(text)
        self._show_hit(len(self._hits) - 1)

    def step(self, by: int) -> None:
        """Go to another match."""
        self._show_hit(self.hit + by)

    def forget(self) -> None:
        """Mark nothing any longer."""
        self._hits = ()
        if self.searched.is_attached:
            self.searched.clear_find()

    def _show_hit(self, number: int) -> None:
        if self._hits:
            self.hit = number % len(self._hits)
            self.searched.goto(self._hits[self.hit])
        self._bar.show_matches(self.hit + 1, len(self._hits))
