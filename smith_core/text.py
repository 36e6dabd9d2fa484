"""Cleaning of foreign text on entry, so that every message can be encoded, stored and shown."""

import re

REPLACEMENT = "�"

# Not compiled here: that takes longer than the rest of this import, and text that needs it is rare.
_SURROGATE_PAIR = "[\ud800-\udbff][\udc00-\udfff]"
_LONE_SURROGATE = "[\ud800-\udfff]"


def clean_text(text: str) -> str:
    """Return `text` fit for UTF-8, JSON and the store: pairs of surrogates joined, lone ones and NUL made U+FFFD."""
    if text.isascii():
        return text.replace("\0", REPLACEMENT) if "\0" in text else text
    text = re.sub(_SURROGATE_PAIR, lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
    return re.sub(_LONE_SURROGATE, REPLACEMENT, text).replace("\0", REPLACEMENT)


def shorten(text: str, limit: int) -> str:
    """Return one line of at most `limit` characters, the cut marked by an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: max(0, limit - 1)] + "…"
