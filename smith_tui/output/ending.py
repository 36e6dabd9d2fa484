"""A clean end whatever happens: signals, exceptions, and a terminal that is gone."""

import asyncio
import os
import signal
from collections.abc import Callable
from contextvars import Context
from traceback import walk_tb
from typing import Any

from textual._context import active_message_pump
from textual.app import App
from textual.css.query import NoMatches
from textual.dom import NoScreen
from textual.message_pump import MessagePump
from textual.widget import Widget

from smith_core.log import LOGGER


class OrderlyApp(App[None]):
    """An app that gives the terminal back before it ends.

    crash: the exception that ended it. at_hang_up: called before the program ends because its terminal is gone, when
    nothing can be written any more.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.crash: Exception | None = None
        self.at_hang_up: list[Callable[[], object]] = []
        self._signalled = False

    def on_load(self) -> None:
        """Take the signals before the terminal is touched, so that none can end the app and leave it as it is then."""
        self.take_signals()

    def take_signals(self) -> None:
        """Take the signals that end the app, instead of whoever had them."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            # That of the caller would keep a view that an external program was opened from, with all that it shows.
            Context().run(loop.add_signal_handler, number, self._end_by_signal, number)
        # On a hang-up the terminal is gone: nothing can be restored, and waiting for it would never end.
        signal.signal(signal.SIGHUP, self._hang_up)

    def _end_by_signal(self, number: int) -> None:
        self._signalled = True
        self.exit(return_code=128 + number)

    def _hang_up(self, number: int, frame: object) -> None:
        # A further one would begin the last steps anew, within themselves, and so on for ever.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        for last_step in self.at_hang_up:
            last_step()
        os._exit(128 + number)

    def _handle_exception(self, error: Exception) -> None:
        """Leave in good order instead of printing a traceback over the screen."""
        # What is taken away while it is built finds its parts missing, what a frame still has of it finds no screen.
        is_late = isinstance(error, NoMatches) and _is_taken_away(active_message_pump.get(None))
        if is_late or (isinstance(error, NoScreen) and (self._exit or _had_screen(error))):
            LOGGER.info("a view was taken away too early: %s", error)
            return
        if self.crash is None and not self._signalled:
            self.crash = error
            self.exit(return_code=1)


def _is_taken_away(pump: MessagePump | None) -> bool:
    """Whether it is a widget that is being removed, or inside one."""
    return isinstance(pump, Widget) and any(node._pruning for node in pump.ancestors_with_self)


def _had_screen(error: NoScreen) -> bool:
    """Whether a widget was asked for its screen that had one before."""
    *_, (innermost, _) = walk_tb(error.__traceback__)
    asked = innermost.f_locals.get("self")
    return isinstance(asked, Widget) and (asked.is_mounted or _is_taken_away(asked))
