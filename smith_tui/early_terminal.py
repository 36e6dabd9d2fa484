"""The terminal made ready before anything heavy is imported: keys are kept without echo, and a first picture is shown.

It imports next to nothing, for what is imported here stands before the first ink.
"""

import os
import signal
import termios
from collections.abc import Sequence

from smith_tui.first_picture import StartKey, read_picture, start_key

TYPE_CHECKING = False
"""Stands here because the module that has it takes longer to import than all of this one."""
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

_ENTER = b"\x1b[?1049h\x1b[?25l\x1b[H"
_LEAVE = b"\x1b[m\x1b[?1049l\x1b[?25h"
_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
_WITH_VALUE = ("--role", "--model", "--set", "--config", "--resume")
_INPUT, _LOCAL, _CONTROLS = 0, 3, 6  # places in what tcgetattr returns


class EarlyTerminal:
    """A terminal that reads keys one by one until the toolkit takes it over or `close` gives it back.

    attributes: as tcgetattr returned them before anything was changed. key: what a picture of this start belongs to,
    None when it may have none. was_painted: whether there was one.
    """

    def __init__(self, screen: int, attributes: "list[Any]", key: StartKey | None) -> None:
        self.attributes = attributes
        self.key = key
        self.was_painted = False
        self._has_picture = False
        self._screen = screen
        self._is_open = True
        self._handlers: dict[signal.Signals, Any] = {}

    def open(self) -> None:
        """Take keys without echo and unchanged, have signals give the terminal back, and show the picture."""
        picture = None if self.key is None else read_picture(self.key)
        for number in _SIGNALS:
            self._handlers[number] = signal.signal(number, self._end_by_signal)
        termios.tcsetattr(0, termios.TCSANOW, _without_echo(self.attributes))
        if picture is not None:
            self.was_painted = self._has_picture = True
            os.write(self._screen, _ENTER + picture)

    def hand_over(self) -> bool:
        """Leave the terminal to the toolkit; say whether the picture stands on its alternate screen."""
        had_picture, self._has_picture = self._has_picture, False
        return had_picture

    def close(self) -> None:
        """Give the terminal back as it was, if the toolkit has not done so; more than one call does no harm."""
        if not self._is_open:
            return
        self._is_open = False
        try:
            if self.hand_over():
                os.write(self._screen, _LEAVE)
            termios.tcsetattr(0, termios.TCSANOW, self.attributes)
        except (OSError, termios.error):
            pass  # it is gone
        for number, handler in self._handlers.items():
            if signal.getsignal(number) == self._end_by_signal:
                signal.signal(number, handler)

    def _end_by_signal(self, number: int, frame: "FrameType | None") -> None:
        self.close()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)


def open_early_terminal(arguments: Sequence[str]) -> EarlyTerminal | None:
    """Make the terminal ready for a start of the app with these arguments; None when it is no such start, or no tty."""
    if not is_app_start(arguments):
        return None
    try:
        if not (os.isatty(0) and os.isatty(1)):
            return None
        # The toolkit draws on standard error; see `full_screen` for the case that it is redirected.
        screen = 2 if os.isatty(2) else 1
        early = EarlyTerminal(screen, termios.tcgetattr(0), start_key(arguments, screen))
        early.open()
    except (OSError, ValueError, termios.error):
        return None
    return early


def is_app_start(arguments: Sequence[str]) -> bool:
    """Whether the arguments open the app, and are sure to be understood: options written out in full."""
    left = list(arguments)
    while left:
        word = left.pop(0)
        if word in _WITH_VALUE:
            if not left or left.pop(0).startswith("-"):
                return False
        elif word != "--new":
            return False
    return True


def _without_echo(attributes: "list[Any]") -> "list[Any]":
    changed = [*attributes[:_CONTROLS], [*attributes[_CONTROLS]]]
    changed[_INPUT] &= ~(termios.ICRNL | termios.INLCR | termios.IGNCR | termios.IXON | termios.IXOFF)
    changed[_LOCAL] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN)
    changed[_CONTROLS][termios.VMIN], changed[_CONTROLS][termios.VTIME] = 1, 0
    # Ctrl+C still ends a start; to suspend it, or to dump it, would leave the terminal like this.
    off = os.fpathconf(0, "PC_VDISABLE")
    for character in (termios.VSUSP, termios.VQUIT):
        changed[_CONTROLS][character] = bytes([off]) if 0 <= off < 256 else b"\0"
    return changed
