"""Where a soak lives: a home, a project, a folder for temporary files, and what an app has left of itself there."""

import contextlib
import os
import re
import signal
import time
from pathlib import Path

import psutil

import smith_core
from smith_core.llm.host_control import running_hosts, stop_hosts
from smith_core.store.journal.tail import read_entries
from smith_core.store.layout import StoreLayout
from smith_tui.graphics.leftovers import PREFIX
from tests.support.demo_task import make_repository

_MARK = "SMITH_SOAK"
_HOST, _WATCHER = "smith_core.llm.host", "smith_core.process_watch"
_PACKAGES = str(Path(smith_core.__file__).parents[1])
_MARKS = re.compile(rb"\b[pas]\d{5}\b")
_MESSAGE_TABLES = ("conversation", "child_conversation")


class Place:
    """`root` is empty or not there; shared: a folder with the home and the model host that several places share."""

    def __init__(self, root: Path, shared: Path) -> None:
        self.root = root
        self.project = make_repository(root / "project")
        (self.project / "numbers.txt").write_text("".join(f"line {number}\n" for number in range(2000)))
        self.temp = root / "tmp"
        self.log = root / "log.txt"
        for folder in (self.temp, shared / "home", shared / "run", root / "bin"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TZ") if name in os.environ}
        folders = {"CACHE": "c", "CONFIG": "k", "DATA": "d", "STATE": "s"}
        self.environ = kept | {f"XDG_{kind}_HOME": f"{root}/{name}" for kind, name in folders.items()}
        self.environ |= {
            "HOME": str(shared / "home"),
            "XDG_RUNTIME_DIR": str(shared / "run"),
            "TMPDIR": str(self.temp),
            "LC_ALL": "C.UTF-8",
            "SMITH_LOG": f"{self.log}:info",
            "EDITOR": self._program("edit", 'printf "edited outside\\n" > "$1"'),
            "PAGER": self._program("page", 'cat "$1" > /dev/null; sleep 0.2'),
            _MARK: str(root),
        }
        self._store = StoreLayout(root / "d/smith")

    def _program(self, name: str, body: str) -> str:
        path = self.root / "bin" / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o700)
        return str(path)

    @property
    def host(self) -> int | None:
        """The process id of the model host that waits here."""
        return next((report.status.pid for report in running_hosts(self.environ) if report.status is not None), None)

    def stop_host(self) -> None:
        """End the model host."""
        stop_hosts(self.environ)

    def stored_marks(self) -> set[str]:
        """Return the marks in all stored messages; they are read from the files, beside the app that writes."""
        values: dict[tuple[str, str], bytes] = {}
        for path in self._store.journals():
            for entry in read_entries(path):
                if entry.table in _MESSAGE_TABLES:
                    values[entry.table, entry.key] = entry.value or b""
        return {mark for value in values.values() for mark in marks_in(value)}

    def crashes(self) -> list[str]:
        """Return what the app wrote about errors of its own: reports of crashes, and tracebacks in its log."""
        found = [path.read_text(errors="replace")[-2000:] for path in (self.root / "s").rglob("crash-*.txt")]
        log = self.log.read_text(errors="replace") if self.log.exists() else ""
        return found + [log[at.start() : at.start() + 2000] for at in _tracebacks(log)]

    def strays(self, *, seconds: float = 0.0) -> list[str]:
        """Return the processes of this place that are still there after so many seconds, but for the model host."""
        end = time.monotonic() + seconds
        while True:
            found = [f"{process.pid} {_command(process)}" for process in self._processes()]
            if not found or time.monotonic() > end:
                return found
            time.sleep(0.2)

    def end_strays(self) -> None:
        """Kill what is left, so that nothing stays on the machine."""
        for process in self._processes():
            with contextlib.suppress(psutil.Error):
                process.send_signal(signal.SIGKILL)

    def _processes(self) -> list[psutil.Process]:
        return [process for process in psutil.process_iter() if self._is_ours(process)]

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            command, environ = process.cmdline(), process.environ()
            if _WATCHER in command:
                # It outlives a killed app by the time that it takes to end the commands.
                return process.ppid() == 1 and environ.get("PYTHONPATH") == _PACKAGES
            ours = environ.get(_MARK) == str(self.root) and process.status() != psutil.STATUS_ZOMBIE
            return ours and _HOST not in command
        except psutil.Error:
            return False

    def temporary_files(self) -> list[str]:
        """Return what is in the folder for temporary files."""
        return sorted(path.name for path in self.temp.iterdir())


def marks_in(stored: bytes) -> set[str]:
    """Return the marks in a stored message; before one that begins a line stands the n of a line break in JSON."""
    return {mark.decode() for mark in _MARKS.findall(re.sub(rb"\\[nt]", b" ", stored))}


def segments(process_ids: set[int]) -> list[str]:
    """Return the shared memory that some processes have left."""
    begins = tuple(f"{PREFIX}{process_id:x}-" for process_id in process_ids)
    return [name for name in os.listdir("/dev/shm") if name.startswith(begins)] if begins else []  # noqa: PTH208


def _tracebacks(log: str) -> "list[re.Match[str]]":
    return list(re.finditer(r"Traceback \(most recent", log))


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())[:120]
    except psutil.Error:
        return "(ended)"
