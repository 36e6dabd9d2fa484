"""The scroll bar of a document: looks and works as Textual's, but is drawn without its console, which takes longer."""

from typing import NamedTuple

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
            bar = self.vertical_scrollbar
            assert isinstance(bar, DocumentScrollBar)
            bar.move(offset, height)


class _Look(NamedTuple):
    """All that the rows of a bar depend on."""

    size: Size
    virtual_size: float
    window_size: float
    position: float
    style: RichStyle | str
    own: RichStyle
    filters: tuple[LineFilter, ...]


class DocumentScrollBar(ScrollBar):
    """A vertical scroll bar that moves with nearly every frame of an answer."""

    _drawn: tuple[_Look, list[Strip]] | None = None

    def move(self, offset: int, height: int) -> None:
        """Show that the view begins at a row of so many; only rows that look different are painted again."""
        self.set_reactive(ScrollBar.window_virtual_size, height)
        self.set_reactive(ScrollBar.position, float(offset))
        # While the view takes another size, the bar has that of before, and the toolkit cannot draw it then.
        is_within = self.window_size < height and 0 <= offset <= height - self.window_size
        bar = self.render() if is_within and self._drawn is not None and self.parent is not None else None
        if self._drawn is None or not isinstance(bar, ScrollBarRender) or self._drawn[0].size != self.size:
            self.refresh()
            return
        look, before = self._drawn
        # Working out the colours takes as long as drawing; with other ones all is painted again anyway.
        after = self._rows(bar, look.own, look.filters)
        if len(before) != len(after):
            self.refresh()
            return
        changed = [y for y, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
        if changed:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed))

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return some rows of the bar."""
        if self.parent is None:
            # The frame was begun before its view was taken away.
            return [Strip.blank(crop.width)] * crop.height
        bar = self.render()
        if not isinstance(bar, ScrollBarRender):
            return super().render_lines(crop)
        blank = Strip.blank(self.size.width)
        rows = self._rows(bar, self.rich_style, tuple(self.get_line_filters()))
        strips = [rows[y] if 0 <= y < len(rows) else blank for y in crop.line_range]
        span = crop.column_span
        return strips if span == (0, self.size.width) else [strip.crop(*span) for strip in strips]

    def _rows(self, bar: ScrollBarRender, own: RichStyle, filters: tuple[LineFilter, ...]) -> list[Strip]:
        """Return all rows of the bar, drawn anew when it looks different from before."""
        look = _Look(self.size, bar.virtual_size, bar.window_size, bar.position, bar.style, own, filters)
        if self._drawn is None or self._drawn[0] != look:
            self._drawn = (look, self._draw(look))
        return self._drawn[1]

    def _draw(self, look: _Look) -> list[Strip]:
        size, style = look.size, self.app.console.get_style(look.style)
        drawn = ScrollBarRender.render_bar(
            size=size.height,
            virtual_size=look.virtual_size,
            window_size=look.window_size,
            position=look.position,
            thickness=size.width,
            vertical=True,
            back_color=style.bgcolor or Color.default(),
            bar_color=style.color or Color.default(),
        )
        # Few segments are different ones: those of the thumb, its ends and the ground above and below.
        strips = {
            segment: Strip([segment], size.width).apply_style(look.own) for segment in dict.fromkeys(drawn.segments)
        }
        if look.filters:
            ground = self.background_colors[1]
            for segment, strip in strips.items():
                for line_filter in look.filters:
                    strip = strip.apply_filter(line_filter, ground)
                strips[segment] = strip
        return [strips[segment] for segment in drawn.segments]
