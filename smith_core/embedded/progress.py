"""What an installation reports, and the meter that works out speed and time left."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from smith_core.errors import AgentError

REPORT_INTERVAL_S = 0.1
"""Least time between two reports of bytes."""

_SPEED_WINDOW_S = 10.0

Phase = Literal["fetching", "checking"]


class WaitingForInstaller(msgspec.Struct, frozen=True, kw_only=True):
    """Another process is installing the same model; this one waits until it has ended."""


class SourceStarted(msgspec.Struct, frozen=True, kw_only=True):
    """A source is tried; label: what it is, for people. resumed_at: bytes that are there already."""

    label: str
    resumed_at: int


class SourceFailed(msgspec.Struct, frozen=True, kw_only=True):
    """A source did not deliver; the next one is tried."""

    label: str
    error: AgentError


class BytesMoved(msgspec.Struct, frozen=True, kw_only=True):
    """How far a phase is: bytes done and in all, bytes per second of the last seconds, seconds left if known."""

    phase: Phase
    done: int
    total: int
    bytes_per_s: float
    seconds_left: float | None


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    """The weights are there and checked."""

    path: Path


InstallEvent = WaitingForInstaller | SourceStarted | SourceFailed | BytesMoved | Installed
ReportProgress = Callable[[InstallEvent], None]


class Meter:
    """Reports one phase's bytes on the event loop it was made on; `reached` may be called from any thread."""

    def __init__(
        self, phase: Phase, total: int, report: ReportProgress, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._phase = phase
        self._total = total
        self._report = report
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        self._samples: deque[tuple[float, int]] = deque()

    def restart(self, done: int) -> None:
        """Begin at `done` bytes, which are there already and count for no speed."""
        self._samples.clear()
        self.reached(done)

    def reached(self, done: int) -> None:
        """Take note that `done` bytes are there; reported at most every REPORT_INTERVAL_S, the last byte always."""
        now = self._clock()
        is_due = not self._samples or now - self._samples[-1][0] >= REPORT_INTERVAL_S or done >= self._total
        if not is_due:
            return
        self._samples.append((now, done))
        while len(self._samples) > 2 and now - self._samples[0][0] > _SPEED_WINDOW_S:
            self._samples.popleft()
        since, before = self._samples[0]
        speed = max(0, done - before) / (now - since) if now > since else 0.0
        moved = BytesMoved(
            phase=self._phase,
            done=done,
            total=self._total,
            bytes_per_s=speed,
            seconds_left=(self._total - done) / speed if speed else None,
        )
        if threading.get_ident() == self._loop_thread:
            self._report(moved)
        else:
            self._loop.call_soon_threadsafe(self._report, moved)
