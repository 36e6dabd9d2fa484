"""A search in a transcript or an output: what the find bar asks for, and which match is in view."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from smith_tui.widgets.find_bar import FindBar


_SHORT_S = 0.2  # a longer search shows how far it is


class Searchable(Protocol):
    """A widget that can be searched; a hit is something that only it understands."""

    @property
    def is_attached(self) -> bool:
        """Whether it is on the screen."""

    def find(self, needle: str) -> Sequence[Any] | Iterator[Sequence[Any]]:
        """Mark all matches, and return them from the top down, at once or part by part."""

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
        self._looking: asyncio.Task[None] | None = None
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
        self._stop()
        self._bar.show_search(text)
        self._hits = hits
        self._show_hit(number)

    def change(self, text: str) -> None:
        """Look for another text; the newest match is what a person is most likely to look for."""
        self._stop()
        found = self.searched.find(text)
        if isinstance(found, Sequence):
            self._hits = found
            self._show_hit(len(found) - 1)
        else:
            self._hits = ()
            self._looking = asyncio.create_task(self._collect(found))

    def step(self, by: int) -> None:
        """Go to another match, unless they are still being looked for."""
        if self._looking is None:
            self._show_hit(self.hit + by)

    def forget(self) -> None:
        """Mark nothing any longer."""
        self._stop()
        self._hits = ()
        if self.searched.is_attached:
            self.searched.clear_find()

    async def _collect(self, parts: Iterator[Sequence[Any]]) -> None:
        """Take the parts as keys and frames leave time for them."""
        hits: list[Any] = []
        begun = time.monotonic()
        for part in parts:
            hits += part
            if time.monotonic() - begun > _SHORT_S:
                self._bar.show_count(len(hits))
            await asyncio.sleep(0)
        self._hits, self._looking = hits, None
        self._show_hit(len(hits) - 1)

    def _stop(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None

    def _show_hit(self, number: int) -> None:
        if self._hits:
            self.hit = number % len(self._hits)
            self.searched.goto(self._hits[self.hit])
        self._bar.show_matches(self.hit + 1, len(self._hits))
