"""Replaces, inserts or deletes lines in the bytes of a text file; every other byte stays as it is."""

import itertools
import re
from typing import Literal

import msgspec

from smith_core.linediff import CONTEXT_LINES, diff_lines
from smith_core.text import REPLACEMENT
from smith_core.textformat import TextFormat, detect_format

Operation = Literal["replace", "insert", "delete"]

_ANY_ENDING = re.compile(r"\r\n|\r|\n")


class EditRefusedError(Exception):
    """The edit cannot be made; the message is a sentence without its full stop that says why and what to do."""


class LineEdit(msgspec.Struct, frozen=True):
    """One change by line numbers from 1, both ends included; an insert goes behind `first`, 0 meaning the top."""

    operation: Operation
    first: int
    last: int
    text: str = ""


class EditedFile(msgspec.Struct, frozen=True):
    r"""The outcome of an edit.

    first, count: the lines that are new, in the new numbering. line_delta: lines gained. line_count: of the new file.
    old_window, new_window: the lines around the change before and after, from line `window_first` of both, each
    ending in \n whatever the file has, except a last line without an ending.
    """

    data: bytes
    first: int
    count: int
    line_delta: int
    line_count: int
    window_first: int
    old_window: tuple[str, ...]
    new_window: tuple[str, ...]


def split_text(text: str) -> list[str]:
    r"""Return the lines of a model's text without endings (\n, \r\n or \r); an ending behind the last adds no line."""
    lines = _ANY_ENDING.split(text)
    if not lines[-1]:
        lines.pop()
    return lines


def lines_in_words(count: int) -> str:
    """Return a number of lines as a sentence has it."""
    return "1 line" if count == 1 else f"{count or 'no'} lines"


def join_surrogates(text: str) -> str:
    """Return the text with the two halves of a character made one; a lone half stays."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def apply_edit(data: bytes, edit: LineEdit) -> EditedFile:
    """Return the file with the edit made, in the file's own encoding and line endings; raises EditRefusedError."""
    stored = detect_format(data)
    if stored is None:
        raise EditRefusedError("the file is binary, so it has no lines to edit; use bash to change it")
    if "\0" in edit.text:
        raise EditRefusedError("text holds a NUL character, which would make the file binary; leave it out")
    return _Editor(data, stored).apply(edit)


