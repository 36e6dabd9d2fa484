"""Foreign text for places that take plain lines: file names, commands, models, errors, results of tools."""

import re

TAB_WIDTH = 4
_FIRST_MARK = "\u0300"
"""Below it, what can be printed is one letter in one cell; behind it come marks that join letters."""

# Not compiled here: that takes half a millisecond of the start.
_BREAKS = r"\r\n|[\r\n\t\u2028\u2029\x85\x0b\x0c]"


def literal(text: str) -> str:
    """Return `text` as one line: breaks and tabs become spaces, other controls become visible signs."""
    if text.isprintable() and max(text, default="") < _FIRST_MARK:
        return text
    # Progress of a task without the screen is plain nearly always, and has no table of widths to wait for.
    from smith_tui.transcript.cells import visible

    return visible(re.sub(_BREAKS, " ", text))


def literal_lines(text: str) -> list[str]:
    """Return the lines of `text` with tabs expanded and other controls made visible."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [literal(line.expandtabs(TAB_WIDTH)) for line in lines]
