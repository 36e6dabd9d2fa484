"""Which conversations a typed filter keeps, and in which order. Pure."""

from collections.abc import Iterable

from smith_tui.screens.stored import StoredConversation

_NOTHING, _LETTERS, _INSIDE, _WORD = range(4)
"""How well a word fits: not at all, its letters in their order, as a part, at the start of a word."""


def keep_matching(conversations: Iterable[StoredConversation], text: str) -> list[StoredConversation]:
    """Return those whose title or folder fits every word of `text`, the best first, else in their order.

    A word also fits when its letters occur in their order with others between them: `fxprs` finds `fix the parser`.
    """
    words = text.casefold().split()
    if not words:
        return list(conversations)
    scored: list[tuple[int, StoredConversation]] = []
    for each in conversations:
        title, folder = each.title.casefold(), each.cwd.casefold()
        fits = [max(_fit(word, title), _fit(word, folder)) for word in words]
        if _NOTHING not in fits:
            scored.append((sum(fits), each))
    scored.sort(key=lambda pair: -pair[0])
    return [each for _, each in scored]


def _fit(word: str, text: str) -> int:
    start = text.find(word)
    if start < 0:
        return _LETTERS if _has_letters(word, text) else _NOTHING
    while start > 0 and text[start - 1].isalnum():
        start = text.find(word, start + 1)
    return _INSIDE if start < 0 else _WORD


def _has_letters(word: str, text: str) -> bool:
    position = -1
    for letter in word:
        position = text.find(letter, position + 1)
        if position < 0:
            return False
    return True
