"""Reading the model's JSON action while it is still being written."""

import re
from typing import Any

import msgspec

from smith_core.embedded.facade.actions import ANSWER

_HEAD = re.compile(r'\s*\{\s*"tool"\s*:\s*"([^"\\]+)"')
_TEXT_START = re.compile(r'\s*,\s*"text"\s*:\s*"')
_ESCAPE_BEGUN = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?$|\\u[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u[0-9a-fA-F]{0,3})?)?$")
_STRING_END = re.compile(r'(?:[^"\\]|\\.)*"')


class ReplyReader:
    """Takes a reply piece by piece; `tool` is its action as soon as it is known, "" before."""

    def __init__(self) -> None:
        self.raw = ""
        self.tool = ""
        self._text_at = -1
        self._shown = 0

    def feed(self, piece: str) -> str:
        """Take more of the reply and return more of the answer's text, "" while there is none to show."""
        self.raw += piece
        if not self.tool:
            head = _HEAD.match(self.raw)
            if head is None:
                return ""
            self.tool = head[1]
            self._text_at = head.end()
        return self._more_text() if self.tool == ANSWER else ""

    def action(self) -> dict[str, Any] | None:
        """Return the complete action, or None when the reply is not one."""
        try:
            value = msgspec.json.decode(self.raw)
        except (msgspec.DecodeError, UnicodeError):
            return None
        return value if isinstance(value, dict) and isinstance(value.get("tool"), str) else None

    def _more_text(self) -> str:
        start = _TEXT_START.match(self.raw, self._text_at)
        if start is None:
            return ""
        end = _STRING_END.match(self.raw, start.end())
        body = self.raw[start.end() : end.end() - 1] if end else self.raw[start.end() :]
        if end is None:
            body = _ESCAPE_BEGUN.sub("", body)
        try:
            text = str(msgspec.json.decode(f'"{body}"'.encode("utf-8", "surrogatepass")))
        except (msgspec.DecodeError, UnicodeError):
            return ""
        more, self._shown = text[self._shown :], max(self._shown, len(text))
        return more
