"""Text under edit: a caret that moves by visible characters, a selection, undo. Pure."""

import re

import msgspec

from smith_tui.widgets.clusters import next_boundary, previous_boundary

_WORD = re.compile(r"\w+")
_MAX_UNDO_STEPS = 200
_MAX_UNDO_CHARACTERS = 2_000_000


class _Snapshot(msgspec.Struct, frozen=True):
    text: str
    caret: int


class EditBuffer:
    """A text and the place in it where typing goes; positions are code points from 0."""

    def __init__(self) -> None:
        self.text = ""
        self.caret = 0
        self._anchor: int | None = None
        self._undo: list[_Snapshot] = []
        self._redo: list[_Snapshot] = []
        self._typing_at: int | None = None

    @property
    def selection(self) -> tuple[int, int]:
        """The (start, end) of what is selected; both are the caret when nothing is."""
        anchor = self.caret if self._anchor is None else self._anchor
        return min(anchor, self.caret), max(anchor, self.caret)

    @property
    def selected_text(self) -> str:
        """The text that is selected."""
        start, end = self.selection
        return self.text[start:end]

    def load(self, text: str) -> None:
        """Put `text` in place of everything, the caret at its end; undo brings the old text back."""
        self.replace(0, len(self.text), text)

    def insert(self, text: str) -> None:
        """Put `text` in place of the selection."""
        self.replace(*self.selection, text)

    def type(self, character: str) -> None:
        """Put a character in place of the selection; the letters of a word are one step of undo."""
        start, end = self.selection
        word_goes_on = start == end == self._typing_at and not character.isspace()
        self.replace(start, end, character, keep_step=word_goes_on)
        self._typing_at = self.caret

    def replace(self, start: int, end: int, text: str, *, keep_step: bool = False) -> None:
        """Put `text` in place of what stands from `start` to `end`, the caret behind it."""
        if start == end and not text:
            return
        if not keep_step:
            self._remember()
        self._typing_at = None
        self._redo.clear()
        self.text = self.text[:start] + text + self.text[end:]
        self.caret = start + len(text)
        self._anchor = None

    def undo(self) -> None:
        """Take the last step back."""
        self._restore(self._undo, self._redo)

    def redo(self) -> None:
        """Take the last undone step again."""
        self._restore(self._redo, self._undo)

    def forget_steps(self) -> None:
        """Let undo go back no further than to the text as it is now."""
        self._undo.clear()
        self._redo.clear()

    def move_to(self, position: int, *, select: bool = False) -> None:
        """Put the caret at `position`, the selection from where it began to there when `select` is set."""
        if not select:
            self._anchor = None
        elif self._anchor is None:
            self._anchor = self.caret
        self.caret = min(max(0, position), len(self.text))
        self._typing_at = None

    def left(self) -> int:
        """Return the position one visible character to the left."""
        return previous_boundary(self.text, self.caret)

    def right(self) -> int:
        """Return the position one visible character to the right."""
        return next_boundary(self.text, self.caret)

    def word_left(self) -> int:
        """Return the start of the word at the caret or before it."""
        starts = [match.start() for match in _WORD.finditer(self.text, self.line_start(), self.caret)]
        return starts[-1] if starts else min(self.line_start(), self.left())

    def word_right(self) -> int:
        """Return the end of the word at the caret or behind it."""
        match = _WORD.search(self.text, self.caret, self.line_end())
        return match.end() if match else max(self.line_end(), self.right())

    def line_start(self) -> int:
        """Return where the caret's line begins."""
        return self.text.rfind("\n", 0, self.caret) + 1

    def line_end(self) -> int:
        """Return where the caret's line ends."""
        end = self.text.find("\n", self.caret)
        return len(self.text) if end < 0 else end

    def delete_to(self, position: int) -> None:
        """Delete the selection, or without one from the caret to `position`."""
        start, end = self.selection
        if start == end:
            start, end = sorted((self.caret, position))
        self.replace(start, end, "")

    def _remember(self) -> None:
        self._undo.append(_Snapshot(self.text, self.caret))
        while len(self._undo) > _MAX_UNDO_STEPS or (
            len(self._undo) > 1 and len(self.text) * len(self._undo) > _MAX_UNDO_CHARACTERS
        ):
            del self._undo[0]

    def _restore(self, source: list[_Snapshot], other: list[_Snapshot]) -> None:
        if not source:
            return
        other.append(_Snapshot(self.text, self.caret))
        restored = source.pop()
        self.text, self.caret = restored.text, restored.caret
        self._anchor = None
        self._typing_at = None
