"""The baseline of key echoes: a Textual app with a field to type into, and nothing else to do."""

from textual.app import App, ComposeResult
from textual.widgets import Static, TextArea


class TypingApp(App[None]):
    """Shows a mark and takes keys."""

    def compose(self) -> ComposeResult:
        """Show the mark that the measurement waits for, and the field."""
        yield Static("READY-MARK", markup=False)
        field = TextArea()
        field.cursor_blink = False
        yield field

    def on_mount(self) -> None:
        """Let keys go to the field."""
        self.query_one(TextArea).focus()


if __name__ == "__main__":
    TypingApp().run()
