"""Where the output of tools goes while nobody has looked at it and no tool has run: nowhere, but it is not lost."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smith_tui.stored_calls import StoredCall
    from smith_tui.widgets.tool_calls import CallState
    from smith_tui.widgets.tool_output import ToolOutputPane


class LateOutput:
    """Takes what the presenter says of calls; `make` mounts the pane for the first call that runs.

    stored: the calls of a conversation that was gone on with, which the pane is to list when it is made.
    """

    def __init__(self, make: "Callable[[], ToolOutputPane]") -> None:
        self._make = make
        self.pane: ToolOutputPane | None = None
        self.stored: tuple[StoredCall, ...] = ()

    def made(self) -> "ToolOutputPane":
        """Return the pane, which lists what it has missed."""
        if self.pane is None:
            self.pane = self._make()
            self.pane.restore(self.stored)
            self.stored = ()
        return self.pane

    def start_call(self, call_id: str, name: str, summary: str) -> None:
        """Begin a call."""
        self.made().start_call(call_id, name, summary)

    def feed(self, call_id: str, chunk: bytes) -> None:
        """Take raw output of a call."""
        self.made().feed(call_id, chunk)

    def set_text(self, call_id: str, text: str, *, diff: bool = False) -> None:
        """Take the whole output of a call that had no live output."""
        self.made().set_text(call_id, text, diff=diff)

    def end_call(self, call_id: str, state: "CallState", exit_code: int | None = None, full_path: str = "") -> None:
        """End a call; full_path: of its raw output on disk, if that was kept."""
        self.made().end_call(call_id, state, exit_code, full_path)

    def restore(self, stored: "Iterable[StoredCall]") -> None:
        """List calls of an earlier time in place of all others."""
        if self.pane is None:
            self.stored = tuple(stored)
        else:
            self.pane.restore(stored)

    def clear(self) -> None:
        """Forget all calls."""
        self.restore(())
