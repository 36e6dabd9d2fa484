"""How text becomes search terms: normal form, sub-words of identifiers, and grams of scripts without spaces."""

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

from smith_core.patterns import later
from smith_core.text import clean_text

MAX_IDENTIFIER = 64
"""Longer runs of letters and digits are data (hashes, base64), not names; they are not taken apart."""
LONGEST_GRAM = 3
"""Characters of the longest pieces of scripts without spaces: pairs alone find 東京都 in 京都東京."""
MAX_PIECES = 12
"""A run that falls into more pieces than this is data too, such as a commit hash."""

_UNSPACED_RANGES = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # Japanese
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese
    "\uac00-\ud7af\uff66-\uff9d"  # Korean, half-width Katakana
)
_UNSPACED_RUN = later(f"[{_UNSPACED_RANGES}]+")
_RUN = later(rf"[^\W_{_UNSPACED_RANGES}]+")
_RUN_BESIDE_UNSPACED = later(
    rf"(?<=[{_UNSPACED_RANGES}])[^\W_{_UNSPACED_RANGES}]+|[^\W_{_UNSPACED_RANGES}]+(?=[{_UNSPACED_RANGES}])"
)
_MAX_MARKS = 30
"""Most combining marks in a row (Unicode's Stream-Safe Text Format); composing longer runs takes quadratic time."""
_LONG_RUN_OF_MARKS = later(rf"([^\w\x00-\x7f]{{{_MAX_MARKS + 1},}})")


def normalize_text(text: str, limit: int) -> str:
    """Return at most about `limit` characters of `text` on one line, composed (NFC) and fit for UTF-8.

    Everything that is compared, stored or shown by the search has this form; it is its own normal form.
    """
    line = " ".join(clean_text(text[:limit]).split())
    if line.isascii():
        return line
    parts = _LONG_RUN_OF_MARKS.split(line)
    parts[::2] = [unicodedata.normalize("NFC", part) for part in parts[::2]]
    return " ".join("".join(parts).split())


def is_piece_boundary(text: str, index: int) -> bool:
    """Say whether a word or a sub-word ends and another begins before `text[index]`.

    parse|HTTP|Request, sha|256|sum, read|_|file, URLs (a plural of capitals stays whole), 日|本|語.
    """
    if index <= 0 or index >= len(text):
        return True
    left, right = text[index - 1], text[index]
    if not left.isalnum() or not right.isalnum() or is_unspaced(left) or is_unspaced(right):
        return True
    if left.isnumeric() != right.isnumeric():
        return True
    if not right.isupper():
        return False
    return not left.isupper() or _opens_capitalized_word(text, index)


def _opens_capitalized_word(text: str, index: int) -> bool:
    behind = text[index + 1 : index + 3]
    if not behind[:1].islower():
        return False
    is_plural = behind[0] == "s" and not behind[1:].islower()
    return not is_plural


def is_unspaced(text: str) -> bool:
    """Say whether all of `text` is of scripts that write words without spaces between them."""
    return _UNSPACED_RUN.fullmatch(text) is not None


@lru_cache(4096)
def identifier_pieces(run: str) -> tuple[str, ...]:
    """Return the sub-words of one run of letters and digits as written; the run alone when it is not taken apart."""
    if len(run) > MAX_IDENTIFIER or (run.isascii() and run.isalpha() and (run.islower() or run.isupper())):
        return (run,)
    cuts = [0, *(index for index in range(1, len(run)) if is_piece_boundary(run, index)), len(run)]
    if len(cuts) - 1 > MAX_PIECES:
        return (run,)
    return tuple(run[start:end] for start, end in pairwise(cuts))


def grams(run: str, size: int) -> tuple[str, ...]:
    """Return the overlapping pieces of so many characters of a run without spaces, or all of a shorter one."""
    return tuple(run[index : index + size] for index in range(len(run) - size + 1)) or ((run,) if run else ())


def indexed_parts(text: str) -> set[str]:
    """Return what a text can be found by besides its words: sub-words as written, and one to three characters."""
    parts: set[str] = set()
    for run in set(_RUN.findall(text)):
        pieces = identifier_pieces(run)
        if len(pieces) > 1:
            parts.update(pieces)
    if text.isascii():
        return parts
    for run in set(_UNSPACED_RUN.findall(text)):
        parts.update(run)
        parts.update(grams(run, 2))
        parts.update(grams(run, LONGEST_GRAM))
    for run in set(_RUN_BESIDE_UNSPACED.findall(text)):
        parts.update(identifier_pieces(run))
    return parts


def query_pieces(text: str) -> tuple[str, ...]:
    """Return what a text must contain at least to hold `text`: its sub-words and, of scripts without spaces, triples.

    A word of up to three characters is found exactly; the triples of a longer one may stand apart in a text.
    """
    pieces: list[str] = []
    for run in re.findall(rf"{_RUN.pattern}|{_UNSPACED_RUN.pattern}", text):
        pieces.extend(grams(run, LONGEST_GRAM) if is_unspaced(run) else identifier_pieces(run))
    return tuple(dict.fromkeys(pieces))
