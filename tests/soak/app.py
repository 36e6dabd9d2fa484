"""One app of a soak in its terminal: starting it, bringing it back to the prompt, and what must hold while it runs."""

import random
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.bench.programs import BIN
from tests.soak.ledger import Ledger
from tests.soak.model import RandomModel
from tests.soak.place import Place
from tests.soak.screen import KEY, SoakTerminal
from tests.support.place import RESTORED
from tests.support.server_thread import ServerThread

SIZE = (200, 50)
ESCAPE, ENTER, CANCEL = "\x1b[27u", "\r", "\x03"
CLEAR = "\x1b[1;5F\x1b[1;6H\x7f"
"""Goes to the end, selects up to the beginning, deletes."""

_CLICK_PROMPT = f"\x1b[<0;9;{SIZE[1] - 2}M\x1b[<0;9;{SIZE[1] - 2}m"
READY = "Type a task, or / for a command"
ANSWER_S = 60.0
"""Longest wait for anything; other programs may have the processors meanwhile."""

_OVER = re.compile(r"^[○✗⊘] \w+", re.MULTILINE)
_IDLE = re.compile(r"^○ \w+ .* idle", re.MULTILINE)
_SETTINGS = {
    "llm_config.retry_backoff_ms": "[50, 200]",
    "llm_config.stream_stall_timeout": "4",
    "llm_config.recv_timeout": "6",
    "empty_response_retry_backoff_ms": "[20]",
}


class Broken(Exception):
    """An invariant that did not hold, in words."""


