"""The actions of the app that take texts out of it: copying, on a key or as soon as something is selected."""

from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from textual import events
    from textual.app import App
    from textual.screen import Screen

    from smith_core.runtime import Runtime
    from smith_tui.copy_desk import CopyDesk
    from smith_tui.keys import KeyAction
    from smith_tui.screens.chat import ChatScreen
    from smith_tui.transcript.document_view import DocumentView
    from smith_tui.widgets.edited_text import EditedText


_MOST_KEPT = 100_000
"""Characters that the app's own fields can paste; a whole conversation, copied once, would stay in memory for good."""


class CopyActions:
    """A part of the app; what it copies goes to the clipboards of terminal and system."""

    if TYPE_CHECKING:
        actions: tuple[KeyAction, ...]
        chat: ChatScreen

        @property
        def runtime(self) -> Runtime:
            """The engine."""

        @property
        def has_engine(self) -> bool:
            """Whether the engine has been opened."""

        @property
        def screen(self) -> Screen[Any]:
            """The screen that is to be seen."""

    _clipboard = ""
    _copied_selection: object = None

    @cached_property
    def copying(self) -> "CopyDesk":
        """Whoever copies texts and opens addresses."""
        from smith_core.secrets import child_environment
        from smith_tui.copy_desk import CopyDesk

        def environ() -> dict[str, str]:
            return child_environment(self.runtime.services.config.effective)

        return CopyDesk(cast("App[Any]", self), self.actions, self.chat.said, environ)

    def action_copy(self) -> bool:
        """Copy what is selected; say whether something was."""
        text = self._selected_text()
        if not text:
            return False
        self.copy_to_clipboard(text)
        self.screen.clear_selection()
        edited = self._edited_text()
        if edited is not None:
            edited.unselect()
        return True

    def _selected_text(self) -> str:
        edited = self._edited_text()
        return (edited.selected_text if edited is not None else "") or self.screen.get_selected_text() or ""

    def _edited_text(self) -> "EditedText | None":
        from smith_tui.widgets.edited_text import EditedText

        focused = self.screen.focused
        return focused if isinstance(focused, EditedText) else None

    def on_text_selected(self, event: "events.TextSelected") -> None:
        """Copy what was selected with the mouse, where that is wanted; it stays selected."""
        # A click on a scroll bar is such an event, too.
        before, self._copied_selection = self._copied_selection, self.screen.selections
        if before != self._copied_selection:
            self._copy_selected(self.screen.get_selected_text() or "")

    def on_edited_text_selected(self, message: "EditedText.Selected") -> None:
        """Copy what was selected with the mouse in a text under edit, where that is wanted."""
        self._copy_selected(message.text)

    def _copy_selected(self, text: str) -> None:
        if text and self.has_engine and self.runtime.services.config.effective.ui.copy_on_select:
            self.copy_to_clipboard(text)

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text to the clipboards of terminal and system, and say so."""
        self._clipboard = text if len(text) <= _MOST_KEPT else ""
        self.copying.copy(text)

    def action_copy_answer(self) -> None:
        """Copy the last answer."""
        self.copying.copy_last("answer")

    def action_copy_code(self) -> None:
        """Copy the last code block."""
        self.copying.copy_last("code")

    def action_copy_chosen(self) -> None:
        """Choose what to copy."""
        if self.screen is self.chat:
            self.copying.choose()

    def action_links(self) -> None:
        """Choose an address to open."""
        if self.screen is self.chat:
            self.copying.choose_link()

    def on_document_view_address_clicked(self, message: "DocumentView.AddressClicked") -> None:
        """Show the address that was clicked before anything opens it."""
        self.copying.ask_to_open(message.address)
