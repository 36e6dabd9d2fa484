"""Reads what ripgrep prints: the lines it found, with the path, place and begin of each."""

import os
from collections.abc import Iterable, Iterator

import msgspec

from smith_core.patterns import later

COLUMNS = 400
"""Bytes of a line that ripgrep prints; of a longer one, its begin."""

RECORD_OPTIONS = (
    *("--no-heading", "--with-filename", "--null", "--line-number", "--column", "--byte-offset"),
    *(f"--max-columns={COLUMNS}", "--max-columns-preview", "--no-context-separator"),
    "--field-match-separator=:",
    "--field-context-separator=-",
)
"""Options under which every record is path NUL line:column:offset:text, or line-offset-text for a line of context."""

_MATCH = later(rb"(\d+):(\d+):(\d+):")
_CONTEXT = later(rb"(\d+)-(\d+)-")
_BINARY_WORDS = b'(found "'
_BINARY = later(
    rb"[^\n\0]*(?:WARNING: stopped searching binary file after match|binary file matches) \(found [^\n\0]*\n"
)
_NOTE = later(r" \[\.\.\. (?:omitted end of long line|\d+ more match(?:es)?)\]$")


class FoundLine(msgspec.Struct, frozen=True, gc=False):
    """A line of a file: `column` is that of the first match in bytes, from 1, or 0 for a line of context.

    offset: of the line in the file, in bytes. is_cut: `text` is only the begin of the line.
    """

    path: str
    number: int
    column: int
    offset: int
    text: str
    is_cut: bool = False


class BinaryNote(msgspec.Struct, frozen=True, gc=False):
    """Said of a file that is binary, instead of its lines."""


def read_records(chunks: Iterable[bytes]) -> Iterator[FoundLine | BinaryNote]:
    """Yield what ripgrep prints under RECORD_OPTIONS; file names may hold anything but NUL."""
    rest = b""
    for chunk in chunks:
        data = rest + chunk
        may_be_binary = _BINARY_WORDS in data
        place = 0
        while True:
            note = _BINARY.match(data, place) if may_be_binary else None
            if note is not None:
                yield BinaryNote()
                place = note.end()
                continue
            name_end = data.find(b"\0", place)
            line_end = data.find(b"\n", name_end) if name_end >= 0 else -1
            if line_end < 0:
                break
            found = _record(data[place:name_end], data[name_end + 1 : line_end])
            if found is not None:
                yield found
            place = line_end + 1
        rest = data[place:]
    if _BINARY.match(rest):
        yield BinaryNote()


def _record(path: bytes, line: bytes) -> FoundLine | None:
    head = _MATCH.match(line)
    context = None if head else _CONTEXT.match(line)
    if head is not None:
        number, column, offset, begin = int(head[1]), int(head[2]), int(head[3]), head.end()
    elif context is not None:
        number, column, offset, begin = int(context[1]), 0, int(context[2]), context.end()
    else:
        return None
    raw = line[begin:]
    text = raw.decode("utf-8", "replace").rstrip("\r")
    is_cut = len(raw) > COLUMNS
    if is_cut:
        text = _NOTE.sub("", text)
    return FoundLine(os.fsdecode(path.removeprefix(b"./")), number, column, offset, text, is_cut)
