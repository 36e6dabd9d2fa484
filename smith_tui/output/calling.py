"""How a terminal calls a person who looks elsewhere: by its bell, or by a notification of the desktop."""

from collections.abc import Mapping
from typing import Literal

from smith_tui.output.passing_on import passed_on

Words = Literal["Smith: the turn has ended", "Smith asks"]
"""All that is ever said: a notification stands on locked screens, too, where no word of a conversation belongs."""

BELL = "\x07"
_WITHOUT_STRINGS = frozenset({"", "dumb", "linux", "vt100", "vt220"})
"""Kinds of terminals that may show such a sequence as text."""
_WITH_777 = ("foot", "rxvt")


def call_sequence(way: str, words: Words, environ: Mapping[str, str]) -> str:
    """Return what makes the terminal call: a notification for the way "desktop" where it may know one, or the bell."""
    term = environ.get("TERM", "")
    if way != "desktop" or term in _WITHOUT_STRINGS:
        return BELL
    # One form alone: there are terminals that know both, and would call twice.
    if term.startswith(_WITH_777) or environ.get("VTE_VERSION"):
        return passed_on(f"\x1b]777;notify;Smith;{words}\x07", environ)
    return passed_on(f"\x1b]9;{words}\x07", environ)
