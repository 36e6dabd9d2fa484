"""A home, a project and a way to start the real program in it, for tests from end to end."""

import os
import subprocess
import sys
from pathlib import Path

from smith_core.llm.host_control import running_hosts, stop_hosts
from tests.support.demo_task import TASK, make_repository
from tests.support.server_thread import ServerThread
from tests.support.terminal import Terminal

SMITH = str(Path(sys.executable).parent / "smith-tui")
RESTORED = (b"\x1b[?1049l", b"\x1b[?1000l", b"\x1b[?1003l", b"\x1b[?1006l", b"\x1b[?2004l", b"\x1b[?25h")
"""How the modes of a terminal are switched off again."""
_XDG = {"CONFIG": ".config", "DATA": ".local/share", "STATE": ".local/state", "CACHE": ".cache"}


class ModelHome:
    """A $HOME for many places: their programs share one model host, which costs as much as five starts of the app."""

    def __init__(self, root: Path) -> None:
        self.environ = {"HOME": str(root / "home"), "XDG_RUNTIME_DIR": str(root / "run")}
        for folder in self.environ.values():
            Path(folder).mkdir(mode=0o700)
        self._start_host(Place(root, self))

    def _start_host(self, place: "Place") -> None:
        """Have the host started where nothing waits for it on a screen."""
        with ServerThread(["ready"]) as server:
            command = [SMITH, "run", "--set", f"llm_config.api_url={server.url}", "--model", "m", "hello"]
            subprocess.run(
                command, cwd=place.project, env=place.environ, capture_output=True, text=True, timeout=150, check=True
            )

    def close(self) -> None:
        """End the hosts that wait for another start."""
        stop_hosts(self.environ)
        assert running_hosts(self.environ) == ()


class Place:
    """An empty home and a project; `environ` belongs to that home and holds no key unless the test puts one in.

    With a ModelHome the files of the program are below `home` all the same, and $HOME is elsewhere.
    """

    def __init__(self, root: Path, shared: ModelHome | None = None) -> None:
        self.home = root / "home"
        self.home.mkdir(mode=0o700, exist_ok=True)
        self.project = make_repository(root / "project")
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TZ") if name in os.environ}
        self.environ: dict[str, str] = {**kept, "HOME": str(self.home), "LC_ALL": "C.UTF-8"}
        self._has_own_host = shared is None
        if shared is not None:
            self.environ |= shared.environ
            self.environ |= {f"XDG_{name}_HOME": str(self.home / folder) for name, folder in _XDG.items()}

    def start(self, url: str, *more: str, columns: int = 100, lines: int = 30) -> Terminal:
        """Start the app in a pseudo terminal."""
        command = [SMITH, "--set", f"llm_config.api_url={url}", "--set", "llm_config.retry_backoff_ms=[10]", *more]
        return Terminal(command, columns=columns, lines=lines, cwd=self.project, environ=self.environ)

    def close(self) -> None:
        """End the model host that waits for another start, unless other places use it."""
        if self._has_own_host:
            stop_hosts(self.environ)
            assert running_hosts(self.environ) == ()


def run(place: Place, url: str, *more: str, task: str = TASK, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Do one task without a screen."""
    settings = ["--set", f"llm_config.api_url={url}", "--set", "llm_config.retry_backoff_ms=[10]"]
    command = [SMITH, "run", *settings, *more, task]
    return subprocess.run(
        command, cwd=place.project, env=place.environ, input=stdin, capture_output=True, text=True, timeout=60
    )


def ready(terminal: Terminal) -> Terminal:
    """Wait until the app takes keys."""
    terminal.wait_for("Smith")
    return terminal


def ask(terminal: Terminal, text: str, answer: str) -> None:
    """Send a prompt, and wait for its answer and for the end of the turn."""
    terminal.type(f"{text}\r")
    terminal.wait_for(answer)
    terminal.wait_for("idle")


def sent(server: ServerThread) -> list[tuple[str, str]]:
    """Return roles and contents of the last request, without the system prompt."""
    messages = server.requests[-1].json["messages"][1:]
    return [(message["role"], message["content"]) for message in messages]
