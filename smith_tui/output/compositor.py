"""Textual's compositor without its detours: widgets are asked for rows that have changed and are seen, no more."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from textual import screen
from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

Chops = dict[int, Strip | None]
"""The strips of one row of the screen by the column where each begins, from left to right."""

FRAME_GAP_S = 0.002
"""Behind a frame the toolkit waits one to two of its periods before the next, 17 to 33 ms as it comes: a key that is
typed right behind a frame of an answer would wait as long. What makes many frames bounds their number itself."""


class LeanCompositor(Compositor):
    """Gives the same updates as its base, which renders every widget whole whatever it is that has changed."""

    def render_partial_update(self) -> ChopsUpdate | None:
        """Return what has changed since the last update, None for nothing."""
        regions = self._dirty_regions.copy()
        self._dirty_regions.clear()
        if not regions:
            return None
        spans = list(self._regions_to_spans(regions))
        wanted: dict[int, tuple[int, int]] = {}
        for y, first, end in spans:
            known = wanted.get(y, (first, end))
            wanted[y] = (min(first, known[0]), max(end, known[1]))
        return ChopsUpdate(self._chops(wanted), spans, [row[1:] for row in self.cuts])

    def _render_chops(self, crop: Region, is_rendered_line: Callable[[int], bool]) -> Sequence[Mapping[int, Strip]]:
        return self._chops({y: crop.column_span for y in crop.line_range if is_rendered_line(y)})

    def _chops(self, wanted: Mapping[int, tuple[int, int]]) -> Sequence[Mapping[int, Strip]]:
        """Return the strips of all rows, made only where they are wanted; wanted: first column and end by row."""
        cuts = self.cuts
        rows: list[Chops] = [dict.fromkeys(row[:-1]) if y in wanted else {} for y, row in enumerate(cuts)]
        # What is not covered yet, from the front to the back; the first widget in a place is the one that is seen.
        left = {y: set(_between(cuts[y], *span)) for y, span in sorted(wanted.items()) if 0 <= y < len(cuts)}
        for widget, (region, clip) in self.visible_widgets.items():
            if not left:
                break
            seen = region.intersection(clip)
            x, end = seen.column_span
            top, bottom = seen.line_span
            if x == end or bottom <= next(iter(left)):
                continue
            places = {y: here for y in left if top <= y < bottom and (here := _inside(left[y], x, end))}
            for first, count in runs_of_rows(places):
                strips = widget.render_lines(Region(x - region.x, first - region.y, end - x, count))
                for y, strip in enumerate(strips, first):
                    left[y] -= _put(rows[y], strip, [cut for cut in cuts[y] if x <= cut <= end], places[y])
                    if not left[y]:
                        del left[y]
        return rows  # type: ignore[return-value]


def use_lean_compositor() -> None:
    """Let every screen that is made from now on draw with a LeanCompositor, and soon after something has changed."""
    screen.Compositor = LeanCompositor  # type: ignore[attr-defined]
    screen.UPDATE_PERIOD = FRAME_GAP_S  # type: ignore[misc]


def paint_now(view: Screen[Any], widgets: Iterable[Widget]) -> None:
    """Bring to the screen what these widgets of it have to paint again; where it cannot be now, Textual does it soon.

    Textual's own way there leads over three queues and a timer, which take as long as drawing a frame of an answer.
    """
    compositor = view._compositor
    is_held_back = view._layout_required or view._scroll_required or view._recompose_required or view.app._batch_count
    if is_held_back or not isinstance(compositor, LeanCompositor) or not view.is_current:
        return
    for widget in widgets:
        # One of them alone is left when the widget has asked the screen already, which has not come to it.
        if (widget._repaint_required or widget._repaint_regions) and widget in compositor.visible_widgets:
            widget._repaint_required = False
            view._dirty_widgets.add(widget)
    view._on_timer_update()


def _between(cuts: Sequence[int], first: int, end: int) -> Iterator[int]:
    """Yield where the chops begin that lie in part or whole between two columns."""
    return (cut for cut, following in pairwise(cuts) if cut < end and following > first)


def _inside(starts: set[int], first: int, end: int) -> set[int]:
    return {start for start in starts if first <= start < end}


def runs_of_rows(rows: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the first row and the number of each group of rows without a gap."""
    first = before = None
    for y in rows:
        if before is None or first is None:
            first = y
        elif y != before + 1:
            yield first, before + 1 - first
            first = y
        before = y
    if before is not None and first is not None:
        yield first, before + 1 - first


def _put(row: Chops, strip: Strip, cuts: Sequence[int], places: set[int]) -> set[int]:
    """Put the parts of a widget's row where they are seen, and return where; cuts: its columns from edge to edge."""
    first = cuts[0]
    if len(places) == 1 and first in places and strip.cell_length == cuts[1] - first:
        row[first] = strip
        return {first}
    parts = zip(cuts, strip.divide([cut - first for cut in cuts[1:]]), strict=False)
    put = {start: part for start, part in parts if start in places}
    row.update(put)
    return set(put)
