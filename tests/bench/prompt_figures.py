"""What the prompt's own help costs: the list of files while a mention is typed, and a search in a long transcript."""

import asyncio
import random
import shutil
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path

from tests.bench.figures import LAST_WORDS, READY, Figure, _long_conversation, smith
from tests.bench.probe import Probe

FILES = 100_000
_QUIET_S = 0.15
"""A screen on which nothing was written for so long is settled."""


def popup_of_files(names: int = 25, letters: int = 7) -> Figure:
    """A key of a mention → the list that fits it, in a project of 100,000 files, typed letter by letter."""
    rng = random.Random(5)
    delays: list[float] = []
    plain: list[float] = []
    with smith("http://127.0.0.1:9/v1", _make_files) as probe:
        probe.wait_for(READY)
        probe.quiet(0.5)
        probe.send(b"@")
        probe.wait_for(b" of 50", timeout=60.0)
        probe.quiet(1.0)
        for _ in range(names):
            name = rng.choice(_NAMES)
            probe.send(b"\x15@")
            probe.quiet(0.3)
            delays += [_settled(probe, letter.encode()) for letter in name[:letters]]
            probe.send(b"\x15")
            probe.quiet(0.3)
            plain += [_settled(probe, letter.encode()) for letter in name[:letters]]
    p95, without = statistics.quantiles(delays, n=20)[-1], statistics.quantiles(plain, n=20)[-1]
    return Figure(
        name=f"key → list of files, {FILES:,} of them, p95 (p50, p95 of the same keys without a list)",
        value=f"{p95 * 1000:.0f} ms ({statistics.median(delays) * 1000:.0f} ms, {without * 1000:.0f} ms)",
        goal="≤ 30 ms",
        good=p95 <= 0.03,
    )


def find_in_transcript(rounds: int = 12) -> Figure:
    """A key in the search line → its matches counted and the last one in view, in a conversation of 20,000 messages."""
    delays: list[float] = []
    with tempfile.TemporaryDirectory() as made:
        asyncio.run(_long_conversation(Path(made)))
        copy = partial(shutil.copytree, made, dirs_exist_ok=True)
        with smith("http://127.0.0.1:9/v1", lambda home: copy(home) and None) as probe:
            probe.wait_for(LAST_WORDS.encode())
            probe.quiet(1.5)
            probe.send(b"\x06")
            probe.quiet(0.3)
            for number in range(rounds):
                delays += [_settled(probe, key.encode()) for key in f"e {number}00-3"]
                probe.send(b"\x15")
                probe.quiet(0.3)
    p95 = statistics.quantiles(delays, n=20)[-1]
    return Figure(
        name="find in 20,000 messages as typed: key → match in view, p95 (p50)",
        value=f"{p95 * 1000:.0f} ms ({statistics.median(delays) * 1000:.0f} ms)",
        goal="≤ 100 ms",
        good=p95 <= 0.1,
    )


def _settled(probe: Probe, keys: bytes) -> float:
    """Return how long after some keys the last of what they change was written."""
    sent = last = probe.send(keys)
    while probe._read(_QUIET_S):
        last = time.perf_counter()
    return last - sent


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


PROMPT_FIGURES = (popup_of_files, find_in_transcript)
