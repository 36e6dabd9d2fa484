"""Asks a terminal what it can show while no app runs on it; no answer is left for the next program to read."""

import os
import select
import termios
import time
import tty

from smith_tui.graphics.support import Dialogue, Verdict
from smith_tui.paste_parser import reports_in


def ask_terminal(dialogue: Dialogue, source: int = 0, target: int = 1, timeout_s: float = 1.0) -> Verdict:
    """Return what the terminal of two descriptors can show; silence for `timeout_s` seconds is an answer, too."""
    before = termios.tcgetattr(source)
    try:
        # Without echo: an answer is nothing to be seen.
        tty.setcbreak(source, termios.TCSANOW)
        _write(target, dialogue.begin())
        end, read = time.monotonic() + timeout_s, ""
        while dialogue.verdict is None and (left := end - time.monotonic()) > 0:
            if select.select([source], [], [], left)[0]:
                read += os.read(source, 4096).decode("utf-8", "replace")
                reports, read = reports_in(read)
                for report in reports:
                    _write(target, dialogue.hear(report))
        dialogue.give_up()
    finally:
        # What was typed meanwhile goes along with answers that are late.
        termios.tcsetattr(source, termios.TCSAFLUSH, before)
        dialogue.close()
    assert dialogue.verdict is not None
    return dialogue.verdict


def _write(target: int, text: str) -> None:
    if text:
        os.write(target, text.encode())
