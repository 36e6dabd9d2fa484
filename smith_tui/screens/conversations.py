"""The conversation picker: all conversations with a filter, and the last messages of the chosen one beside them."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from smith_core.errors import AgentFailure
from smith_tui.sanitize import literal
from smith_tui.screens.conversation_filter import keep_matching
from smith_tui.screens.conversation_rows import conversation_rows, title_of
from smith_tui.screens.leaving import LeftOnce
from smith_tui.screens.look import Look
from smith_tui.screens.stored import Opening, Shelf, StoredConversation
from smith_tui.transcript.lines import BLANK, Line, line_of
from smith_tui.transcript.view import Transcript
from smith_tui.widgets.input_line import InputLine
from smith_tui.widgets.key_hints import KeyHints
from smith_tui.widgets.result_list import MOVING_KEYS, Frame, ResultList

PREVIEW_WAIT_S = 0.06
"""How long the choice rests before its messages are read, so that nothing is read on the way."""
WIDE_COLUMNS = 100
"""From this width on, the preview stands beside the list, below it otherwise."""
TALL_ROWS = 20
"""Below this height each conversation takes one row, unless the preview stands beside the list."""

Mode = Literal["choose", "filter", "title"]
_HINTS: Mapping[Mode, str] = {
    "choose": "",
    "filter": "Enter loads, the arrows choose, Tab keeps the filter, Esc shows all again.",
    "title": "Enter keeps the title, Esc leaves it as it was.",
}


class ConversationsScreen(LeftOnce[Opening | None]):
    """Lets the person choose a conversation; ends with what is to be opened, or None.

    current: id of the conversation that is open here. now: seconds since the epoch.
    """

    DEFAULT_CSS = """
    .note { height: 1; color: $text-muted; }
    .note.said { height: auto; max-height: 3; color: $warning; }
    .frame { height: 1fr; border: round $border; }
    .frame:focus-within { border: round $primary; }
    #conversations { height: 1fr; layout: vertical; }
    #conversations #preview { height: 45%; }
    ConversationsScreen.wide #conversations { layout: horizontal; }
    ConversationsScreen.wide #conversations .frame { width: 1fr; }
    ConversationsScreen.wide #conversations #preview { height: 1fr; }
    """

    def __init__(
        self,
        shelf: Shelf,
        query: str = "",
        *,
        current: str = "",
        role: str = "direct",
        look: Look = Look(),  # noqa: B008 - it is frozen
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self._shelf = shelf
        self._filter = query
        self._current = current
        self._role = role
        self._look = look
        self._keys = look.keys("conversations")
        self._now = now
        self._mode: Mode = "choose"
        self._all: list[StoredConversation] = []
        self._shown: list[StoredConversation] = []
        self._held: Mapping[str, int] = {}
        self._deleted: list[StoredConversation] = []
        self._previewed = ""
        self._wait: Timer | None = None
        self._changes = asyncio.Lock()

    @property
    def chosen(self) -> StoredConversation | None:
        """The conversation that the list stands on."""
        index = self._list.selected
        return self._shown[index] if 0 <= index < len(self._shown) else None

    def compose(self) -> ComposeResult:
        """Lay out the screen from the top down."""
        self.set_class(self.app.size.width >= WIDE_COLUMNS, "wide")
        slash = self._look.key_of("list_filter")
        yield InputLine("Filter", hint=f"{slash} filters by title and folder", leave=MOVING_KEYS - {"home", "end"})
        with Container(id="conversations"):
            with Container(classes="frame"):
                yield ResultList(self._rows, self._look.ink)
            with Container(classes="frame", id="preview"):
                yield Transcript(theme=self._look.theme, role=self._role)
        yield Static("", classes="note", markup=False)
        yield KeyHints(self._look.hints("conversations"))

    def on_mount(self) -> None:
        """Read the list behind the first frame."""
        self._input = self.query_one(InputLine)
        self._list = self.query_one(ResultList)
        self._preview = self.query_one(Transcript)
        self._note = self.query_one(Static)
        self.query_one(KeyHints).show_keys_for(["conversations"])
        self._input.load(self._filter)
        self.set_focus(self._list)
        self.run_worker(self._change(self._reload))

    def on_resize(self, event: events.Resize) -> None:
        """Put the preview beside or below the list."""
        is_wide = event.size.width >= WIDE_COLUMNS
        self.set_class(is_wide, "wide")
        self._list.set_item_height(2 if is_wide or event.size.height >= TALL_ROWS else 1)

    # Keys

    def on_key(self, event: events.Key) -> None:
        """Do what a key that types nothing is for."""
        press = self._press if self._mode == "choose" else self._press_while_typing
        if press(event.key):
            event.stop()
            event.prevent_default()
        elif self._mode != "choose":
            self._input.take_key(event)

    def _press(self, key: str) -> bool:
        conversation = self.chosen
        match self._keys.get(key):
            case "list_close":
                self.dismiss(None)
            case "list_new":
                self.dismiss(Opening(""))
            case "list_open":
                self._list.press("enter")
            case "list_filter":
                self._type("filter", "Filter", self._filter)
            case "list_title" if conversation is not None:
                self._type("title", "Title", conversation.title, select=True)
            case "list_fork" if conversation is not None:
                self.run_worker(self._change(self._fork, conversation))
            case "list_delete" if conversation is not None:
                self._take_out(conversation)
                self.run_worker(self._change(self._delete, conversation))
            case "list_undo":
                self.run_worker(self._change(self._undo))
            case None:
                return self._list.press(key)
        return True

    def _press_while_typing(self, key: str) -> bool:
        if key == "escape":
            if self._mode == "filter":
                self._show_matching("", keep=self.chosen)
            self._type_no_more()
        elif key == "enter" and self._mode == "title":
            conversation, title = self.chosen, self._input.text.strip()
            self._type_no_more()
            if conversation is not None and title:
                self.run_worker(self._change(self._set_title, conversation, title))
        elif key == "tab" and self._mode == "filter":
            self._type_no_more()
        else:
            return self._mode == "title" or self._list.press(key)
        return True

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Filter when the line is clicked; end that when the focus goes elsewhere."""
        if event.widget is self._input and self._mode == "choose":
            self._set_mode("filter")
        elif event.widget is not self._input and self._mode != "choose":
            self._input.load(self._filter, label="Filter")
            self._set_mode("choose")

    def _type(self, mode: Mode, label: str, text: str, *, select: bool = False) -> None:
        self._input.load(text, label=label, select=select)
        self._set_mode(mode)
        self.set_focus(self._input)

    def _type_no_more(self) -> None:
        self._input.load(self._filter, label="Filter")
        self._set_mode("choose")
        self.set_focus(self._list)

    def _set_mode(self, mode: Mode) -> None:
        self._mode = mode
        self._say(_HINTS[mode], is_hint=True)
        self.query_one(KeyHints).show_keys_for(["conversations"] if mode == "choose" else [])

    @on(InputLine.Changed)
    def _typed(self, message: InputLine.Changed) -> None:
        if self._mode == "filter":
            self._show_matching(message.text)

    @on(ResultList.Opened)
    def _opened(self) -> None:
        if self.chosen is not None:
            self.dismiss(Opening(self.chosen.conversation_id))

    # The list

    def _show_matching(self, text: str, *, keep: StoredConversation | None = None, selected: int = 0) -> None:
        """Filter, and stand on the conversation to keep, else on the row of that number."""
        self._filter = text
        self._shown = keep_matching(self._all, text)
        if keep is not None:
            selected = next((row for row, each in enumerate(self._shown) if _is_same(each, keep)), selected)
        shown, known = len(self._shown), len(self._all)
        count = f"{shown:,} of {known:,}" if text.strip() else f"{known:,}"
        self._input.show_info(f"{count} conversation{'' if known == 1 else 's'}", count)
        nothing = "Nothing fits the filter; Esc shows all." if known else "No conversation is stored yet."
        message = [BLANK, line_of([(f"  {nothing}", self._look.ink.muted)])]
        self._list.show_items(shown, selected, message=message)

    def _take_out(self, conversation: StoredConversation) -> None:
        """Let a row go at once, so that the next key means the next conversation."""
        self._all.remove(conversation)
        self._show_matching(self._filter, selected=self._list.selected)

    async def _reload(self, select: str = "") -> None:
        """Read the list anew and stand on a conversation, else on the one that was chosen."""
        chosen = self.chosen
        self._all = list(await self._shelf.list_conversations())
        wanted = select or ("" if chosen else self._current)
        keep = next((each for each in self._all if each.conversation_id == wanted), chosen)
        if select and keep is not None and not keep_matching([keep], self._filter):
            self._input.load("")
            self._filter = ""
        self._show_matching(self._filter, keep=keep, selected=max(0, self._list.selected))
        self._held = await self._shelf.held_conversations()
        self._list.render_again()

    def _rows(self, index: int, frame: Frame) -> list[Line]:
        conversation = self._shown[index]
        holder = self._held.get(conversation.conversation_id)
        is_current = conversation.conversation_id == self._current
        return conversation_rows(conversation, holder, self._now(), frame, is_current=is_current)

    # Changes

    async def _change(self, change: Callable[..., Awaitable[None]], *arguments: object) -> None:
        """Carry out one change after the other; what cannot be done is said, and the list shows what is."""
        async with self._changes:
            try:
                await change(*arguments)
            except AgentFailure as caught:
                self._say(caught.error.message)
                if change != self._reload:
                    await self._reload_quietly()

    async def _reload_quietly(self) -> None:
        try:
            await self._reload()
        except AgentFailure as caught:
            self._say(caught.error.message)

    async def _delete(self, conversation: StoredConversation) -> None:
        await self._shelf.delete_conversation(conversation.conversation_id)
        self._deleted.append(conversation)
        self._say(f"Deleted “{title_of(conversation)}”; {self._look.key_of('list_undo')} takes that back.")

    async def _undo(self) -> None:
        if not self._deleted:
            self._say("Nothing was deleted here.")
            return
        conversation = self._deleted[-1]
        await self._shelf.restore_conversation(conversation.conversation_id)
        self._deleted.pop()
        await self._reload(conversation.conversation_id)
        self._say(f"“{title_of(conversation)}” is back.")

    async def _fork(self, conversation: StoredConversation) -> None:
        copy = await self._shelf.fork_conversation(conversation.conversation_id)
        await self._reload(copy)
        self._say(f"This is a copy of “{title_of(conversation)}”; {self._look.key_of('list_open')} goes on with it.")

    async def _set_title(self, conversation: StoredConversation, title: str) -> None:
        await self._shelf.set_title(conversation.conversation_id, title)
        await self._reload(conversation.conversation_id)
        self._say("")

    # Preview

    @on(ResultList.Moved)
    def _moved(self) -> None:
        if self._wait is not None:
            self._wait.stop()
        self._wait = self.set_timer(PREVIEW_WAIT_S, self._look_closer)

    def _look_closer(self) -> None:
        self._wait = None
        conversation = self.chosen
        if conversation is None:
            self._previewed = ""
            self._preview.clear()
        elif conversation.conversation_id != self._previewed:
            # An exclusive worker cancels the one before, so that no late preview takes the place of a newer one.
            self.run_worker(self._load_preview(conversation), group="preview", exclusive=True)

    async def _load_preview(self, conversation: StoredConversation) -> None:
        self._previewed = conversation.conversation_id
        try:
            messages = await self._shelf.preview(conversation.conversation_id)
        except AgentFailure as caught:
            self._preview.clear()
            self._preview.add_notice("warning", caught.error.message)
            return
        self._preview.load(messages)

    # Showing

    def _say(self, text: str, *, is_hint: bool = False) -> None:
        self._note.set_class(not is_hint, "said")
        self._note.update(Content(literal(text)))


def _is_same(one: StoredConversation, other: StoredConversation) -> bool:
    return one.conversation_id == other.conversation_id
