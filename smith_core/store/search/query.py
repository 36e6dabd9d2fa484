"""The language of search queries, read by a parser that accepts every text.

words must all occur, "quoted words" occur as a phrase, -word must not occur; role: project: tool: kind: narrow the
results to values that begin so, after:2026-01-31 and before:2026-02-28 to a time. A minus turns a filter round.
"""

import datetime
import re
from typing import Literal, get_args

import msgspec

from smith_core.store.search.analysis import normalize_text

MAX_QUERY_CHARACTERS = 1_000
MAX_TERMS = 32
"""Words and filters beyond these are left out, so that a pasted page costs no more than a question."""

FilterField = Literal["role", "project", "tool", "kind"]
FILTER_FIELDS: tuple[FilterField, ...] = get_args(FilterField)

_TOKEN = re.compile(
    r"(?P<minus>-?)"
    r"(?:(?P<field>role|project|tool|kind|after|before):)?"
    r"(?:\"(?P<quoted>[^\"]*)(?P<closed>\"?)|(?P<bare>[^\s\"]+))",
    re.IGNORECASE,
)
_UNFINISHED_FILTER = re.compile(r"(?:role|project|tool|kind|after|before):", re.IGNORECASE)


_SHOWN_ROLES = {"you": "user", "me": "user", "agent": "assistant"}
"""What roles are called where results are shown, and what they are in the store."""


class Term(msgspec.Struct, frozen=True, kw_only=True):
    """One word or phrase; `is_prefix` while it may still be being typed."""

    text: str
    is_phrase: bool = False
    is_excluded: bool = False
    is_prefix: bool = False


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """Keeps, or with `is_excluded` drops, results whose field begins with `value` (lower case)."""

    field: FilterField
    value: str
    is_excluded: bool = False


class SearchQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A query as understood; `after` is the first day that counts, `before` the first that does not.

    problems: sentences for the person about parts that are left out.
    """

    terms: tuple[Term, ...] = ()
    filters: tuple[Filter, ...] = ()
    after: datetime.date | None = None
    before: datetime.date | None = None
    problems: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked for, so that there is nothing to show."""
        return not self.terms and not self.filters and self.after is None and self.before is None


def parse_query(text: str) -> SearchQuery:
    """Read what a person or a model typed; raises nothing, whatever it is."""
    line = normalize_text(text, MAX_QUERY_CHARACTERS)
    problems = []
    if len(text) > MAX_QUERY_CHARACTERS:
        problems.append(f"Only the first {MAX_QUERY_CHARACTERS:,} characters of the query are used.")
    tokens = [token for token in _TOKEN.finditer(line) if not _UNFINISHED_FILTER.fullmatch(token[0].lstrip("-"))]
    if len(tokens) > MAX_TERMS:
        problems.append(f"Only the first {MAX_TERMS} words of the query are used.")
    is_typing = not text[-1:].isspace()
    terms: list[Term] = []
    filters: list[Filter] = []
    days: dict[str, datetime.date] = {}
    for token in tokens[:MAX_TERMS]:
        value = (token["bare"] or token["quoted"] or "").strip()
        field = (token["field"] or "").lower()
        if not value:
            continue
        if field in ("after", "before"):
            day = _day(value)
            if day is None:
                problems.append(f"{field}: needs a day such as {field}:2026-01-31.")
            else:
                days[field] = day
        elif field:
            filters.append(_filter(field, value, is_excluded=bool(token["minus"])))
        else:
            terms.append(_term(token, value, is_last=is_typing and token.end() == len(line)))
    return SearchQuery(
        terms=tuple(terms),
        filters=tuple(filters),
        after=days.get("after"),
        before=days.get("before"),
        problems=tuple(dict.fromkeys(problems)),
    )


def _filter(field: str, value: str, *, is_excluded: bool) -> Filter:
    value = value.lower()
    if field == "role":
        begun = (role for shown, role in _SHOWN_ROLES.items() if shown.startswith(value) and not role.startswith(value))
        value = next(begun, value)
    return Filter(field=msgspec.convert(field, FilterField), value=value, is_excluded=is_excluded)


def _term(token: re.Match[str], value: str, *, is_last: bool) -> Term:
    is_excluded = bool(token["minus"])
    return Term(
        text=value,
        is_phrase=token["bare"] is None,
        is_excluded=is_excluded,
        # A minus on half a word would hide results that the whole word keeps.
        is_prefix=is_last and not is_excluded and not token["closed"],
    )


def _day(text: str) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        return None
