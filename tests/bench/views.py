"""Views over long conversations and large projects: inspect, the pager, find, and the list of files while typing."""

import random
from pathlib import Path

from tests.bench import histories
from tests.bench.probe import Probe
from tests.bench.programs import READY, smith
from tests.bench.reading import Reading
from tests.bench.timing import answered, in_ms, median, p95, settled

MESSAGES = 20_000
FILES = 100_000
_ALT_I, _ALT_H, _ESCAPE, _CTRL_F, _EMPTY_LINE = b"\x1bi", b"\x1bh", b"\x1b", b"\x06", b"\x15"
_MOVES = (b"\x1b[A", b"\x1b[5~")


def inspect(rounds: int = 5, presses: int = 60) -> tuple[Reading, ...]:
    """Alt+I → table painted, and a key that moves → the first change on the screen; 20,000 messages."""
    opened: list[float] = []
    moved: list[list[float]] = []
    with smith(prepare=histories.with_tools(MESSAGES)) as probe:
        _wait_for_conversation(probe)
        for _ in range(rounds):
            opened.append(answered(probe, _ALT_I, b"first line"))
            probe.quiet(1.0, 3.0)
            probe.send(_ESCAPE)
            probe.quiet(0.5, 3.0)
        answered(probe, _ALT_I, b"first line")
        probe.quiet(1.0, 3.0)
        for key in _MOVES:
            delays = []
            for _ in range(presses):
                delays.append(answered(probe, key))
                probe.quiet(0.1, 1.0)
            moved.append(delays)
    told = f"up {median(moved[0]) * 1000:.0f} ms, page up {median(moved[1]) * 1000:.0f} ms"
    return Reading(median(opened) * 1000), Reading(max(map(p95, moved)) * 1000, told)


def page(rounds: int = 5) -> tuple[Reading, ...]:
    """Alt+H → the end of 20,000 messages painted."""
    opened = []
    with smith(prepare=histories.with_tools(MESSAGES)) as probe:
        _wait_for_conversation(probe)
        for _ in range(rounds):
            opened.append(answered(probe, _ALT_H, b"20,000 messages"))
            probe.quiet(0.5, 3.0)
            probe.send(_ESCAPE)
            probe.quiet(0.5, 3.0)
    return (Reading(median(opened) * 1000),)


def find(rounds: int = 8) -> tuple[Reading, ...]:
    """A key in the search line → its matches counted and the last one in view, in a conversation of 20,000 messages."""
    delays: list[float] = []
    with smith(prepare=histories.plain(MESSAGES)) as probe:
        _wait_for_conversation(probe)
        probe.send(_CTRL_F)
        probe.quiet(0.3, 3.0)
        for number in range(rounds):
            delays += [settled(probe, key.encode()) for key in f"e {number}0-3"]
            probe.send(_EMPTY_LINE)
            probe.quiet(0.3, 3.0)
    return (Reading(p95(delays) * 1000, f"p50 {median(delays) * 1000:.0f} ms"),)


def _wait_for_conversation(probe: Probe) -> None:
    probe.wait_for(READY)
    probe.wait_for(histories.LAST_WORDS.encode())
    probe.quiet(2.0, 10.0)


def popup_of_files(names: int = 8, letters: int = 7) -> tuple[Reading, ...]:
    """A key of a mention → the list that fits it, in a project of 100,000 files, typed letter by letter."""
    rng = random.Random(5)
    delays: list[float] = []
    with smith(prepare=_make_files) as probe:
        probe.wait_for(READY)
        probe.quiet(0.5, 3.0)
        probe.send(b"@")
        probe.wait_for(b" of 50", timeout=60.0)
        probe.quiet(1.0, 5.0)
        for _ in range(names):
            name = rng.choice(_NAMES)
            probe.send(_EMPTY_LINE + b"@")
            probe.quiet(0.3, 3.0)
            delays += [settled(probe, letter.encode()) for letter in name[:letters]]
    return (Reading(p95(delays) * 1000, in_ms(delays)),)


_WORDS = [
    "".join(random.Random(number).choices("abcdefghijklmnopqrstuvwxyz", k=3 + number % 6)) for number in range(900)
]
_NAMES = [f"{_WORDS[number % 877]}_{_WORDS[number // 877]}{number % 10}.py" for number in range(FILES)]


def _make_files(home: Path) -> None:
    folder = home / "project"
    for number, name in enumerate(_NAMES):
        if number % 100 == 0:
            folder = home / "project" / _WORDS[number // 100 % 31] / _WORDS[number // 100 % 900]
            folder.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
