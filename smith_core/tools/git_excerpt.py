"""Shortens a diff that is too long so that every file of it is still there, each with its fair share."""

from typing import BinaryIO

from smith_core.patterns import later
from smith_core.tools.foreign_text import without_controls
from smith_core.tools.shares import fair_shares

_PART_START = later(rb"diff --(?:git|cc|combined) |commit [0-9a-f]{7,64}\b")
_SMALLEST_SHARE = 160
_NOTE_ROOM = 110
_HEAD_SHARE = 0.7


def excerpt_diff(file: BinaryIO, limit: int) -> str | None:
    """Return at most `limit` characters of the diff in a file, every part in it; None if it has too many or none.

    A part is what belongs to one file, or the words of one commit. Only what is shown is ever in memory.
    """
    sizes = _part_sizes(file)
    if len(sizes) < 2 or limit // len(sizes) < _SMALLEST_SHARE:
        return None
    shown: list[str] = []
    start = 0
    for size, share in zip(sizes, fair_shares(sizes, limit), strict=True):
        shown.append(_part(file, start, size, share))
        start += size
    return "".join(shown)


def _part_sizes(file: BinaryIO) -> list[int]:
    """Return the bytes of each part; what stands before the first one is a part as well."""
    file.seek(0)
    sizes: list[int] = [0]
    for line in file:
        if line[:1] in b"dc" and _PART_START.match(line):
            sizes.append(0)
        sizes[-1] += len(line)
    return sizes if sizes[0] else sizes[1:]


def _part(file: BinaryIO, start: int, size: int, share: int) -> str:
    if size <= share:
        return _read(file, start, size)
    room = max(0, share - _NOTE_ROOM)
    head_size = int(room * _HEAD_SHARE)
    head = _read(file, start, head_size)
    head = head[: head.rfind("\n") + 1] or head
    tail = _read(file, start + size - (room - head_size), room - head_size)
    tail = tail[tail.find("\n") + 1 :] if "\n" in tail[:-1] else tail
    newline = "" if not head or head.endswith("\n") else "\n"
    return f"{head}{newline}[... most of the {size} bytes of this part are left out here ...]\n{tail}"


def _read(file: BinaryIO, start: int, size: int) -> str:
    file.seek(start)
    return without_controls(file.read(size).decode("utf-8", "replace"))
