"""The scroll bar of a document: looks and works as Textual's, but is drawn without its console, which takes longer."""

from collections.abc import Sequence

from rich.color import Color
from rich.segment import Segment
from textual.filter import LineFilter
from textual.geometry import Region, Size
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip


class DocumentScrollBar(ScrollBar):
    """A vertical scroll bar that moves with nearly every frame of an answer."""

    _strips: tuple[object, list[Strip]] | None = None

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return some rows of the bar."""
        bar = self.render()
        if not isinstance(bar, ScrollBarRender):
            return super().render_lines(crop)
        filters = self.get_line_filters()
        drawn = (self.size, bar.virtual_size, bar.window_size, bar.position, bar.style, self.rich_style, *filters)
        if self._strips is None or self._strips[0] != drawn:
            self._strips = (drawn, self._draw(bar, self.size, filters))
        blank = Strip.blank(self.size.width)
        rows = self._strips[1]
        strips = [rows[y] if 0 <= y < len(rows) else blank for y in crop.line_range]
        span = crop.column_span
        return strips if span == (0, self.size.width) else [strip.crop(*span) for strip in strips]

    def _draw(self, bar: ScrollBarRender, size: Size, filters: Sequence[LineFilter]) -> list[Strip]:
        style = self.app.console.get_style(bar.style)
        drawn = bar.render_bar(
            size=size.height,
            virtual_size=bar.virtual_size,
            window_size=bar.window_size,
            position=bar.position,
            thickness=size.width,
            vertical=True,
            back_color=style.bgcolor or Color.default(),
            bar_color=style.color or Color.default(),
        )
        # Few segments are different ones: those of the thumb, its ends and the ground above and below.
        strips = {segment: self._strip(segment, size.width, filters) for segment in dict.fromkeys(drawn.segments)}
        return [strips[segment] for segment in drawn.segments]

    def _strip(self, segment: Segment, width: int, filters: Sequence[LineFilter]) -> Strip:
        strip = Strip([segment], width).apply_style(self.rich_style)
        for line_filter in filters:
            strip = strip.apply_filter(line_filter, self.background_colors[1])
        return strip
