"""Selecting by keys: from one spot in a document to another, by visible characters, rows and pages. Pure."""

from typing import NamedTuple

from textual.geometry import Offset
from textual.selection import Selection

from smith_tui.transcript.cells import cell_width, index_at_cell
from smith_tui.transcript.lines import Line
from smith_tui.transcript.model import Document, Place, Row
from smith_tui.transcript.selection import Motion, key_of, place_of
from smith_tui.widgets.clusters import next_boundary, previous_boundary

_BACKWARDS = ("left", "up", "home", "pageup")


class Spot(NamedTuple):
    """A place in a document and the character of its row before which the spot is."""

    place: Place
    at: int


class Stretch(NamedTuple):
    """What is selected: from where it began to where the last key led, whichever comes first in the text."""

    anchor: Spot
    head: Spot

    @property
    def selection(self) -> Selection:
        """The same as Textual keeps it."""
        first, last = sorted(self)
        return Selection(Offset(first.at, key_of(first.place)), Offset(last.at, key_of(last.place)))


def stretch_of(selection: Selection | None, kept: Stretch | None) -> Stretch | None:
    """Return what a selection spans: `kept` if it is that one still, or one that goes on from its end."""
    if kept is not None and selection == kept.selection:
        return kept
    if selection is None or selection.start is None or selection.end is None:
        return None
    start, end = selection.start, selection.end
    return Stretch(Spot(place_of(start.y), start.x), Spot(place_of(end.y), end.x))


def begin(shown: list[Row], motion: Motion) -> Stretch | None:
    """Return where a selection begins: at the end of what is shown for a motion backwards, or else at its start."""
    if not shown:
        return None
    row = shown[-1] if motion in _BACKWARDS else shown[0]
    spot = Spot(row.place, len(row.line.text) if motion in _BACKWARDS else row.line.lead)
    return Stretch(spot, spot)


def moved(document: Document, spot: Spot, motion: Motion, page_rows: int) -> Spot:
    """Return where a motion leads from a spot; at either end of the document it stays."""
    place = document.move(spot.place, 0)  # rows may have gone since
    line = _line(document, place)
    index = min(max(spot.at, line.lead), len(line.text))
    match motion:
        case "home":
            return Spot(place, line.lead)
        case "end":
            return Spot(place, len(line.text))
        case "right" if index < len(line.text):
            return Spot(place, next_boundary(line.text, index))
        case "left" if index > line.lead:
            return Spot(place, max(line.lead, previous_boundary(line.text, index)))
        case "right" | "left":
            target = document.move(place, 1 if motion == "right" else -1)
            other = _line(document, target)
            return Spot(place, index) if target == place else Spot(target, _end(other, at_start=motion == "right"))
    rows = {"up": -1, "down": 1, "pageup": -page_rows, "pagedown": page_rows}[motion]
    target = document.move(place, rows)
    if target == place:
        return Spot(place, _end(line, at_start=rows < 0))
    other = _line(document, target)
    return Spot(target, max(other.lead, index_at_cell(other.text, cell_width(line.text[:index]))))


def _line(document: Document, place: Place) -> Line:
    return document.rows(place.block)[place.row]


def _end(line: Line, *, at_start: bool) -> int:
    return line.lead if at_start else len(line.text)
