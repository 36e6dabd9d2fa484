"""Makes the result of a child fit into a tool result: what the parent reads is whole JSON, only with less in it."""

import msgspec

from smith_core.report import LIST_FIELDS, DispatchResult
from smith_core.tools.shares import fair_shares

MOST_ENTRIES = 200
"""Entries that each list of a shortened result keeps."""

_ROOM_FOR_NOTES = 2_000
_STEP = 0.9


def within(result: DispatchResult, limit: int, size: int) -> DispatchResult:
    """Return a result that takes at most about `limit` characters as JSON; size: what it takes as it is.

    Long texts keep their beginning and say how long they are, the short ones stay whole. What is left out is said in
    limitations, with the way to all of it.
    """
    if size <= limit:
        return result
    lists = {name: _first_entries(getattr(result, name)) for name in LIST_FIELDS}
    texts = [result.summary, *(text for entries in lists.values() for text in entries)]
    sizes = [_json_chars(text) for text in texts]
    around = (
        size - _json_chars(result.summary) - sum(_json_chars(text) for name in lists for text in getattr(result, name))
    )
    commas = sum(len(getattr(result, name)) for name in lists)
    shares = fair_shares(sizes, max(0, limit - _ROOM_FOR_NOTES - around + commas - len(texts)))
    cut = iter(_cut(text, share) for text, share in zip(texts, shares, strict=True))
    summary = next(cut)
    fields = {name: tuple(next(cut) for _ in entries) for name, entries in lists.items()}
    fields["limitations"] += (_note(result, size),)
    return msgspec.structs.replace(result, summary=summary, **fields)


def _first_entries(entries: tuple[str, ...]) -> tuple[str, ...]:
    if len(entries) <= MOST_ENTRIES:
        return entries
    return (*entries[:MOST_ENTRIES], f"[… {len(entries) - MOST_ENTRIES} more entries …]")


def _cut(text: str, share: int) -> str:
    whole = _json_chars(text)
    if whole <= share:
        return text
    note = f" [… cut; the whole has {len(text)} characters]"
    kept = len(text) * max(0, share - len(note)) // whole
    while kept > 0 and _json_chars(text[:kept]) + len(note) > share:
        kept = int(kept * _STEP)
    return text[:kept] + note


def _note(result: DispatchResult, size: int) -> str:
    told = f"this result is shortened, the whole takes {size} characters"
    if result.recall_key:
        return f'{told}; it is in the scratchpad: recall(key="{result.recall_key}")'
    return f"{told}; ask for what is missing in a new, smaller task"


def _json_chars(text: str) -> int:
    return len(msgspec.json.encode(text).decode())
