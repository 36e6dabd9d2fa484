"""What a soak has found, in numbers: growth of memory by a robust fit, and key echo by thirds of the time."""

import statistics
from collections.abc import Sequence

import msgspec

from tests.bench.timing import p95
from tests.soak.measuring import Sample

WARM_UP = 1 / 6
"""The share of the time in which caches fill and modules are loaded."""

MOST_GROWTH_MB = 20.0
MOST_SLOWER = 1.25
"""A p95 of the last third beyond this factor of the first third's is not flat."""


class Third(msgspec.Struct, frozen=True):
    """Key echo of a third of the time in milliseconds, while no turn ran; ratio: of the p95 to the toolkit's."""

    keys: int
    p50: float
    p95: float
    toolkit_p95: float
    bare_p95: float
    ratio: float
    cpu_ms: float


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """All that is told at the end; broken: invariants that did not hold, in words."""

    seed: int
    minutes: float
    actions: int
    requests: int
    faults: int
    acknowledged: int
    ends: dict[str, int]
    growth_mb: float
    rss_mb: tuple[float, float]
    files: tuple[int, int]
    threads: tuple[int, int]
    thirds: tuple[Third, ...]
    slower: float
    broken: tuple[str, ...] = ()

    @property
    def misses(self) -> list[str]:
        """What was found and must not be, in words."""
        found = list(self.broken)
        if self.growth_mb > MOST_GROWTH_MB:
            found.append(f"memory grows by {self.growth_mb:.1f} MB an hour, {MOST_GROWTH_MB:.0f} are allowed")
        if self.slower > MOST_SLOWER:
            found.append(f"the p95 of keys grows by {(self.slower - 1) * 100:.0f} %")
        return found


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Return the median of the slopes between all pairs of points (Theil and Sen), which no outlier moves much."""
    slopes = [
        (later[1] - earlier[1]) / (later[0] - earlier[0])
        for index, earlier in enumerate(points)
        for later in points[index + 1 :]
        if later[0] > earlier[0]
    ]
    return statistics.median(slopes) if slopes else 0.0


def growth_mb_an_hour(samples: Sequence[Sample]) -> float:
    """Return how fast the memory grows after the warm-up."""
    return slope([(sample.at / 3600, sample.rss / 1e6) for sample in warm(samples)])


def warm(samples: Sequence[Sample]) -> list[Sample]:
    """Return the samples after the warm-up."""
    if not samples:
        return []
    begin = samples[0].at + (samples[-1].at - samples[0].at) * WARM_UP
    return [sample for sample in samples if sample.at >= begin]


def thirds(samples: Sequence[Sample]) -> tuple[Third, ...]:
    """Return the key echo of each third of the time after the warm-up."""
    used = [sample for sample in warm(samples) if not sample.busy]
    size = max(1, len(used) // 3)
    parts = [used[:size], used[size : 2 * size], used[2 * size :]]
    return tuple(_third(part) for part in parts if len(part) > 1)


def slower(parts: Sequence[Third]) -> float:
    """Return how many times the first third's p95 the last one's is, alone or against the toolkit's: the less of both.

    Other programs on the machine move either of the two alone; what makes the app slower moves both.
    """
    return min(parts[-1].p95 / parts[0].p95, parts[-1].ratio / parts[0].ratio) if parts else 1.0


def _third(samples: Sequence[Sample]) -> Third:
    keys, toolkit, bare = (
        [delay * 1000 for sample in samples for delay in delays(sample)]
        for delays in (lambda s: s.keys, lambda s: s.toolkit, lambda s: s.bare)
    )
    return Third(
        keys=len(keys),
        p50=statistics.median(keys),
        p95=p95(keys),
        toolkit_p95=p95(toolkit),
        bare_p95=p95(bare),
        ratio=p95(keys) / p95(toolkit),
        cpu_ms=statistics.median(sample.cpu * 1000 for sample in samples),
    )


def in_words(result: Result) -> str:
    """Return the result as text."""
    ends = ", ".join(f"{way} {count}" for way, count in result.ends.items())
    lines = [
        f"{result.minutes:.0f} minutes, seed {result.seed}: {result.actions} actions, {result.requests} requests, "
        f"{result.faults} faults, {result.acknowledged} prompts and answers acknowledged",
        f"ends of the second app: {ends}",
        f"memory: {result.rss_mb[0]:.0f} to {result.rss_mb[1]:.0f} MB, {result.growth_mb:+.1f} MB an hour after the "
        f"warm-up",
        f"open files {result.files[0]} to {result.files[1]}, threads {result.threads[0]} to {result.threads[1]}",
    ]
    lines += [
        f"key echo, third {number}: p50 {part.p50:.1f} ms, p95 {part.p95:.1f} ms ({part.ratio:.2f}× the toolkit's "
        f"{part.toolkit_p95:.1f} ms; bare {part.bare_p95:.1f} ms), {part.cpu_ms:.2f} ms of processor a key"
        for number, part in enumerate(result.thirds, 1)
    ]
    return "\n".join([*lines, f"invariants broken: {len(result.broken)}", *(f"  ✗ {words}" for words in result.misses)])
