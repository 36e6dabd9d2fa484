"""Finds what a query hit in a text and cuts the passage around it, in characters of what is shown.

tantivy's own snippets know neither sub-words nor parts of words without spaces, and count bytes.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

import msgspec

from smith_core.store.search.analysis import is_piece_boundary, is_unspaced, query_pieces
from smith_core.store.search.matching import MAX_WORDS_OF_TERM, term_words
from smith_core.store.search.query import SearchQuery, Term
from smith_core.store.search.schema import word_analyzer

EXCERPT_CHARACTERS = 240
"""Most characters of an excerpt, the marks of what is left out included."""

_LEAD_CHARACTERS = 60
"""How much of the text before the first hit is shown where there is more."""
_MAX_SNAP = 20
_MAX_HITS = 500
_ELLIPSIS = "…"
_BETWEEN_WORDS = r"[\W_]+"

Range = tuple[int, int]


class Needle(msgspec.Struct, frozen=True):
    """One thing to look for in folded text; the hit begins (and unless open, ends) where a word or sub-word does."""

    pattern: re.Pattern[str]
    is_open: bool = False
    is_inside_words: bool = False


class Excerpt(msgspec.Struct, frozen=True):
    """A passage on one line and the ranges of it that were hit, in order and apart."""

    text: str
    highlights: tuple[Range, ...] = ()


class FoldedText:
    """A text as the index compares it, lower case and without accents, and where each character of that comes from."""

    def __init__(self, text: str) -> None:
        self.original = text
        self._starts: list[int] | None = None
        if text.isascii():
            self.text = text.lower()
            return
        folds = [_FOLDS[character] for character in text]
        self.text = "".join(folds)
        if len(self.text) != len(text):
            self._starts = [0]
            for fold in folds:
                self._starts.append(self._starts[-1] + len(fold))

    def original_range(self, start: int, end: int) -> Range:
        """Return the characters of the original that a range of the folded text comes from."""
        if self._starts is None:
            return start, end
        return bisect_right(self._starts, start) - 1, bisect_right(self._starts, end - 1)


class _Folds(dict[str, str]):
    """What the index makes of one character; characters that are of no word stay as they are."""

    def __missing__(self, character: str) -> str:
        fold = "".join(word_analyzer().analyze(character)) or character
        self[character] = fold
        return fold


_FOLDS = _Folds()


def needles_of(query: SearchQuery) -> tuple[Needle, ...]:
    """Return what to highlight for a query."""
    needles = [needle for term in query.terms if not term.is_excluded for needle in _needles_of_term(term)]
    return tuple(dict.fromkeys(needles))


def _needles_of_term(term: Term) -> Iterator[Needle]:
    words = term_words(term.text)
    if not words:
        return
    phrase = _BETWEEN_WORDS.join(re.escape(word) for word in words)
    yield Needle(re.compile(phrase), is_open=term.is_prefix)
    pieces = query_pieces(term.text)[:MAX_WORDS_OF_TERM]
    grams = [piece for piece in pieces if is_unspaced(piece)]
    if grams:
        # A look-ahead, because they overlap.
        either = "|".join(re.escape(FoldedText(gram).text) for gram in grams)
        yield Needle(re.compile(f"(?=({either}))"), is_inside_words=True)
    if len(pieces) > 1 and (grams or not term.is_phrase):
        for piece in pieces:
            if not is_unspaced(piece):
                yield from (Needle(re.compile(re.escape(word))) for word in term_words(piece))


def cut_excerpt(text: str, needles: Iterable[Needle], limit: int = EXCERPT_CHARACTERS) -> Excerpt:
    """Return the passage of at most `limit` characters (16 at least) that shows the most of what was hit."""
    limit = max(16, limit)
    hits = _find_hits(text, needles)
    start = _passage_start(text, hits, limit)
    end = min(len(text), start + limit - (start > 0))
    if end < len(text):
        end -= 1
    before = _ELLIPSIS if start > 0 else ""
    behind = _ELLIPSIS if end < len(text) else ""
    shift = len(before) - start
    ranges = _merged((max(low, start), min(high, end)) for low, high, _ in hits if low < end and high > start)
    return Excerpt(
        text=f"{before}{text[start:end]}{behind}",
        highlights=tuple((low + shift, high + shift) for low, high in ranges),
    )


def _find_hits(text: str, needles: Iterable[Needle]) -> list[tuple[int, int, int]]:
    """Return start, end and number of the needle of each hit, in order of the text."""
    folded = FoldedText(text)
    hits: list[tuple[int, int, int]] = []
    for number, needle in enumerate(needles):
        found = 0
        for match in needle.pattern.finditer(folded.text):
            start, end = folded.original_range(*match.span(1 if needle.is_inside_words else 0))
            if _fits(text, start, end, needle):
                hits.append((start, end, number))
                found += 1
            if found == _MAX_HITS:
                break
    return sorted(hits)


def _fits(text: str, start: int, end: int, needle: Needle) -> bool:
    if needle.is_inside_words:
        return True
    return is_piece_boundary(text, start) and (needle.is_open or is_piece_boundary(text, end))


def _passage_start(text: str, hits: list[tuple[int, int, int]], limit: int) -> int:
    """Return where the passage begins that holds the most different needles, then the most hits."""
    if not hits or len(text) <= limit:
        return 0
    lead = min(_LEAD_CHARACTERS, limit // 4)
    room = limit - lead - 2
    best, best_start = (0, 0), hits[0][0]
    first = 0
    counts: dict[int, int] = {}
    for last, (start, end, number) in enumerate(hits):
        counts[number] = counts.get(number, 0) + 1
        while hits[first][0] < start and end - hits[first][0] > room:
            left = hits[first][2]
            counts[left] -= 1
            if not counts[left]:
                del counts[left]
            first += 1
        value = (len(counts), last - first + 1)
        if value > best:
            best, best_start = value, hits[first][0]
    begin = max(0, min(best_start - lead, len(text) - limit + 1))
    space = text.find(" ", begin, min(begin + _MAX_SNAP, best_start))
    return space + 1 if begin > 0 and space >= 0 else begin


def _merged(ranges: Iterable[Range]) -> list[Range]:
    merged: list[Range] = []
    for start, end in ranges:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif start < end:
            merged.append((start, end))
    return merged
