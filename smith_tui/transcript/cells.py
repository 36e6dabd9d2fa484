"""Making foreign text fit for a terminal: nothing acts on it, and every terminal agrees on its width."""

import unicodedata
from functools import lru_cache

from rich.cells import get_character_cell_size as char_cells

REPLACEMENT = "�"
MAX_MARKS = 4
"""Most combining marks kept on one letter; more of them overflow into other rows and stall terminals."""

_MARKS_LOOKED_AT = 32
_BREAKS = frozenset("\n\t")
_BIDI_CONTROLS = frozenset(range(0x202A, 0x202F)) | frozenset(range(0x2066, 0x206A))
_SPACES = frozenset({0x2028, 0x2029})
_REGIONAL_A, _REGIONAL_Z = 0x1F1E6, 0x1F1FF
_INVISIBLE = (
    frozenset({0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0})  # joiners and blank fillers
    | frozenset(range(0x180B, 0x1810))
    | frozenset(range(0xFE00, 0xFE10))  # variation selectors
    | frozenset(range(0xE0100, 0xE01F0))
    | frozenset(range(0x1F3FB, 0x1F400))  # skin tones
)


def visible(text: str) -> str:
    """Return `text` with nothing left in it that could act on a terminal or that terminals measure differently.

    Controls become control pictures, direction overrides `<U+202E>`, and what has no form of its own (joiners,
    variation selectors, skin tones, tags) is left out; flags become their letters. Newline and tab stay.
    Applying it twice changes nothing.
    """
    if text.isascii() and text.isprintable():
        return text
    characters = set(text)
    replaced = {ord(character): shown for character in characters if (shown := _shown(character)) != character}
    if replaced:
        text = text.translate(replaced)
    if text.isascii() or all(map(char_cells, set(text) - _BREAKS)):
        return text
    return _compose(text)


@lru_cache(8192)
def _shown(character: str) -> str:
    """Return what stands on the screen for one character."""
    code = ord(character)
    if character in _BREAKS:
        return character
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if 0x80 <= code < 0xA0:
        return REPLACEMENT
    if code in _BIDI_CONTROLS:
        return f"<U+{code:04X}>"
    if code in _SPACES:
        return " "
    if _REGIONAL_A <= code <= _REGIONAL_Z:
        return chr(ord("A") + code - _REGIONAL_A)
    return _shown_by_category(character, code)


def _shown_by_category(character: str, code: int) -> str:
    category = unicodedata.category(character)
    if category == "Cs" or code & 0xFFFE == 0xFFFE:
        return REPLACEMENT
    if code in _INVISIBLE or category == "Me":
        return ""
    if category == "Cf" and (code == 0xAD or char_cells(character) == 0):
        return ""
    return character


def _compose(text: str) -> str:
    """Join letters with their marks to single characters where those exist, and leave marks in excess out."""
    parts: list[str] = []
    start = 0
    for index in range(1, len(text) + 1):
        if index == len(text) or text[index] in _BREAKS or char_cells(text[index]) or text[index - 1] in _BREAKS:
            # Ordering marks takes time that grows with the square of their number.
            part = text[start : min(index, start + _MARKS_LOOKED_AT)]
            parts.append(part if len(part) == 1 else unicodedata.normalize("NFC", part)[: MAX_MARKS + 1])
            start = index
    return "".join(parts)


def cell_width(text: str) -> int:
    """Return how many terminal cells `text` takes; it must have come through `visible`."""
    return len(text) if text.isascii() else sum(map(char_cells, text))


def cut(text: str, cells: int) -> tuple[str, str]:
    """Split `text` so that the first part takes at most `cells` cells; marks stay with their letter."""
    if text.isascii():
        return text[:cells], text[cells:]
    used = 0
    for index, character in enumerate(text):
        used += char_cells(character)
        if used > cells:
            return text[:index], text[index:]
    return text, ""


def cut_to(text: str, cells: int) -> str:
    """Return the start of `text` in at most `cells` cells, an ellipsis in place of what is left out."""
    if cell_width(text) <= cells:
        return text
    return cut(text, cells - 1)[0] + "…" if cells > 0 else ""


def index_at_cell(text: str, cell: int) -> int:
    """Return the index of the character that covers terminal cell `cell`, or the length of `text`."""
    return len(cut(text, cell)[0]) if cell < cell_width(text) else len(text)
