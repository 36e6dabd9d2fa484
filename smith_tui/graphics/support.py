"""What a terminal can show: who is asked what, and what the answers mean."""

import os
from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from smith_tui.graphics.kitty import (
    ASK_NAME,
    ask_graphics,
    is_last_answer,
    name_in,
    yes_to_direct,
    yes_to_memory,
)
from smith_tui.graphics.leftovers import SPEAKERS, is_speaker
from smith_tui.graphics.segments import Segments

Way = Literal["memory", "direct", "none"]
WORDS: dict[Way, str] = {
    "memory": "pictures behind the text, through shared memory",
    "direct": "pictures behind the text, through the line of the terminal",
    "none": "dim characters in blank cells",
}
_MUTE_TERMS = ("", "dumb", "linux", "vt100", "vt220")


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """How frames reach the terminal, and why so."""

    way: Way
    reason: str


class Dialogue:
    """Finds out what a terminal can show; no picture is asked about where its name is not one that knows them.

    forced: ask whatever its name is. Questions go out by what `begin` and `hear` return; `verdict` is None until then.
    """

    def __init__(
        self,
        environ: Mapping[str, str] = os.environ,
        *,
        forced: bool = False,
        segments: Callable[[], Segments] = Segments,
    ) -> None:
        self.verdict: Verdict | None = None
        self.name = ""
        self._environ = environ
        self._forced = forced
        self._make_segments = segments
        self._segments: Segments | None = None
        self._asks_for_pictures = False
        self._memory = self._direct = False

    def begin(self) -> str:
        """Return the first question, "" when there is none to ask."""
        between = next((name for name in ("TMUX", "STY") if self._environ.get(name)), "")
        if between:
            program = "tmux" if between == "TMUX" else "screen"
            return self._decide("none", f"{program} does not pass pictures on to the terminal")
        term = self._environ.get("TERM", "")
        if term in _MUTE_TERMS:
            return self._decide("none", f"a terminal of the kind TERM={term or '(not set)'} shows no pictures")
        if self._forced or is_speaker(self._environ):
            return self._ask_for_pictures()
        return ASK_NAME

    def hear(self, report: str) -> str:
        """Take what the terminal reports; return the next question, "" when there is none."""
        if self.verdict is not None:
            return ""
        self.name = name_in(report) or self.name
        self._memory |= yes_to_memory(report)
        self._direct |= yes_to_direct(report)
        if not is_last_answer(report):
            return ""
        if not self._asks_for_pictures:
            if self.name.lower().startswith(SPEAKERS):
                return self._ask_for_pictures()
            told = f"it calls itself {self.name[:40]!r}" if self.name else "it does not tell its name"
            return self._decide("none", f"this terminal is not known to show pictures behind text: {told}")
        if self._memory:
            return self._decide("memory", "the terminal reads shared memory of this machine")
        if self._direct:
            return self._decide("direct", "the terminal cannot read shared memory here, as over ssh")
        return self._decide("none", "the terminal says that it shows no pictures")

    def give_up(self) -> None:
        """Take silence for an answer."""
        if self.verdict is None:
            self._decide("none", "the terminal does not answer")

    def close(self) -> None:
        """Remove what the terminal has not read."""
        if self._segments is not None:
            self._segments.remove_all()

    def _ask_for_pictures(self) -> str:
        self._asks_for_pictures = True
        try:
            self._segments = self._make_segments()
            return ask_graphics(self._segments.put(bytes(4)))
        except OSError:
            return ask_graphics("")

    def _decide(self, way: Way, reason: str) -> str:
        self.verdict = Verdict(way=way, reason=reason)
        self.close()
        return ""
