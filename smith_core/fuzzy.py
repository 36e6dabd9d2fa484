"""Fuzzy matching of names and paths: how well a query fits a name, and an index that finds the best of many paths."""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator

_EXACT, _SAME_WORDS, _STEM, _PREFIX, _WORD_START, _ABBREVIATION, _INSIDE = 90, 85, 80, 70, 60, 50, 40
_LETTERS_IN_ORDER = 20
_TIER = 100
SCATTERED = _LETTERS_IN_ORDER * _TIER
"""Highest quality of a name that has no more than the letters in their order."""
_MAX_ABBREVIATION = 24
_SUBWORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_BITSET_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789_-./"
_MOST_CHECKS = 12_000
_LEAST_CANDIDATES = 200


def subwords(name: str) -> list[str]:
    """Return the words that an identifier is made of, in lower case: parseHTTPReply → parse, http, reply."""
    return [word.lower() for word in _SUBWORDS.findall(name)]


def quality(query: str, name: str) -> int:
    """Return how well `query` fits `name`, case ignored: 0 for not at all, more for better, at most 9001.

    From the best: the same, the same words, the stem of a file name, its begin, the begin of a word in it, the begins
    of several of its words, a part of it, its letters in that order. Among equals the shorter name wins.
    """
    wanted, given = query.lower(), name.lower()
    tier = _tier(wanted, given, name) if wanted else 0
    if not tier:
        return 0
    return tier * _TIER - min(_TIER - 1, abs(len(given) - len(wanted))) + (query == name)


def _tier(wanted: str, given: str, name: str) -> int:
    if wanted == given:
        return _EXACT
    if _letters(wanted) == _letters(given):
        return _SAME_WORDS
    if given.startswith(wanted):
        return _STEM if given[len(wanted)] == "." else _PREFIX
    place = given.find(wanted)
    while place >= 0:
        if _begins_word(name, place):
            return _WORD_START
        place = given.find(wanted, place + 1)
    if len(wanted) <= _MAX_ABBREVIATION and _abbreviates(_letters(wanted), subwords(name)):
        return _ABBREVIATION
    if wanted in given or (_letters(wanted) and _letters(wanted) in _letters(given)):
        return _INSIDE
    return _LETTERS_IN_ORDER if _is_scattered(wanted, given) else 0


def _letters(text: str) -> str:
    return text.replace("_", "").replace("-", "").replace(" ", "")


def _begins_word(name: str, place: int) -> bool:
    before, here = name[place - 1 : place], name[place : place + 1]
    return not before.isalnum() or (here.isupper() and not before.isupper()) or before.isdigit() != here.isdigit()


def _abbreviates(wanted: str, words: list[str]) -> bool:
    """Whether `wanted` is made of begins of the words, in order, the first word's among them."""
    if not words or not wanted or wanted[0] != words[0][0]:
        return False
    reached = {0}  # how much of `wanted` the words so far can spell
    for word in words:
        further = set(reached)
        for start in reached:
            length = 0
            while length < len(word) and wanted[start + length : start + length + 1] == word[length]:
                length += 1
                further.add(start + length)
        if len(wanted) in further:
            return True
        reached = further
    return False


def _is_scattered(wanted: str, given: str) -> bool:
    letters = iter(given)
    return all(letter in letters for letter in wanted)


