"""What a screen does with the line in which a search is typed."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smith_tui.screens.finding import Finder
    from smith_tui.widgets.find_bar import FindBar


class FindsText:
    """Part of a screen with a find bar; what happens when that is closed is the screen's own."""

    @cached_property
    def finder(self) -> "Finder":
        """Whoever searches what is shown."""
        raise NotImplementedError

    def on_input_line_changed(self, message: "FindBar.Changed") -> None:
        """Search as it is typed."""
        self.finder.change(message.text)

    def on_find_bar_next(self) -> None:
        """Go on to the next match."""
        self.finder.step(1)

    def on_find_bar_previous(self) -> None:
        """Go back to the match before."""
        self.finder.step(-1)
