"""Selected text: places as the offsets that Textual keeps, and rows joined again to the lines that they came from."""

import re
from collections.abc import Iterator
from typing import Literal

from textual.geometry import Offset
from textual.selection import Selection

from smith_tui.transcript.lines import Line
from smith_tui.transcript.model import Document, Place, Row

Motion = Literal["left", "right", "up", "down", "home", "end", "pageup", "pagedown"]
"""A key that selects on."""
MOTIONS: tuple[Motion, ...] = ("left", "right", "up", "down", "home", "end", "pageup", "pagedown")

_ROW_BITS = 20
_WORD = r"[\w./~@:+-]+|\s+|."


def key_of(place: Place) -> int:
    """Return a place as one number that keeps the order and does not change when heights are refined."""
    return place.block << _ROW_BITS | place.row


def place_of(key: int) -> Place:
    """Return the place that `key_of` made a number of."""
    return Place(key >> _ROW_BITS, key & (1 << _ROW_BITS) - 1)


def selected_text(document: Document, selection: Selection) -> str:
    """Return the selected text without decoration, rows that were wrapped joined as the source had them.

    A selection without ends gives the sources of all blocks.
    """
    if selection.start is None and selection.end is None:
        return "\n\n".join(block.text for block in document.blocks)
    first = place_of(selection.start.y) if selection.start else Place(0, 0)
    last = place_of(selection.end.y) if selection.end else document.last_place()
    lines: list[str] = []
    for place, line in _rows_between(document, first, last):
        start = selection.start.x if selection.start and place == first else 0
        end = selection.end.x if selection.end and place == last else len(line.text)
        part = line.text[max(start, line.lead) : end]
        if line.joint is None or not lines:
            lines.append(part)
        else:
            lines[-1] = f"{lines[-1].rstrip()}{line.joint}{part}"
    return "\n".join(line.rstrip() for line in lines).rstrip("\n")


def word_at(place: Place, line: Line, index: int) -> Selection | None:
    """Return the selection of the word at a character of a row."""
    for match in re.finditer(_WORD, line.text):
        if match.start() <= index < match.end():
            key = key_of(place)
            return Selection(Offset(match.start(), key), Offset(match.end(), key))
    return None


def paragraph_at(document: Document, place: Place) -> Selection:
    """Return the selection of the source line, all its rows, that stands at a place."""
    rows = document.rows(place.block)
    first = last = place.row
    while first > 0 and rows[first].joint is not None:
        first -= 1
    while last + 1 < len(rows) and rows[last + 1].joint is not None:
        last += 1
    return Selection(
        Offset(rows[first].lead, key_of(Place(place.block, first))),
        Offset(len(rows[last].text), key_of(Place(place.block, last))),
    )


def _rows_between(document: Document, first: Place, last: Place) -> Iterator[Row]:
    for block in range(first.block, min(last.block + 1, len(document.blocks))):
        for row, line in enumerate(document.rows(block)):
            place = Place(block, row)
            if first <= place <= last:
                yield Row(place, line)
