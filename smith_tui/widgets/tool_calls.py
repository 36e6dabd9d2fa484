"""The calls whose output can be looked at: which one is shown, how each stands, what its header says. Pure."""

from typing import TYPE_CHECKING, Literal

from smith_core.ansi import clean_output
from smith_tui.emulator.addressing import Addressing
from smith_tui.sanitize import literal, literal_lines
from smith_tui.transcript.cells import cell_width, cut_to
from smith_tui.widgets.line_store import LineStore
from smith_tui.widgets.status_line import format_seconds
from smith_tui.widgets.tail_view import TailView

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smith_tui.emulator.emulator import Emulator
    from smith_tui.stored_calls import StoredCall
    from smith_tui.widgets.file_lines import FileLines

MAX_CALLS = 200
MAX_BYTES = 16_000_000
"""Of the outputs of all calls together."""
MAX_RESTING_BYTES = 262_144
"""Of the output of a call that has ended and is not shown, if all of it is in a file."""
MAX_SCREENS = 8
"""Calls whose screens are kept; that of an older one is drawn again from its last output when it is looked at."""
REDRAWN_BYTES = 65_536
PLAIN_FLOOD_BYTES = 65_536
"""So much output without cursor addressing shows that a program has gone back to plain lines."""
MAX_COPIED_BYTES = 1_000_000

CallState = Literal["running", "ok", "error", "cancelled"]
HeaderStyle = Literal["mark", "header", "muted", "good", "bad"]
STATE_MARKS: dict[CallState, tuple[str, HeaderStyle]] = {
    "running": ("▶", "mark"),
    "ok": ("✓", "good"),
    "error": ("✗", "bad"),
    "cancelled": ("⊘", "muted"),
}
_DIFF_COLOURS = {"+++": "1", "---": "1", "@@": "36", "+": "32", "-": "31"}


