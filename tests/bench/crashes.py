"""Whether anything is lost when the program is killed or the power goes: a short `make crash`."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.bench.reading import Reading
from tests.crash.disks import POINTS
from tests.crash.kills import Tally, fresh, kill_journal_writers, kill_shared_writers, kill_turn_writers
from tests.crash.power import cut_power

KILLS = 8
POWER_CUTS = 500
_SEED = 1


def crashes() -> tuple[Reading, ...]:
    """Kills at random and at each injected point, three writers of one file, and cuts of the power."""
    with tempfile.TemporaryDirectory(prefix="smith-crash-") as name:
        folder = Path(name)
        return (
            _of(
                lambda: kill_journal_writers(fresh(folder, "random"), KILLS, _SEED),
                lambda: kill_journal_writers(fresh(folder, "points"), KILLS, _SEED, POINTS),
                lambda: kill_turn_writers(fresh(folder, "turns"), KILLS, _SEED),
            ),
            _of(lambda: cut_power(folder, KILLS, POWER_CUTS, _SEED)),
            _of(lambda: kill_shared_writers(fresh(folder, "shared"), KILLS, _SEED)),
        )


def _of(*runs: Callable[[], Tally]) -> Reading:
    tallies = [run() for run in runs]
    cuts, kept = (sum(getattr(tally, name) for tally in tallies) for name in ("kills", "acknowledged"))
    return Reading(sum(len(tally.bad) for tally in tallies), f"{cuts:,} cuts, {kept:,} acknowledged")
