"""The tool-output pane: the output of a call with its state in a header, and a tab for each other call."""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.geometry import Region
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from smith_tui.keys import KEY_ACTIONS, KeyAction, hint_key, keys_of
from smith_tui.transcript.cells import cut_to
from smith_tui.transcript.painting import overlay
from smith_tui.widgets.call_tabs import Tab, call_at, tab_row
from smith_tui.widgets.frames import Frames
from smith_tui.widgets.output_rows import Marks, found_lines, marked_strip, selected_text, text_before
from smith_tui.widgets.tail_view import ViewRow
from smith_tui.widgets.tool_calls import CallState, HeaderStyle, ToolCall, ToolCalls, header

if TYPE_CHECKING:
    from smith_tui.stored_calls import StoredCall

MIN_TABBED_ROWS = 6
"""Rows of the pane from which on there is one for the tabs."""
MORE_BELOW = " ↓ more below · End "
STILL_RUNS = " The whole output can be opened as soon as the call is over "
ALL_IS_HERE = " All of the output is here already "
COPIED = " Copied "
_WHEEL_ROWS = 3
_SHIFT_COLUMNS = 8
_NOTHING = " No tool has run yet"
_SCROLL_KEYS = {"up": -1, "down": 1, "k": -1, "j": 1}
_PAGE_KEYS = {"pageup": -1, "pagedown": 1, "b": -1, "space": 1}
_WAYS = {"output_focus": "enters", "output_leave": "leaves"}
_SIDE_KEYS = {"left": -1, "right": 1, "h": -1, "l": 1}