class _Editor:
    """The bytes of one file behind its mark, and where its lines end."""

    def __init__(self, data: bytes, stored: TextFormat) -> None:
        self.format = stored
        self.body = data[len(stored.bom) :]
        if len(self.body) % stored.unit_bytes:
            raise EditRefusedError(f"the file ends in the middle of a {stored.name} character; use bash to repair it")
        self.crlf, self.lf, self.cr = (self._encode(ending) for ending in ("\r\n", "\n", "\r"))
        self.line_ends = self._line_ends(self.body)

    def apply(self, edit: LineEdit) -> EditedFile:
        """Make the edit."""
        before, behind = self._bounds(edit)
        new_lines = [] if edit.operation == "delete" else self._new_lines(edit.text)
        start, end = self._start(before + 1), self._start(behind + 1)
        replaced = [self._ending_of(number) for number in range(before + 1, behind + 1)]
        pieces = self._with_endings(new_lines, replaced, self._neighbour_ending(behind))
        if pieces and start == len(self.body) and before and not self._ending_of(before):
            # Appending to a file whose last line is open: the ending goes between, and the file stays open.
            pieces = [self._neighbour_ending(behind), *pieces[:-1], new_lines[-1] or pieces[-1]]
        prefix, suffix = self.body[:start], self.body[end:]
        self._refuse_joined_endings([part for part in (prefix, *pieces, suffix) if part])
        body = prefix + b"".join(pieces) + suffix
        return self._result(body, before, behind, len(new_lines))

    def _bounds(self, edit: LineEdit) -> tuple[int, int]:
        """Return how many lines stand before the change, and how many do before the lines behind it."""
        count = len(self.line_ends)
        if edit.operation == "insert":
            if edit.first > count:
                raise EditRefusedError(
                    f"there is no line {edit.first} to insert after: the file has {lines_in_words(count)}, "
                    f"so use start_line 0 to {count}"
                )
            return edit.first, edit.first
        if edit.last > count:
            way_out = "insert with start_line 0 instead" if not count else f"use line numbers from 1 to {count}"
            raise EditRefusedError(
                f"there are no lines {edit.first}-{edit.last} to {edit.operation}: "
                f"the file has {lines_in_words(count)}, so {way_out}"
            )
        return edit.first - 1, edit.last

    def _new_lines(self, text: str) -> list[bytes]:
        # The mark is not part of the text; a second one must not get in.
        text = text.removeprefix("\ufeff")
        if REPLACEMENT in text and not self._really_has_replacement():
            raise EditRefusedError(
                "the text holds U+FFFD, the sign for a character that could not be read; "
                "give the real characters, or leave those lines as they are"
            )
        return [self._encode(line) for line in split_text(text)]

    def _really_has_replacement(self) -> bool:
        if self.format.is_damaged or not self.format.codec.startswith("utf"):
            return False
        return self._encode(REPLACEMENT) in self.body

    def _encode(self, text: str) -> bytes:
        whole = join_surrogates(text)
        try:
            return whole.encode(self.format.codec)
        except UnicodeEncodeError as error:
            character = whole[error.start]
            if "\ud800" <= character <= "\udfff":
                raise EditRefusedError("the text holds half of a character (a lone surrogate); give it whole") from None
            raise EditRefusedError(
                f"the file is {self.format.name}, which has no {character!r} (U+{ord(character):04X}); "
                "use other characters, or convert the file with bash (iconv) first"
            ) from None

    def _line_ends(self, body: bytes) -> list[int]:
        width = self.format.unit_bytes
        pattern = re.compile(b"|".join(re.escape(ending) for ending in (self.crlf, self.lf, self.cr)))
        # In a wide encoding the bytes of an ending also turn up across two characters. Such a hit never overlaps a
        # real ending, whose only bytes that are not zero have a fixed place in their unit.
        ends = [match.end() for match in pattern.finditer(body) if match.start() % width == 0]
        if body and (not ends or ends[-1] < len(body)):
            ends.append(len(body))
        return ends

    def _start(self, number: int) -> int:
        return self.line_ends[number - 2] if number > 1 else 0

    def _ending_of(self, number: int) -> bytes:
        line = self.body[self._start(number) : self.line_ends[number - 1]]
        return next((ending for ending in (self.crlf, self.lf, self.cr) if line.endswith(ending)), b"")

    def _neighbour_ending(self, behind: int) -> bytes:
        """Return the ending of the nearest line that has one: the last before the cut, the one above, the one below."""
        near = (behind, behind - 1, behind + 1)
        endings = (self._ending_of(number) for number in near if 1 <= number <= len(self.line_ends))
        return next((ending for ending in endings if ending), self.lf)

    def _with_endings(self, lines: list[bytes], replaced: list[bytes], fallback: bytes) -> list[bytes]:
        """Return new lines with endings: each has that of the line in whose place it comes, the last that of the last.

        Only a line with text can do without an ending: an empty one would be no line.
        """
        if not lines:
            return []
        endings = [(replaced[index] if index < len(replaced) else b"") or fallback for index in range(len(lines))]
        if replaced and (replaced[-1] or lines[-1]):
            endings[-1] = replaced[-1]
        return [line + ending for line, ending in zip(lines, endings, strict=True)]

    def _refuse_joined_endings(self, parts: list[bytes]) -> None:
        for left, right in itertools.pairwise(parts):
            if left.endswith(self.cr) and right.startswith(self.lf):
                raise EditRefusedError(
                    "the change would join a CR and a LF of two lines into one line ending; "
                    "edit the line above or below together with it, or normalise the line endings first"
                )

    def _result(self, body: bytes, before: int, behind: int, count: int) -> EditedFile:
        line_delta = count - (behind - before)
        window_first = max(0, before - CONTEXT_LINES) + 1
        window_last = min(len(self.line_ends), behind + CONTEXT_LINES)
        start, end = self._start(window_first), self._start(window_last + 1)
        return EditedFile(
            data=self.format.bom + body,
            first=before + 1,
            count=count,
            line_delta=line_delta,
            line_count=len(self.line_ends) + line_delta,
            window_first=window_first,
            old_window=self._window(self.body[start:end]),
            new_window=self._window(body[start : end + len(body) - len(self.body)]),
        )

    def _window(self, part: bytes) -> tuple[str, ...]:
        return tuple(diff_lines(self.format.decode(part)))
