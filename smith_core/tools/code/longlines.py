"""Shows of an endless line the part around a place in it, and how long the whole line is."""

import os
from pathlib import Path

import msgspec

from smith_core.plainfile import NotRegularFileError, open_regular

BEFORE, AROUND = 100, 300
"""Bytes shown before the place, and in all."""

_SCANNED_BYTES = 32 * 1024 * 1024
_CHUNK = 256 * 1024


class LineExcerpt(msgspec.Struct, frozen=True):
    """A part of a line; `length` is the whole line's in bytes, -1 if it is longer than can be looked at."""

    text: str
    length: int


def excerpt_line(path: Path, offset: int, column: int, begin: str) -> LineExcerpt | None:
    """Return the part around byte `column` (from 1) of the line at byte `offset`, whose begin is known.

    None if the file is not what was searched: changed since, or in an encoding that ripgrep translated.
    """
    try:
        descriptor = open_regular(path)
    except (OSError, NotRegularFileError):
        return None
    try:
        expected = begin[:20].encode("utf-8", "replace")
        if "�" not in begin[:20] and os.pread(descriptor, len(expected), offset) != expected:
            return None
        length = _line_length(descriptor, offset)
        place = max(0, column - 1)
        start = max(0, place - BEFORE)
        data = os.pread(descriptor, AROUND, offset + start)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    line = data.partition(b"\n")[0]
    text = line.decode("utf-8", "replace").rstrip("\r")
    # A cut in the middle of a character leaves half of it at either end.
    text = text.lstrip("�") if start else text
    end = start + len(line)
    return LineExcerpt(f"{'…' if start else ''}{text.rstrip('�')}{'…' if length < 0 or end < length else ''}", length)


def _line_length(descriptor: int, offset: int) -> int:
    length = 0
    while length < _SCANNED_BYTES:
        chunk = os.pread(descriptor, _CHUNK, offset + length)
        end = chunk.find(b"\n")
        if end >= 0:
            return length + end
        if not chunk:
            return length
        length += len(chunk)
    return -1
