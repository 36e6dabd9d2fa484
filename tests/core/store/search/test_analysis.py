"""Text becomes the same terms in Python and in the index, and no text does harm."""

import time
import tracemalloc
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.store.search.analysis import (
    MAX_IDENTIFIER,
    MAX_PIECES,
    grams,
    identifier_pieces,
    indexed_parts,
    is_piece_boundary,
    is_unspaced,
    normalize_text,
    query_pieces,
)

ANY_TEXT = st.text(st.characters(), max_size=60) | st.text(
    st.sampled_from("aAbBzZ019_-. é日本ก\u0301\0\ud83d\ude00"), max_size=60
)


@pytest.mark.parametrize(
    ("written", "pieces"),
    [
        ("parseHTTPRequest", ("parse", "HTTP", "Request")),
        ("parse_http_request", ("parse", "http", "request")),
        ("parse-http-request", ("parse", "http", "request")),
        ("smith_core.store.search", ("smith", "core", "store", "search")),
        ("sha256sum", ("sha", "256", "sum")),
        ("getURLs", ("get", "URLs")),
        ("URLsFound", ("URLs", "Found")),
        ("ÜberÖffnung", ("Über", "Öffnung")),
        ("__init__", ("init",)),
        ("日本語Parser", ("日本語", "Parser")),
        ("日", ("日",)),
        ("ภาษาไทย", ("ภาษ", "าษา", "ษาไ", "าไท", "ไทย")),
        ("-> == {}", ()),
    ],
)
def test_identifiers_fall_into_their_words(written: str, pieces: tuple[str, ...]) -> None:
    assert query_pieces(written) == pieces


def test_parts_hold_what_running_words_do_not() -> None:
    parts = indexed_parts("call parseURL on 東京abc or plain words")
    assert parts == {"parse", "URL", "東", "京", "東京", "abc"}


def test_data_is_not_taken_apart() -> None:
    commit = "3f2a9c1d5e7b8a0f3c6d9e2b4a7f1c8d5e0b3a6f"
    assert identifier_pieces(commit) == (commit,)
    assert indexed_parts("Ab" * MAX_IDENTIFIER) == set()


def test_b04_text_of_any_kind_is_made_fit() -> None:
    assert normalize_text("a\0b \ud83d\ude00 \ud83d c\n\td", 100) == "a�b 😀 � c d"
    assert normalize_text("cafe\u0301", 100) == "café"
    assert len(normalize_text("x" * 70_000, 50_000)) == 50_000


def test_a_tower_of_marks_costs_no_time() -> None:
    begin = time.process_time()
    normalize_text("a" + "\u0315\u0300" * 30_000, 50_000)
    assert time.process_time() - begin < 0.5


@given(ANY_TEXT)
def test_the_normal_form_is_its_own(text: str) -> None:
    normal = normalize_text(text, 1_000)
    assert normalize_text(normal, 10_000) == normal
    assert normal.encode() and "\0" not in normal if normal else True
    assert normal == " ".join(normal.split())


@given(ANY_TEXT)
def test_pieces_are_bounded_on_both_sides_and_lose_nothing(text: str) -> None:
    for run in normalize_text(text, 1_000).split():
        if is_unspaced(run) or not run.isalnum() or any(is_unspaced(character) for character in run):
            continue
        pieces = identifier_pieces(run)
        assert "".join(pieces) == run
        assert len(pieces) <= MAX_PIECES
        if len(pieces) > 1:
            assert all(len(identifier_pieces(piece)) == 1 for piece in pieces if piece[-1:] != "s")
        assert is_piece_boundary(run, 0) and is_piece_boundary(run, len(run))


@given(st.text(st.sampled_from("日本語東京都"), max_size=12))
def test_grams_put_together_are_the_run(run: str) -> None:
    for size in (2, 3):
        pieces = grams(run, size)
        assert "".join(piece[0] for piece in pieces[:-1]) + "".join(pieces[-1:]) == run
        assert set(pieces) <= indexed_parts(run)


@given(ANY_TEXT)
def test_what_a_query_needs_is_what_the_index_has(text: str) -> None:
    """A text is always found by its own pieces: each is a word of it or among its parts."""
    normal = normalize_text(text, 1_000)
    words = {run for run in _runs(normal)}
    assert set(query_pieces(normal)) <= indexed_parts(normal) | words


def _runs(text: str) -> list[str]:
    spaced = "".join(character if unicodedata.category(character)[0] in "LN" else " " for character in text)
    return spaced.split()


def test_words_that_never_come_again_are_not_kept() -> None:
    tracemalloc.start()
    try:
        for number in range(20_000):
            identifier_pieces(f"word{number}")
        assert tracemalloc.get_traced_memory()[0] < 3_000_000
    finally:
        tracemalloc.stop()
