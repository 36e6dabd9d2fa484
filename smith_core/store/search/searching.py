"""Runs one query against the index and makes hits of what it finds."""

from collections.abc import Iterable
from typing import Any

from smith_core.store.search.excerpts import Needle, cut_excerpt, needles_of
from smith_core.store.search.index import SearchIndex, border
from smith_core.store.search.matching import build_query
from smith_core.store.search.query import parse_query
from smith_core.store.search.results import SearchHit, SearchOrder, SearchPage
from smith_core.store.search.source import GLOBAL_JOURNAL

MAX_HITS = 200
MAX_OFFSET = 10_000
"""The most hits of one page and the farthest page: tantivy keeps all before it in memory."""


def run_search(index: SearchIndex, text: str, order: SearchOrder, limit: int, offset: int) -> SearchPage:
    """Return one page of what `text` finds; raises AgentFailure when the index cannot be read."""
    query = parse_query(text)
    if query.is_empty:
        return SearchPage(problems=query.problems)
    limit = min(max(1, limit), MAX_HITS)
    offset = min(max(0, offset), MAX_OFFSET)
    sorting = "newest" if order == "newest" else None
    searcher = index.searcher()
    with border(index.folder):
        found: Any = searcher.search(build_query(query), limit, count=True, order_by_field=sorting, offset=offset)
        rows = [(score, searcher.doc(address).to_dict()) for score, address in found.hits]
    needles = needles_of(query)
    return SearchPage(
        hits=tuple(_hit(fields, 0.0 if sorting else float(score), needles) for score, fields in rows),
        total=found.count or 0,
        problems=query.problems,
    )


def _hit(fields: dict[str, list[Any]], score: float, needles: Iterable[Needle]) -> SearchHit:
    stored = {name: values[0] for name, values in fields.items() if values}
    excerpt = cut_excerpt(stored.get("text", ""), needles)
    journal = stored.get("journal", "")
    return SearchHit(
        kind=stored.get("kind", "message"),
        conversation_id="" if journal == GLOBAL_JOURNAL else journal,
        project_id=stored.get("project", ""),
        sequence=stored.get("seq", -1),
        job_id=stored.get("job", ""),
        note_id=stored.get("note", ""),
        role=stored.get("role", ""),
        tool=stored.get("tool", ""),
        time=stored.get("time", 0) / 1000,
        score=score,
        excerpt=excerpt.text,
        highlights=excerpt.highlights,
    )
