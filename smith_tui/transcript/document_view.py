"""The scrolling page: one line-API widget that shows the part of a document at a place, and keeps that place."""

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.filter import LineFilter
from textual.geometry import Region, Size
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from smith_tui.theme import DARK, Theme
from smith_tui.transcript import painting, selection
from smith_tui.transcript.cells import index_at_cell
from smith_tui.transcript.ink import Ink, make_ink
from smith_tui.transcript.model import TOP, Document, Place, Row
from smith_tui.transcript.scroll_bar import BarredView

if TYPE_CHECKING:
    from smith_tui.transcript.selecting import Stretch

MORE_BELOW = " ↓ more below · End "


class DocumentView(BarredView, can_focus=True):
    """Shows a document; it follows the end until somebody scrolls away from it, and does so again at the end."""

    DEFAULT_CSS = """
    DocumentView {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "toggle_folds", "Fold", show=False),
        *(Binding(f"shift+{motion}", f"select('{motion}')", "Select", show=False) for motion in selection.MOTIONS),
    ]

    class FollowChanged(Message):
        """The view began or ceased to follow the end."""

        def __init__(self, view: "DocumentView", is_following: bool) -> None:
            super().__init__()
            self.view = view
            self.is_following = is_following

        @property
        def control(self) -> "DocumentView":
            """The view."""
            return self.view

    class LinkOpened(Message):
        """The person wants to see what a block's last row names (`Block.link`)."""

        def __init__(self, link: str) -> None:
            super().__init__()
            self.link = link

    class AddressClicked(Message):
        """The person has clicked on an address of the web, or on a link that has one."""

        def __init__(self, address: str) -> None:
            super().__init__()
            self.address = address

    def __init__(self, *, theme: Theme = DARK, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.document = Document(theme)
        self.backdrop: Callable[[Strip, int], Strip] | None = None
        """Given each row that is painted and its number from 0, may put something into its blanks."""
        self._place = TOP
        self._is_following = True
        self._shown: list[Row] = []
        self._painter = painting.Painter()
        self._is_resizing = False
        self._stretch: Stretch | None = None
        self._apply_theme()

    # What is shown

    @property
    def is_following(self) -> bool:
        """Whether the view stays at the end when rows are added."""
        return self._is_following

    @property
    def shown_rows(self) -> list[Row]:
        """The rows on the screen, from the top down."""
        return list(self._shown)

    def set_theme(self, theme: Theme) -> None:
        """Show everything in other colours."""
        self._place = self.document.reshape(self.document.width, theme, self._place)
        self._apply_theme()
        self.sync(repaint=True)

    def clear(self) -> None:
        """Take everything away."""
        self._reset()
        self.follow()

    def on_unmount(self) -> None:
        """Let go of what was shown: the toolkit keeps a view that is gone until the next layout, click or signal."""
        # What is on the screen stays as it is: a late frame may still paint it.
        self._reset()

    def _reset(self) -> None:
        self.document.clear()
        self._place = TOP
        if self.is_attached and self.text_selection is not None:
            self.screen.clear_selection()

    def follow(self) -> None:
        """Go to the end and stay there."""
        self._set_following(True)
        self.sync()

    def go_to(self, place: Place) -> None:
        """Show a place at the top of the view, or the end when less than a view is left below it."""
        self._place = place
        rows = self.document.view(place, self.page_rows)
        self._set_following(len(rows) < self.page_rows or self._is_end(rows))
        self.sync()

    def scroll_rows(self, rows: int) -> None:
        """Scroll down by so many rows, or up when negative."""
        if rows < 0 or not self._is_following:
            self.go_to(self.document.move(self._place, rows))

    def sync(self, *, repaint: bool = False) -> None:
        """Bring view, scroll bar and screen in line with the document; only rows that differ are painted again."""
        if not self.is_attached or not self.size:
            return
        height = self.page_rows
        if self._is_following:
            self._place = self.document.end_place(height)
        before = self._shown
        self._shown = self._keep_equal(self.document.view(self._place, height))
        if not self._is_following and self._is_end(self._shown):
            # The view has grown, or what stood below is gone.
            self._set_following(True)
        self._move_scroll_bar(self.document.offset(self._place))
        changed = [
            y
            for y in range(max(len(before), len(self._shown)))
            if y >= len(before) or y >= len(self._shown) or before[y] is not self._shown[y]
        ]
        if repaint or not self.show_vertical_scrollbar:
            self._painter.forget()
            self.refresh()
        elif changed:
            self.refresh(Region(0, changed[0], self.document.width, changed[-1] - changed[0] + 1))

    def _keep_equal(self, rows: list[Row]) -> list[Row]:
        """Put the old row in the place of an equal new one, so that its strip is found again."""
        kept = {row.place: row for row in self._shown}
        for index, row in enumerate(rows):
            old = kept.get(row.place)
            if old is not None and (old.line is row.line or old.line == row.line):
                rows[index] = old
        return rows

    def _move_scroll_bar(self, offset: int) -> None:
        """Set Textual's idea of size and position without a layout; the scroll bar is always there."""
        size = Size(self.document.width, self.document.height)
        self.set_reactive(Widget.virtual_size, size)
        fraction = self.scroll_y - round(self.scroll_y)
        self.set_reactive(Widget.scroll_y, max(0.0, offset + fraction))
        self.set_reactive(Widget.scroll_target_y, float(offset))
        self.move_bar(offset, size.height)

    def _is_end(self, rows: list[Row]) -> bool:
        return not rows or rows[-1].place >= self.document.last_place()

    def _set_following(self, is_following: bool) -> None:
        if is_following != self._is_following:
            self._is_following = is_following
            self.refresh(Region(0, self.page_rows - 1, self.document.width, 1))
            self.post_message(self.FollowChanged(self, is_following))

    def _apply_theme(self) -> None:
        theme = self.document.theme
        self.styles.background = theme.background
        self.styles.scrollbar_color = theme.muted
        self.styles.scrollbar_color_hover = theme.text
        self.styles.scrollbar_color_active = theme.green
        for name in ("background", "background_hover", "background_active"):
            setattr(self.styles, f"scrollbar_{name}", theme.background)

    # Textual's calls

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        self._is_resizing = True
        try:
            changed = super()._size_updated(size, virtual_size, container_size, layout)
        finally:
            self._is_resizing = False
        width = self.scrollable_content_region.width
        if width > 0 and width != self.document.width:
            self._place = self.document.reshape(width, self.document.theme, self._place)
            self._painter.forget()
        self.sync(repaint=changed)
        return changed

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow the wheel and the scroll bar."""
        old, new = round(old_value), round(new_value)
        if old == new or self._is_resizing:
            return
        if new >= self.max_scroll_y:
            self.follow()
        elif abs(new - old) <= 2 * self.page_rows:
            self.go_to(self.document.move(self._place, new - old))
        else:
            self.go_to(self.document.place_at(new))

    def action_scroll_up(self) -> None:
        """Scroll up one row."""
        self.scroll_rows(-1)

    def action_scroll_down(self) -> None:
        """Scroll down one row."""
        self.scroll_rows(1)

    def action_page_up(self) -> None:
        """Scroll up one view, two rows of it kept."""
        self.scroll_rows(-max(1, self.page_rows - 2))

    def action_page_down(self) -> None:
        """Scroll down one view, two rows of it kept."""
        self.scroll_rows(max(1, self.page_rows - 2))

    def action_scroll_home(self) -> None:
        """Go to the start."""
        self.go_to(TOP)

    def action_scroll_end(self) -> None:
        """Go to the end."""
        self.follow()

    # Painting

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the rows of a part of the view; there is no border or padding for Textual's style cache to add."""
        width, selected, filters = self.document.width, self.text_selection, self.get_line_filters()
        self._painter.forget(beyond=4 * self.page_rows + 100)
        strips = [self._strip(y, width, filters, selected) for y in crop.line_range]
        first, end = crop.column_span
        return strips if first == 0 and end >= width else [strip.crop(first, end) for strip in strips]

    def render_line(self, y: int) -> Strip:
        """Return one row with the offsets that tell Textual which text is under the pointer."""
        strip = self._strip(y, self.document.width, self.get_line_filters(), self.text_selection)
        row = self.row_at(y)
        return strip if row is None else strip.apply_offsets(0, selection.key_of(row.place))

    def _strip(self, y: int, width: int, filters: Sequence[LineFilter], selected: Selection | None) -> Strip:
        row, ink = self.row_at(y), self._ink
        painted = None if row is None else self._painter.strip(row, width, ink, filters, selected)
        strip = painted or Strip.blank(width, ink.base)
        if not self._is_following and y == self.page_rows - 1:
            strip, painted = painting.overlay(strip, MORE_BELOW, ink.pill, width), None
        if painted is None:
            for line_filter in filters:
                strip = strip.apply_filter(line_filter, Color.from_rich_color(ink.base.bgcolor))
        return strip if self.backdrop is None else self.backdrop(strip, y)

    def row_at(self, y: int) -> Row | None:
        """Return a row on the screen, from 0; None where there is none."""
        return self._shown[y] if 0 <= y < len(self._shown) else None

    @property
    def _ink(self) -> Ink:
        return make_ink(self.document.theme, "green")

    # Mouse and selection

    def get_selection(self, selection_: Selection) -> tuple[str, str]:
        """Return the selected text, and what stands between it and that of the next widget."""
        return selection.selected_text(self.document, selection_), "\n"

    async def _on_click(self, event: events.Click) -> None:
        event.prevent_default()
        row = self.row_at(event.y)
        if event.y == self.page_rows - 1 and not self._is_following:
            if event.x >= self.document.width - len(MORE_BELOW):
                self.follow()
        elif row is not None and event.chain == 1:
            if not self._open_link(row) and not self._ask_for_address(row, event.x):
                self._toggle_at(row)
        elif row is not None:
            self._select_at(row, event.x, whole_line=event.chain > 2)

    def action_select(self, motion: selection.Motion) -> None:
        """Select on to where a key leads, and keep that in view."""
        from smith_tui.transcript.selecting import begin, moved, stretch_of

        stretch = stretch_of(self.text_selection, self._stretch) or begin(self._shown, motion)
        if stretch is None:
            return
        head = moved(self.document, stretch.head, motion, max(1, self.page_rows - 2))
        self._stretch = stretch._replace(head=head)
        if head.place < self._shown[0].place:
            self.go_to(head.place)
        elif head.place > self._shown[-1].place:
            self.go_to(self.document.move(head.place, 1 - self.page_rows))
        self.screen.selections = {self: self._stretch.selection}

    def _select_at(self, row: Row, x: int, *, whole_line: bool) -> None:
        chosen: Selection | None = selection.paragraph_at(self.document, row.place)
        if not whole_line:
            chosen = selection.word_at(row.place, row.line, index_at_cell(row.line.text, x))
        if chosen is not None:
            self.screen.selections = {self: chosen}
            # The toolkit has said so when the button was released, which is before the click.
            self.screen.post_message(events.TextSelected())

    def _open_link(self, row: Row) -> bool:
        """Ask for what the row opens; say whether it opens something."""
        block, number = self.document.blocks[row.place.block], row.place.row
        opens = bool(block.link) and number == len(self.document.rows(row.place.block)) - 1
        if opens and self.text_selection is None:
            self.post_message(self.LinkOpened(block.link))
        return opens

    def _ask_for_address(self, row: Row, x: int) -> bool:
        """Ask whether to open the address that was clicked; say whether there is one."""
        if self.text_selection is not None:
            return False
        from smith_tui.transcript.addresses import address_at

        address = address_at(self.document, row.place, index_at_cell(row.line.text, x))
        if address:
            self.post_message(self.AddressClicked(address))
        return bool(address)

    def _toggle_at(self, row: Row) -> None:
        """Fold or unfold a block when its title, or the row that stands for hidden ones, was clicked."""
        block = self.document.blocks[row.place.block]
        is_title = row.place.row == int(block.has_gap)
        is_hint = row.line.lead > 0 and row.line.lead == len(row.line.text)
        if block.can_fold and (is_title or is_hint) and self.text_selection is None:
            self._toggle([row.place.block])

    def action_toggle_folds(self) -> None:
        """Unfold what is in view and can be unfolded, or fold it again when all of it is unfolded."""
        self._toggle(sorted({row.place.block for row in self._shown}))

    def _toggle(self, indices: list[int]) -> None:
        blocks = {index: block for index in indices if (block := self.document.blocks[index]).can_fold}
        if not blocks:
            return
        expand = not all(block.is_expanded for block in blocks.values())
        place, y = self._kept_title(blocks)
        if self._is_following:
            self._set_following(False)
        for index, block in blocks.items():
            block.is_expanded = expand
            self.document.changed(index)
        self.go_to(self.document.move(place, -y))

    def _kept_title(self, indices: Collection[int]) -> tuple[Place, int]:
        """Return which of these blocks' titles is to stay where it is, and on which row of the view that is.

        At the end it is the last one, which has come last; elsewhere the first one in view, which was gone to.
        """
        first_rows: dict[int, tuple[Place, int]] = {}
        for y, row in enumerate(self._shown):
            first_rows.setdefault(row.place.block, (row.place, y))
        titles = {index: int(self.document.blocks[index].has_gap) for index in indices}
        seen = [index for index in indices if first_rows[index][0].row <= titles[index]]
        chosen = max(indices) if self._is_following else min(seen or indices)
        return first_rows[chosen] if chosen in seen else (Place(chosen, titles[chosen]), 0)
