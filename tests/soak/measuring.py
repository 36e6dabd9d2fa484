"""Samples of a running app: memory, open files, threads, and how long keys take beside two other programs' keys."""

import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import msgspec

from tests.bench.probe import Probe
from tests.bench.programs import baseline
from tests.bench.timing import echo, resident_bytes
from tests.soak.app import ANSWER_S, READY, App, Broken
from tests.soak.screen import KEY

KEYS = 6
_ECHO_S = 30.0
_EMPTY_S = 5.0
"""What the rest of a frame may take behind the row of the keys."""
_BACKSPACE = b"\x7f"
_BARE = (
    "import os, tty; tty.setraw(0); os.write(1, b'READY-MARK')\n"
    "while data := os.read(0, 100): os.write(1, data)"
)  # fmt: skip


class Sample(msgspec.Struct, frozen=True):
    """One moment of a life: sizes in bytes, delays of single keys in seconds.

    busy: whether a turn ran. keys: delays of the app's keys. toolkit:
    those of a program of the same toolkit that only has a field to type into. bare: those of a program that writes
    back what it reads. cpu: the app's processor time for each key, 0 while a turn ran.
    """

    at: float
    rss: int
    files: int
    threads: int
    busy: bool
    keys: tuple[float, ...]
    toolkit: tuple[float, ...]
    bare: tuple[float, ...]
    cpu: float = 0.0


class Meter:
    """Takes samples of an app; the other two programs run as long as the meter does."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._begun = time.monotonic()
        self.samples: list[Sample] = []

    def __enter__(self) -> Self:
        self._toolkit = self._stack.enter_context(baseline("typing_app"))
        self._bare = self._stack.enter_context(Probe([sys.executable, "-c", _BARE], {}, Path.cwd()))
        for probe in (self._toolkit, self._bare):
            probe.wait_for(b"READY-MARK", timeout=ANSWER_S)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def sample(self, app: App) -> Sample:
        """Take one; the app is at its empty prompt before and after. Broken when keys do not come back."""
        return self._try(app) or self._once_more(app)

    def _once_more(self, app: App) -> Sample:
        """Another view may have taken the keys a moment ago, or an undo have put its prompt into the empty line."""
        app.log("a key went elsewhere")
        app.home()
        sample = self._try(app)
        if sample is None:
            raise Broken(f"the keys were not on the screen after {_ECHO_S:.0f} s, or another text was")
        return sample

    def _try(self, app: App) -> Sample | None:
        for probe in (self._toolkit, self._bare):
            probe.read(0)
            probe.output.clear()
        busy = not app.is_over
        process_id = app.terminal.process.pid
        keys, toolkit, bare = [], [], []
        begun = _processor_time(process_id)
        for _ in range(KEYS):
            delay = app.terminal.echo(_ECHO_S)
            if delay is None:
                return None
            keys.append(delay)
            toolkit.append(echo(self._toolkit))
            bare.append(echo(self._bare))
            time.sleep(0.03)
        busy |= not app.is_over
        spent = _processor_time(process_id) - begun
        app.terminal.send(_BACKSPACE * KEYS)
        self._toolkit.send(_BACKSPACE * KEYS)
        app.wait_for(lambda text: KEY not in text, "the prompt without the keys")
        if not app.saw(lambda text: READY in text, _EMPTY_S):
            return None
        sample = Sample(
            at=time.monotonic() - self._begun,
            rss=resident_bytes(process_id),
            files=len(list(Path(f"/proc/{process_id}/fd").iterdir())),
            threads=len(list(Path(f"/proc/{process_id}/task").iterdir())),
            busy=busy,
            keys=tuple(keys),
            toolkit=tuple(toolkit),
            bare=tuple(bare),
            cpu=0.0 if busy else max(0.0, spent) / KEYS,  # a thread that ends takes its time along
        )
        self.samples.append(sample)
        return sample


def _processor_time(process_id: int) -> float:
    """Return the processor time of a process with all its threads, in seconds, to the nanosecond."""
    schedules = Path(f"/proc/{process_id}/task").glob("*/schedstat")
    return sum(int(path.read_text().split()[0]) for path in schedules) / 1e9
