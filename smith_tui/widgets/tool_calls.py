"""The calls whose output can be looked at: which one is shown, how each stands, what its header says. Pure."""

from typing import Literal

from smith_tui.sanitize import literal, literal_lines
from smith_tui.transcript.cells import cell_width, cut_to
from smith_tui.widgets.line_store import LineStore
from smith_tui.widgets.status_line import format_seconds
from smith_tui.widgets.tail_view import TailView

MAX_CALLS = 200
MAX_BYTES = 32_000_000

CallState = Literal["running", "ok", "error", "cancelled"]
HeaderStyle = Literal["mark", "header", "muted", "good", "bad"]
_MARKS: dict[CallState, tuple[str, HeaderStyle]] = {
    "running": ("▶", "mark"),
    "ok": ("✓", "good"),
    "error": ("✗", "bad"),
    "cancelled": ("⊘", "muted"),
}
_DIFF_COLOURS = {"+++": "1", "---": "1", "@@": "36", "+": "32", "-": "31"}


class ToolCall:
    """One call: what it is, how it stands, and its output; times are seconds of one steady clock."""

    def __init__(self, call_id: str, name: str, summary: str, started_at: float) -> None:
        self.call_id = call_id
        self.name = literal(name)
        self.summary = literal(summary)
        self.started_at = started_at
        self.ended_at: float | None = None
        self.state: CallState = "running"
        self.exit_code: int | None = None
        self.store = LineStore()
        self.view = TailView(self.store)

    def set_text(self, text: str, *, diff: bool) -> None:
        """Make `text` the whole output, shown from its start; controls in it become visible signs."""
        self.store = LineStore()
        self.view = TailView(self.store)
        lines = literal_lines(text.removesuffix("\n"))
        if diff:
            lines = [_coloured(line) for line in lines]
        self.store.feed("".join(line + "\n" for line in lines).encode("utf-8", "replace"))


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

    def get(self, call_id: str) -> ToolCall | None:
        """Return the call of that id, or None."""
        return self._calls.get(call_id)

    def start(self, call_id: str, name: str, summary: str, now: float) -> None:
        """Add a call; one of the same id is replaced."""
        replaced = self._calls.pop(call_id, None)
        number, count = self.place if replaced is not self.shown else (0, 0)
        call = self._calls[call_id] = ToolCall(call_id, name, summary, now)
        if number == count:
            self.shown = call
        self._forget_oldest()

    def end(self, call_id: str, state: CallState, exit_code: int | None, now: float) -> None:
        """Record how a call ended; an unknown one is ignored."""
        call = self._calls.get(call_id)
        if call is not None:
            call.state, call.exit_code, call.ended_at = state, exit_code, now

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
        size = sum(call.store.size for call in self._calls.values())
        for call_id, call in list(self._calls.items())[:-1]:
            if len(self._calls) <= MAX_CALLS and size <= MAX_BYTES:
                return
            if call.state != "running" and call is not self.shown:
                del self._calls[call_id]
                size -= call.store.size


def header(
    call: ToolCall, place: tuple[int, int], percent: int | None, now: float, width: int
) -> list[tuple[str, HeaderStyle]]:
    """Return pieces that take exactly `width` cells: mark, name and summary, then how the call stands.

    percent: how far down the view is, None at the end.
    """
    mark, mark_style = _MARKS[call.state]
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
    if call.store.first_line:
        facts.append((f"{call.store.first_line:,} lines dropped", "muted"))
    title = f"{call.name}  {call.summary}" if call.summary else call.name
    while facts and 2 + cell_width(call.name) + sum(2 + cell_width(text) for text, _ in facts) > width:
        facts.pop()
    right = sum(2 + cell_width(text) for text, _ in facts)
    shown = cut_to(title, max(0, width - 2 - right))
    filler = " " * max(0, width - 2 - right - cell_width(shown))
    pieces: list[tuple[str, HeaderStyle]] = [(f"{mark} ", mark_style), (shown + filler, "header")]
    return pieces + [(f"  {text}", style) for text, style in facts]
