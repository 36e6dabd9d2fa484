"""Makes plain text of the bytes that a program or a server sends: no escape sequence and no control is left."""

import codecs
import re

from smith_core.patterns import later
from smith_core.text import REPLACEMENT

_SEQUENCE = later(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI
    "|(?:\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x18\x1a\x1b\x9c\n]*(?:\x07|\x1b\\\\|\x9c)?"  # OSC, DCS, SOS, PM, APC
    "|\x1b[ -/]*[0-~]?"
)
_INTRODUCER = later("[\x1b\x90\x98\x9b\x9d-\x9f]")
_CONTROL = later("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_HELD_CHARACTERS = 4096
"""Longest sequence that is still recognised when it comes in two pieces."""


def without_controls(text: str) -> str:
    """Return text without escape sequences, its other controls shown as signs (␍, ␌), tab and newline left alone."""
    text = text.replace("\r\n", "\n")
    if _CONTROL.search(text) is None:
        return text
    return _CONTROL.sub(_sign, _SEQUENCE.sub("", text))


def _sign(control: re.Match[str]) -> str:
    code = ord(control[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else REPLACEMENT


class ForeignText:
    """Decodes UTF-8 and cleans it piece by piece; where the pieces are cut does not change the text."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._held = ""

    def feed(self, data: bytes) -> str:
        """Take more bytes and return the text that is complete."""
        text = self._held + self._decode(data)
        # A sequence that is not over may hold what would begin another one, but no end of a line.
        line = max(text.rfind("\n") + 1, len(text) - _HELD_CHARACTERS)
        begun = _INTRODUCER.search(text, line)
        start = len(text) - text.endswith("\r") if begun is None else begun.start()
        self._held = text[start:]
        return without_controls(text[:start])

    def finish(self) -> str:
        """Return the rest of the text."""
        text, self._held = self._held + self._decode(b"", True), ""
        return without_controls(text)
