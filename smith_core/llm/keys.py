"""API keys: made fit for a header on the way in, and cut out of every foreign text on the way out."""

import re

from smith_core.errors import AgentError
from smith_core.patterns import later

NO_KEY = "no-key"
"""Sent where an endpoint needs no key, so that no library goes and looks for one in the environment."""

KEY_MARK = "[key]"
_SHORTEST_FRAGMENT = 4
_SHORTEST_REAL_KEY = 8
_FIT_FOR_HEADER = later(r"[\x21-\x7e]*")
_KEY_SHAPED = later(r"(?:\bsk-|(?<=Bearer ))[A-Za-z0-9_*.\-]{6,}")


def clean_key(raw: str) -> str | AgentError:
    """Return a key without the blanks and newlines around it, or the reason why no header may carry it.

    A header value is visible ASCII (RFC 9110, section 5.5); the error never repeats the key.
    """
    key = raw.strip()
    if _FIT_FOR_HEADER.fullmatch(key):
        return key
    bad = next(character for character in key if not _FIT_FOR_HEADER.fullmatch(character))
    what = "a blank" if bad.isspace() else f"the character U+{ord(bad):04X}"
    return AgentError(
        kind="policy",
        code="bad_key",
        message=f"the API key has {what} in it, which no request can carry; copy the key again, without it",
        origin="llm",
    )


def redact(text: str, key: str) -> str:
    """Return `text` without the key, without any piece of it of four characters or more, and without other keys.

    Servers repeat keys whole, or shortened in the middle; both are cut out.
    """
    text = _KEY_SHAPED.sub(KEY_MARK, text)
    if len(key) < _SHORTEST_REAL_KEY:
        return re.sub(rf"(?<!\w){re.escape(key)}(?!\w)", KEY_MARK, text) if key else text
    pieces: list[str] = []
    position = 0
    folded, folded_key = text.lower(), key.lower()
    while position < len(text):
        length = _shared_length(folded, position, folded_key)
        if length < _SHORTEST_FRAGMENT:
            pieces.append(text[position])
            position += 1
            continue
        if not pieces or pieces[-1] != KEY_MARK:
            pieces.append(KEY_MARK)
        position += length
    return "".join(pieces)


def _shared_length(text: str, position: int, key: str) -> int:
    """Return how many characters from `position` on stand in the key in this order."""
    length = _SHORTEST_FRAGMENT
    if text[position : position + length] not in key or position + length > len(text):
        return 0
    while position + length < len(text) and text[position : position + length + 1] in key:
        length += 1
    return length
