"""Sequences for the terminal around tmux or GNU screen, which hand them on in a wrapping of their own."""

from collections.abc import Mapping

_SCREEN_CHUNK = 512
"""Characters that GNU screen passes on in one piece (its limit is 768, marks included)."""


def passed_on(sequence: str, environ: Mapping[str, str]) -> str:
    """Return a sequence in the form in which it comes to the terminal itself."""
    if environ.get("TMUX"):
        doubled = sequence.replace("\x1b", "\x1b\x1b")
        return f"\x1bPtmux;{doubled}\x1b\\"
    if environ.get("STY"):
        pieces = (sequence[at : at + _SCREEN_CHUNK] for at in range(0, len(sequence), _SCREEN_CHUNK))
        return "".join(f"\x1bP{piece}\x1b\\" for piece in pieces)
    return sequence
