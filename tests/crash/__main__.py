"""`make crash`: kill and cut the power, and print one line for each kind; the exit status is 1 if anything was lost.

Arguments: how many kills of each kind (200), the seed (1).
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.crash.disks import POINTS
from tests.crash.kills import Tally, fresh, kill_journal_writers, kill_shared_writers, kill_turn_writers
from tests.crash.power import cut_power


def main() -> int:
    """Run all kinds."""
    kills, seed = (int(argument) for argument in (*sys.argv[1:3], *("200", "1")[len(sys.argv) - 1 :]))
    with tempfile.TemporaryDirectory(prefix="smith-crash-") as name:
        folder = Path(name)
        kinds: dict[str, Callable[[], Tally]] = {
            "one journal, random kills": lambda: kill_journal_writers(fresh(folder, "random"), kills, seed),
            "one journal, at each point": lambda: kill_journal_writers(fresh(folder, "points"), kills, seed, POINTS),
            "turns, random kills": lambda: kill_turn_writers(fresh(folder, "turns"), kills, seed),
            "three writers of one file": lambda: kill_shared_writers(fresh(folder, "shared"), kills, seed),
            "power cuts": lambda: cut_power(folder, kills, 7 * kills, seed),
        }
        failed = False
        for kind, run in kinds.items():
            started = time.monotonic()
            tally = run()
            failed |= bool(tally.bad)
            print(
                f"{'✗' if tally.bad else '✓'} {kind:<28} {tally.kills} cuts, {tally.acknowledged} acknowledged, "
                f"{len(tally.bad)} lost or partial ({time.monotonic() - started:.0f} s)",
                flush=True,
            )
            for problem in tally.bad[:5]:
                print(f"    {problem}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
