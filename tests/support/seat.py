"""One running app that many tests use in turn: a person's terminal, and a strict model that is told what to answer."""

import contextlib
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import psutil

from tests.support.model_steps import Answer, Delta, Finish, call_tools
from tests.support.place import Place, ready
from tests.support.server_thread import ServerThread

EMPTY_PROMPT = "> Type a task"


class Seat:
    """The app at one place; the model refuses what a strict endpoint would refuse.

    Each prompt gets a number, and the last answer to it says `end of N`, so that a test sees its own turn end.
    """

    def __init__(self, place: Place, *more: str, columns: int = 100, lines: int = 50) -> None:
        self.place = place
        self.server = ServerThread([], strict=True)
        self.terminal = place.start(self.server.url, "--new", *more, columns=columns, lines=lines)
        self._turns = 0

    def __enter__(self) -> "Seat":
        ready(self.terminal)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.terminal.__exit__(kind, error, at)
        self.server.stop()

    @property
    def project(self) -> Path:
        """The folder that the app works in."""
        return self.place.project

    def begin(self, prompt: str, *answers: Answer) -> None:
        """Send a prompt; the model gives these answers."""
        self.server.server.push(*answers)
        self.terminal.type(f"{prompt}\r")

    def ask(self, prompt: str, *answers: Answer, timeout: float = 30.0) -> str:
        """Send a prompt, have these answers given and a last one of words, and return the screen of then."""
        self._turns += 1
        end = f"end of {self._turns}"
        self.begin(prompt, *answers, f"{end}.")
        self.terminal.wait_for(lambda text: f"{end}." in text and "idle" in text, timeout)
        assert self.server.server.violations == []
        return self.terminal.text()

    def refused(self, prompt: str, *answers: Answer, shows: str, timeout: float = 30.0) -> str:
        """Send a prompt whose turn ends with an error that is shown in these words, and return the screen of then."""
        self.begin(prompt, *answers)
        return self.terminal.wait_for(lambda text: shows in text and status(text).endswith("error"), timeout)

    def cancelled(self, timeout: float = 5.0) -> str:
        """Stop the turn by key, and return the screen of then."""
        self.terminal.type("\x03")
        return self.terminal.wait_for(lambda text: status(text).endswith("cancelled"), timeout)

    def run(self, *commands: str, timeout: float = 30.0) -> list[str]:
        """Have the model run commands in one answer; return what it was told of each."""
        self.ask("run these", call_tools(*(("bash", {"command": command}) for command in commands)), timeout=timeout)
        return self.results()

    def sent(self) -> list[dict[str, Any]]:
        """Return the messages of the last request, from the last prompt on."""
        messages = self.server.requests[-1].json["messages"]
        at = max(number for number, message in enumerate(messages) if message["role"] == "user")
        return list(messages[at:])

    def results(self) -> list[str]:
        """Return what the model was told of the calls since the last prompt."""
        return [message["content"] for message in self.sent() if message["role"] == "tool"]

    def command(self, line: str, shows: str = "") -> str:
        """Run a slash command, and wait for what it says and for an empty prompt.

        The line is seen before it is sent: a burst of lines would count as one paste.
        """
        self.terminal.type(line)
        self.terminal.wait_for(line[-40:])
        self.terminal.type("\r")
        return self.terminal.wait_for(lambda text: shows in text and EMPTY_PROMPT in text)

    def restart(self) -> None:
        """Quit, and start again with the same conversation."""
        self.terminal.type("/quit\r")
        assert self.terminal.wait_for_exit() == 0
        self.terminal.__exit__(None, None, None)
        self.terminal = self.place.start(self.server.url, columns=100, lines=50)
        ready(self.terminal)


def status(screen: str) -> str:
    """Return what the status bar begins with: the sign, the name, the model, and what is going on."""
    line = next((line for line in reversed(screen.split("\n")) if " Smith " in line), "")
    return line[:70].split("   ")[0].strip()


def raw_calls(*deltas: dict[str, Any]) -> Answer:
    """Return an answer whose deltas of calls are literally these."""
    return [*(Delta(delta={"tool_calls": [delta]}) for delta in deltas), Finish(reason="tool_calls")]


def wait_until_gone(names: tuple[str, ...], timeout: float = 3.0) -> None:
    """Wait until no process runs whose command line holds one of these."""
    end = time.monotonic() + timeout
    while left := [line for line in map(_command_line, psutil.process_iter()) if any(name in line for name in names)]:
        assert time.monotonic() < end, left
        time.sleep(0.05)


def end_all(names: tuple[str, ...]) -> None:
    """Kill the processes whose command line holds one of these."""
    for process in psutil.process_iter():
        if any(name in _command_line(process) for name in names):
            with contextlib.suppress(psutil.Error):
                process.kill()


def _command_line(process: psutil.Process) -> str:
    try:
        return "" if process.status() == psutil.STATUS_ZOMBIE else " ".join(process.cmdline())
    except psutil.Error:
        return ""
