"""Changes that are made in the inspect view: in place or in the person's editor, one after the other."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Literal, cast

from smith_core.errors import AgentFailure
from smith_core.session.editing import Part, parts_of
from smith_tui.inspect.desk import Desk, shown_text, suffix_of_part
from smith_tui.inspect.message_pane import MessagePane
from smith_tui.inspect.table import Entry
from smith_tui.inspect.table_pane import TablePane
from smith_tui.outside import TerminalOwner, edit_text
from smith_tui.widgets.text_editor import can_edit

if TYPE_CHECKING:
    from smith_tui.inspect.inspector import Inspector

Mode = Literal["browse", "filter", "part", "edit"]
"""What keys mean: choosing a message, typing a filter, choosing a part of a message, editing it."""


class Editing:
    """Makes changes for one inspect view, which says what came of them; outside_key: how people write that key."""

    def __init__(self, view: "Inspector", desk: Desk, table: TablePane, message: MessagePane, outside_key: str) -> None:
        self._view = view
        self._desk = desk
        self._table = table
        self._message = message
        self._outside_key = outside_key
        self._changes = asyncio.Lock()
        self._is_outside = False

    def undo(self) -> None:
        """Take the last change back."""
        self._start(self._desk.undo)

    def redo(self) -> None:
        """Make the change again that was taken back last."""
        self._start(self._desk.redo)

    def delete(self) -> None:
        """Take out what is marked, or else the chosen message."""
        self._start(self._delete)

    def keep(self) -> None:
        """Put the text of the editor into the message; the editor stays open when that cannot be."""
        self._start(self._keep)

    def begin(self, entry: Entry, *, outside: bool) -> None:
        """Edit a message here or in the person's editor, after asking for the part where there are several."""
        self._is_outside = outside
        parts = parts_of(entry.message)
        try:
            self._desk.require_editable()
        except AgentFailure as caught:
            self._view.say(caught.error.message)
            return
        if len(parts) == 1:
            self.edit_part(parts[0])
        else:
            self._view.set_mode("part")
            self._message.choose_part(entry)

    def edit_part(self, part: Part) -> None:
        """Edit one part of the chosen message."""
        entry = self._table.entry
        if entry is None:
            return
        text = shown_text(entry.message, part)
        if self._is_outside:
            self._edit_outside(entry, part, text)
        elif can_edit(text):
            self._view.set_mode("edit")
            self._message.edit(entry, part, text, before=text)
        else:
            self.stop(f"This text is too long to be edited here; {self._outside_key} opens it in your editor.")

    def stop(self, words: str = "", *, is_hint: bool = False) -> None:
        """Go back to choosing messages, and say why."""
        # What was slow may end when the person has gone on elsewhere.
        has_keys = self._view.has_focus_within
        self._view.set_mode("browse")
        self._message.stop()
        self._view.show_chosen()
        if has_keys:
            self._table.rows.focus()
        self._view.say(words, is_hint=is_hint)

    def _edit_outside(self, entry: Entry, part: Part, text: str) -> None:
        try:
            owner = cast("TerminalOwner", self._view.app)
            changed = edit_text(owner, text, suffix_of_part(part), self._desk.environ)
        except AgentFailure as caught:
            self.stop(caught.error.message)
            return
        if changed == text:
            self.stop("The editor left the text as it was; nothing was changed.", is_hint=True)
            return
        # What cannot be kept, such as arguments with a comma too much, can be mended here.
        self._view.set_mode("edit")
        self._message.edit(entry, part, changed, before=text)
        self.keep()

    async def _keep(self) -> str:
        part = self._message.part
        if part is None:
            return ""
        text = self._message.editor.text
        words = "Nothing was changed."
        if self._message.is_changed:
            words = await self._desk.edit(self._message.sequence, part, text)
        if self._view.is_whole:
            self.stop()
        return words

    async def _delete(self) -> str:
        entry = self._table.entry
        doomed = self._table.marks or ({entry.sequence} if entry else set())
        words = await self._desk.delete(doomed) if doomed else ""
        if self._view.is_whole:
            self._table.forget_marks()
        return words

    def _start(self, change: Callable[[], Awaitable[str]]) -> None:
        self._view.run_worker(self._make(change))

    async def _make(self, change: Callable[[], Awaitable[str]]) -> None:
        async with self._changes:
            try:
                words, is_good = await change(), True
            except AgentFailure as caught:
                words, is_good = caught.error.message, False
        if self._view.is_whole:
            self._view.say(words, is_hint=is_good)
