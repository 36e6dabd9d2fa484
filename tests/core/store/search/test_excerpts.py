"""Excerpts show the hit, and their ranges mark exactly its characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.store.search.analysis import normalize_text
from smith_core.store.search.excerpts import EXCERPT_CHARACTERS, Excerpt, FoldedText, cut_excerpt, needles_of
from smith_core.store.search.query import parse_query
from smith_core.store.search.schema import word_analyzer


def excerpt(text: str, query: str, limit: int = EXCERPT_CHARACTERS) -> Excerpt:
    return cut_excerpt(text, needles_of(parse_query(query)), limit)


def marked(text: str, query: str) -> list[str]:
    found = excerpt(text, query)
    return [found.text[start:end] for start, end in found.highlights]


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("call parseHTTPRequest now", "http ", ["HTTP"]),
        ("call parseHTTPRequest now", "pars", ["pars"]),
        ("call parseHTTPRequest now", "parsehttprequest ", ["parseHTTPRequest"]),
        ("call parseHTTPRequest now", "request_http ", ["HTTPRequest"]),
        ("parse http", "parseHTTP ", ["parse", "http"]),
        ("Café, CAFÉ and cafe", "café ", ["Café", "CAFÉ", "cafe"]),
        ("die Straße, die STRASSE", "strasse ", ["Straße", "STRASSE"]),
        ("die Straße", "straße ", ["Straße"]),
        ("ﬁle Æon x", "aeon ", ["Æon"]),
        ("ﬁﬁﬁ here", "here ", ["here"]),
        ("東京都の検索", "京都 ", ["京都"]),
        ("日本語の文章", "日本語 ", ["日本語"]),
        ("東京と京都", "京 ", ["京", "京"]),
        ("read foo.bar here", '"foo bar" ', ["foo.bar"]),
        ("read foo.bar and foo", "foo.ba", ["foo.ba", "foo"]),
        ("catalogue cat concat", "cat ", ["cat"]),
        ("one two", "one -two ", ["one"]),
        ("sha256sum of 256", "256 ", ["256", "256"]),
        ("nothing here", "role:user ", []),
    ],
)
def test_what_was_hit_is_marked(text: str, query: str, expected: list[str]) -> None:
    assert marked(text, query) == expected


def test_the_passage_holds_the_most_of_the_query() -> None:
    filler = "lorem ipsum " * 100
    found = excerpt(f"alpha {filler} alpha alpha {filler} alpha beta {filler}", "alpha beta ")
    assert [found.text[start:end] for start, end in found.highlights] == ["alpha", "beta"]
    assert found.text.startswith("…") and found.text.endswith("…")
    assert len(found.text) <= EXCERPT_CHARACTERS


def test_a_hit_at_the_very_end_is_shown() -> None:
    found = excerpt("x " * 5_000 + "needle", "needle ")
    assert found.text.endswith("needle") and found.highlights == ((len(found.text) - 6, len(found.text)),)


def test_a_word_without_end_is_no_obstacle() -> None:
    found = excerpt("y" * 70_000 + " needle " + "z" * 70_000, "needle ")
    assert [found.text[start:end] for start, end in found.highlights] == ["needle"]
    assert len(found.text) <= EXCERPT_CHARACTERS


LETTERS = "aAbBéßﬁİ日本_. 1\u0301😀"


@given(st.text(st.sampled_from(LETTERS), max_size=400), st.text(st.sampled_from(LETTERS + '"-'), max_size=12))
def test_ranges_are_inside_in_order_and_apart(raw: str, query: str) -> None:
    text = normalize_text(raw, 1_000)
    found = excerpt(text, query, limit=40)
    assert len(found.text) <= 40
    assert found.text.strip("…") in text
    last = -1
    for start, end in found.highlights:
        assert last < start < end <= len(found.text)
        last = end


@given(st.text(st.characters(), max_size=60))
def test_folding_is_what_the_index_does(raw: str) -> None:
    text = normalize_text(raw, 1_000)
    folded = FoldedText(text)
    position = 0
    for word in word_analyzer().analyze(text):
        start = folded.text.index(word, position)
        position = start + len(word)
        low, high = folded.original_range(start, position)
        assert "".join(word_analyzer().analyze(text[low:high])) == word