class PathIndex:
    """The paths of a project, prepared once for many queries.

    Paths are strings with slashes, relative to one folder; what they hold besides is never interpreted.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = sorted(paths, key=lambda path: (path.count("/"), len(path), path))
        names = [_folded(path.rpartition("/")[2]) for path in self._paths]
        self._names = _Lines(names)
        self._whole = _Lines([_folded(path) for path in self._paths])

    def __len__(self) -> int:
        return len(self._paths)

    def prepare(self) -> None:
        """Do at once what the first searches would do: half a second for 100,000 paths; may run in a thread."""
        self._names.prepare()
        self._whole.prepare()

    def search(self, query: str, limit: int, *, in_one_piece: bool = False) -> list[str]:
        """Return at most `limit` paths that fit, the best first; an empty query gives those nearest to the root.

        Words apart fit in any order, anywhere in the path; a slash makes the query one part of a path. in_one_piece:
        leave out those that have no more than its letters in their order; this takes a fraction of the time.
        """
        words = query.split()
        if not words:
            return self._paths[:limit]
        found: dict[int, None] = {}
        compared = 2 * limit if in_one_piece else max(_LEAST_CANDIDATES, 4 * limit)
        for number in self._candidates([_folded(word) for word in words], 0 if in_one_piece else limit):
            found.setdefault(number)
            if len(found) >= compared:
                break
        ranked = sorted(found, key=lambda number: (-self._quality(words, self._paths[number]), number))
        return [self._paths[number] for number in ranked[:limit]]

    def _candidates(self, words: list[str], enough: int) -> Iterator[int]:
        """Yield numbers of paths that fit, by kind of fit, the more exact kinds first; some come more than once.

        enough: so many that hold the query in one piece leave no room for others.
        """
        last = words[-1]
        if len(words) > 1:
            yield from self._whole.containing_all(words)
            if enough:
                yield from self._whole.scattered("".join(words), words)
            return
        if "/" not in last:
            for part in (f"\n{last}\n", f"\n{last}.", f"\n{last}", last):
                yield from self._names.containing(part)
        known = set()
        for number in self._whole.containing(last):
            known.add(number)
            yield number
        if "/" not in last and len(known) < enough:
            for number in self._names.scattered(last, [last]):
                known.add(number)
                yield number
        if len(known) < enough:
            yield from self._whole.scattered(last, [last])

    @staticmethod
    def _quality(words: list[str], path: str) -> int:
        name = path.rpartition("/")[2]
        best = 0
        for word in words:
            in_name = quality(word, name)
            in_path = quality(word, path) if "/" in word or in_name <= SCATTERED else 0
            best += max(2 * in_name, in_path)
        return best


class _Lines:
    """Many short texts in one, so that all are searched at the speed of one; texts are known by their number."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._text = "\n" + "\n".join(lines) + "\n"
        self._starts = array("q", [0])
        start = 0
        for line in lines:
            start += len(line) + 1
            self._starts.append(start)
        self._bitsets: dict[str, int] = {}

    def prepare(self) -> None:
        """Note for each letter which texts have it."""
        for letter in _BITSET_LETTERS:
            self._having(letter)

    def _having(self, letter: str) -> int | None:
        if letter not in _BITSET_LETTERS:
            return None
        if letter not in self._bitsets:
            self._bitsets[letter] = _bits(letter, self._lines)
        return self._bitsets[letter]

    def containing(self, part: str) -> Iterator[int]:
        """Yield the numbers of texts that hold `part`, in which a line end stands for begin or end of a text."""
        if not self._lines:
            return
        place = self._text.find(part)
        while place >= 0:
            number = bisect_right(self._starts, place if part[0] == "\n" else place - 1) - 1
            if number >= len(self._lines):
                return
            yield number
            place = self._text.find(part, self._starts[number + 1])

    def containing_all(self, parts: list[str]) -> Iterator[int]:
        """Yield the numbers of texts that hold each of the parts."""
        for number in self._with_letters("".join(parts)):
            line = self._lines[number]
            if all(part in line for part in parts):
                yield number

    def scattered(self, letters: str, parts: list[str]) -> Iterator[int]:
        """Yield the numbers of texts that hold the letters of each part in its order."""
        # Possessive, so that a text which does not fit is passed over once and not from each of its letters on.
        patterns = [re.compile("".join(f"[^{re.escape(a)}]*+{re.escape(a)}" for a in part)) for part in parts]
        for checked, number in enumerate(self._with_letters(letters)):
            if checked >= _MOST_CHECKS:
                return
            line = self._lines[number]
            if all(pattern.match(line) for pattern in patterns):
                yield number

    def _with_letters(self, letters: str) -> Iterator[int]:
        having = (1 << len(self._lines)) - 1
        for letter in set(letters):
            with_it = self._having(letter)
            having = having if with_it is None else having & with_it
        digits = bin(having)[:1:-1]
        place = digits.find("1")
        while place >= 0:
            yield place
            place = digits.find("1", place + 1)


def _bits(letter: str, lines: list[str]) -> int:
    """Return a number whose bit n tells whether line n has the letter."""
    return int("".join(["1" if letter in line else "0" for line in reversed(lines)]) or "0", 2)


def _folded(text: str) -> str:
    return text.lower().replace("\n", "�")
