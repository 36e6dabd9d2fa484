"""Builds tantivy's query of a parsed one.

It is built in code, as tantivy's own parser raises on most odd input and can crash the process.
"""

import datetime
from collections.abc import Iterable
from typing import TYPE_CHECKING

from smith_core.store.search.analysis import is_unspaced, query_pieces
from smith_core.store.search.query import Filter, SearchQuery, Term
from smith_core.store.search.schema import DOCUMENT, raw_term, search_schema, word_analyzer

if TYPE_CHECKING:
    import tantivy

MAX_WORDS_OF_TERM = 64
"""Words of one phrase, or pieces of one identifier, that are looked at."""

_PIECES_BOOST = 0.3
"""How much less it counts that the parts of a word occur somewhere than that the word itself does."""
_END_OF_TIME = 1 << 63
_MIN_PREFIX = 2
"""Fewer letters begin so many words that they say nothing."""


def build_query(query: SearchQuery, timezone: datetime.tzinfo | None = None) -> "tantivy.Query":
    """Return what finds the documents that `query` asks for; days begin at midnight of `timezone`, or local time."""
    from tantivy import Occur, Query

    clauses: list[tuple[Occur, Query]] = []
    needs_all = True
    for term in query.terms:
        choices = _choices(term)
        if not choices:
            if not term.is_excluded and any(character.isalnum() for character in term.text):
                return Query.empty_query()
            continue
        clauses.append((Occur.MustNot if term.is_excluded else Occur.Must, _any_of(choices)))
        needs_all = needs_all and term.is_excluded
    narrowing = [*_filters(query.filters), *_times(query, timezone)]
    clauses += narrowing
    if not clauses:
        return Query.empty_query()
    if needs_all and not any(occur == Occur.Must for occur, _ in narrowing):
        clauses.append((Occur.Must, Query.const_score_query(_term_query("entry", DOCUMENT), 0.0)))
    return clauses[0][1] if len(clauses) == 1 and needs_all is False else Query.boolean_query(clauses)


def term_words(text: str) -> list[str]:
    """Return the words of a term as the index has them."""
    return word_analyzer().analyze(text)[:MAX_WORDS_OF_TERM]


def _choices(term: Term) -> "list[tantivy.Query]":
    """Return the ways in which a document can hold a term; none when there is nothing to look for."""
    from tantivy import Query

    schema = search_schema()
    words = term_words(term.text)
    positions: list[str | tuple[int, str]] = [*words]
    pieces = query_pieces(term.text)[:MAX_WORDS_OF_TERM]
    choices: list[Query] = []
    if len(words) == 1:
        choices.append(_term_query("text", words[0]))
        if len(pieces) == 1:
            choices.append(_term_query("pieces", words[0]))
        if term.is_prefix and len(words[0]) >= _MIN_PREFIX:
            choices += [Query.phrase_prefix_query(schema, field, positions) for field in ("text", "pieces")]
    elif words and term.is_prefix:
        choices.append(Query.phrase_prefix_query(schema, "text", positions))
    elif words:
        choices.append(Query.phrase_query(schema, "text", positions))
    if _may_be_in_pieces(term, pieces):
        choices.append(_all_pieces(pieces))
    return choices


def _may_be_in_pieces(term: Term, pieces: tuple[str, ...]) -> bool:
    if any(is_unspaced(piece) for piece in pieces):
        return True
    # parse_http finds parseHTTP; a phrase is meant as written, and an exclusion must not take more than it names.
    return len(pieces) > 1 and not term.is_phrase and not term.is_excluded


def _all_pieces(pieces: Iterable[str]) -> "tantivy.Query":
    from tantivy import Occur, Query

    folded = [word for piece in pieces for word in term_words(piece)]
    clauses = [(Occur.Must, _any_of([_term_query("text", word), _term_query("pieces", word)])) for word in folded]
    return Query.boost_query(Query.boolean_query(clauses), _PIECES_BOOST) if clauses else Query.empty_query()


def _filters(filters: Iterable[Filter]) -> "list[tuple[tantivy.Occur, tantivy.Query]]":
    """Return one clause per field: values of one field are alternatives, and each excluded value is a clause."""
    from tantivy import Occur, Query

    wanted: dict[str, list[Query]] = {}
    clauses: list[tuple[Occur, Query]] = []
    for one in filters:
        begins_so = Query.phrase_prefix_query(search_schema(), one.field, [raw_term(one.value)])
        if one.is_excluded:
            clauses.append((Occur.MustNot, begins_so))
        else:
            wanted.setdefault(one.field, []).append(begins_so)
    clauses += [(Occur.Must, Query.const_score_query(_any_of(choices), 0.0)) for choices in wanted.values()]
    return clauses


def _times(query: SearchQuery, timezone: datetime.tzinfo | None) -> "list[tuple[tantivy.Occur, tantivy.Query]]":
    from tantivy import FieldType, Occur, Query

    if query.after is None and query.before is None:
        return []
    lower = None if query.after is None else _midnight(query.after, timezone)
    upper = _END_OF_TIME if query.before is None else _midnight(query.before, timezone)
    inside = Query.range_query(search_schema(), "time", FieldType.Unsigned, lower, upper, include_upper=False)
    return [(Occur.Must, Query.const_score_query(inside, 0.0))]


def _midnight(day: datetime.date, timezone: datetime.tzinfo | None) -> int:
    """Return the start of a day in milliseconds since the epoch; days before it count as its start."""
    if day.year < 1971:
        return 0
    return int(datetime.datetime.combine(day, datetime.time(), timezone).timestamp() * 1000)


def _any_of(choices: "list[tantivy.Query]") -> "tantivy.Query":
    from tantivy import Occur, Query

    return choices[0] if len(choices) == 1 else Query.boolean_query([(Occur.Should, choice) for choice in choices])


def _term_query(field: str, value: str) -> "tantivy.Query":
    from tantivy import Query

    return Query.term_query(search_schema(), field, value, "basic" if field == "entry" else "freq")