class ToolCall:
    """One call: what it is, how it stands, and its output; times are seconds of one steady clock.

    The output is shown as lines, as the screen that the program drew, or whole from its file.
    """

    def __init__(self, call_id: str, name: str, summary: str, started_at: float) -> None:
        self.call_id = call_id
        self.name = literal(name)
        self.summary = literal(summary)
        self.started_at = started_at
        self.ended_at: float | None = None
        self.state: CallState = "running"
        self.exit_code: int | None = None
        self.full_path = ""
        """Where on disk the raw output is, when it was too long to be given to the model whole."""
        self.note = ""
        """What the person has just been told about this output."""
        self.screen: Emulator | None = None
        self.whole: FileLines | None = None
        self._whole_view: TailView | None = None
        self._screen_view: TailView | None = None
        self._addressing = Addressing()
        self._wants_screen = False
        self._is_screen = False
        self._is_chosen = False
        self._has_screen = True
        self._kept: tuple[str, bool] | None = None
        self._begin_lines()

    def _begin_lines(self) -> None:
        self.store = LineStore()
        self._lines_view = TailView(self.store)

    @property
    def is_screen(self) -> bool:
        """Whether it is shown as a screen."""
        return self._is_screen and self.whole is None

    @property
    def view(self) -> TailView:
        """The window that is looked through now."""
        self._unfold()
        if self._whole_view is not None:
            return self._whole_view
        if not self._is_screen:
            return self._lines_view
        if self._screen_view is None or self.screen is None:
            self._screen_view = TailView(self._drawn())
        return self._screen_view

    def feed(self, chunk: bytes) -> None:
        """Take raw output, cut anywhere; how it is shown follows it unless somebody chose or scrolled up."""
        self.store.feed(chunk)
        if self._addressing.feed(chunk):
            self._wants_screen = True
        elif self._addressing.bytes_since > PLAIN_FLOOD_BYTES and not self._addressing.in_alternate_screen:
            self._wants_screen = False
        if self.screen is not None:
            self.screen.feed(chunk)
        self.settle()

    def settle(self) -> None:
        """Show the output the way that suits it, if nothing holds it."""
        if self._is_chosen or self._is_screen == self._wants_screen or not self.view.following:
            return
        self._is_screen = self._wants_screen
        if not self._is_screen:
            self.forget_screen()

    def switch(self) -> None:
        """Show lines in place of a screen, or the other way round, from now on."""
        if self._has_screen:
            self._is_screen = not self.is_screen
            self._is_chosen = True
            self.close_whole()

    def forget_screen(self) -> None:
        """Give the memory of the screen back; it is drawn again when it is looked at."""
        self.screen = self._screen_view = None

    def rest(self) -> None:
        """Give back what is not needed while another call is shown."""
        self.store.rest()
        if self.full_path and self.state != "running":
            self.store.shorten(MAX_RESTING_BYTES)

    def set_text(self, text: str, *, diff: bool) -> None:
        """Make `text` the whole output, shown from its start; controls in it become visible signs."""
        self._begin_lines()
        self._has_screen = self._wants_screen = self._is_screen = False
        lines = literal_lines(text.removesuffix("\n"))
        if diff:
            lines = [_coloured(line) for line in lines]
        self.store.feed("".join(line + "\n" for line in lines).encode("utf-8", "replace"))

    def keep_text(self, text: str, *, diff: bool) -> None:
        """Make `text` the whole output as soon as somebody looks at it."""
        self._kept = (text, diff)
        self._has_screen = False

    def _unfold(self) -> None:
        if self._kept is not None:
            (text, diff), self._kept = self._kept, None
            self.set_text(text, diff=diff)

    def show_whole(self, whole: "FileLines") -> None:
        """Show the output from its file, at its start."""
        self.close_whole()
        self.whole = whole
        self._whole_view = TailView(whole)

    def close_whole(self) -> None:
        """Show again what is in memory."""
        if self.whole is not None:
            self.whole.close()
        self.whole = self._whole_view = None

    @property
    def copied_text(self) -> str:
        """What is copied of it: the text of the screen, or of all lines in memory, at most MAX_COPIED_BYTES of raw
        output."""
        self._unfold()
        if self.is_screen:
            lines = self.view.lines
            rows = [lines.line(number).text.rstrip() for number in range(lines.first_line, lines.end_line)]
            return "\n".join(rows).strip("\n")
        return clean_output(self.store.recent(MAX_COPIED_BYTES)).strip("\n")

    def draw(self) -> bool:
        """Bring the screen further in step with the output, for a frame's time; say whether it is."""
        return self._drawn().advance()

    def _drawn(self) -> "Emulator":
        if self.screen is None:
            # Its library is imported with the first program that needs it.
            from smith_tui.emulator.emulator import Emulator

            self.screen = Emulator()
            self.screen.feed(self.store.recent(REDRAWN_BYTES))
        return self.screen


def _coloured(line: str) -> str:
    for start, codes in _DIFF_COLOURS.items():
        if line.startswith(start):
            return f"\x1b[{codes}m{line}\x1b[0m"
    return line


