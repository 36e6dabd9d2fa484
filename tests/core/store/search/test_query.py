"""The parser of queries understands what is promised and survives everything else."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.store.search.matching import build_query
from smith_core.store.search.query import MAX_QUERY_CHARACTERS, MAX_TERMS, Filter, Term, parse_query

HOSTILE = [
    "(" * 5_000,
    ")" * 5_000,
    "[" * 5_000 + "x",
    '"',
    '"""',
    '"open',
    "-",
    "--",
    '-"',
    "- - -",
    "-role:",
    "role:",
    "role:role:role:",
    'role:"',
    "after:",
    "after:yesterday",
    "after:0000-00-00",
    "after:0001-01-01 before:9999-12-31",
    "AND OR NOT && || !",
    "a AND",
    "*",
    "***",
    "text:*",
    "\\",
    "\\\\\\",
    "^2",
    "~~",
    "a~9999",
    "[* TO *]",
    "{a TO",
    "\0\0",
    "\ud800",
    "\udfff\ud800",
    "x" * 70_000,
    "日" * 70_000,
    "a.b" * 20_000,
    "-" * 70_000,
    " ".join("word" for _ in range(5_000)),
    "a\u0301" * 500,
    "\u0301" * 5_000,
]


def test_words_phrases_and_exclusions() -> None:
    assert parse_query('alpha "beta  gamma" -delta -"no no" eps').terms == (
        Term(text="alpha"),
        Term(text="beta gamma", is_phrase=True),
        Term(text="delta", is_excluded=True),
        Term(text="no no", is_phrase=True, is_excluded=True),
        Term(text="eps", is_prefix=True),
    )


def test_filters_narrow_and_turn_round() -> None:
    query = parse_query("role:User -tool:bash PROJECT:smith kind:note x ")
    assert query.filters == (
        Filter(field="role", value="user"),
        Filter(field="tool", value="bash", is_excluded=True),
        Filter(field="project", value="smith"),
        Filter(field="kind", value="note"),
    )
    assert query.terms == (Term(text="x"),)


def test_days() -> None:
    query = parse_query("after:2026-01-31 before:2026-02-28")
    assert (query.after, query.before) == (datetime.date(2026, 1, 31), datetime.date(2026, 2, 28))
    assert query.problems == ()


@pytest.mark.parametrize("text", ["after:yesterday", "before:2026-13-01", "after:26"])
def test_a_day_that_is_none_is_named(text: str) -> None:
    query = parse_query(f"word {text}")
    assert query.terms == (Term(text="word"),)
    assert query.problems == (f"{text.split(':')[0]}: needs a day such as {text.split(':')[0]}:2026-01-31.",)


@pytest.mark.parametrize("text", ["role:", "-tool:", "after:", ""])
def test_an_unfinished_filter_asks_for_nothing_yet(text: str) -> None:
    assert parse_query(text).is_empty
    assert parse_query(f"word {text}").terms[0].text == "word"


@pytest.mark.parametrize(
    ("text", "is_prefix"),
    [("wor", True), ("wor ", False), ('"wor', True), ('"wor"', False), ("-wor", False), ("a wor\n", False)],
)
def test_only_the_word_being_typed_is_a_prefix(text: str, is_prefix: bool) -> None:
    assert parse_query(text).terms[-1].is_prefix is is_prefix


def test_colons_of_others_are_words() -> None:
    assert [term.text for term in parse_query("http://x std::vector ").terms] == ["http://x", "std::vector"]


def test_what_is_left_out_of_a_long_query_is_said() -> None:
    long = parse_query("w " * 400)
    assert len(long.terms) == MAX_TERMS
    assert any(str(MAX_TERMS) in problem for problem in long.problems)
    assert any(f"{MAX_QUERY_CHARACTERS:,}" in problem for problem in parse_query("x" * 2_000).problems)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_queries_are_only_queries(text: str) -> None:
    build_query(parse_query(text))


@given(st.text(st.characters(), max_size=80))
def test_no_text_is_refused(text: str) -> None:
    build_query(parse_query(text))


@given(
    st.lists(
        st.sampled_from(['"', "-", ":", " ", "role", "after:", "2026-01-01", "(", "x", "日", "AND", "\\", "*"]),
        max_size=40,
    )
)
def test_no_mix_of_operators_is_refused(tokens: list[str]) -> None:
    build_query(parse_query("".join(tokens)))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("you", "user"), ("y", "user"), ("Agent", "assistant"), ("ag", "assistant"), ("a", "a"), ("assist", "assist"),
     ("tool", "tool"), ("u", "u")],
)  # fmt: skip
def test_roles_go_by_the_names_that_results_show_too(typed: str, meant: str) -> None:
    assert parse_query(f"role:{typed} x").filters == (Filter(field="role", value=meant),)
