"""The programs that are measured, in pseudo terminals: the app in a home of its own, and the named baselines."""

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any

from smith_core.llm.host_control import running_hosts, stop_hosts
from tests.bench.probe import Probe
from tests.bench.timing import cpu_seconds
from tests.support.children import PROSE
from tests.support.model_steps import Finish, Text
from tests.support.server_thread import ServerThread

BIN = Path(sys.executable).parent
NOWHERE = "http://127.0.0.1:9/v1"
READY = b"ype a task"
"""What the empty prompt shows behind the caret; it is drawn when the app takes keys."""

BASELINE_READY = b"READY-MARK"
LAST_WORD = "#ALL#WRITTEN#"
"""No letter of it stands on the screen before, so that it is drawn whole."""

TOKEN_CHARS = 4
TOKENS_PER_SECOND = 200

Prepare = Callable[[Path], None]


def program(name: str) -> str:
    """Return the path of a program of this environment, or else of the machine."""
    return shutil.which(name, path=f"{BIN}:{os.environ['PATH']}") or name


@cache
def _shared() -> Path:
    """Return the folder with the home and the socket of the host that all figures share but those of a first start."""
    folder = Path(tempfile.mkdtemp(prefix="smith-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(lambda: stop_hosts(_environment(folder, folder)))
    (folder / "run").mkdir(mode=0o700)
    return folder


def _inherited() -> dict[str, str]:
    """Return our environment without what changes a screen's size, or keeps compiled code from being kept."""
    left_out = ("COLUMNS", "LINES", "PYTHONDONTWRITEBYTECODE")
    return {name: value for name, value in os.environ.items() if name not in left_out}


def _environment(home: Path, folder: Path) -> dict[str, str]:
    kept = _inherited()
    folders = {"CACHE": "c", "CONFIG": "k", "DATA": "d", "STATE": "s"}
    kept |= {f"XDG_{kind}_HOME": f"{folder}/{name}" for kind, name in folders.items()}
    return kept | {"HOME": str(home), "XDG_RUNTIME_DIR": f"{home}/run"}


@contextmanager
def new_home(prepare: Prepare | None = None, *, is_first: bool = False) -> Iterator[tuple[Path, dict[str, str]]]:
    """Make folders for the app, empty but for what `prepare` makes; is_first: no model host waits and none is left."""
    with tempfile.TemporaryDirectory(prefix="smith-bench-") as name:
        folder = Path(name)
        (folder / "project").mkdir()
        (folder / "run").mkdir(mode=0o700)
        if prepare is not None:
            prepare(folder)
        environ = _environment(folder if is_first else _shared(), folder)
        try:
            yield folder, environ
        finally:
            if is_first:
                stop_hosts(environ)


@contextmanager
def smith(
    url: str = NOWHERE,
    *arguments: str,
    prepare: Prepare | None = None,
    home: tuple[Path, dict[str, str]] | None = None,
    is_first: bool = False,
    kind: type[Probe] = Probe,
) -> Iterator[Probe]:
    """Run the app against an address, in an empty project; home: of `new_home`, to start in it again."""
    command = [str(BIN / "smith-tui"), "--set", f"llm_config.api_url={url}", "--model", "scripted", *arguments]
    where = nullcontext(home) if home else new_home(prepare, is_first=is_first)
    with where as (folder, environ), kind(command, environ, folder / "project") as probe:
        yield probe


@contextmanager
def baseline(module: str, *arguments: object) -> Iterator[Probe]:
    """Run a baseline app of the bench."""
    command = [sys.executable, "-m", f"tests.bench.{module}", *map(str, arguments)]
    with Probe(command, _inherited(), Path.cwd()) as probe:
        yield probe


def prose(tokens: int) -> str:
    """Return about so many tokens of prose, lists and code, no block of them broken off."""
    return f"{PROSE}\n\n" * max(1, round(tokens * TOKEN_CHARS / len(PROSE)))


def paced(tokens: int, rate: float = TOKENS_PER_SECOND) -> list[Any]:
    """Return the steps of an answer of about so many tokens at a rate, and its last word."""
    return [Text(text=prose(tokens), size=TOKEN_CHARS, rate=rate), Text(text=LAST_WORD), Finish()]


@contextmanager
def streaming(*arguments: str, prepare: Prepare | None = None, kind: type[Probe] = Probe) -> Iterator[Probe]:
    """Run an app into which an answer comes at 200 tokens/s for a minute; the start is over."""
    with (
        ServerThread(lambda request: paced(60 * TOKENS_PER_SECOND)) as backend,
        smith(backend.url, *arguments, prepare=prepare, kind=kind) as probe,
    ):
        probe.wait_for(READY)
        probe.quiet(0.5, 5.0)
        probe.send(b"go\r")
        backend.wait_for_requests(1)
        probe.wait_for(b"places")
        yield probe


class Load:
    """CPU seconds that the app and its host have used since the last reading."""

    def __init__(self, probe: Probe) -> None:
        (report,) = (report for report in running_hosts(probe.environ) if report.status is not None)
        assert report.status is not None
        self.app, self.host = probe.process.pid, report.status.pid
        self._before = self._now()

    def _now(self) -> tuple[float, float]:
        return cpu_seconds(self.app), cpu_seconds(self.host)

    def spent(self) -> tuple[float, float]:
        """Return those of the app and those of the host."""
        before, self._before = self._before, self._now()
        return self._before[0] - before[0], self._before[1] - before[1]


def warm_up(probe: Probe, backend: ServerThread, answer: str = "fine.") -> None:
    """Send a first prompt, so that the host has loaded everything, and wait for its answer."""
    probe.wait_for(READY)
    probe.send(b"hello\r")
    backend.wait_for_requests(1)
    probe.wait_for(answer.encode())
    probe.quiet(1.0)
