"""Candidates that name a conversation, or something in one; pure functions."""

from collections import Counter
from collections.abc import Iterable, Sequence

from smith_core.commands.listing import age_in_words
from smith_core.completion.slash import Candidate
from smith_core.messages import Message, typed_text
from smith_core.store.interface import ConversationMeta
from smith_core.text import shorten

DETAIL_CHARACTERS = 80
_MOST_TURNS = 50
SEARCH_FILTERS = {
    "role:": "user, assistant, tool or task",
    "tool:": "a tool's calls and results",
    "kind:": "message, tool_result, note or project_memory",
    "project:": "by its name",
    "after:": "from a day on, as in after:2026-01-31",
    "before:": "up to a day",
}
_FILTER_VALUES = {
    "role:": {
        "user": "what you said",
        "assistant": "what Smith said",
        "tool": "what tools gave",
        "task": "what a child was told",
    },
    "kind:": {"message": "", "tool_result": "", "note": "of the scratchpad", "project_memory": "notes of the project"},
}

Candidates = tuple[Candidate, ...]


def named(metas: Sequence[ConversationMeta], now: float, without: str = "") -> Candidates:
    """Return conversations by title, or by id where a title does not say which; without: an id to leave out."""
    titles = Counter(meta.title.casefold() for meta in metas)
    return tuple(
        Candidate(_way_to_name(meta, titles), _title_of(meta), _facts(meta, now))
        for meta in metas
        if meta.conversation_id != without
    )


def listed_words(metas: Iterable[ConversationMeta]) -> Candidates:
    """Return what a list of conversations can be narrowed to: their folders and their titles."""
    metas = tuple(metas)
    folders = Counter(meta.cwd for meta in metas if meta.cwd.isprintable())
    titles = Counter(meta.title for meta in metas if meta.title.isprintable())
    return tuple(
        Candidate(text, shorten(text, DETAIL_CHARACTERS), f"{count} conversation{'s' * (count != 1)}{where}")
        for counted, where in ((folders, " in this folder"), (titles, ""))
        for text, count in counted.items()
        if text.strip()
    )


def deleted(metas: Iterable[ConversationMeta], now: float) -> Candidates:
    """Return deleted conversations by id."""
    return tuple(
        Candidate(
            meta.conversation_id,
            _title_of(meta),
            f"deleted {age_in_words(meta.deleted_at, now)}, {_facts(meta, now)}",
            is_closed=True,
        )
        for meta in metas
    )


def turns(messages: Sequence[Message]) -> Candidates:
    """Return how many turns back each prompt is, the last one first."""
    prompts = [message for message in messages if message.role == "user"]
    return tuple(
        Candidate(str(number), str(number), shorten(typed_text(prompt), DETAIL_CHARACTERS))
        for number, prompt in enumerate(prompts[: -_MOST_TURNS - 1 : -1], 1)
    )


def ends_of_turns(messages: Sequence[Message], sequences: Sequence[int]) -> Candidates:
    """Return the number of the last message of each turn, the last turn first."""
    found: list[Candidate] = []
    end = 0
    for message, sequence in zip(reversed(messages), reversed(sequences), strict=True):
        end = end or sequence
        if message.role == "user":
            found.append(Candidate(str(end), str(end), shorten(typed_text(message), DETAIL_CHARACTERS)))
            end = 0
        if len(found) == _MOST_TURNS:
            break
    return tuple(found)


def search_words(query: str, tools: Iterable[str]) -> Candidates:
    """Return the filters of a search, or what one of them can be; a minus before it stays."""
    minus = "-" if query.startswith("-") else ""
    field, colon, _ = query.removeprefix("-").partition(":")
    name = field.lower() + colon
    if colon:
        values = dict.fromkeys(tools, "") if name == "tool:" else _FILTER_VALUES.get(name, {})
        return tuple(Candidate(f"{minus}{name}{value}", f"{name}{value}", detail) for value, detail in values.items())
    if not field:
        return ()
    return tuple(
        Candidate(minus + word, word, detail, is_open=True)
        for word, detail in SEARCH_FILTERS.items()
        if word.startswith(name)
    )


def _title_of(meta: ConversationMeta) -> str:
    return shorten(meta.title, DETAIL_CHARACTERS) or "(no title)"


def _way_to_name(meta: ConversationMeta, titles: "Counter[str]") -> str:
    """Return the title where no other conversation has it and it is no number of a list, else the id."""
    title = meta.title
    is_plain = title.isprintable() and title == title.strip() and not title.isdecimal()
    return title if title and is_plain and titles[title.casefold()] == 1 else meta.conversation_id


def _facts(meta: ConversationMeta, now: float) -> str:
    count = f"{meta.message_count} message{'s' * (meta.message_count != 1)}"
    return ", ".join(word for word in (age_in_words(meta.updated_at, now), count, meta.cwd) if word)
