"""The terminal as the rain sees it: whether it takes a frame now, and how one is written."""

from typing import TYPE_CHECKING, Protocol

from textual._ansi_sequences import SYNC_END, SYNC_START

from smith_tui.output.driver import TerminalDriver

if TYPE_CHECKING:
    from smith_tui.output.app import OutputApp

_BACKLOG = 2
"""Pieces that may wait in Textual's own writer, which blocks when thirty do."""


class Surface(Protocol):
    """Where frames go."""

    @property
    def is_open(self) -> bool:
        """Whether the terminal is ours now."""
        ...

    @property
    def is_ready(self) -> bool:
        """Whether the terminal has taken all that was written."""
        ...

    def write(self, text: str) -> None:
        """Write, at once for the eye."""
        ...


class TerminalSurface:
    """The terminal of an app, written by the one writer that the app has."""

    def __init__(self, app: "OutputApp") -> None:
        self._app = app

    @property
    def driver(self) -> TerminalDriver | None:
        """The driver of the terminal; None where there is none, as in tests without one."""
        driver = self._app._driver
        return driver if isinstance(driver, TerminalDriver) else None

    @property
    def is_open(self) -> bool:
        """Whether the terminal is ours now."""
        return self.driver is not None and self.driver.is_active

    @property
    def is_ready(self) -> bool:
        """Whether the terminal has taken all that was written."""
        driver = self.driver
        if driver is None or not driver.is_active:
            return False
        is_busy = getattr(driver.writer, "is_busy", None)
        return driver._writer_thread._queue.qsize() <= _BACKLOG if is_busy is None else not is_busy  # type: ignore[union-attr]

    def write(self, text: str) -> None:
        """Write, at once for the eye."""
        if self.driver is not None:
            self.driver.write(f"{SYNC_START}{text}{SYNC_END}" if self._app._sync_available else text)
