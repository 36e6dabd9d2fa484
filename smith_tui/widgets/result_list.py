"""A list of any length: items of a fixed height, rendered only where they are looked at, one of them chosen."""

import asyncio
from collections.abc import Callable, Mapping
from itertools import chain, islice
from typing import NamedTuple

from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip

from smith_tui.output.compositor import paint_now
from smith_tui.transcript.ink import Ink
from smith_tui.transcript.lines import BLANK, Line
from smith_tui.transcript.painting import SeenStyles, paint
from smith_tui.transcript.scroll_bar import BarredView

MAX_CACHED_ITEMS = 500
AHEAD_S = 0.05
"""Without a key for so long, items of the pages before and behind the view are rendered, so that turning is quicker."""
_AHEAD_ITEMS = 6
"""As many at once, about a millisecond: what a key has to wait for them at most."""
_AHEAD_GAP_S = 0.005
_MAX_AHEAD = MAX_CACHED_ITEMS // 4


class Frame(NamedTuple):
    """What an item is rendered for: cells of width, styles, and whether it is the chosen one."""

    width: int
    ink: Ink
    is_selected: bool


RenderItem = Callable[[int, Frame], list[Line]]
"""Returns the rows of item number n; those beyond the height of an item are left out."""


class ResultList(BarredView, can_focus=True):
    """Shows items by number; it knows nothing of them but how many there are and how to render one."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    ResultList {
        height: 1fr;
        width: 1fr;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
    }
    """

    class Moved(Message):
        """Another item is chosen; index: its number, -1 when there is none."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    class Opened(Message):
        """The person wants the chosen item."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    class Viewed(Message):
        """The items from `first` up to and without `end` are in view."""

        def __init__(self, first: int, end: int) -> None:
            super().__init__()
            self.first = first
            self.end = end

    def __init__(self, render: RenderItem, ink: Ink, *, item_height: int = 2, is_ready: bool = False) -> None:
        """is_ready: all items can be rendered at any time, also those that nobody has looked at yet."""
        super().__init__()
        self._is_ready = is_ready
        self._ahead: asyncio.TimerHandle | None = None
        self._painting: asyncio.Handle | None = None
        self._render_item = render
        self._ink = ink
        self._styles = SeenStyles(ink.base)
        self._raised_styles = SeenStyles(ink.base + ink.raised)
        self._item_height = item_height
        self._count = 0
        self._selected = -1
        self._message: list[Line] = []
        self._cache: dict[tuple[int, bool], list[Strip]] = {}
        self._cached_width = 0

    @property
    def count(self) -> int:
        """How many items there are."""
        return self._count

    @property
    def selected(self) -> int:
        """The number of the chosen item, -1 without any."""
        return self._selected

    @property
    def viewed(self) -> range:
        """The numbers of the items in view."""
        first = self.scroll_offset.y // self._item_height
        end = -(-(self.scroll_offset.y + self.page_rows) // self._item_height)
        return range(first, min(end, self._count))

    def show_items(self, count: int, selected: int = 0, message: list[Line] | None = None) -> None:
        """Show so many items instead of those before; `message` stands there when there are none."""
        self._count = count
        self._message = message or []
        self._cache.clear()
        self._resize()
        self._select(min(max(0, selected), count - 1), is_new=True)
        self.refresh()
        self._tell_view()

    def set_item_height(self, rows: int) -> None:
        """Give each item so many rows."""
        if rows != self._item_height:
            self._item_height = rows
            self._cache.clear()
            self._resize()
            self._select(self._selected)
            self.refresh()

    def render_again(self) -> None:
        """Render all items again, because something else is known of them now."""
        self._cache.clear()
        self.refresh()

    def press(self, key: str) -> bool:
        """Move the choice or open it, as the key says; False when it means nothing here."""
        if key == "enter":
            self._open()
            return True
        move = _MOVES.get(key)
        if move is None:
            return False
        if self._count:
            self._select(min(max(0, move(self._selected, self._page_items, self._count)), self._count - 1))
        return True

    # Textual's calls

    def on_key(self, event: events.Key) -> None:
        """Take the keys that move."""
        if self.press(event.key):
            event.stop()
            event.prevent_default()

    def on_click(self, event: events.Click) -> None:
        """Choose an item, with a second click open it."""
        index = (event.y + self.scroll_offset.y) // self._item_height
        if index < self._count:
            self._select(index)
            if event.chain > 1:
                self._open()

    def on_resize(self) -> None:
        """Keep the chosen item in view."""
        self._resize()
        self._select(self._selected)
        self._tell_view()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Say what is in view now."""
        if round(old_value) != round(new_value):
            self.move_bar(round(new_value), self.virtual_size.height)
            self.refresh()
            self._tell_view()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the rows of a part of the view; there is no border or padding for Textual's style cache to add."""
        filters = self.get_line_filters()
        if filters != self._styles.filters:
            self._styles = SeenStyles(self._styles.ground, filters)
            self._raised_styles = SeenStyles(self._raised_styles.ground, filters)
            self._cache.clear()
        width = self.scrollable_content_region.width
        strips = [self._strip(y, width) for y in crop.line_range]
        span = crop.column_span
        return strips if span == (0, self.size.width) else [strip.crop(*span) for strip in strips]

    def render_line(self, y: int) -> Strip:
        """Return one row at exactly the width of the list."""
        return self._strip(y, self.scrollable_content_region.width)

    # Inside

    @property
    def _page_items(self) -> int:
        return max(1, self.page_rows // self._item_height - 1)

    def _strip(self, y: int, width: int) -> Strip:
        index, row = divmod(y + round(self.scroll_y), self._item_height)
        if not self._count:
            line = self._message[y] if y < len(self._message) else BLANK
            return paint(line, width, self._styles)
        if index >= self._count:
            return paint(BLANK, width, self._styles)
        rows = self._rows(index, width)
        return rows[row] if row < len(rows) else paint(BLANK, width, self._styles)

    def _rows(self, index: int, width: int) -> list[Strip]:
        if width != self._cached_width or len(self._cache) > MAX_CACHED_ITEMS:
            self._cache.clear()
            self._cached_width = width
        key = (index, index == self._selected)
        if key not in self._cache:
            lines = self._render_item(index, Frame(width, self._ink, is_selected=key[1]))[: self._item_height]
            styles = self._raised_styles if key[1] else self._styles
            self._cache[key] = [paint(line, width, styles) for line in lines]
        return self._cache[key]

    def _resize(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, self._count * self._item_height)

    def _select(self, index: int, *, is_new: bool = False) -> None:
        before, offset = self._selected, self.scroll_offset.y
        is_other = is_new or index != before
        self._selected = index
        top = max(0, index) * self._item_height
        if top < self.scroll_offset.y or self._item_height >= self.page_rows:
            self.scroll_to(y=top, animate=False)
        elif top + self._item_height > self.scroll_offset.y + self.page_rows:
            self.scroll_to(y=top + self._item_height - self.page_rows, animate=False)
        if is_other:
            self.post_message(self.Moved(index))
        if is_new or self.scroll_offset.y != offset:
            self.refresh()
        elif is_other:
            self._refresh_item(before)
            self._refresh_item(index)
        if is_other and not is_new and self._painting is None:
            # Not before the keys that have come together with this one have moved the choice, too.
            self._painting = asyncio.get_running_loop().call_soon(self._paint)

    def _paint(self) -> None:
        """Show where the choice is now: Textual would draw it a few milliseconds later."""
        self._painting = None
        try:
            if self.is_attached:
                paint_now(self.screen, (self, self.vertical_scrollbar))
        except Exception as error:  # noqa: BLE001 - as Textual does with what its timers call
            self.app._handle_exception(error)

    def _refresh_item(self, index: int) -> None:
        width = self.scrollable_content_region.width
        self.refresh(Region(0, index * self._item_height - self.scroll_offset.y, width, self._item_height))

    def _open(self) -> None:
        if self._count:
            self.post_message(self.Opened(self._selected))

    def _tell_view(self) -> None:
        viewed = self.viewed
        self.post_message(self.Viewed(viewed.start, viewed.stop))
        if self._is_ready:
            self._plan_ahead(AHEAD_S)

    def _plan_ahead(self, seconds: float) -> None:
        if self._ahead is not None:
            self._ahead.cancel()
        self._ahead = asyncio.get_running_loop().call_later(seconds, self._render_ahead)

    def _render_ahead(self) -> None:
        """Render some of the items on the next page and on the one before, and go on soon if there are more."""
        self._ahead = None
        viewed, width = self.viewed, self._cached_width
        if not self.is_attached or not width:
            return
        page = min(len(viewed), _MAX_AHEAD)
        before = range(viewed.start - 1, max(-1, viewed.start - 1 - page), -1)
        behind = range(viewed.stop, min(self._count, viewed.stop + page))
        missing = list(islice((n for n in chain(before, behind) if (n, False) not in self._cache), _AHEAD_ITEMS))
        for index in missing:
            self._rows(index, width)
        if missing:
            self._plan_ahead(_AHEAD_GAP_S)


_MOVES: Mapping[str, Callable[[int, int, int], int]] = {
    "up": lambda index, page, count: index - 1,
    "down": lambda index, page, count: index + 1,
    "pageup": lambda index, page, count: index - page,
    "pagedown": lambda index, page, count: index + page,
    "home": lambda index, page, count: 0,
    "ctrl+home": lambda index, page, count: 0,
    "end": lambda index, page, count: count - 1,
    "ctrl+end": lambda index, page, count: count - 1,
}
"""Key → the item that is chosen then, of the chosen one, items in a page and items in all."""

MOVING_KEYS: frozenset[str] = frozenset(_MOVES)
