"""A copy of the program without a screen: its engine over a store on disk, one line of input after the other.

Run as a process of its own with a folder. Each line of standard input is a prompt or a command, and one line of JSON
comes back with what was said. Every prompt has the model keep a note of the project under the prompt's words.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from smith_core.commands.opening import ResumeWish
from smith_core.events import AnyEvent, CommandOutput, HeldElsewhere, Notice, TurnEnded
from smith_core.llm.protocol import ModelRequest
from tests.support.engine import open_stored_engine
from tests.support.scripted_client import Answer, ScriptedClient, calls


def keep_a_note(request: ModelRequest) -> Answer:
    """Return the answer to a prompt: a note of it, and then words."""
    last = request.messages[-1]
    if last.role == "tool":
        return "kept" if last.ok else last.content
    fields = {"action": "upsert", "id": last.content, "text": f"note of {last.content}"}
    return calls(("note", fields), first_id=len(request.messages))


async def serve(folder: Path) -> None:
    """Answer lines until there are no more."""
    runtime = open_stored_engine(folder, ScriptedClient(keep_a_note), ResumeWish("last"))
    _reply([event async for event in runtime.open()])
    while line := await asyncio.to_thread(sys.stdin.readline):
        _reply([event async for event in runtime.process_raw_input(line.rstrip("\n"))])
    await runtime.stop_session("end")


def _reply(events: list[AnyEvent]) -> None:
    said = [event.text for event in events if isinstance(event, Notice | CommandOutput)]
    ends = [event.result.text or str(event.result.error) for event in events if isinstance(event, TurnEnded)]
    held = [event.pid for event in events if isinstance(event, HeldElsewhere)]
    print(json.dumps({"said": said, "ends": ends, "held_by": held}), flush=True)


class CopyProcess:
    """Starts such a process and waits until it is open; `opened` is what it said then."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "tests.support.copy_process", str(folder)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.opened = self._read()

    def say(self, line: str) -> dict[str, Any]:
        """Send a line and return what came of it."""
        return self.begin(line)()

    def begin(self, line: str) -> "Callable[[], dict[str, Any]]":
        """Send a line and return what waits for what comes of it."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return self._read

    def end(self, *, kill: bool = False) -> int:
        """End it in good order, or with SIGKILL; return its exit status."""
        assert self.process.stdin is not None and self.process.stdout is not None
        if kill:
            self.process.kill()
        self.process.stdin.close()
        status = self.process.wait(20)
        self.process.stdout.close()
        return status

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        reply: dict[str, Any] = json.loads(self.process.stdout.readline())
        return reply


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
