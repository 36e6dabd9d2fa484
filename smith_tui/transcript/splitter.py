"""Cutting markdown into pieces that can be rendered one by one, while it still streams in.

Only whole lines decide where a piece ends, so the pieces of a text are the same in whatever portions it comes, and
a finished piece never changes again. A cut is made only where CommonMark closes everything above it: rendering the
pieces one after the other gives the same rows as rendering the text at once (a very long piece is cut regardless).
"""

import re
from typing import NamedTuple

from smith_tui.transcript.cells import visible
from smith_tui.transcript.line_kinds import (
    ANY_FENCE,
    DEFINITION,
    FENCE,
    HEADING,
    HTML,
    HTML_UNTIL_MARK,
    INDENTED_ITEM,
    ITEM,
    RULE,
    closes_fence,
    indentation,
    without_blank_end,
)

MAX_PIECE_CHARS = 12_000
"""A piece is cut here even where markdown would go on, so that no frame renders more than this."""
MAX_CODE_LINES = 100


class Piece(NamedTuple):
    """A part of a markdown text, its lines without the last newline.

    has_gap: a blank row stands before it. language: that of a fence, whose marks are not in `source`; None for
    markdown. starts_fence: False where a fence goes on from the piece before. ordinal: number of the first item,
    when it is an item of a numbered list but not the list's first.
    """

    source: str
    has_gap: bool = False
    language: str | None = None
    starts_fence: bool = False
    ordinal: int | None = None


def split(text: str) -> list[Piece]:
    """Return the pieces of a whole text."""
    splitter = Splitter()
    return splitter.feed(text) + splitter.finish()


class Splitter:
    """Takes a text in portions and gives its pieces as they end."""

    def __init__(self) -> None:
        self._cutter = _Cutter()
        self._partial = ""

    def growing(self) -> tuple[Piece | None, str]:
        """Return the piece that is still growing, without its unfinished line, and that line, fit for the screen.

        The piece is None when nothing waits, and empty when only the line does.
        """
        partial = visible(self._partial.removesuffix("\r"))
        piece = self._cutter.piece()
        if piece is None and partial.strip():
            piece = Piece("", self._cutter.has_gap_before(partial))
        elif piece is not None and piece.language is None and self._cutter.after_blank:
            # Without the blank line the unfinished one would go on with the paragraph or item above it.
            piece = piece._replace(source=f"{piece.source}\n")
        return piece, partial

    def feed(self, text: str) -> list[Piece]:
        """Take more of the text and return the pieces that it completed."""
        text = self._partial + text
        half_ending = "\r" if text.endswith("\r") else ""  # the newline may come with the next portion
        if "\r" in text:
            text = text.removesuffix("\r").replace("\r\n", "\n").replace("\r", "\n")
        *lines, partial = text.split("\n")
        for line in lines:
            self._take(line)
        while len(partial) > MAX_PIECE_CHARS:
            self._take(partial[:MAX_PIECE_CHARS])
            partial = partial[MAX_PIECE_CHARS:]
        self._partial = partial + half_ending
        return self._cutter.collect()

    def finish(self) -> list[Piece]:
        """Take what is left as the last line and return the last pieces."""
        partial, self._partial = self._partial.removesuffix("\r"), ""
        if partial:
            self._take(partial)
        self._cutter.close()
        return self._cutter.collect()

    def _take(self, line: str) -> None:
        while len(line) > MAX_PIECE_CHARS:
            self._cutter.take(visible(line[:MAX_PIECE_CHARS]))
            line = line[MAX_PIECE_CHARS:]
        self._cutter.take(visible(line))


