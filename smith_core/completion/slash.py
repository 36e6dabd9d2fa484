"""What a line wants at its caret, and which of many candidates fit what is typed; pure functions."""

import re
from collections.abc import Iterable
from typing import Literal

import msgspec

from smith_core.completion.shell import rest_of_shell_word, shell_word
from smith_core.fuzzy import SCATTERED, quality

MOST_CANDIDATES = 200
_LOOKED_BACK = 1_000
"""Characters before the caret in which a mention may begin."""

# The same begin of a word as for the mentions that are attached; quotes are there for names with blanks.
_MENTION = re.compile(r"""(?<![^\s(\[{,;])@(?:"([^"\n]*)|'([^'\n]*)|([^\s"'@][^\s@]*)?)\Z""")
_NAMES_WITH_BLANKS = frozenset({"load", "delete", "title", "list"})
"""Commands of one argument that is a title."""
_EXPORT_FORMS = frozenset({"markdown", "md", "html", "json"})
_FREE = frozenset({"title", "list", "search", "fork", "undo", "redo"})
"""Commands whose argument is more likely to be meant as it is typed than to be the begin of a candidate."""
_LONGEST_SHELL_LINE = 10_000
_REST_OF_WORD = re.compile(r"\S*")
_REST_OF_MENTION = re.compile(r"[^\s@]*")
_UNQUOTED = re.compile(r"""[^\s"'@][^\s@]*""")

Kind = Literal["command", "argument", "mention", "program", "path"]
"""The last two are words of a line for a shell."""


class Candidate(msgspec.Struct, frozen=True):
    """What can stand at the caret: the text that is put in, and what is shown of it; both are foreign text.

    is_open: the word goes on behind it, as with a folder, so that no blank follows. is_closed: nothing but the
    candidates can stand there. usage: more words that help shows.
    """

    text: str
    label: str
    detail: str = ""
    usage: str = ""
    is_open: bool = False
    is_closed: bool = False


class Wanted(msgspec.Struct, frozen=True):
    """What a line wants at its caret.

    start, end: the part of the line that a candidate replaces. query: what is typed of it. command: of an argument.
    words: the arguments before it.
    """

    kind: Kind
    start: int
    end: int
    query: str
    command: str = ""
    words: tuple[str, ...] = ()

    @property
    def is_free(self) -> bool:
        """Whether what is typed is likely to be meant as it is, so that a candidate has to be chosen."""
        if self.command == "export":
            return bool(self.words) or "/" in self.query
        return self.kind in ("program", "path") or self.command in _FREE


def wanted_at(text: str, caret: int) -> Wanted | None:
    """Return what is wanted at a position of a text, None when nothing is."""
    if text.startswith("!"):
        return _wanted_in_shell(text, caret)
    before = text[max(0, caret - _LOOKED_BACK) : caret]
    mention = _MENTION.search(before)
    if mention is not None:
        query = mention[1] or mention[2] or mention[3] or ""
        quote = {1: '"', 2: "'"}.get(mention.lastindex or 0, "")
        return Wanted("mention", caret - len(before) + mention.start(), _mention_end(text, caret, quote), query)
    line = text[:caret]
    if not line.startswith("/") or "\n" in line:
        return None
    name, blank, rest = line[1:].partition(" ")
    if not blank:
        return Wanted("command", 0, _word_end(text, caret), name.lower())
    name = name.lower()
    if name in _NAMES_WITH_BLANKS:
        query = rest.lstrip(" ")
        return Wanted("argument", caret - len(query), len(text), query, command=name)
    if name == "export":
        return _wanted_of_export(text, caret, rest.lstrip(" "))
    *words, query = rest.split(" ")
    words = [word for word in words if word]
    return Wanted("argument", caret - len(query), _word_end(text, caret), query, command=name, words=tuple(words))


def _wanted_in_shell(text: str, caret: int) -> Wanted | None:
    begin = 2 if text.startswith("!!") else 1
    if not begin <= caret <= _LONGEST_SHELL_LINE:
        return None
    word = shell_word(text[begin:caret])
    if word.text.startswith(("-", "$")) or (word.is_program and not word.text):
        return None  # options and variables, of which a shell knows more, and all programs there are
    kind: Kind = "program" if word.is_program and "/" not in word.text else "path"
    return Wanted(kind, begin + word.start, rest_of_shell_word(text, caret), word.text)


def _wanted_of_export(text: str, caret: int, rest: str) -> Wanted:
    """Return what is wanted of "[form] [path]", where the path may have blanks."""
    form, blank, path = rest.partition(" ")
    has_form = bool(blank) and form.lower() in _EXPORT_FORMS
    query = path.lstrip(" ") if has_form else rest
    words = (form,) if has_form else ()
    return Wanted("argument", caret - len(query), len(text), query, command="export", words=words)


def as_mention(path: str) -> str | None:
    """Return how a prompt mentions a path, None for a name that it cannot write."""
    if not path.isprintable():
        return None
    if _UNQUOTED.fullmatch(path):
        return f"@{path}"
    quote = next((quote for quote in "\"'" if quote not in path), None)
    return f"@{quote}{path}{quote}" if quote else None


def fitting(query: str, candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates that fit, the best first, all of them in their order without a query.

    Those that have no more than the letters in their order are left out as soon as there are better ones.
    """
    if not query.strip():
        return tuple(candidates)[:MOST_CANDIDATES]
    words = query.casefold().split()
    rated = [(_rating(query, words, candidate), candidate) for candidate in candidates]
    best = max((rating for rating, _ in rated), default=0)
    least = SCATTERED + 1 if best > SCATTERED else 1
    rated = [(rating, candidate) for rating, candidate in rated if rating >= least]
    rated.sort(key=lambda pair: -pair[0])
    return tuple(candidate for _, candidate in rated[:MOST_CANDIDATES])


def _rating(query: str, words: list[str], candidate: Candidate) -> int:
    rating = max(quality(query, candidate.text.lstrip("/")), quality(query, candidate.label.lstrip("/")))
    if rating <= SCATTERED and all(word in candidate.label.casefold() for word in words):
        return SCATTERED + 1
    return rating


def _word_end(text: str, caret: int, rest: re.Pattern[str] = _REST_OF_WORD) -> int:
    match = rest.match(text, caret)
    return match.end() if match else caret


def _mention_end(text: str, caret: int, quote: str) -> int:
    """Return where the mention that the caret is in ends."""
    if not quote:
        return _word_end(text, caret, _REST_OF_MENTION)
    line_end = text.find("\n", caret)
    line_end = len(text) if line_end < 0 else line_end
    closing = text.find(quote, caret, line_end)
    return caret if closing < 0 else closing + 1
