"""What a person takes for one character: grapheme clusters, so that a caret never stands inside one."""

import re

from rich.cells import get_character_cell_size

_JOINER = "\u200d"
_FIRST_COMBINING = "\u0300"
# Not compiled here: that takes a millisecond of the start.
_PICTOGRAPH = "[\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
_LOOKAROUND = 256  # code points that are looked at to find one visible character


def clusters(text: str) -> list[tuple[int, int]]:
    """Return the (start, end) of each visible character of `text`, in code points, without gaps."""
    if text.isascii():
        return [(index, index + 1) for index in range(len(text))]
    spans: list[tuple[int, int]] = []
    start = 0
    for index in range(1, len(text)):
        if not _joins(text[max(start, index - 2) : index], text[index]):
            spans.append((start, index))
            start = index
    return [*spans, (start, len(text))]


def next_boundary(text: str, index: int) -> int:
    """Return where the visible character that starts at `index` ends."""
    if index + 1 >= len(text) or text[index + 1] < _FIRST_COMBINING:
        return min(index + 1, len(text))
    return index + clusters(text[index : index + _LOOKAROUND])[0][1]


def previous_boundary(text: str, index: int) -> int:
    """Return where the visible character that ends at `index` starts."""
    if index <= 1 or text[index - 1] < _FIRST_COMBINING:
        return max(index - 1, 0)
    start = max(0, index - _LOOKAROUND)
    return start + clusters(text[start:index])[-1][0]


def _joins(before: str, character: str) -> bool:
    """Say whether `character` belongs to the visible character whose last code points are `before`."""
    if before[-1] < " " or character < _FIRST_COMBINING:
        return False
    if get_character_cell_size(character) == 0:
        return True
    if before[-1] == _JOINER:
        return re.match(_PICTOGRAPH, character) is not None
    return len(before) == 1 and _is_flag_half(before) and _is_flag_half(character)


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
