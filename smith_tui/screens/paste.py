"""A large paste of the prompt, opened: edited when it is short enough for that, looked at when it is not."""

from collections.abc import Iterable

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from smith_tui.keys import KeyAction, keys_of, local_hints
from smith_tui.screens.leaving import LeftOnce
from smith_tui.widgets.key_hints import KeyHints
from smith_tui.widgets.text_editor import TextEditor, can_edit
from smith_tui.widgets.tool_output import ToolOutputPane

_SHOWN_LINE = 2_000
"""Characters of one line of a paste that is only looked at; a longer line is shown as several."""


class PasteScreen(LeftOnce[str | None], ModalScreen[str | None]):
    """Ends with the text as it is to be, or None when it stays as it was."""

    DEFAULT_CSS = """
    PasteScreen > Vertical { background: $surface; }
    PasteScreen Static { height: auto; padding: 0 1; background: $panel; color: $text-muted; }
    PasteScreen KeyHints { dock: bottom; }
    """

    def __init__(self, text: str, actions: Iterable[KeyAction]) -> None:
        super().__init__()
        self._text = text
        self._actions = tuple(actions)
        self._keys = keys_of(self._actions, "inspect_edit")
        self._can_edit = can_edit(text)
        self.content: Widget = TextEditor() if self._can_edit else ToolOutputPane(actions=())
        """What shows the text."""

    def compose(self) -> ComposeResult:
        """Show the text below a line that says what it is."""
        lines = self._text.count("\n") + (not self._text.endswith("\n"))
        what = f"Pasted text: {lines:,} line{'s' * (lines != 1)}, {len(self._text):,} characters"
        with Vertical():
            yield Static(what if self._can_edit else f"{what}. It is too long to be edited here.", markup=False)
            yield self.content
        hints = local_hints(self._actions, "inspect_edit")
        yield KeyHints([hint for hint in hints if self._can_edit or hint.name != "edit_keep"])

    def on_mount(self) -> None:
        """Show the text from its start."""
        self.query_one(KeyHints).show_keys_for(("inspect_edit",))
        self.content.focus()
        self.call_after_refresh(self._show)

    def _show(self) -> None:
        if isinstance(self.content, TextEditor):
            self.content.load(self._text)
        elif isinstance(self.content, ToolOutputPane):
            rows = [
                line[start : start + _SHOWN_LINE]
                for line in self._text.split("\n")
                for start in range(0, max(1, len(line)), _SHOWN_LINE)
            ]
            self.content.start_call("paste", "paste", "")
            self.content.set_text("paste", "\n".join(rows))
            self.content.end_call("paste", "ok")
            self.content.to_start()

    def on_key(self, event: events.Key) -> None:
        """Keep the text or leave it."""
        action = self._keys.get(event.key)
        if action == "edit_drop":
            event.stop()
            self.dismiss(None)
        elif action == "edit_keep" and isinstance(self.content, TextEditor):
            event.stop()
            self.dismiss(self.content.text)
