"""`make bench-check`: compare what can be counted with the baseline; the exit status is 1 for more than a quarter more.

--renew writes the baseline anew: after a change that costs more for a good reason, or less. Nothing of it is a time, so
it holds on any machine with the Python that the baseline names.
"""

import platform
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from tests.bench import counted, counted_keys, counted_screen
from tests.bench.counted import Counts

BASELINE = Path(__file__).with_name("baseline.json")
MOST = 1.25
Scenario = Callable[[], Counts]
SHORT: tuple[Scenario, ...] = (*counted.SCENARIOS, *counted_screen.SHORT, *counted_keys.SHORT)
"""Those that the test suite takes too."""

ALL: tuple[Scenario, ...] = (*SHORT, *counted_screen.LONG)


class Baseline(msgspec.Struct, frozen=True):
    """Counts by name, and the Python that they were taken with: another one makes other calls."""

    python: str
    counts: dict[str, int]


def python_version() -> str:
    """Return the version that counts depend on."""
    return ".".join(platform.python_version_tuple()[:2])


def read_baseline() -> Baseline:
    """Return the kept baseline."""
    return msgspec.json.decode(BASELINE.read_bytes(), type=Baseline)


def count(scenarios: Iterable[Scenario]) -> dict[str, int]:
    """Return the counts of some scenarios."""
    return {name: number for scenario in scenarios for name, number in scenario().items()}


def regressions(counts: Counts, baseline: Counts) -> list[str]:
    """Return in words what grew by more than a quarter, and what the baseline does not know."""
    found = []
    for name, number in counts.items():
        known = baseline.get(name)
        if known is None:
            found.append(f"{name}: {number:,}, and no baseline; renew it with `make bench-check ARGS=--renew`")
        elif number > known * MOST:
            more = f"{number / known - 1:.0%} more" if known else "more"
            found.append(f"{name}: {number:,} instead of {known:,}, {more}")
    return found


def main() -> int:
    """Count everything, and compare or renew."""
    if sys.argv[1:] not in ([], ["--renew"]):
        print("the only argument is --renew", file=sys.stderr)
        return 2
    counts = count(ALL)
    if sys.argv[1:]:
        BASELINE.write_bytes(msgspec.json.format(msgspec.json.encode(Baseline(python_version(), counts))) + b"\n")
        print(f"{len(counts)} counts are the baseline now")
        return 0
    baseline = read_baseline()
    for name, number in counts.items():
        known = baseline.counts.get(name)
        print(f"{name:<44} {number:>12,} {'' if known is None else f'{number / (known or 1):>8.2f}×'}")
    if baseline.python != python_version():
        print(f"the baseline is that of Python {baseline.python}, this is {python_version()}; nothing is compared")
        return 0
    found = regressions(counts, baseline.counts)
    print("\n".join(f"✗ {problem}" for problem in found) or f"✓ nothing grew by more than {MOST - 1:.0%}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
