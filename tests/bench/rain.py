"""What the rain costs the whole app while children wait, against the same screen without it."""

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tests.bench.probe import COLUMNS, Probe
from tests.bench.programs import BIN, READY, new_home
from tests.bench.reading import Reading
from tests.bench.timing import KEY_PAUSE_S, cpu_seconds, echo, exact_threads, in_ms, p95
from tests.support.model_steps import Stall, call_tools
from tests.support.pictures import Picture, PictureBox
from tests.support.server_thread import ServerThread

SECONDS = 12.0
WIDTHS = (80, 200, 300)
_NOTHING = Picture(0, 0, b"")


class LightBox(PictureBox):
    """Reads and removes frames as a terminal does, and does not look at them."""

    def _picture(self, keys: dict[str, str], data: bytes) -> Picture | None:
        if keys.get("t") == "s":
            return super()._picture(keys, data)
        return _NOTHING if self.direct else None


class PictureProbe(Probe):
    """A terminal with pictures that takes time stamps."""

    def __init__(self, *arguments: Any, box: PictureBox, **options: Any) -> None:
        self.box = box
        super().__init__(*arguments, **options)

    def read(self, timeout: float) -> bool:
        """Read, and answer what was asked."""
        seen = len(self.output)
        came = super().read(timeout)
        if came and (answers := self.box.feed(bytes(self.output[seen:]))[1]):
            self.send(answers)
        return came


class Cost(NamedTuple):
    """Percent of one core, frames a second, and the mean bytes of a frame, 0 without one."""

    share: float
    frames: float
    size: float


def rain_cost(seconds: float = SECONDS) -> tuple[Reading, ...]:
    """Percent of a core above no rain, and bytes of a frame, for each way in which rain is shown."""
    dry = _cost(seconds, "off")
    memory, direct, cells = _cost(seconds), _cost(seconds, memory=False), _cost(seconds, "cells")
    told = [f"{kind.share:.1f} % against {dry.share:.1f} %" for kind in (memory, direct, cells)]
    shares = [Reading(kind.share - dry.share, words) for kind, words in zip((memory, direct, cells), told, strict=True)]
    return *shares, Reading(memory.frames), Reading(memory.size), Reading(direct.size)


def rain_width(seconds: float = SECONDS) -> tuple[Reading, ...]:
    """How far the cost on terminals of different width is from the middle of them, in percent of that."""
    shares = [_cost(seconds, columns=columns).share for columns in WIDTHS]
    middle = (max(shares) + min(shares)) / 2
    told = ", ".join(f"{share:.1f} % at {width}" for share, width in zip(shares, WIDTHS, strict=True))
    return (Reading((max(shares) / middle - 1) * 100, told),)


def rain_echo(seconds: float = 2 * SECONDS) -> tuple[Reading, ...]:
    """Key echo while it rains, against the same screen without rain: a key in one, then a key in the other."""
    exact_threads()
    dry_keys: list[float] = []
    wet_keys: list[float] = []
    with _waiting("off") as dry, _waiting() as wet:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            for probe, delays in ((dry, dry_keys), (wet, wet_keys)):
                delays.append(echo(probe))
                probe.read_for(KEY_PAUSE_S)
    return (Reading(p95(wet_keys) / p95(dry_keys), f"{in_ms(wet_keys)}; no rain {in_ms(dry_keys)}"),)


def after_rain(seconds: float = SECONDS) -> tuple[Reading, ...]:
    """Pictures, processor time and bytes of a minute once the turn is over."""
    with _waiting() as probe:
        mark = probe.mark()
        probe.send(b"\x03")
        probe.wait_for(b"cancelled", mark)
        probe.read_for(2.0)
        seen, used = len(probe.box.log), cpu_seconds(probe.process.pid)
        written = probe.read_for(seconds)
        spent = cpu_seconds(probe.process.pid) - used
        shown = len(probe.box.log) - seen
    return Reading(shown), Reading(spent * 60 / seconds), Reading(written * 60 / seconds)


def _cost(seconds: float, rain: str = "auto", *, memory: bool = True, columns: int = COLUMNS) -> Cost:
    with _waiting(rain, memory=memory, columns=columns) as probe:
        used, began, first = cpu_seconds(probe.process.pid), time.perf_counter(), len(probe.box.frames)
        probe.read_for(seconds)
        took = time.perf_counter() - began
        frames = probe.box.frames[first:]
        size = statistics.fmean(frame.size for frame in frames) if frames else 0.0
        return Cost((cpu_seconds(probe.process.pid) - used) / took * 100, len(frames) / took, size)


def _answer(request: dict[str, Any]) -> Any:
    if "You are Smith" in request["messages"][0]["content"]:
        return call_tools(*[("dispatch", {"role": role, "task": "Wait"}) for role in ("explorer", "worker")])
    return [Stall()]


@contextmanager
def _waiting(rain: str = "auto", *, memory: bool = True, columns: int = COLUMNS) -> Iterator[PictureProbe]:
    """Run an app whose two children wait; their panes are strips, so that the transcript has the screen."""
    box = LightBox(memory=memory)
    with ServerThread(_answer) as backend, new_home() as (folder, environ):
        settings = (f"llm_config.api_url={backend.url}", f"ui.rain={rain}")
        flags = [part for setting in settings for part in ("--set", setting)]
        command = [str(BIN / "smith-tui"), "--new", "--model", "scripted", *flags]
        # Whatever is set for this shell, the terminal is one with pictures.
        kept = {name: value for name, value in environ.items() if name not in ("NO_COLOR", "TMUX", "STY")}
        with PictureProbe(
            command, {**kept, "KITTY_WINDOW_ID": "1"}, folder / "project", box=box, columns=columns
        ) as probe:
            probe.wait_for(READY)
            probe.read_for(1.0)
            probe.send(b"go\r")
            backend.wait_for_requests(3)
            for keys in (b"\x1b1", b"\x1bm", b"\x1b2", b"\x1bm", b"\x1b[27u"):
                probe.read_for(0.5)
                probe.send(keys)
            probe.read_for(2.0)
            yield probe
