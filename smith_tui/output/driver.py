"""The terminal driver: takes a terminal over that was made ready early, and gives it back as it was at first."""

import os
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual import events
from textual.drivers import linux_driver
from textual.drivers.linux_driver import LinuxDriver
from textual.geometry import Size
from textual.message import Message

from smith_tui.paste_parser import ALT_MODES, AltIsALetter

if TYPE_CHECKING:
    from smith_tui.early_terminal import EarlyTerminal

_TO_ALTERNATE_SCREEN = "\x1b[?1049h"
_MOST_COLUMNS, _MOST_ROWS = 2000, 1000
"""Cells of the largest terminal that is drawn for: twice what the smallest readable letters leave on a large screen."""
_SWITCH_INTERVAL_S = 0.0005
"""How long another thread of ours may compute on while the screen, a key or a frame waits for the interpreter: Python's
own 5 ms are asked for again at each of the steps between a key and its echo."""


class TerminalDriver(LinuxDriver):
    """Textual's driver, for an app with an `early_terminal`.

    is_active: whether the terminal is ours now; it is not while the app is suspended.
    at_stop: asked for what is to be written before the screen is left, such as the removal of pictures.
    """

    def __init__(self, app: Any, **options: Any) -> None:
        super().__init__(app, **options)
        if self._size is None:
            # The toolkit's own guess is 80×25 where TERM is dumb, and then it resizes for ever.
            self._size = self._get_terminal_size()
        if os.environ.get("STY"):
            # GNU screen keeps a lone Escape until the next key comes, as long as mouse tracking is on.
            self._mouse = False
        self._early: EarlyTerminal | None = getattr(app, "early_terminal", None)
        self._keeps_picture = False
        self.is_active = False
        self.at_stop: list[Callable[[], str]] = []
        self._switched_on: list[str] = []  # modes that were off before
        self._early_input: list[Message] | None = []
        self._input_lock = threading.Lock()

    @property
    def writer(self) -> object:
        """The thread that writes; another one behind each suspension."""
        return self._writer_thread

    def write(self, data: str) -> None:
        """Write; the alternate screen is not entered twice, for some terminals would clear it."""
        if self._keeps_picture and data == _TO_ALTERNATE_SCREEN:
            self._keeps_picture = False
            return
        super().write(data)

    def process_message(self, message: Message) -> None:
        """Pass on what was read; keys wait for `release_input`, for at first nothing has the focus to take them."""
        if isinstance(message, AltIsALetter):
            self._switched_on.append(message.mode)
            self.write(f"\x1b[?{message.mode}h")
            return
        if isinstance(message, events.Resize) and not _is_credible(message.size):
            # The terminal keeps the size that it had; a screen of so many cells would stop everything for minutes.
            return
        with self._input_lock:
            if self._early_input is not None and isinstance(message, events.Key | events.Paste):
                self._early_input.append(message)
                return
        super().process_message(message)

    def _get_terminal_size(self) -> tuple[int, int]:
        width, height = super()._get_terminal_size()
        return min(width, _MOST_COLUMNS), min(height, _MOST_ROWS)

    def release_input(self) -> None:
        """Pass on the keys that came before there was anything to type into, and all others from now on."""
        with self._input_lock:
            waiting, self._early_input = self._early_input or [], None
            for message in waiting:
                super().process_message(message)

    def start_application_mode(self) -> None:
        """Take the terminal over."""
        sys.setswitchinterval(_SWITCH_INTERVAL_S)
        self._keeps_picture = self._early is not None and self._early.hand_over()
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self.is_active = self._writer_thread is not None
        if self.is_active and _may_ask_modes():
            self.write("".join(f"\x1b[?{mode}$p" for mode in ALT_MODES))
        if self._early is not None and self.attrs_before is not None:
            self.attrs_before = self._early.attributes

    def stop_application_mode(self) -> None:
        """Give the terminal back."""
        for last_words in self.at_stop:
            self.write(last_words())
        while self._switched_on:
            self.write(f"\x1b[?{self._switched_on.pop()}l")
        super().stop_application_mode()
        self.is_active = False

    def _run_input_thread(self) -> None:
        """Read the terminal; a mistake in that ends the app in good order, where the toolkit's own way says success."""
        try:
            self.run_input_thread()
        except Exception as error:  # noqa: BLE001 - whatever it is, nothing can be typed any more
            self._app.call_later(self._app._handle_exception, error)

    def _sigcont_application(self, *_: object) -> None:
        if not self._auto_restart:
            return
        if self.is_active:
            # Stopped by a signal that cannot be caught: the shell has had the terminal in between.
            self.suspend_application_mode()
            self._must_signal_resume = True
        self.resume_application_mode()


def _is_credible(size: Size) -> bool:
    return size.width <= _MOST_COLUMNS and size.height <= _MOST_ROWS


def _may_ask_modes() -> bool:
    # Terminal of macOS would show the question's last letter.
    return "xterm" in os.environ.get("TERM", "") and os.environ.get("TERM_PROGRAM") != "Apple_Terminal"


def use_frame_writer() -> None:
    """Let every driver that starts from now on write through a FrameWriter."""
    from smith_tui.output.writer import FrameWriter

    linux_driver.WriterThread = FrameWriter  # type: ignore[attr-defined,assignment]
