"""How the app ends when its terminal is gone."""

import asyncio
import gc
import signal
import subprocess
import sys
import textwrap
import weakref
from contextvars import ContextVar, copy_context
from pathlib import Path

from smith_tui.output.ending import OrderlyApp

_PROGRAM = """
    import os, signal, sys
    from pathlib import Path
    from smith_tui.output.ending import OrderlyApp

    class Ending(OrderlyApp):
        def on_mount(self):
            self.at_hang_up.append(self.last_step)
            os.kill(os.getpid(), signal.SIGHUP)

        def last_step(self):
            with Path(sys.argv[1]).open("a") as file:
                file.write("once ")
            for _ in range(3):
                os.kill(os.getpid(), signal.SIGHUP)

    Ending().run(headless=True)
"""


def test_b23_a_hang_up_in_the_last_steps_of_another_does_not_begin_them_anew(tmp_path: Path) -> None:
    steps = tmp_path / "steps"
    command = [sys.executable, "-c", textwrap.dedent(_PROGRAM), str(steps)]
    assert subprocess.run(command, timeout=30, check=False).returncode == 129
    assert steps.read_text() == "once "


async def test_taking_the_signals_keeps_nothing_of_whoever_asked_for_it() -> None:
    class View:
        """Something large that is current."""

    def ask(view: View) -> None:
        current.set(view)
        OrderlyApp().take_signals()

    current: ContextVar[View] = ContextVar("current")
    before = signal.getsignal(signal.SIGHUP)
    view = View()
    closed = weakref.ref(view)
    try:
        copy_context().run(ask, view)
        del view
        gc.collect()
        assert closed() is None
    finally:
        signal.signal(signal.SIGHUP, before)
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().remove_signal_handler(number)
