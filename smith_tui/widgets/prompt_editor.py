"""The state of the prompt and what keys and pastes do to it: text, wrapping, history, large pastes. Pure."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Literal

from smith_tui.sanitize import TAB_WIDTH
from smith_tui.transcript.cells import visible
from smith_tui.widgets import edit_keys
from smith_tui.widgets.clusters import next_boundary
from smith_tui.widgets.edit_buffer import EditBuffer
from smith_tui.widgets.pastes import TOKEN, PasteTokens, clean_paste
from smith_tui.widgets.prompt_history import PromptHistory
from smith_tui.widgets.prompt_layout import PromptLayout

_MAX_CONTINUED = 2_000  # characters; nobody goes on typing an old text of more
_SAME_PASTE_S = 0.1  # pieces of one paste that a terminal sends without markers come closer together than this

PieceKind = Literal["text", "token", "selected", "caret"]


class PromptEditor:
    """Text with large pastes kept aside, wrapped to `width` cells and scrolled to a window of rows."""

    def __init__(self, history: Iterable[str] = ()) -> None:
        self.history = PromptHistory(history)
        self.buffer = EditBuffer()
        self.first_row = 0
        self._pastes = PasteTokens()
        self._layout = PromptLayout(self._shown)
        self._width = 1
        self._goal_column: int | None = None
        self._last_paste_at = 0.0

    @property
    def text(self) -> str:
        """The whole text, pastes in full."""
        return self._pastes.expand(self.buffer.text)

    @property
    def row_count(self) -> int:
        """How many rows the text takes."""
        return len(self._layout.rows)

    @property
    def caret_place(self) -> tuple[int, int]:
        """The (row, column in cells) of the caret."""
        return self._layout.place(self.buffer.caret)

    @property
    def continuation(self) -> str:
        """How an older entry goes on that begins with the text, "" unless the caret stands at the end of it."""
        text, at = self.buffer.text, self.buffer.caret
        if not text.strip() or at != len(text) or self.buffer.selected_text or len(text) > _MAX_CONTINUED:
            return ""
        return self.history.continuation(text)

    def place_of(self, position: int) -> tuple[int, int]:
        """Return the (row, column in cells) of a position."""
        return self._layout.place(position)

    @property
    def paste_near_caret(self) -> tuple[int, str] | None:
        """Where the large paste nearest to the caret stands, and its text; None without one."""
        text, caret = self.buffer.text, self.buffer.caret
        for position in sorted((token.start() for token in TOKEN.finditer(text)), key=lambda at: abs(at - caret)):
            token = text[position]
            if (paste := self._pastes.expand(token)) != token:
                return position, paste
        return None

    @property
    def selected_text(self) -> str:
        """The text that is selected, pastes in full."""
        return self._pastes.expand(self.buffer.selected_text)

    def unselect(self) -> None:
        """Select nothing any more."""
        self.buffer.move_to(self.buffer.caret)

    def clear(self) -> None:
        """Empty the text and forget its pastes and its undo steps."""
        self.buffer = EditBuffer()
        self._pastes = PasteTokens()
        self._wrap()

    def forget_steps(self) -> None:
        """Let undo go back no further than to the text as it is now."""
        self.buffer.forget_steps()

    def replace(self, start: int, end: int, text: str) -> None:
        """Put foreign text in place of the positions `start` to `end`."""
        self.buffer.replace(start, end, self._pastes.admit(clean_paste(text)))
        self._wrap()

    def insert(self, text: str) -> None:
        """Put text of our own in place of the selection."""
        self.buffer.insert(text)
        self._wrap()

    def paste(self, text: str, at: float) -> None:
        """Take pasted text that came at the time `at`, in seconds; a large one becomes a token.

        A piece that follows another at once belongs to the same paste and joins its token.
        """
        text = clean_paste(text)
        before = self.buffer.text[max(0, self.buffer.caret - 1) : self.buffer.caret]
        continues = at - self._last_paste_at < _SAME_PASTE_S
        self._last_paste_at = at
        if continues and self._pastes.extend(before, text):
            self._layout.forget()
        else:
            self.buffer.insert(self._pastes.admit(text))
        self._wrap()

    def undo(self) -> None:
        """Take the last step back."""
        self.buffer.undo()
        self._wrap()

    def redo(self) -> None:
        """Take the last undone step again."""
        self.buffer.redo()
        self._wrap()

    def press(self, key: str, character: str | None) -> bool:
        """Do what an editing or typing key does; False when the key means nothing here."""
        if key in ("up", "down"):
            self._move_row(-1 if key == "up" else 1)
            return True
        if edit_keys.press(self.buffer, key, character):
            self._wrap()
            return True
        return False

    def is_at(self, key: str) -> bool:
        """Whether a key would go to the start or the end of the text, and the caret stands there alone."""
        ends = {"home": 0, "end": len(self.buffer.text)}
        return ends.get(key) == self.buffer.caret and not self.buffer.selected_text

    def point(self, row: int, column: int, *, select: bool) -> None:
        """Put the caret at a place in the window, for the mouse."""
        self.buffer.move_to(self._layout.position(self.first_row + row, column), select=select)
        self._wrap()

    def fit(self, width: int) -> None:
        """Wrap to `width` cells from now on."""
        if width != self._width:
            self._width = width
            self._wrap()

    def scroll(self, height: int) -> None:
        """Move the window of `height` rows as little as brings the caret into view."""
        row, _ = self.caret_place
        last = max(0, self.row_count - height)
        self.first_row = min(max(self.first_row, row - height + 1), row, last)

    def pieces(self, row: int, *, caret: bool) -> list[tuple[str, PieceKind]]:
        """Return what a row shows, cut where the look changes; `caret` draws the caret if it is in this row."""
        start, end = self._layout.rows[row]
        text, at = self.buffer.text, self.buffer.caret
        selected = range(*self.buffer.selection)
        cuts = {start, end, *(cut for cut in (selected.start, selected.stop) if start < cut < end)}
        for token in TOKEN.finditer(text, start, end) if not text.isascii() else ():
            cuts |= {token.start(), token.end()}
        caret = caret and self.caret_place[0] == row
        if caret:
            cuts |= {at, min(end, next_boundary(text, at))}
        pieces: list[tuple[str, PieceKind]] = []
        for left, right in pairwise(sorted(cuts)):
            kind: PieceKind = "text"
            if caret and left == at:
                kind = "caret"
            elif left in selected:
                kind = "selected"
            elif TOKEN.match(text, left):
                kind = "token"
            pieces.append((self._shown(text[left:right]), kind))
        if caret and at == end:
            pieces.append((" ", "caret"))
        return pieces

    def _move_row(self, step: int) -> None:
        row, column = self.caret_place
        if 0 <= row + step < self.row_count:
            goal = column if self._goal_column is None else self._goal_column
            self.buffer.move_to(self._layout.position(row + step, goal))
            self._goal_column = goal
            return
        entry = self.history.older(self.buffer.text) if step < 0 else self.history.newer()
        if entry is not None:
            self.buffer.load(self._pastes.admit(entry))
            self._wrap()

    def _wrap(self) -> None:
        self._goal_column = None
        self._layout.update(self.buffer.text, self._width)

    def _shown(self, text: str) -> str:
        """Return what stands on the screen for a piece of the text."""
        if not text.isascii():
            text = visible(TOKEN.sub(lambda match: self._pastes.label(match[0]), text))
        return text.replace("\t", " " * TAB_WIDTH)