class _Cutter:
    """Looks at one line after the other and decides where a new piece begins."""

    def __init__(self) -> None:
        self._done: list[Piece] = []
        self._is_first = True
        self._is_certain = True
        """Whether it is known in which block the next line stands; if not, nothing more is cut."""
        self.after_blank = False
        """Whether the last line was blank."""
        self._open()

    def _open(self) -> None:
        """Begin a piece that has no lines yet."""
        self._lines: list[str] = []
        self._chars = 0
        self._has_gap = False
        self._language: str | None = None
        self._starts_fence = False
        self._fence = ""
        self._html_end: re.Pattern[str] | None = None
        self._after_heading = False
        self._only_definitions = False
        self._list_mark = ""
        self._items_are_certain = True
        """Whether an item at the margin goes on with the list at the start of the piece, or starts a new one."""
        self._content_offset = 0
        self._number = 0
        self._ordinal: int | None = None

    def piece(self) -> Piece | None:
        """Return the piece as far as its lines have come."""
        if not self._lines and self._language is None:
            return None
        lines = self._lines
        if self._language is None:
            lines = [*lines, ""] if self._may_hold_open_fence() else without_blank_end(lines)
        return Piece("\n".join(lines), self._has_gap, self._language, self._starts_fence, self._ordinal)

    def _may_hold_open_fence(self) -> bool:
        """Whether blank lines at the end may be lines of code."""
        return bool(self._fence) or any("```" in line or "~~~" in line for line in self._lines)

    def has_gap_before(self, line: str) -> bool:
        """Whether a blank row will stand before a piece that begins with this line."""
        return not self._is_first and bool(self.after_blank or HEADING.match(line))

    def collect(self) -> list[Piece]:
        """Return the pieces that have ended since the last call."""
        done, self._done = self._done, []
        return done

    def close(self) -> None:
        """End the piece."""
        piece = self.piece()
        if piece is not None:
            self._done.append(piece)
            self._is_first = False
        self._open()

    def take(self, line: str) -> None:
        """Take one whole line."""
        if self._chars + len(line) > MAX_PIECE_CHARS and self._lines:
            self._cut_anyway()
        if self._language is not None:
            self._take_code(line)
        elif self._fence:
            self._add(line)
            if closes_fence(line, self._fence):
                self._fence = ""
        elif self._html_end is not None:
            self._add(line)
            if self._html_end.search(line):
                self._html_end = None
        elif not line.strip(" \t"):
            self.after_blank = True
            if self._lines:
                self._add(line)
        else:
            self._take_text(line)

    def _add(self, line: str) -> None:
        self._lines.append(line)
        self._chars += len(line) + 1

    def _take_code(self, line: str) -> None:
        if closes_fence(line, self._fence):
            self.close()
            self.after_blank = False
            return
        if len(self._lines) >= MAX_CODE_LINES:
            self._cut_anyway()
        self._add(line)

    def _cut_anyway(self) -> None:
        """End the piece in the middle of whatever it is."""
        language, fence, html_end, has_list = self._language, self._fence, self._html_end, bool(self._list_mark)
        self.close()
        self._language, self._fence, self._html_end = language, fence, html_end
        self._items_are_certain = not has_list

    def _take_text(self, line: str) -> None:
        is_margin = line[0] not in " \t"
        if self._lines and self._is_certain and (is_margin or self._after_heading) and self._begins_piece(line):
            return
        if not self._lines or self._only_definitions:
            self._has_gap |= self.has_gap_before(line)
        if not self._lines:
            self._start(line)
            if self._language is not None:
                return
        elif is_margin or indentation(line) < max(4, self._content_offset):
            self._note_structure(line)
        self._only_definitions = bool((not self._lines or self._only_definitions) and DEFINITION.match(line))
        self.after_blank = False
        self._after_heading = is_margin and bool(HEADING.match(line))
        self._add(line)

    def _begins_piece(self, line: str) -> bool:
        """End the piece before this line, where that is safe, and take the line into a new one."""
        if self._only_definitions or not (self.after_blank or self._may_cut_behind_last_line()):
            return False
        item = None if RULE.match(line) else ITEM.match(line)
        if item is not None and not self._after_heading:
            if not self._begins_item(item):
                return False
        elif not (self.after_blank or self._after_heading or HEADING.match(line) or FENCE.match(line)):
            return False
        goes_on = self._goes_on(item)
        number = self._number + 1
        self.close()
        self._take_text(line)
        if goes_on and item is not None and item[2]:
            self._number = self._ordinal = number
        return True

    def _begins_item(self, item: re.Match[str]) -> bool:
        """Whether a list item at the margin may begin a piece."""
        if not self._items_are_certain:
            return False
        if self._list_mark or self.after_blank:
            return True
        has_content = item.end() < len(item.string)
        return has_content and (bool(item[1]) or int(item[2]) == 1)  # others cannot interrupt a paragraph

    def _goes_on(self, item: re.Match[str] | None) -> bool:
        """Whether the item belongs to the list at the start of the piece that ends here."""
        if item is None or not self._items_are_certain or self._list_mark != (item[1] or item[3]):
            return False
        # The parser lets a list end behind an item without text and two blank lines.
        first = ITEM.match(self._lines[0])
        is_empty = first is not None and not self._lines[0][first.end() :].strip()
        return not (is_empty and len(self._lines) > 2 and not any(line.strip(" \t") for line in self._lines[1:]))

    def _start(self, line: str) -> None:
        """Take in what the first line of a piece says about it."""
        fence = FENCE.match(line)
        if fence and self._is_certain:
            self._fence = fence[1] or fence[3]
            self._language = (fence[2] or fence[4] or "").strip()
            self._starts_fence = True
            return
        item = None if RULE.match(line) else ITEM.match(line)
        if item is None:
            self._note_structure(line)
            return
        self._list_mark = item[1] or item[3]
        self._number = int(item[2] or 0)
        marker_end = item.end() - len(item[4])
        spaces = len(item[4].expandtabs(4)) if item.end() < len(line) else 1
        self._content_offset = marker_end + (spaces if spaces <= 4 else 1)

    def _note_structure(self, line: str) -> None:
        """Note what a line outside the first list's items opens: a list nobody counts, a fence, or HTML."""
        if self._list_mark or ITEM.match(line) or INDENTED_ITEM.match(line):
            self._items_are_certain = False
        fence = ANY_FENCE.match(line)
        html_end = next((end for start, end in HTML_UNTIL_MARK if start.match(line)), None)
        if (fence or html_end) and (self._is_in_html() or (line[0] == " " and not self._items_are_certain)):
            self._is_certain = False  # it may be text of the HTML, or stand in an item, which ends it
        elif fence:
            self._fence = fence[1] or fence[2]
        elif html_end is not None and not html_end.search(line):
            self._html_end = html_end

    def _may_cut_behind_last_line(self) -> bool:
        """Whether the last line is no link definition, which leaves no row, and no HTML goes on to a blank line."""
        return not (DEFINITION.match(self._lines[-1]) or self._is_in_html())

    def _is_in_html(self) -> bool:
        """Whether one of the lines since the last blank one looks like HTML, which goes on to the next blank one."""
        for line in reversed(self._lines):
            if HTML.match(line):
                return True
            if not line.strip(" \t"):
                break
        return False
