"""Pasted text: cleaned, and when it is large kept aside behind one visible token. Pure."""

import re

from smith_core.text import clean_text

MAX_SHOWN_CHARACTERS = 2_000
MAX_SHOWN_LINES = 20

# One private character at the end of Unicode stands for each large paste, so that it is edited as one character.
_FIRST_TOKEN, _LAST_TOKEN = 0x10F000, 0x10FFFD
TOKEN = re.compile(f"[{chr(_FIRST_TOKEN)}-{chr(_LAST_TOKEN)}]")
_CONTROLS = "[\x00-\x08\x0b-\x1f\x7f-\x9f]"


def clean_paste(text: str) -> str:
    """Return `text` with line ends made LF and every control but tab removed."""
    text = re.sub(_CONTROLS, "", text.replace("\r\n", "\n").replace("\r", "\n"))
    return clean_text(text)


class PasteTokens:
    """The large pastes of one prompt."""

    def __init__(self) -> None:
        self._contents: dict[str, str] = {}

    def admit(self, text: str) -> str:
        """Return what stands in the prompt for `text`: the text itself, or a token when it is large."""
        large = len(text) > MAX_SHOWN_CHARACTERS or text.count("\n") >= MAX_SHOWN_LINES
        if not large and (text.isascii() or not TOKEN.search(text)):
            return text
        for token, content in self._contents.items():
            if content == text:
                return token
        if _FIRST_TOKEN + len(self._contents) > _LAST_TOKEN:
            return text
        token = chr(_FIRST_TOKEN + len(self._contents))
        self._contents[token] = text
        return token

    def extend(self, token: str, text: str) -> bool:
        """Add `text` to what the token stands for; False when it is no token."""
        if token not in self._contents:
            return False
        self._contents[token] += text
        return True

    def label(self, token: str) -> str:
        """Return what is shown for a token: lines, characters, number."""
        content = self._contents.get(token)
        if content is None:
            return token
        lines = content.count("\n") + (not content.endswith("\n"))
        number = ord(token) - _FIRST_TOKEN + 1
        return f"[Pasted {lines:,} line{'s' * (lines != 1)}, {len(content):,} characters #{number}]"

    def expand(self, text: str) -> str:
        """Return `text` with every token replaced by what it stands for."""
        if text.isascii():
            return text
        return TOKEN.sub(lambda match: self._contents.get(match[0], match[0]), text)
