"""The transcript widget: what the presenter calls to show a turn, a conversation, and what is looked for in it."""

import asyncio
from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Literal

from smith_tui.output.compositor import paint_now
from smith_tui.theme import DARK, Theme
from smith_tui.transcript.blocks import FILES_LINK, Block, Notice, NoticeLevel, Plain, Prompt, split_plain
from smith_tui.transcript.document_view import DocumentView
from smith_tui.transcript.model import TOP, Place
from smith_tui.transcript.painting import occurrences
from smith_tui.who import palette_of

if TYPE_CHECKING:
    from smith_core.messages import Message, ToolResult
    from smith_core.turn_files import TurnFiles
    from smith_tui.transcript.cards import ToolCard
    from smith_tui.transcript.dispatch_card import DispatchCard
    from smith_tui.transcript.hits import Hit, Hits
    from smith_tui.transcript.live import LiveAnswer

MAX_FRAMES_PER_SECOND = 25
"""As many as a film has: more would be seen by nobody and cost as much each."""
MAX_SHARE = 0.3
"""Largest part of the time that bringing streamed text to the screen may take; beyond it frames come later."""

DeltaKind = Literal["text", "reasoning"]


class Transcript(DocumentView):
    """A conversation that grows; all texts given to it are foreign and shown letter for letter."""

    def __init__(
        self,
        *,
        theme: Theme = DARK,
        role: str = "direct",
        frames_per_second: float = MAX_FRAMES_PER_SECOND,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(theme=theme, id=id, classes=classes)
        self._palette = palette_of(role)
        self._frame = 1 / frames_per_second
        self._wait = self._frame
        self._last_flush = 0.0
        self._awaits_words = False
        self._timer: asyncio.TimerHandle | None = None
        self._pending: list[tuple[DeltaKind, str]] = []
        self._live: LiveAnswer | None = None
        self._cards: dict[str, ToolCard] = {}
        self._turn_files: dict[str, TurnFiles] = {}

    def set_frame_rate(self, frames_per_second: float) -> None:
        """Bring streamed text to the screen at most so many times a second; what waits comes at once."""
        if 1 / frames_per_second != self._frame:
            self._frame = self._wait = 1 / frames_per_second
            self.flush()

    # A turn

    def set_role(self, role: str) -> None:
        """Use a role's colour for what comes next."""
        self._palette = palette_of(role)

    def add_user(self, text: str, *, has_gap: bool = True, goes_there: bool = True) -> None:
        """Show what was asked, and go to the end; has_gap: a blank row stands before it."""
        self._add(Prompt(text, self._palette, has_gap=has_gap))
        if goes_there:
            self.follow()

    def start_assistant(self, role: str) -> None:
        """Begin an answer of a role; the one before, if it still streams, ends."""
        self.end_assistant()
        self.set_role(role)
        self._live = self._new_answer()
        self._awaits_words = True

    def append_text(self, delta: str) -> None:
        """Add streamed text to the answer; it shows with the next frame, the first words at once."""
        self._append("text", delta)

    def append_reasoning(self, delta: str) -> None:
        """Add streamed reasoning to the answer; it shows with the next frame, the first words at once."""
        self._append("reasoning", delta)

    def discard_live(self) -> None:
        """Take away what was streamed since `start_assistant`: the request is made again."""
        self._pending.clear()
        if self._live is not None:
            self._live.discard()
            self._live = self._new_answer()
            self._settle_place()
        self.flush()  # Until then a click may ask for blocks that are gone.

    def end_assistant(self, *, interrupted: bool = False) -> None:
        """End the answer; `interrupted` marks that its stream broke off."""
        self._write_pending()
        if self._live is not None:
            self._live.finish(interrupted=interrupted)
            self._live = None
            self._schedule()

    def start_tool(self, call_id: str, name: str, arguments: str) -> None:
        """Show that a call runs; `arguments` is the JSON text that the model sent."""
        from smith_tui.transcript.history import card_after

        self._write_pending()
        card = self._cards[call_id] = card_after(self.document.blocks, name, arguments, self._palette)
        self._add(card)

    def tool_output(self, call_id: str, text: str) -> None:
        """Show what a running call has put out so far (its end suffices), without escape sequences."""
        card = self._cards.get(call_id)
        if card is not None:
            card.show_output(text)
            self._changed(card)

    def ask_tool(self, call_id: str, *, is_asked: bool) -> None:
        """Show that a call waits for the person's answer, or no longer."""
        card = self._cards.get(call_id)
        if card is not None:
            card.is_asked = is_asked
            self._changed(card)

    def end_tool(self, call_id: str, result: "ToolResult") -> None:
        """Show how a call ended; the result of an unknown call is ignored."""
        card = self._cards.pop(call_id, None)
        if card is not None:
            card.end(result)
            self._changed(card)

    def link_child(self, call_id: str, job_id: str) -> None:
        """Let the card of a dispatch call open the child that it runs."""
        card = self._cards.get(call_id)
        if card is not None:
            card.job_id = job_id
            self._changed(card)

    @property
    def has_children(self) -> bool:
        """Whether a card opens a child's transcript."""
        return any(_child_of(block) for block in self.document.blocks)

    def child_cards(self) -> "list[DispatchCard]":
        """Return the cards that open a child's transcript, from the top down."""
        from smith_tui.transcript.dispatch_card import DispatchCard

        return [block for block in self.document.blocks if isinstance(block, DispatchCard) and block.link]

    def child_in_view(self) -> str:
        """Return the job id of the last child whose card is in view, or else of the last one; "" without any."""
        shown = [_child_of(self.document.blocks[row.place.block]) for row in self.shown_rows]
        jobs = [_child_of(block) for block in self.document.blocks]
        return next((job for job in [*reversed(shown), *reversed(jobs)] if job), "")

    def show_files(self, turns: "Sequence[TurnFiles]", *, is_new: bool = False) -> None:
        """Show what turns have done to files: on their cards, or on new ones at the end."""
        from smith_tui.transcript.files_card import FilesCard

        self._turn_files.update((turn.turn_id, turn) for turn in turns)
        if not is_new:
            self._fill_cards()
            return
        for turn in turns:
            self._add(FilesCard(turn.turn_id, self._palette, turn))

    def files_of(self, turn_id: str = "") -> "TurnFiles | None":
        """Return the files of a turn, by default of the last whose card is in view or else of the last; None if none.

        Those of a turn that has no card here do not count.
        """
        if turn_id or not self._turn_files:
            return self._turn_files.get(turn_id)
        shown = [self.document.blocks[row.place.block] for row in self.shown_rows]
        for block in (*reversed(shown), *reversed(self.document.blocks)):
            turn_id = _turn_of(block)
            if turn_id:
                return self._turn_files.get(turn_id)
        return None

    def _fill_cards(self) -> None:
        """Show on each card what is known of its turn by now."""
        if not self._turn_files:
            return
        from smith_tui.transcript.files_card import FilesCard

        for index, block in enumerate(self.document.blocks):
            if isinstance(block, FilesCard) and block.turn is not self._turn_files.get(block.turn_id):
                block.turn = self._turn_files.get(block.turn_id)
                self.document.changed(index)
                self._schedule()

    def add_notice(self, level: NoticeLevel, text: str) -> None:
        """Show something that the person should know."""
        self._add(Notice(level, text, self._palette))

    def add_plain(self, text: str) -> None:
        """Show text as it stands, such as the output of a slash command."""
        for index, part in enumerate(split_plain(text.strip("\n"))):
            self._add(Plain(part, self._palette, has_gap=index == 0))

    # A conversation

    def load(self, messages: "Sequence[Message]") -> None:
        """Show a stored conversation instead of what is there, and go to its end."""
        from smith_tui.transcript.history import blocks_of

        self._reset()
        self.document.extend(blocks_of(messages, self._palette))
        self._fill_cards()
        self.follow()

    def add_messages(self, messages: "Sequence[Message]") -> None:
        """Show more messages of a stored conversation."""
        from smith_tui.transcript.history import blocks_of

        self._write_pending()
        self.document.extend(blocks_of(messages, self._palette))
        self._schedule()

    def flush(self) -> None:
        """Bring everything that waits for the next frame to the screen now."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        started = perf_counter()
        self._write_pending()
        self.sync()
        self._last_flush = perf_counter()
        self._wait = max(self._frame, (self._last_flush - started) / MAX_SHARE)

    # Looking for something

    def find(self, needle: str) -> "Hits":
        """Return all matches in the sources, whatever their case, and mark them on the screen."""
        from smith_tui.transcript.hits import Hits

        self.flush()
        self._painter.needle = needle
        self.sync(repaint=True)
        wanted = needle.lower()
        if not wanted:
            return Hits()
        return Hits((index, block.text.lower().count(wanted)) for index, block in enumerate(self.document.blocks))

    def clear_find(self) -> None:
        """Mark matches no longer."""
        self._painter.needle = ""
        self.sync(repaint=True)

    def goto(self, hit: "Hit") -> None:
        """Show a match in the upper third of the view; a folded block that hides it is unfolded."""
        if hit.block >= len(self.document.blocks):
            return
        row = self._row_of(hit)
        block = self.document.blocks[hit.block]
        if row is None and block.can_fold and not block.is_expanded:
            block.is_expanded = True
            self.document.changed(hit.block)
            row = self._row_of(hit)
        self.go_to(self.document.move(Place(hit.block, row or 0), -(self.page_rows // 3)))

    def scroll_prompt(self, direction: int) -> None:
        """Show the next prompt (+1) or the one before (-1) at the top of the view."""
        prompts = [index for index, block in enumerate(self.document.blocks) if isinstance(block, Prompt)]
        current = self._place
        if direction > 0:
            target = next((index for index in prompts if Place(index, 1) > current), None)
            if target is None:
                self.follow()
                return
        else:
            target = next((index for index in reversed(prompts) if Place(index, 1) < current), None)
        self.go_to(TOP if target is None else Place(target, 1))

    def unfold_all(self) -> None:
        """Show every block whole."""
        self._unfold(self.document.blocks, is_unfolded=True)

    def unfold_tools(self, is_unfolded: bool) -> None:
        """Show what tools put out whole, or folded."""
        from smith_tui.transcript.cards import ToolCard

        self._unfold([block for block in self.document.blocks if isinstance(block, ToolCard)], is_unfolded=is_unfolded)

    # Inside

    def _unfold(self, blocks: Sequence[Block], *, is_unfolded: bool) -> None:
        for block in blocks:
            block.is_expanded = is_unfolded
        self._place = self.document.reshape(self.document.width, self.document.theme, self._place)
        self.sync(repaint=True)

    def _row_of(self, hit: "Hit") -> int | None:
        rest = hit.number
        for row, line in enumerate(self.document.rows(hit.block)):
            found = sum(1 for _ in occurrences(line.text, self._painter.needle))
            if rest < found:
                return row
            rest -= found
        return None

    def _add(self, block: Block) -> None:
        self._write_pending()
        self.document.append(block)
        self._schedule()

    def _changed(self, block: Block) -> None:
        index = self.document.index(block)
        if index is not None:
            self.document.changed(index)
            self._schedule()

    def _reset(self) -> None:
        self._pending.clear()
        self._live = None
        self._cards.clear()
        super()._reset()

    def _new_answer(self) -> "LiveAnswer":
        # What renders answers is imported with the first one, behind the first frame.
        from smith_tui.transcript.live import LiveAnswer

        return LiveAnswer(self.document, self._palette)

    def _settle_place(self) -> None:
        """Keep the view inside a document that has lost blocks."""
        if self._place.block >= len(self.document.blocks):
            self._place = self.document.last_place()

    def _write_pending(self) -> None:
        pending, self._pending = self._pending, []
        if pending and self._live is None:
            self._live = self._new_answer()
        start = 0
        while self._live is not None and start < len(pending):
            kind = pending[start][0]
            end = start
            while end < len(pending) and pending[end][0] == kind:
                end += 1
            text = "".join(delta for _, delta in pending[start:end])
            if kind == "text":
                self._live.append_text(text)
            else:
                self._live.append_reasoning(text)
            start = end

    def _append(self, kind: DeltaKind, delta: str) -> None:
        self._pending.append((kind, delta))
        if self._awaits_words:
            self._awaits_words = False
            self._show_frame()
        else:
            self._schedule()

    def _schedule(self) -> None:
        """Let the next frame show what has changed."""
        if self._timer is not None:
            return
        wait = self._last_flush + self._wait - perf_counter()
        if not self.is_running or wait <= 0:
            self.flush()
        else:
            # Textual's timers are tasks of their own, which is much for each frame.
            self._timer = asyncio.get_running_loop().call_later(wait, self._on_frame)

    def _on_frame(self) -> None:
        self._timer = None
        try:
            self._show_frame()
        except Exception as error:  # noqa: BLE001 - as Textual does with what its timers call
            self.app._handle_exception(error)

    def _show_frame(self) -> None:
        self.flush()
        if self.is_attached:
            paint_now(self.screen, (self, self.vertical_scrollbar))


def _turn_of(block: Block) -> str:
    """Return the id of the turn whose files a block shows, "" when it is another block."""
    link = block.link
    return link.removeprefix(FILES_LINK) if link and link.startswith(FILES_LINK) else ""


def _child_of(block: Block) -> str:
    """Return the job id of the child that a block opens, "" when it opens none."""
    link = block.link
    return "" if not link or link.startswith(FILES_LINK) else link
