"""Conversations as a numbered list, and finding the one that somebody means; pure functions."""

import datetime
from collections.abc import Sequence

from smith_core.errors import failure
from smith_core.session.values import Listed
from smith_core.store.interface import ConversationMeta, StoredMessage
from smith_core.text import shorten

MOST_LISTED = 30
_TITLE_CHARACTERS, _FOLDER_CHARACTERS = 46, 30
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))
_DAYS_COUNTED = 30


def filtered(metas: Sequence[ConversationMeta], words: str) -> tuple[ConversationMeta, ...]:
    """Return those whose title or folder has every word, in any case."""
    wanted = words.casefold().split()
    return tuple(meta for meta in metas if all(word in f"{meta.title} {meta.cwd}".casefold() for word in wanted))


def list_text(metas: Sequence[ConversationMeta], current_id: str, home: str, now: float) -> str:
    """Return numbered lines of title, folder, age and message count; home: the folder that is shown as ~."""
    rows = [
        (
            "*" if meta.conversation_id == current_id else "",
            shorten(meta.title, _TITLE_CHARACTERS) or "(no title)",
            _folder(meta.cwd, home),
            age_in_words(meta.updated_at, now),
            f"{meta.message_count} message{'s' * (meta.message_count != 1)}",
        )
        for meta in metas[:MOST_LISTED]
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(1, 4)] if rows else []
    lines = [
        f"{number:>3}{mark:1} {title:<{widths[0]}}  {folder:<{widths[1]}}  {age:<{widths[2]}}  {count}"
        for number, (mark, title, folder, age, count) in enumerate(rows, 1)
    ]
    if len(metas) > MOST_LISTED:
        lines.append(f"{len(metas) - MOST_LISTED} older ones are left out; /list words narrows the list down")
    return "\n".join(lines)


def age_in_words(then: float, now: float) -> str:
    """Return how long ago something was, a date when it is long; what lies in the future is "now"."""
    seconds = max(0.0, now - then)
    if not then > 0:
        return ""
    if seconds >= _DAYS_COUNTED * 86_400:
        try:
            return datetime.datetime.fromtimestamp(then).date().isoformat()
        except (OverflowError, ValueError, OSError):
            return ""
    for length, unit in _UNITS:
        count = int(seconds // length)
        if count >= 1:
            return f"{count} {unit}{'s' * (count > 1)} ago"
    return "now"


def find(target: str, metas: Sequence[ConversationMeta], listed: Sequence[Listed]) -> Listed:
    """Return what an id, a number of the list shown last, or words of a title mean.

    AgentFailure of kind policy when that is nothing, or more than one conversation.
    """
    target = target.strip()
    if any(meta.conversation_id == target for meta in metas):
        return Listed(target)
    if target.isascii() and target.isdecimal():
        choices = listed or [Listed(meta.conversation_id) for meta in metas[:MOST_LISTED]]
        if 1 <= int(target[:9]) <= len(choices):
            chosen = choices[int(target[:9]) - 1]
            if chosen.conversation_id:
                return chosen
            raise failure("policy", "no_conversation", f"{target} is a note of the project; /note get shows it whole")
    exact = [meta for meta in metas if target and meta.title.casefold() == target.casefold()]
    found = exact or [meta for meta in metas if _has_words(meta.title, target)]
    if len(found) == 1:
        return Listed(found[0].conversation_id)
    if not found:
        raise failure("policy", "no_conversation", f"there is no conversation {shorten(target, 60)!r}; /list shows all")
    names = "; ".join(f"{shorten(meta.title, 40)!r} {meta.conversation_id}" for meta in found[:5])
    raise failure(
        "policy",
        "ambiguous",
        f"{len(found)} conversations are called like {shorten(target, 60)!r}, give more words or an id: {names}",
    )


def where_dispatched(stored: Sequence[StoredMessage], job_id: str) -> int:
    """Return the number of the message that dispatched a child, else of the child's result, 0 when there is neither."""
    result = next(
        (item for item in stored if item.message.metadata is not None and item.message.metadata.job_id == job_id), None
    )
    if result is None:
        return 0
    asked = [
        item.sequence
        for item in stored
        if item.sequence < result.sequence
        and any(call.id == result.message.tool_call_id for call in item.message.tool_calls)
    ]
    return asked[-1] if asked else result.sequence


def _has_words(title: str, words: str) -> bool:
    return bool(words) and all(word in title.casefold() for word in words.casefold().split())


def _folder(path: str, home: str) -> str:
    if home not in ("", "/") and (path == home or path.startswith(f"{home}/")):
        path = f"~{path[len(home) :]}"
    return path if len(path) <= _FOLDER_CHARACTERS else f"…{path[1 - _FOLDER_CHARACTERS :]}"