class App:
    """A running app, or one that has ended; `rng` decides what is done with it, `log` gets each step.

    kinds: the kinds of terminal that it is started in. process_ids: those of all starts.
    """

    def __init__(self, place: Place, server: ServerThread, model: RandomModel, seed: int, log: Path) -> None:
        self.place, self.server, self.model = place, server, model
        self.rng = random.Random(seed)
        self.ledger = Ledger()
        self.process_ids: set[int] = set()
        self.prompts = self.actions = 0
        self.violations: list[str] = []
        self.crashes_seen: list[str] = []
        self._log = log.open("a", encoding="utf-8")
        self._begun = time.monotonic()
        self.terminal: SoakTerminal

    # Starting and ending

    def start(self, *arguments: str, kind: str = "xterm-256color") -> None:
        """Start the app and wait until it takes keys."""
        self.log(f"start {' '.join(arguments)} in {kind}")
        settings = {"llm_config.api_url": self.server.url, **_SETTINGS}
        command = [str(BIN / "smith-tui"), "--model", "scripted"]
        command += [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
        self.terminal = SoakTerminal(
            [*command, *arguments],
            cwd=self.place.project,
            environ=self.place.environ,
            kind=kind,
            columns=SIZE[0],
            lines=SIZE[1],
        )
        self.process_ids.add(self.terminal.process.pid)
        # What the app before had not acknowledged may be gone with it.
        self.model.answered = ""
        self.model.take_said()
        self.wait_for(lambda text: READY in text, "the prompt of a start")
        # What is shown first may be a picture of the last start, in which Ctrl+C still ends this one.
        self.home()

    def ended(self, expected: int) -> None:
        """Wait for the end, and check the exit status and that the terminal is as it was before."""
        try:
            status = self.terminal.wait_for_exit(ANSWER_S)
        except subprocess.TimeoutExpired:
            raise Broken("the app does not end") from None
        time.sleep(0.2)
        if status != expected:
            self.broken(f"the exit status is {status}, not {expected}")
        if expected in (-signal.SIGKILL, 128 + signal.SIGHUP):
            return
        raw = bytes(self.terminal.raw)
        missing = [mode for mode in RESTORED if mode not in raw]
        if missing or self.terminal.attributes() != self.terminal.attributes_before:
            self.broken(f"the terminal is not as it was before: {missing}")
        self._look_for_tracebacks()

    def close(self) -> None:
        """Take the terminal away, whatever runs there."""
        if self.terminal.process.poll() is None:
            self.terminal.process.kill()
        self.terminal.process.wait(ANSWER_S)
        self.terminal.hang_up()

    # Notes

    def log(self, words: str) -> None:
        """Write down a step."""
        self._log.write(f"{time.monotonic() - self._begun:9.3f} {words}\n")
        self._log.flush()

    def broken(self, words: str) -> None:
        """Note an invariant that did not hold, with the screen."""
        self.violations.append(f"{time.monotonic() - self._begun:.0f} s: {words}")
        self.log(f"BROKEN: {words}\n{self.terminal.text()}")

    # Keys and the screen

    def type(self, text: str) -> None:
        """Send keys."""
        self.log(f"type {text[:200]!r}{'…' if len(text) > 200 else ''}")
        self.terminal.type(text)

    def wait_for(self, holds: Callable[[str], bool], what: str, timeout: float = ANSWER_S) -> str:
        """Wait for something on the screen; Broken when it does not come."""
        try:
            return self.terminal.wait_for(holds, timeout)
        except AssertionError:
            raise Broken(f"{what} did not come (exit status {self.terminal.process.poll()})") from None

    def saw(self, holds: Callable[[str], bool], timeout: float) -> bool:
        """Wait for something that may come or not; say whether it did."""
        try:
            self.terminal.wait_for(holds, timeout)
        except AssertionError:
            return False
        return True

    def resize(self, columns: int, lines: int) -> None:
        """Change the size of the terminal."""
        if (self.terminal.screen.columns, self.terminal.screen.lines) != (columns, lines):
            self.log(f"resize {columns}×{lines}")
            self.terminal.resize(columns, lines)

    @property
    def is_over(self) -> bool:
        """Whether the status bar says that no turn runs."""
        return _is_over(self.terminal.text())

    def home(self) -> None:
        """Bring the app back to its empty prompt, from wherever it is; Broken when it does not take keys there."""
        self.resize(*SIZE)
        for attempt in range(12):
            self.terminal.type(ESCAPE)
            time.sleep(0.02 * attempt)
            if attempt > 1:
                # Tab and the mouse can give the keys to something that Escape does not take them from.
                self.terminal.type(_CLICK_PROMPT)
            self.terminal.type(CLEAR)
            if not self.saw(lambda text: READY in text, 0.3 + attempt):
                continue
            self.terminal.type(KEY)
            if self.saw(lambda text: f"> {KEY}" in text, 1.0 + 2 * attempt):
                self.terminal.type("\x7f")
                if self.saw(lambda text: READY in text, 1.0 + 2 * attempt):
                    self._look_for_tracebacks()
                    return
            if self.terminal.process.poll() is not None:
                raise Broken(f"the app has ended, exit status {self.terminal.process.poll()}")
        raise Broken("the prompt does not come back")

    def let_turn_end(self, seconds: float) -> bool:
        """Wait for the end of the turn for a while; say whether it is over, and then take in what it acknowledged."""
        over = self.saw(_is_over, seconds)
        self.ledger.acknowledge(self.model.take_heard())
        answered, requests = self.model.answered, self.model.requests
        if over:
            # What is on the screen may be the end of the turn before.
            time.sleep(0.5)
            text = self.terminal.text()
            if requests == self.model.requests and answered in text and _IDLE.search(text):
                self.ledger.acknowledge({answered} | self.model.take_said())
        return over

    def stop_turn(self) -> None:
        """End the turn that runs, and all that waits behind it."""
        for _ in range(5):
            self.home()
            # The screen may still show the end of the turn before.
            time.sleep(0.7)
            if self.is_over:
                return
            self.type(CANCEL)
            self.let_turn_end(20.0)
            # A second Ctrl+C within a second would leave the app.
            time.sleep(2.5)
        raise Broken("the turn cannot be cancelled")

    def prompt_text(self, words: str = "do something", *, kind: str = "p") -> str:
        """Return a new prompt with a mark of its own; kind: "s" for what is said to a running turn."""
        self.prompts += 1
        return f"{kind}{self.prompts:05d} {words}"

    def expect_removal(self, most: int) -> None:
        """Know that somebody takes away up to so many marks on purpose."""
        # What was said to the turn that goes may be acknowledged only long after, by the end of another turn.
        self.model.take_said()
        self.ledger.expect_removal(most)

    def look(self) -> None:
        """Check what has to hold at any time: the requests, the store, the process."""
        self.ledger.acknowledge(self.model.take_heard())
        stored = self.place.stored_marks()
        if self.ledger.known - stored:
            time.sleep(3.0)
            stored = self.place.stored_marks()
        lost = self.ledger.check(stored)
        if lost:
            self.broken(f"acknowledged, but not in the store: {sorted(lost)}")
        requests: list[Any] = self.server.server.all_requests
        for request in requests:
            for problem in request.violations:
                self.broken(f"a strict endpoint refuses: {problem}")
            request.violations = []
        del requests[:-3]
        for error in self.server.server.script_errors:
            self.broken(f"the script of the soak failed: {error!r}")
        self.server.server.script_errors.clear()

    def _look_for_tracebacks(self) -> None:
        text = self.terminal.text()
        if "Traceback (most recent call last)" in text:
            self.broken("a traceback on the screen")


def _is_over(text: str) -> bool:
    return bool(_OVER.search(text))
