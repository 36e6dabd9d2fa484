"""A search in a transcript: what the find bar asks for, and which match is in view."""

from collections.abc import Sequence

from smith_tui.transcript.view import Hit, Transcript
from smith_tui.widgets.find_bar import FindBar


class Finder:
    """Looks through one transcript at a time."""

    def __init__(self, bar: FindBar, transcript: Transcript) -> None:
        self._bar = bar
        self._transcript = transcript
        self._hits: Sequence[Hit] = ()
        self.hit = 0
        """Number of the match in view, from 0."""

    def open(self, transcript: Transcript) -> None:
        """Let the person search a transcript; what was found in another one is marked no longer."""
        if transcript is not self._transcript:
            self.forget()
            self._transcript = transcript
        self._bar.open()

    def show(self, text: str, hits: Sequence[Hit], number: int) -> None:
        """Show a search that has been made already, with one of its matches in view."""
        self._bar.show_search(text)
        self._hits = hits
        self._show_hit(number)

    def change(self, text: str) -> None:
        """Look for another text; the newest match is what a person is most likely to look for."""
        self._hits = self._transcript.find(text)
        self._show_hit(len(self._hits) - 1)

    def step(self, by: int) -> None:
        """Go to another match."""
        self._show_hit(self.hit + by)

    def forget(self) -> None:
        """Mark nothing any longer."""
        self._hits = ()
        if self._transcript.is_attached:
            self._transcript.clear_find()

    def _show_hit(self, number: int) -> None:
        if self._hits:
            self.hit = number % len(self._hits)
            self._transcript.goto(self._hits[self.hit])
        self._bar.show_matches(self.hit + 1, len(self._hits))
