"""What the rain finds on the screen: the field behind a view, the letters in it, and what stands above it."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from textual.css.query import NoMatches
from textual.errors import NoWidget
from textual.geometry import Region
from textual.widget import Widget

from smith_tui.graphics.field import CLEAR, MAX_COLUMNS, SHARE, Field, Patch, covers_of, field_in
from smith_tui.graphics.letters import Run, runs_of
from smith_tui.transcript.document_view import MORE_BELOW, DocumentView
from smith_tui.transcript.lines import Line
from smith_tui.transcript.model import Row


class Scene(NamedTuple):
    """Where rain falls, and how each of its signs is covered, row by row (`covers_of`)."""

    field: Field
    covers: list[bytes]


class Stage:
    """Looks at a view on the screen again and again; what has not changed costs next to nothing.

    share, max_columns: as in `field_in`.
    """

    def __init__(self, view: DocumentView, *, share: float = SHARE, max_columns: int = MAX_COLUMNS) -> None:
        self.view = view
        self.share, self.max_columns = share, max_columns
        self._seen: tuple[object, list[Row], bool] | None = None
        self._scene: Scene | None = None
        self._runs: dict[int, tuple[Line, list[Run]]] = {}

    def look(self) -> Scene | None:
        """Return what is to be seen now; None when the view is not, or is too small."""
        view = self.view
        if not view.is_attached or view.app.screen is not view.screen:
            return None
        # The compositor makes this anew whenever anything has moved.
        widgets = view.screen._compositor.visible_widgets
        rows = view.shown_rows
        seen = (widgets, rows, view.is_following)
        if self._seen is None or not _is_same(self._seen, seen):
            self._seen, self._scene = seen, self._look(rows)
        return self._scene

    def _look(self, rows: Sequence[Row]) -> Scene | None:
        region = region_of(self.view)
        if region is None:
            return None
        field = field_in(*region, share=self.share, max_columns=self.max_columns)
        if field is None:
            return None
        patches = [*self._letters(field, rows), *_above(self.view)]
        if not self.view.is_following:
            patches.append(Patch(region.right - len(MORE_BELOW), region.bottom - 1, region.right, region.bottom, CLEAR))
        return Scene(field, covers_of(field, patches))

    def _letters(self, field: Field, rows: Sequence[Row]) -> Iterator[Patch]:
        kept, self._runs = self._runs, {}
        for y, row in enumerate(rows, field.y):
            line = row.line
            known = kept.get(id(line))
            runs = known[1] if known is not None and known[0] is line else runs_of(line, field.width + 1)
            self._runs[id(line)] = (line, runs)
            for start, end, cover in runs:
                yield Patch(field.x + start, y, field.x + end, y + 1, cover)


def region_of(view: DocumentView) -> Region | None:
    """Return the part of the screen where a view shows its rows; None when it shows none."""
    try:
        geometry = view.screen.find_widget(view)
    except (NoWidget, NoMatches):
        return None
    bar = view.scrollbar_size_vertical if view.show_vertical_scrollbar else 0
    region = geometry.region.intersection(geometry.clip)
    return region.shrink((0, bar, 0, 0)) if region.area else None


def _above(view: Widget) -> Iterator[Patch]:
    """Yield what stands above the view: popups and messages."""
    for widget, (region, clip) in view.screen._compositor.visible_widgets.items():
        if widget is view:
            return
        is_frame = widget.styles.background.a == 0 and bool(widget.children)
        if is_frame or view in widget.ancestors or widget in view.ancestors:
            continue
        seen = region.intersection(clip)
        if seen.area:
            yield Patch(seen.x, seen.y, seen.right, seen.bottom, CLEAR)


def _is_same(before: tuple[object, list[Row], bool], now: tuple[object, list[Row], bool]) -> bool:
    return before[0] is now[0] and before[1:] == now[1:]
