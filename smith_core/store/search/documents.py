"""Turns a record of the store into what is indexed of it, whatever the record looks like."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from smith_core.store.search.analysis import normalize_text
from smith_core.store.search.results import DocumentKind
from smith_core.store.search.source import Journal, JournalEntry

MESSAGE_TABLE = "conversation"
NOTE_TABLE = "conversation_note"
MEMORY_TABLE = "project_memory"
"""The keyspaces that are searched; their keys are `<owner>:<sequence or note id>`."""
CHILD_TABLE = "child_conversation"
"""Searched too; its keys are `<conversation>:<job id>:<sequence>`."""

TASK_ROLE = "task"
"""Who says a child's task; its other messages are of the roles that they have."""

INDEXED_CHARACTERS = 50_000
"""Most characters of one message that are indexed; a page of a book has about 2,000."""
_INDEXED_OF_END = 20_000
"""How many of them are the last ones of a longer message: what a command says at its end matters most."""

_TURN_RECORD_PREFIX = "turn_record-"
_LATEST_SECOND = 253_402_300_799  # the end of the year 9999


class SearchDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One searchable record; `time` in milliseconds since the epoch, `sequence` -1 for notes.

    job_id: of the child that said it, "" for what stands in the conversation itself.
    """

    kind: DocumentKind
    projects: tuple[str, ...] = ()
    sequence: int = -1
    job_id: str = ""
    note_id: str = ""
    role: str = ""
    tools: tuple[str, ...] = ()
    time: int = 0
    text: str = ""


def is_searchable(table: str, key: str) -> bool:
    """Say whether records of this place are indexed at all."""
    if table == NOTE_TABLE:
        # The messages of a turn record stand in the conversation already.
        return not key.partition(":")[2].startswith(_TURN_RECORD_PREFIX)
    return table in (MESSAGE_TABLE, MEMORY_TABLE, CHILD_TABLE)


def document_of(journal: Journal, entry: JournalEntry) -> SearchDocument | None:
    """Return what to index of a record, or None when it holds no text; fields of unexpected types count as absent."""
    if entry.record is None or not is_searchable(entry.table, entry.key):
        return None
    owner, _, rest = entry.key.partition(":")
    if entry.table == MESSAGE_TABLE:
        return _message(journal, rest, entry.record)
    if entry.table == CHILD_TABLE:
        job_id, _, sequence = rest.partition(":")
        said = _message(journal, sequence, entry.record)
        if said is None:
            return None
        # Its task is no word of the person's.
        role = TASK_ROLE if said.role == "user" else said.role
        return msgspec.structs.replace(said, job_id=job_id, role=role)
    text = normalize_text(_first_text(entry.record, ("text", "content", "value")), INDEXED_CHARACTERS)
    is_memory = entry.table == MEMORY_TABLE
    return SearchDocument(
        kind="project_memory" if is_memory else "note",
        projects=(owner,) if is_memory else journal.projects,
        note_id=rest,
        time=_milliseconds(entry.record.get("updated_at") or entry.record.get("created_at")),
        # A note is looked for by its name as well.
        text=f"{normalize_text(rest, INDEXED_CHARACTERS)} {text}".strip(),
    )


def _message(journal: Journal, sequence: str, record: Mapping[str, Any]) -> SearchDocument | None:
    role = _text(record.get("role"))
    calls = [call for call in _sequence(record.get("tool_calls")) if isinstance(call, Mapping)]
    said = (_text(record.get("content")), *(_call_text(call) for call in calls))
    text = normalize_text(_both_ends("\n".join(_both_ends(part) for part in said if part)), INDEXED_CHARACTERS)
    if not text:
        return None
    names = [_text(record.get("name")), *(_text(call.get("name")) for call in calls)]
    return SearchDocument(
        kind="tool_result" if role == "tool" else "message",
        projects=journal.projects,
        sequence=int(sequence) if sequence.isascii() and sequence.isdecimal() and len(sequence) < 16 else 0,
        role=role,
        tools=tuple(dict.fromkeys(name for name in names if name)),
        time=_milliseconds(record.get("created_at")),
        text=text,
    )


def _both_ends(text: str) -> str:
    if len(text) <= INDEXED_CHARACTERS:
        return text
    return f"{text[: INDEXED_CHARACTERS - _INDEXED_OF_END - 1]}\n{text[-_INDEXED_OF_END:]}"


def _call_text(call: Mapping[str, Any]) -> str:
    arguments = _text(call.get("arguments"))[:INDEXED_CHARACTERS]
    try:
        values = list(_leaves(msgspec.json.decode(arguments.encode("utf-8", "replace"))))
    except (msgspec.DecodeError, ValueError, RecursionError):
        values = [arguments]
    return " ".join((_text(call.get("name")), *values))


def _leaves(value: Any) -> Iterator[str]:
    """Yield the values in JSON without its punctuation and escapes, which would hide words."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _first_text(record: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((text for name in names if (text := _text(record.get(name)))), "")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _sequence(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else ()


def _milliseconds(seconds: Any) -> int:
    """Return a time that the index can hold; a clock may have stood anywhere."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return 0
    # NaN is not greater than 0, so it becomes 0 too.
    return int(min(max(0, seconds), _LATEST_SECOND) * 1000)
