"""Shortens a diff that is too long so that every file of it is still there, each with its fair share."""

import re

from smith_core.tools.shares import fair_shares

_PART = re.compile(r"^(?=diff --(?:git|cc|combined) |commit [0-9a-f]{7,64}\b)", re.MULTILINE)
_SMALLEST_SHARE = 160
_NOTE_ROOM = 110
_HEAD_SHARE = 0.7


def excerpt_diff(text: str, limit: int) -> str | None:
    """Return at most `limit` characters of a diff, every file's part in it; None if there are too many parts."""
    parts = _PART.split(text)
    parts = [part for part in parts if part]
    if limit // max(1, len(parts)) < _SMALLEST_SHARE:
        return None
    shares = fair_shares([len(part) for part in parts], limit)
    return "".join(_cut(part, share) for part, share in zip(parts, shares, strict=True))


def _cut(part: str, share: int) -> str:
    if len(part) <= share:
        return part
    room = max(0, share - _NOTE_ROOM)
    head = part[: int(room * _HEAD_SHARE)]
    head = head[: head.rfind("\n") + 1] or head
    tail = part[len(part) - (room - int(room * _HEAD_SHARE)) :] if room else ""
    tail = tail[tail.find("\n") + 1 :] if "\n" in tail[:-1] else tail
    newline = "" if not head or head.endswith("\n") else "\n"
    omitted = len(part) - len(head) - len(tail)
    return f"{head}{newline}[... {omitted} of {len(part)} characters of this part are left out here ...]\n{tail}"
