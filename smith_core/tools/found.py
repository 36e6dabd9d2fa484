"""Search results as lines of text, for a model and for a person without a screen."""

import asyncio
import datetime
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from smith_core.errors import AgentFailure
from smith_core.store.interface import Persistence
from smith_core.text import shorten

if TYPE_CHECKING:
    from smith_core.store.search.results import SearchHit, SearchPage
    from smith_core.store.search.service import SearchService

CATCH_UP_S = 1.0
"""How long a search waits for an index that has not read what was said a moment ago."""

_POLL_S = 0.03
_TITLE_CHARACTERS = 60
_SCRATCHPAD = "scratchpad:"


async def find(search: "SearchService", query: str, limit: int) -> "SearchPage":
    """Return what is found, the best first, in an index that knows what was said last if it can be had soon."""
    deadline = time.monotonic() + CATCH_UP_S
    search.wake()
    while time.monotonic() < deadline:
        status = await search.status()
        if status.notice is not None or not status.lag_bytes:
            break
        await asyncio.sleep(_POLL_S)
    return await search.search(query, limit=limit)


def found_text(page: "SearchPage", titles: Mapping[str, str], *, with_ids: bool) -> str:
    """Return numbered results and what there is to say about query and index; titles: by conversation id."""
    lines = [
        f"{number}. {_place(hit, titles, with_ids=with_ids)}\n   {shorten(hit.excerpt, 400)}"
        for number, hit in enumerate(page.hits, 1)
    ]
    if not lines and page.notice is None:
        lines.append("nothing was found; fewer or shorter words find more")
    if page.total > len(page.hits):
        lines.append(f"{page.total} results in all; add words, or filters such as role:user or after:2026-01-31")
    return "\n".join([*lines, *page.problems, *([page.notice.message] if page.notice else [])])


async def titles_of(persistence: Persistence) -> dict[str, str]:
    """Return the titles of all conversations, as far as they can be read."""
    try:
        return {meta.conversation_id: meta.title for meta in await persistence.list_conversations()}
    except AgentFailure:
        return {}


def _place(hit: "SearchHit", titles: Mapping[str, str], *, with_ids: bool) -> str:
    if hit.kind == "project_memory":
        return f"project note {hit.note_id}"
    name = repr(shorten(titles.get(hit.conversation_id, ""), _TITLE_CHARACTERS) or hit.conversation_id)
    source = f"{name} ({hit.conversation_id})" if with_ids else name
    if hit.kind == "note":
        return f"note {hit.note_id.removeprefix(_SCRATCHPAD)} in {source}"
    who = f"{hit.role} {hit.tool}".strip()
    child = f"child {hit.job_id}, " if hit.job_id else ""
    return " ".join(filter(None, (_when(hit.time), who, f"in {source}, {child}message {hit.sequence}")))


def _when(seconds: float) -> str:
    try:
        return datetime.datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M") if seconds > 0 else ""
    except (OverflowError, ValueError, OSError):
        return ""
