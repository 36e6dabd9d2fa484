"""Calls the bash tool as the executor does, and looks for the processes that it should have ended or left."""

import asyncio
import contextlib
import gc
import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec
import psutil

from smith_core.cancel import CancelToken, new_root
from smith_core.process import WATCHER
from smith_core.project import Project
from smith_core.tools.base import ToolContext, ToolOutcome, ToolSpec
from smith_core.tools.shell import bash_tool

SHORT_GRACE_S = 0.3
PLAIN_ENV = {"PATH": os.environ["PATH"], "HOME": "/tmp", "LANG": "C.UTF-8"}


class BashCalls:
    """Runs commands in `folder`; `live` is all the live output, chunk by chunk."""

    def __init__(self, folder: Path, spec: ToolSpec | None = None) -> None:
        self.folder = folder
        self.spill_dir = folder / "spill"
        self.spill_dir.mkdir(mode=0o700, exist_ok=True)
        self.spec = spec or bash_tool(SHORT_GRACE_S)
        self.live: list[bytes] = []

    async def __call__(
        self,
        command: str,
        timeout: float | None = None,
        *,
        token: CancelToken | None = None,
        child_env: Mapping[str, str] = PLAIN_ENV,
        emit: Callable[[bytes], None] | None = None,
        cwd: Path | None = None,
    ) -> ToolOutcome:
        context = ToolContext(
            call_id="../call/1",
            role="direct",
            turn_id="turn-1",
            cancel_token=token or new_root(),
            cwd=cwd or self.folder,
            project=Project(root=str(self.folder)),
            emit_output=emit or self.live.append,
            child_env=child_env,
            spill_dir=self.spill_dir,
        )
        arguments = msgspec.convert({"command": command, "timeout": timeout}, self.spec.arguments)
        outcome: ToolOutcome = await self.spec.handler(arguments, context)
        json.dumps(outcome.content, ensure_ascii=False).encode()
        return outcome

    async def until_output(self, text: bytes) -> None:
        """Wait until `text` has been emitted."""
        async with asyncio.timeout(10):
            while text not in b"".join(self.live):
                await asyncio.sleep(0.005)

    def living(self) -> list[psutil.Process]:
        """All living processes whose working folder is ours: what our commands started."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.status() != psutil.STATUS_ZOMBIE and process.cwd() == str(self.folder):
                    found.append(process)
        return found

    def living_names(self) -> set[str]:
        """Names of the living processes."""
        names = set()
        for process in self.living():
            with contextlib.suppress(psutil.Error):
                names.add(process.name())
        return names

    def spilled(self) -> list[str]:
        """Names of the files in the spill folder."""
        return [entry.name for entry in self.spill_dir.iterdir()]

    def kill_living(self) -> None:
        """End what tests left running."""
        for process in self.living():
            with contextlib.suppress(psutil.Error):
                process.kill()


@contextlib.contextmanager
def bash_calls(folder: Path, spec: ToolSpec | None = None) -> Iterator[BashCalls]:
    calls = BashCalls(folder, spec)
    try:
        yield calls
    finally:
        calls.kill_living()


def python(code: str) -> str:
    """Return a command line that runs `code` in this interpreter."""
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(code)}"


def descriptors_before() -> list[str]:
    """`open_descriptors` of now, without those that garbage of earlier tests would close at any later moment."""
    gc.collect()
    return open_descriptors()


def open_descriptors() -> list[str]:
    """What our own descriptors lead to; a list equal to `descriptors_before` means that nothing was left open."""
    WATCHER.start()  # its pipe stays for as long as we live
    found = []
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            found.append(str(entry.readlink()))
    return sorted(target for target in found if not target.startswith(f"/proc/{os.getpid()}/"))


def wait_until(condition: Callable[[], bool], limit_s: float) -> bool:
    """Whether the condition came true in time."""
    deadline = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


DAEMON = """
import os, sys, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
null = os.open("/dev/null", os.O_RDWR)
for fd in range(3): os.dup2(null, fd)
with open("daemon.tmp", "w") as file: file.write(str(os.getpid()))
os.rename("daemon.tmp", "daemon.pid")
time.sleep(300)
"""
"""A classic daemon: its parent is gone, its session is its own, its descriptors lead nowhere.

`daemon.pid` says that it is up.
"""
