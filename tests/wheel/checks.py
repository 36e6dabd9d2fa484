"""What an installed copy has to do, away from the repository, with a scripted model."""

import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.support.demo_task import ANSWER, RIGHT_LINE, WRONG, make_repository
from tests.support.model_steps import AnyStep, Call, Calls, Finish, Text
from tests.support.server_thread import ServerThread
from tests.support.terminal import Terminal
from tests.wheel.build import ROOT

RIGHT = WRONG.replace("1 + discount", "1 - discount")
CALLS = (
    ("code_symbols", {"query": "total"}),
    ("write", {"path": "prices.py", "content": RIGHT, "overwrite": True}),
    ("bash", {"command": "python3 prices.py"}),
)
_WHERE = "import smith_core, smith_tui; print(smith_core.__file__); print(smith_tui.__file__)"


class CheckError(Exception):
    """What did not go as it should, and what was printed."""


def script(request: dict[str, Any]) -> list[AnyStep]:
    """Make one call after the other, then answer."""
    done = sum(message["role"] == "tool" for message in request["messages"])
    if done == len(CALLS):
        return [Text(text=ANSWER), Finish(reason="stop")]
    name, arguments = CALLS[done]
    return [Calls(calls=(Call(name=name, arguments=arguments),)), Finish(reason="tool_calls")]


class Installed:
    """An installed copy: its folder of programs, a project, and an environment with an empty home."""

    def __init__(self, programs: Path, place: Path) -> None:
        self.programs = programs
        self.project = make_repository(place / "project")
        home = place / "home"
        home.mkdir(mode=0o700)
        path = f"{programs}:/usr/local/bin:/usr/bin:/bin"
        self.environ: Mapping[str, str] = {"HOME": str(home), "PATH": path, "LC_ALL": "C.UTF-8"}

    def run(self, *arguments: str, program: str = "smith-tui") -> str:
        """Run the program in the project and return what it printed, on both streams."""
        done = subprocess.run(
            [str(self.programs / program), *arguments],
            cwd=self.project,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=180,
        )
        said = done.stdout + done.stderr
        if done.returncode:
            raise CheckError(f"exit status {done.returncode}: {said}")
        return said


def checks(installed: Installed) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield each check with its name."""
    yield "imported from where it was installed", lambda: _no_repository(installed)
    yield "version with its commit", lambda: _version(installed)
    yield "help", lambda: _has(installed.run("--help"), "smith-tui doctor", "exit status of run")
    yield "completion", lambda: _has(installed.run("completion", "bash"), "-F _smith_tui smith-tui")
    yield "manual page", lambda: _manual_page(installed)
    yield "task with tools", lambda: _task(installed)
    yield "doctor", lambda: _doctor(installed)
    yield "tour", lambda: _has(installed.run("tour", "--plain"), "The tour is over.\n")
    yield "full screen", lambda: _full_screen(installed)
    yield "store", lambda: _has(installed.run("store", "check"), "Everything is whole.")
    yield "host ends", lambda: _has(installed.run("host", "stop"), "")


def _has(text: str, *wanted: str) -> None:
    for words in wanted:
        if words not in text:
            raise CheckError(f"{words!r} is not in: {text}")


def _no_repository(installed: Installed) -> None:
    where = installed.run("-c", _WHERE, program="python")
    if str(ROOT) in where or where.count("site-packages") != 2:
        raise CheckError(where)


def _version(installed: Installed) -> None:
    said = installed.run("--version")
    _has(said, "smith-tui ", "(commit ")
    if "unknown" in said and (ROOT / ".git").exists():
        raise CheckError(said)


def _manual_page(installed: Installed) -> None:
    page = installed.programs.parent / "share" / "man" / "man1" / "smith-tui.1"
    _has(page.read_text("utf-8"), ".SH SLASH COMMANDS")


def _task(installed: Installed) -> None:
    with ServerThread(script, strict=True) as server:
        said = installed.run("run", "--set", f"llm_config.api_url={server.url}", "mend the price")
    _has(said, "code_symbols", "15.0", "subtracts")
    _has((installed.project / "prices.py").read_text(), RIGHT_LINE)
    results = [message["content"] for message in server.requests[-1].json["messages"] if message["role"] == "tool"]
    _has(results[0], "prices.py", "def total")
    if server.server.violations:
        raise CheckError("; ".join(server.server.violations))


def _doctor(installed: Installed) -> None:
    with ServerThread(script) as server:
        _has(
            installed.run("--set", f"llm_config.api_url={server.url}", "doctor"), "Everything that a task needs works."
        )


def _full_screen(installed: Installed) -> None:
    with ServerThread(script) as server:
        command = [str(installed.programs / "smith-tui"), "--set", f"llm_config.api_url={server.url}", "--new"]
        with Terminal(command, columns=100, lines=30, cwd=installed.project, environ=installed.environ) as terminal:
            terminal.wait_for("Smith", timeout=60)
            terminal.type("mend the price\r")
            terminal.wait_for("subtracts", timeout=60)
            terminal.type("/quit\r")
            if terminal.wait_for_exit(30):
                raise CheckError("the app did not end well")
