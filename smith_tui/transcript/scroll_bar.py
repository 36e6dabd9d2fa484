"""The scroll bar of a document: looks and works as Textual's, but is drawn without its console, which takes longer."""

from collections.abc import Sequence

from rich.color import Color
from rich.style import Style as RichStyle
from textual.filter import LineFilter
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip

BAR_STEPS = 8
"""Positions of a scroll bar's ends in one cell; it is painted again only when one of them changes."""


class BarredView(ScrollView):
    """A view with such a bar at its right, which is always there."""

    _thumb = (0, 0)

    @property
    def vertical_scrollbar(self) -> ScrollBar:
        """The scroll bar, made when it is first asked for."""
        if self._vertical_scrollbar is None:
            bar = DocumentScrollBar(vertical=True, name="vertical", thickness=self.scrollbar_size_vertical)
            bar.display = False
            self._vertical_scrollbar = bar
            self.app._start_widget(self, bar)
        return self._vertical_scrollbar

    @property
    def page_rows(self) -> int:
        """Rows of the view, at least 1."""
        return max(1, self.scrollable_content_region.height)

    def move_bar(self, offset: int, height: int) -> None:
        """Show with the bar that the view begins at a row of so many, if that looks different from before."""
        steps_per_row = BAR_STEPS * self.page_rows / max(1, height)
        thumb = (round(offset * steps_per_row), round(self.page_rows * steps_per_row))
        if thumb != self._thumb:
            self._thumb = thumb
            self.vertical_scrollbar.window_virtual_size = height
            self.vertical_scrollbar.position = offset


class DocumentScrollBar(ScrollBar):
    """A vertical scroll bar that moves with nearly every frame of an answer."""

    _strips: tuple[object, list[Strip]] | None = None

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return some rows of the bar."""
        if self.parent is None:
            # The frame was begun before its view was taken away.
            return [Strip.blank(crop.width)] * crop.height
        bar = self.render()
        if not isinstance(bar, ScrollBarRender):
            return super().render_lines(crop)
        filters, own = self.get_line_filters(), self.rich_style
        drawn = (self.size, bar.virtual_size, bar.window_size, bar.position, bar.style, own, *filters)
        if self._strips is None or self._strips[0] != drawn:
            self._strips = (drawn, self._draw(bar, self.size, own, filters))
        blank = Strip.blank(self.size.width)
        rows = self._strips[1]
        strips = [rows[y] if 0 <= y < len(rows) else blank for y in crop.line_range]
        span = crop.column_span
        return strips if span == (0, self.size.width) else [strip.crop(*span) for strip in strips]

    def _draw(self, bar: ScrollBarRender, size: Size, own: RichStyle, filters: Sequence[LineFilter]) -> list[Strip]:
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
        strips = {segment: Strip([segment], size.width).apply_style(own) for segment in dict.fromkeys(drawn.segments)}
        if filters:
            ground = self.background_colors[1]
            for segment, strip in strips.items():
                for line_filter in filters:
                    strip = strip.apply_filter(line_filter, ground)
                strips[segment] = strip
        return [strips[segment] for segment in drawn.segments]
