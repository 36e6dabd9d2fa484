"""The baseline of start-up figures: a Textual app with one line of text."""

from textual.app import App, ComposeResult
from textual.widgets import Static


class EmptyApp(App[None]):
    """Shows a mark."""

    def compose(self) -> ComposeResult:
        """Show the mark that the measurement waits for."""
        yield Static("READY-MARK", markup=False)


if __name__ == "__main__":
    EmptyApp().run()
