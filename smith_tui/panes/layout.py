"""The layout of child panes: asks the tiling rules, and gives Textual their answer."""

from collections.abc import Callable, Sequence

from rich.segment import Segment
from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.strip import Strip
from textual.widget import Widget

from smith_tui.panes.tiling import Item, Tile, tile
from smith_tui.transcript.cells import cut_to


class MoreRow(Widget):
    """The row that says how many panes have no room."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    MoreRow { height: 1; width: 1fr; color: $text-muted; background: $background; }
    """

    def __init__(self, key: str) -> None:
        super().__init__()
        self._key = key
        self._count = 0

    def show_count(self, count: int) -> None:
        """Say that so many panes are not shown."""
        if count != self._count:
            self._count = count
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return the row at exactly the width of the widget."""
        text = f"  … {self._count} more, {self._key} goes to the next one"
        width = self.size.width
        return Strip([Segment(cut_to(text, width), self.rich_style)]).adjust_cell_length(width, self.rich_style)


class TileLayout(Layout):
    """Places panes as the tiling rules say; what has no room is not placed, and `more` counts it.

    panes: called for each arrangement; widgets in order, with what they ask for.
    """

    name = "tiles"

    def __init__(self, panes: Callable[[], Sequence[tuple[Widget, Item]]], more: MoreRow) -> None:
        self._panes = panes
        self._more = more

    def arrange(self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True) -> ArrangeResult:
        """Return where each pane stands."""
        parent.pre_layout(self)
        panes = self._panes()
        tiling = tile(size.width, size.height, [item for _, item in panes])
        placed = [(widget, where) for (widget, _), where in zip(panes, tiling.tiles, strict=True) if where is not None]
        if tiling.more is not None:
            self._more.show_count(tiling.tiles.count(None))
            placed.append((self._more, tiling.more))
        return [_placement(widget, where) for widget, where in placed if where.width > 0]


def _placement(widget: Widget, where: Tile) -> WidgetPlacement:
    region = Region(where.x, where.y, where.width, where.height)
    return WidgetPlacement(region, NULL_OFFSET, NULL_SPACING, widget)
