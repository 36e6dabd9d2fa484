"""Permission and sandbox as a person meets them in the terminal."""

import os

from smith_core.tools.sandbox.probe import probe_bubblewrap
from tests.e2e.conftest import Place
from tests.support.demo_task import RIGHT_LINE, TASK, WRONG, do_task
from tests.support.server_thread import ServerThread

ASK = ("--set", "tools.permission=ask")
SANDBOX = ("--set", "tools.sandbox=auto")
WAY_IN = "\x1bp"


def test_one_key_answers_and_the_status_bar_says_what_stands_in_between(place: Place) -> None:
    words = "asks, sandbox" if probe_bubblewrap(os.environ).program else "asks, no sandbox"
    with ServerThread(do_task(), strict=True) as server, place.start(server.url, *ASK, *SANDBOX) as terminal:
        terminal.wait_for(f"{words}  ")
        terminal.type(f"{TASK}\r")
        terminal.wait_for("wants to run edit. Allow it?", timeout=40)
        assert (place.project / "prices.py").read_text() == WRONG
        terminal.type(f"{WAY_IN}y")
        terminal.wait_for("wants to run bash. Allow it?")
        assert RIGHT_LINE in (place.project / "prices.py").read_text()
        terminal.type(f"{WAY_IN}n")
        terminal.wait_for("did not allow this call")
        terminal.wait_for("it prints")
        assert server.server.violations == []
