"""How the app ends when its terminal is gone."""

import subprocess
import sys
import textwrap
from pathlib import Path

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
