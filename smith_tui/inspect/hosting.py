"""What the inspect view asks of whoever shows it."""

from typing import Protocol


class InspectHost(Protocol):
    """Whoever shows the inspect view."""

    @property
    def draft(self) -> str:
        """What stands in the prompt."""
        ...

    def close_inspector(self) -> None:
        """Take the view away."""
        ...

    def switch_inspector(self) -> None:
        """Show it as a pane instead of the whole screen, or the other way round."""
        ...

    def show_in_transcript(self, sequence: int) -> None:
        """Show a message where it stands in the transcript."""
        ...

    def fork_at(self, sequence: int) -> None:
        """Go on with a copy of the conversation up to and with a message."""
        ...