class ToolOutputPane(Widget, can_focus=True):
    """Tabs, a header line and the output below; the end is followed unless somebody scrolled up."""

    COMPONENT_CLASSES = {  # noqa: RUF012
        "tool-output--header",
        "tool-output--mark",
        "tool-output--muted",
        "tool-output--good",
        "tool-output--bad",
        "tool-output--pill",
        "tool-output--found",
        "tool-output--selected",
    }
    DEFAULT_CSS = """
    ToolOutputPane { height: 1fr; width: 1fr; background: $surface; color: $foreground; }
    ToolOutputPane > .tool-output--header { background: $panel; text-style: bold; }
    ToolOutputPane > .tool-output--mark { background: $panel; color: $primary; }
    ToolOutputPane > .tool-output--muted { background: $panel; color: $text-muted; }
    ToolOutputPane > .tool-output--good { background: $panel; color: $success; }
    ToolOutputPane > .tool-output--bad { background: $panel; color: $error; }
    ToolOutputPane > .tool-output--pill { background: $panel; color: $primary; text-style: bold; }
    ToolOutputPane > .tool-output--found { background: $warning; color: $background; }
    ToolOutputPane > .tool-output--selected { background: $screen-selection-background; }
    ToolOutputPane:focus > .tool-output--header { background: $primary; color: $background; }
    """

    class Shown(Message):
        """The pane shows another call now."""

        def __init__(self, call_id: str) -> None:
            super().__init__()
            self.call_id = call_id

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.monotonic,
        actions: Iterable[KeyAction] = KEY_ACTIONS,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._clock = clock
        self._calls = ToolCalls()
        actions = tuple(actions)
        self._actions = keys_of(actions, "tool_output")
        self._ways = {action.name: hint_key(action) for action in actions if action.name in _WAYS}
        self._commands: dict[str, Callable[[], None]] = {
            "previous_call": lambda: self._step(-1),
            "next_call": lambda: self._step(1),
            "output_view": self._switch,
            "output_whole": self._toggle_whole,
            "output_copy": self._copy,
        }
        self._frames = Frames(self, self._paint, self._tick, clock)
        self._rows: list[ViewRow] | None = None
        self._needle = ""
        self._marks: Marks | None = None
        self._posted_call: str | None = None

    @property
    def shown_call(self) -> str | None:
        """Id of the call that is shown."""
        call = self._calls.shown
        return None if call is None else call.call_id

    # What the presenter calls

    def start_call(self, call_id: str, name: str, summary: str) -> None:
        """Begin a call and show it, unless somebody went back to an earlier one; `summary` is its command or path."""
        self._calls.start(call_id, name, summary, self._clock())
        self._calls_changed()

    def feed(self, call_id: str, chunk: bytes) -> None:
        """Take raw output of a call, cut anywhere; an unknown id is ignored."""
        call = self._calls.get(call_id)
        if call is not None:
            call.feed(chunk)
            if call is self._calls.shown:
                self._frames.paint_soon()

    def set_text(self, call_id: str, text: str, *, diff: bool = False) -> None:
        """Show `text` as the whole output of a call that had no live output; `diff` colours + and - lines."""
        call = self._calls.get(call_id)
        if call is not None:
            call.set_text(text, diff=diff)
            self._frames.paint_soon()

    def end_call(self, call_id: str, state: CallState, exit_code: int | None = None, full_path: str = "") -> None:
        """Stop the time of a call and say how it ended; full_path: of its raw output on disk, if that was kept."""
        self._calls.end(call_id, state, exit_code, self._clock(), full_path)
        self._calls_changed()

    def clear(self) -> None:
        """Forget all calls."""
        self._calls.close()
        self._calls = ToolCalls()
        self._calls_changed()

    def restore(self, stored: "Iterable[StoredCall]") -> None:
        """List the calls of a conversation that is gone on with in place of all others."""
        self._calls.close()
        self._calls = ToolCalls()
        self._calls.restore(stored, self._clock())
        # Nobody has asked for it: the transcript stays where it is.
        self._posted_call = self.shown_call
        self._calls_changed()

    def show_call(self, call_id: str) -> None:
        """Show a call, for example one that was clicked in the transcript."""
        if self._calls.show(call_id):
            self._calls_changed()

    def to_start(self) -> None:
        """Show the first line that is there."""
        if self._calls.shown is not None:
            self._calls.shown.view.to_start(*self._room)
            self._frames.paint()

    # Looking for something

    def find(self, needle: str) -> Iterator[list[int]]:
        """Mark `needle`, whatever its case, and yield the numbers of the lines of the shown output that hold it.

        They come part by part: what is kept in a file may take seconds.
        """
        self._needle = needle
        self._frames.paint()
        return iter(()) if self._calls.shown is None else found_lines(self._calls.shown.view.lines, needle)

    def goto(self, hit: int) -> None:
        """Show a line in the upper third of the pane."""
        if self._calls.shown is not None:
            self._calls.shown.view.show_line(hit, *self._room)
            self._frames.paint()

    def clear_find(self) -> None:
        """Mark matches no longer."""
        self._needle = ""
        self._frames.paint()

    # Textual's calls

    def on_mount(self) -> None:
        """Start the clock if a call runs already."""
        self._frames.count_seconds(self._calls.running)

    def on_unmount(self) -> None:
        """Close the files that are open."""
        self._calls.close()

    def on_key(self, event: events.Key) -> None:
        """Scroll, or do what a key of the pane is for."""
        if self._press(event.key):
            event.stop()
            event.prevent_default()

    def on_click(self, event: events.Click) -> None:
        """Show the call whose tab was clicked, or go to the end."""
        x, y = event.get_content_offset(self) or (event.x, event.y)
        call = self._calls.shown
        if call is None:
            return
        if y == 0 and self._has_tabs:
            self.show_call(call_at(self._tabs(call), x))
        elif y == self.size.height - 1 and not call.view.following and x >= self.size.width - len(MORE_BELOW):
            call.view.to_end()
            self._moved(call)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll up by some rows."""
        self._scroll(-_WHEEL_ROWS)
        event.stop()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll down by some rows."""
        self._scroll(_WHEEL_ROWS)
        event.stop()

    @on(events.Resize)
    @on(events.Show)
    @on(events.Focus)
    @on(events.Blur)
    def _paint_again(self) -> None:
        """Wrap again, catch up with what came while the pane was hidden, and show whether it has the keys."""
        self._frames.paint()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text, and what stands between it and that of the next widget."""
        call = self._calls.shown
        return None if call is None else (selected_text(call.view.lines, selection), "\n")

    def selection_updated(self, selection: Selection | None) -> None:
        """Mark what is selected now."""
        self._frames.paint()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return a part of the rows; the styles are looked up once for all of them."""
        self._marks = self._current_marks()
        try:
            return super().render_lines(crop)
        finally:
            self._marks = None

    def render_line(self, y: int) -> Strip:
        """Return the tabs, the header or a row of output, at exactly the width of the widget."""
        marks = self._marks or self._current_marks()
        width, base = self.size.width, marks.base
        call = self._calls.shown
        if call is None:
            blank = cut_to(f"{_NOTHING} · {self._hint}" if self._hint else _NOTHING, width).ljust(width)
            return self._pieces([(blank, "muted")], width) if y == 0 else Strip.blank(width, base)
        if y == 0 and self._has_tabs:
            return self._pieces([(tab.text, tab.style) for tab in self._tabs(call)], width)
        if y == self._top - 1:
            percent = None if call.view.following else call.view.percent(*self._room)
            return self._pieces(header(call, self._calls.place, percent, self._clock(), width, self._hint), width)
        strip = self._output_row(call, y - self._top, marks).adjust_cell_length(width, base)
        if y == self.size.height - 1:
            label = call.note or ("" if call.view.following else MORE_BELOW)
            strip = overlay(strip, cut_to(label, width), self._style("pill"), width)
        return strip

    # Inside

    @property
    def _has_tabs(self) -> bool:
        return len(self._calls.all) > 1 and self.size.height >= MIN_TABBED_ROWS

    @property
    def _hint(self) -> str:
        """How the keys come here, or leave."""
        name = "output_leave" if self.has_focus else "output_focus"
        return f"{self._ways[name]} {_WAYS[name]}" if name in self._ways else ""

    @property
    def _top(self) -> int:
        """The row where the output begins."""
        return 2 if self._has_tabs else 1

    @property
    def _room(self) -> tuple[int, int]:
        """The (width, height) of the part that shows output."""
        return self.size.width, max(0, self.size.height - self._top)

    def _tabs(self, call: ToolCall) -> list[Tab]:
        return tab_row(self._calls.all, call, self.size.width)

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"tool-output--{name}")

    def _pieces(self, pieces: Iterable[tuple[str, HeaderStyle]], width: int) -> Strip:
        segments = [Segment(text, self._style(style)) for text, style in pieces]
        return Strip(segments).adjust_cell_length(width, self.rich_style)

    def _output_row(self, call: ToolCall, y: int, marks: Marks) -> Strip:
        if self._rows is None:
            self._rows = call.view.rows(*self._room)
        if y >= len(self._rows):
            return Strip([])
        row = self._rows[y]
        strip = marked_strip(row, marks)
        # Only who asks for a single row wants to know which text is under the pointer.
        return strip if self._marks is not None else strip.apply_offsets(text_before(row), row.number)

    def _current_marks(self) -> Marks:
        return Marks(
            base=self.rich_style,
            found=self._style("found"),
            selected=self._style("selected"),
            needle=self._needle,
            selection=self.text_selection,
        )

    def _press(self, key: str) -> bool:
        call = self._calls.shown
        command = self._commands.get(self._actions.get(key, ""))
        if call is None:
            return command is not None
        call.note = ""
        if command is not None:
            command()
        elif key in _SCROLL_KEYS:
            self._scroll(_SCROLL_KEYS[key])
        elif key in _PAGE_KEYS:
            self._scroll(_PAGE_KEYS[key] * max(1, self._room[1] - 1))
        elif key in _SIDE_KEYS:
            call.view.shift(_SIDE_KEYS[key] * _SHIFT_COLUMNS, self._room[0])
        elif key in ("home", "g"):
            call.view.to_start(*self._room)
        elif key in ("end", "G"):
            call.view.to_end()
        else:
            return False
        self._moved(call)
        return True

    def _scroll(self, rows: int) -> None:
        call = self._calls.shown
        if call is not None:
            call.view.scroll(rows, *self._room)
            self._moved(call)

    def _moved(self, call: ToolCall) -> None:
        call.settle()
        self._frames.paint()

    def _step(self, by: int) -> None:
        if self._calls.step(by):
            self._calls_changed()

    def _switch(self) -> None:
        if self._calls.shown is not None:
            self._calls.shown.switch()

    def _copy(self) -> None:
        call = self._calls.shown
        if call is not None:
            self.app.copy_to_clipboard(call.copied_text)
            call.note = COPIED

    def _toggle_whole(self) -> None:
        call = self._calls.shown
        if call is not None and call.whole is not None:
            call.close_whole()
        elif call is not None and not call.full_path:
            call.note = STILL_RUNS if call.state == "running" else ALL_IS_HERE
        elif call is not None:
            self.run_worker(self._open_whole(call), group=f"whole-{call.call_id}", exclusive=True)

    async def _open_whole(self, call: ToolCall) -> None:
        """Show the raw output from its file, or say why that cannot be."""
        from smith_tui.widgets.file_lines import open_lines

        whole = await open_lines(call.full_path)
        if isinstance(whole, str):
            call.note = f" {whole} "
        else:
            call.show_whole(whole)
            call.view.to_start(*self._room)
        self._frames.paint()

    def _calls_changed(self) -> None:
        self._frames.count_seconds(self._calls.running)
        self._frames.paint()
        if self.shown_call is not None and self.shown_call != self._posted_call:
            self._posted_call = self.shown_call
            self.post_message(self.Shown(self.shown_call))

    def _paint(self) -> bool:
        """Show what there is now; say whether a screen is still being drawn."""
        self._rows = None
        self.refresh()
        call = self._calls.shown
        return call is not None and call.is_screen and self.is_mounted and self.display and not call.draw()

    def _tick(self) -> None:
        self.refresh(Region(0, 0, self.size.width, self._top))
