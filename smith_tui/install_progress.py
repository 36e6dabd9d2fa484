"""The progress of an installation as plain text: one line that is overwritten on a terminal, few lines elsewhere."""

import contextlib
import os
import time
from collections.abc import Callable
from typing import TextIO

from smith_core.embedded.catalog import EmbeddedModel
from smith_core.embedded.progress import (
    BytesMoved,
    Installed,
    InstallEvent,
    SourceFailed,
    SourceStarted,
    WaitingForInstaller,
)
from smith_core.embedded.words import duration_in_words, size_in_words
from smith_tui.sanitize import literal

LINE_INTERVAL_S = 5.0
"""Time between two lines where they cannot be overwritten."""

_BAR_CELLS = 20
_PHASE_WORDS = {"fetching": "fetched", "checking": "checked"}
_NO_WIDTH = 10_000


class ProgressPrinter:
    """Writes InstallEvents to a text stream."""

    def __init__(self, stream: TextIO, model: EmbeddedModel, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._model = model
        self._clock = clock
        self._is_terminal = stream.isatty()
        self._line_is_open = False
        self._last_line_at = float("-inf")

    def show(self, event: InstallEvent) -> None:
        """Write one event; reports of bytes in quick succession become one line."""
        match event:
            case BytesMoved():
                self._show_bytes(event)
            case SourceStarted(label=label, resumed_at=resumed_at):
                there = f", {size_in_words(resumed_at)} are there already" if resumed_at else ""
                self._write_line(f"{self._model.label} ({size_in_words(self._model.size)}) from {label}{there}")
            case SourceFailed(error=error):
                self._write_line(f"{error.message}; trying the next source")
            case WaitingForInstaller():
                self._write_line("another process is installing this model; waiting for it")
            case Installed():
                self._write_line(f"{self._model.label} is installed and checked")

    def end_line(self) -> None:
        """Leave the overwritten line, so that whatever comes next begins a new one."""
        if self._line_is_open:
            self._stream.write("\n")
            self._stream.flush()
            self._line_is_open = False

    def _show_bytes(self, moved: BytesMoved) -> None:
        now = self._clock()
        if self._is_terminal:
            # EL (ECMA-48) erases the rest of a longer line before; a line that wraps could not be overwritten.
            self._stream.write(f"\r{progress_line(moved)[: _width_of(self._stream) - 1]}\x1b[K")
            self._stream.flush()
            self._line_is_open = True
        elif now - self._last_line_at >= LINE_INTERVAL_S or moved.done >= moved.total:
            self._last_line_at = now
            self._write_line(progress_line(moved))

    def _write_line(self, text: str) -> None:
        self.end_line()
        self._stream.write(f"{literal(text)}\n")
        self._stream.flush()


def progress_line(moved: BytesMoved) -> str:
    """Return a report as text: percent, bar, bytes, speed, time left."""
    share = min(1.0, moved.done / moved.total) if moved.total else 1.0
    filled = int(share * _BAR_CELLS)
    parts = [
        f"{int(share * 100):3} % [{'#' * filled}{'.' * (_BAR_CELLS - filled)}]",
        f"{size_in_words(moved.done)} of {size_in_words(moved.total)} {_PHASE_WORDS[moved.phase]}",
    ]
    if moved.bytes_per_s:
        parts.append(f"{size_in_words(moved.bytes_per_s)}/s")
    if moved.seconds_left is not None and moved.done < moved.total:
        parts.append(f"{duration_in_words(moved.seconds_left)} left")
    return "  ".join(parts)


def _width_of(stream: TextIO) -> int:
    with contextlib.suppress(OSError, ValueError):
        return os.get_terminal_size(stream.fileno()).columns or _NO_WIDTH
    return _NO_WIDTH
