"""Foreign text made fit for the terminal: no control reaches the tty, and every terminal agrees about the width."""

import re

from smith_core.text import REPLACEMENT, clean_text

TAB_WIDTH = 4

_CONTROL_PICTURES = 0x2400
_ONE_LINE = {
    **{code: chr(_CONTROL_PICTURES + code) for code in range(0x20)},
    **{code: " " for code in (0x09, 0x0A, 0x0D, 0x2028, 0x2029)},
    0x7F: "\u2421",
    **{code: REPLACEMENT for code in range(0x80, 0xA0)},
}

# Marks that reorder what is read (U+202E and its kin) hide what a name really says, so they show as U+FFFD.
_REORDERING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# Terminals disagree whether these take a cell, and none of them can be seen.
_INVISIBLE = re.compile("[\u00ad\u034f\u180e\u200b\u200c\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb]")
# A joiner makes one glyph of two only between pictographs; elsewhere the text shows the same without it.
PICTOGRAPHS = "\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_STRAY_JOINER = re.compile(f"(?<![{PICTOGRAPHS}\ufe0f])\u200d|\u200d(?![{PICTOGRAPHS}])")


def literal(text: str) -> str:
    """Return `text` as one line for one-line places: breaks become spaces, other controls become visible signs."""
    if text.isascii() and text.isprintable():
        return text
    return visible_text(text).translate(_ONE_LINE)


def literal_lines(text: str) -> list[str]:
    """Return the lines of `text` with tabs expanded and other controls made visible."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [literal(line.expandtabs(TAB_WIDTH)) for line in lines]


def visible_text(text: str) -> str:
    """Return `text` without the marks that show nothing or reorder it; controls stay for the caller to handle."""
    if text.isascii():
        return text
    text = _INVISIBLE.sub("", clean_text(text))
    return _STRAY_JOINER.sub("", _REORDERING.sub(REPLACEMENT, text))
