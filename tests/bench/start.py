"""From exec to a screen that takes keys: against an empty Textual app, with long conversations, while a host starts."""

import time
from pathlib import Path

from tests.bench import histories
from tests.bench.programs import BASELINE_READY, READY, Prepare, baseline, new_home, smith
from tests.bench.reading import Reading
from tests.bench.timing import echo, median

LIVE = b"idle"
"""What the status line says once the app is there, and no kept picture does."""


def first_ink(rounds: int = 7) -> tuple[Reading, ...]:
    """exec → first ink and → full live paint, with the kept picture of an earlier start; and without one."""
    times: dict[str, list[float]] = {"empty": [], "ink": [], "live": [], "plain": []}
    with new_home() as home:
        keep_picture(home)
        for _ in range(rounds):
            with baseline("empty_app") as probe:
                times["empty"].append(probe.wait_for(BASELINE_READY) - probe.started_at)
            with smith(home=home) as probe:
                times["ink"].append(probe.wait_for(READY) - probe.started_at)
                times["live"].append(probe.wait_for(LIVE) - probe.started_at)
            with smith() as probe:
                times["plain"].append(probe.wait_for(LIVE) - probe.started_at)
    empty = median(times["empty"])
    kinds = ("ink", "live", "plain")
    return tuple(Reading(median(times[kind]) / empty, f"{median(times[kind]) * 1000:.0f} ms") for kind in kinds)


def keep_picture(home: tuple[Path, dict[str, str]]) -> None:
    """Start once, until the picture for the next start is kept."""
    with smith(home=home) as probe:
        probe.wait_for(LIVE)
        end = time.perf_counter() + 10
        while not list(home[0].glob("c/smith/pictures/*")) and time.perf_counter() < end:
            probe.read_for(0.1)


def keys_while_the_host_starts(seconds: float = 6.0) -> tuple[Reading, ...]:
    """The slowest echo of a key while the model host imports its library."""
    delays = []
    with smith(is_first=True) as probe:
        ready = probe.wait_for(READY)
        while time.perf_counter() - ready < seconds:
            delays.append(echo(probe, b"x"))
            probe.read_for(0.05)
    return (Reading(max(delays) * 1000, f"median {median(delays) * 1000:.0f} ms"),)


def resume_long(rounds: int = 5) -> tuple[Reading, ...]:
    """The first live paint of a start that goes on with 20,000 messages, behind that of an empty start."""
    painted, shown = _behind_an_empty_start(histories.plain(20_000), rounds)
    return (Reading(median(painted) * 1000, f"its last words {median(shown) * 1000:+.0f} ms"),)


def resume(rounds: int = 7) -> tuple[Reading, ...]:
    """The last words of a conversation of 2,000 messages on the screen, behind the live paint of an empty start."""
    painted, shown = _behind_an_empty_start(histories.plain(2_000), rounds)
    return (Reading(median(shown) * 1000, f"paint {median(painted) * 1000:+.0f} ms"),)


def _behind_an_empty_start(prepare: Prepare, rounds: int) -> tuple[list[float], list[float]]:
    """Return how much later than an empty start each start was painted, and showed its last words."""
    painted, shown = [], []
    for _ in range(rounds):
        with smith() as probe:
            empty = probe.wait_for(LIVE) - probe.started_at
        with smith(prepare=prepare) as probe:
            painted.append(probe.wait_for(LIVE) - probe.started_at - empty)
            shown.append(probe.wait_for(histories.LAST_WORDS.encode()) - probe.started_at - empty)
    return painted, shown