class ToolCalls:
    """Calls in the order in which they began; the newest is shown until somebody goes back to another."""

    def __init__(self) -> None:
        self._calls: dict[str, ToolCall] = {}
        self.shown: ToolCall | None = None

    @property
    def running(self) -> bool:
        """Whether any call runs."""
        return any(call.state == "running" for call in self._calls.values())

    @property
    def place(self) -> tuple[int, int]:
        """The (number of the shown call from 1, number of calls)."""
        calls = list(self._calls.values())
        return (calls.index(self.shown) + 1 if self.shown is not None else 0), len(calls)

    @property
    def all(self) -> tuple[ToolCall, ...]:
        """All calls, the oldest first."""
        return tuple(self._calls.values())

    def get(self, call_id: str) -> ToolCall | None:
        """Return the call of that id, or None."""
        return self._calls.get(call_id)

    def start(self, call_id: str, name: str, summary: str, now: float) -> None:
        """Add a call; one of the same id is replaced."""
        replaced = self._calls.pop(call_id, None)
        if replaced is not None:
            replaced.close_whole()
        number, count = self.place if replaced is not self.shown else (0, 0)
        call = self._calls[call_id] = ToolCall(call_id, name, summary, now)
        if number == count:
            self.shown = call
        self._forget_oldest()

    def restore(self, stored: "Iterable[StoredCall]", now: float) -> None:
        """Add calls of an earlier time, which have ended, and show the last of them."""
        for item in stored:
            call = ToolCall(item.call_id, item.name, item.summary, now - item.duration_s)
            call.state, call.exit_code, call.ended_at, call.full_path = item.state, item.exit_code, now, item.full_path
            call.keep_text(item.text, diff=item.is_diff)
            self._calls[item.call_id] = self.shown = call

    def end(self, call_id: str, state: CallState, exit_code: int | None, now: float, full_path: str = "") -> None:
        """Record how a call ended and where its raw output is; an unknown one is ignored."""
        call = self._calls.get(call_id)
        if call is not None:
            call.state, call.exit_code, call.ended_at, call.full_path = state, exit_code, now, full_path

    def close(self) -> None:
        """Close the files that are open."""
        for call in self._calls.values():
            call.close_whole()

    def show(self, call_id: str) -> bool:
        """Show the call of that id; False when there is none."""
        call = self._calls.get(call_id)
        if call is not None:
            self.shown = call
        return call is not None

    def step(self, by: int) -> bool:
        """Show the call `by` places further; False at either end."""
        calls = list(self._calls.values())
        target = self.place[0] - 1 + by
        if self.shown is None or not 0 <= target < len(calls):
            return False
        self.shown = calls[target]
        return True

    def _forget_oldest(self) -> None:
        with_screen = [call for call in self._calls.values() if call.screen is not None and call is not self.shown]
        for call in with_screen[:-MAX_SCREENS]:
            call.forget_screen()
        for call in self._calls.values():
            if call is not self.shown:
                call.rest()
        size = sum(call.store.size for call in self._calls.values())
        for call_id, call in list(self._calls.items())[:-1]:
            if len(self._calls) <= MAX_CALLS and size <= MAX_BYTES:
                return
            if call.state != "running" and call is not self.shown:
                call.close_whole()
                del self._calls[call_id]
                size -= call.store.size


def header(
    call: ToolCall, place: tuple[int, int], percent: int | None, now: float, width: int, hint: str = ""
) -> list[tuple[str, HeaderStyle]]:
    """Return pieces that take exactly `width` cells: mark, name and summary, then how the call stands.

    percent: how far down the view is, None at the end. hint: how to get there, or away.
    """
    mark, mark_style = STATE_MARKS[call.state]
    facts: list[tuple[str, HeaderStyle]] = []
    if call.exit_code is not None:
        facts.append((f"exit {call.exit_code}", "good" if call.exit_code == 0 else "bad"))
    if call.state == "cancelled":
        facts.append(("cancelled", "muted"))
    facts.append((format_seconds((now if call.ended_at is None else call.ended_at) - call.started_at), "muted"))
    if place[1] > 1:
        facts.append((f"call {place[0]}/{place[1]}", "muted"))
    if percent is not None:
        facts.append((f"↑ {percent}%", "muted"))
    facts += _source_facts(call)
    if hint:
        facts.append((hint, "muted"))
    title = f"{call.name}  {call.summary}" if call.summary else call.name
    while facts and 2 + cell_width(call.name) + sum(2 + cell_width(text) for text, _ in facts) > width:
        facts.pop()
    right = sum(2 + cell_width(text) for text, _ in facts)
    shown = cut_to(title, max(0, width - 2 - right))
    filler = " " * max(0, width - 2 - right - cell_width(shown))
    pieces: list[tuple[str, HeaderStyle]] = [(f"{mark} ", mark_style), (shown + filler, "header")]
    return pieces + [(f"  {text}", style) for text, style in facts]


def _source_facts(call: ToolCall) -> list[tuple[str, HeaderStyle]]:
    """Return from what the output is shown and how much of it is not there."""
    if call.whole is not None:
        return [(f"whole, {call.whole.end_line:,} line{'s' * (call.whole.end_line != 1)}", "muted")]
    if call.is_screen:
        skipped = call.screen.skipped if call.screen is not None else 0
        return [(f"screen, {skipped // 1000:,} KB not drawn" if skipped >= 1000 else "screen", "muted")]
    dropped = call.store.first_line
    return [(f"{dropped:,} lines dropped", "muted")] if dropped else []
