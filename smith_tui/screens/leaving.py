"""Screens that are left once, however often somebody asks for it."""

from textual.await_complete import AwaitComplete
from textual.screen import Screen, ScreenResultType


class LeftOnce(Screen[ScreenResultType]):
    """A screen for which a second Escape, typed before the screen is gone, does nothing to the screen below it."""

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Leave the screen with a result, if it is the one that is shown."""
        return super().dismiss(result) if self.is_active else AwaitComplete()
