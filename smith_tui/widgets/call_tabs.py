"""One tab for each call whose output can be looked at: how it stands and what it is; the shown one is always there."""

from collections.abc import Sequence
from typing import NamedTuple

from smith_tui.transcript.cells import cell_width, cut_to
from smith_tui.widgets.tool_calls import STATE_MARKS, HeaderStyle, ToolCall

MAX_TAB_CELLS = 24
_MORE_LEFT, _MORE_RIGHT, _BETWEEN = "‹", "›", " "


class Tab(NamedTuple):
    """A piece of the row of tabs; `call_id` is "" where a click means nothing."""

    text: str
    style: HeaderStyle
    call_id: str = ""


def tab_row(calls: Sequence[ToolCall], shown: ToolCall, width: int) -> list[Tab]:
    """Return pieces that take exactly `width` cells: the shown call's tab and as many beside it as there is room."""
    place = next(index for index, call in enumerate(calls) if call is shown)
    texts = [_title(call) for call in calls]
    first, end = _window([cell_width(text) for text in texts], place, width - 2)
    pieces = [Tab(_MORE_LEFT if first else " ", "muted", calls[first - 1].call_id if first else "")]
    for index in range(first, end):
        style: HeaderStyle = "mark" if index == place else "muted"
        pieces.append(Tab(texts[index], style, calls[index].call_id))
        pieces.append(Tab(_BETWEEN, "muted"))
    pieces.pop()
    used = sum(cell_width(piece.text) for piece in pieces)
    more = end < len(calls)
    if used + 1 <= width:
        pieces.append(Tab(" " * (width - used - 1), "muted"))
        pieces.append(Tab(_MORE_RIGHT if more else " ", "muted", calls[end].call_id if more else ""))
    return _fit(pieces, width)


def call_at(row: Sequence[Tab], x: int) -> str:
    """Return the id of the call whose tab covers cell `x`, "" where there is none."""
    for tab in row:
        x -= cell_width(tab.text)
        if x < 0:
            return tab.call_id
    return ""


def _title(call: ToolCall) -> str:
    mark = STATE_MARKS[call.state][0]
    words = f"{call.name} {call.summary}" if call.summary else call.name
    return f" {mark} {cut_to(words, MAX_TAB_CELLS - 4)} "


def _window(widths: Sequence[int], place: int, room: int) -> tuple[int, int]:
    """Return the range of tabs around `place` that fits, newer ones first."""
    first, end = place, place + 1
    used = widths[place]
    while True:
        if end < len(widths) and used + 1 + widths[end] <= room:
            used += 1 + widths[end]
            end += 1
        elif first > 0 and used + 1 + widths[first - 1] <= room:
            first -= 1
            used += 1 + widths[first]
        else:
            return first, end


def _fit(pieces: list[Tab], width: int) -> list[Tab]:
    """Cut pieces at the right where a single tab is wider than the row."""
    fitting: list[Tab] = []
    for piece in pieces:
        text = cut_to(piece.text, width)
        fitting.append(piece._replace(text=text))
        width -= cell_width(text)
    return fitting
