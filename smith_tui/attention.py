"""Calls a person who has gone to another window, when a long turn has ended or a question waits; a setting decides."""

import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from smith_core.events import AnyEvent, ChildEvent, PermissionRequested, TurnEnded, TurnStarted
from smith_tui.output.calling import Words, call_sequence

if TYPE_CHECKING:
    from smith_core.config.shape import UiConfig

LONG_TURN_S = 10.0
"""Seconds from which on a person does something else during a turn."""


class Attention:
    """Listens to a session, and calls only a person who is away.

    write: hands the terminal what is no part of a frame. is_away: whether the terminal has told that it lost the focus;
    one that tells nothing never calls. goes_on: whether the next prompt is sent as soon as a turn is over.
    """

    def __init__(
        self,
        write: Callable[[str], None],
        *,
        settings: Callable[[], "UiConfig"],
        is_away: Callable[[], bool],
        goes_on: Callable[[], bool],
        environ: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._write = write
        self._settings = settings
        self._is_away = is_away
        self._goes_on = goes_on
        self._environ = environ
        self._clock = clock
        self._began_at = 0.0

    def note(self, event: AnyEvent) -> None:
        """Take an event of the session."""
        match event:
            case PermissionRequested() | ChildEvent(event=PermissionRequested()):
                self._call("Smith asks")
            case TurnStarted():
                self._began_at = self._clock()
            case TurnEnded(result=result) if self._clock() - self._began_at >= LONG_TURN_S:
                # Whoever cancels is there, and whoever has sent more does not wait for this turn.
                goes_on = result.stop_reason == "completed" and self._goes_on()
                if result.stop_reason != "cancelled" and not goes_on:
                    self._call("Smith: the turn has ended")
            case _:
                pass

    def _call(self, words: Words) -> None:
        way = self._settings().notify
        if way != "off" and self._is_away():
            self._write(call_sequence(way, words, self._environ))
