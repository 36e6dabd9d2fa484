"""The meter: speed of the last seconds, time left, not too many reports, from any thread."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from smith_core.embedded.progress import BytesMoved, InstallEvent, Meter


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def reports_of(steps: list[tuple[float, int]], total: int, start: int = 0) -> list[BytesMoved]:
    """Return what a meter reports for steps of (seconds passed, bytes reached)."""
    reports: list[InstallEvent] = []

    async def run() -> None:
        clock = Clock()
        meter = Meter("fetching", total, reports.append, clock)
        meter.restart(start)
        for seconds, done in steps:
            clock.now += seconds
            meter.reached(done)

    asyncio.run(run())
    return [report for report in reports if isinstance(report, BytesMoved)]


def test_speed_and_time_left() -> None:
    last = reports_of([(1, 100), (1, 200)], 1000)[-1]
    assert (last.bytes_per_s, last.seconds_left, last.done, last.total) == (100, 8, 200, 1000)


def test_what_was_there_before_counts_for_no_speed() -> None:
    first, second = reports_of([(1, 600)], 1000, start=500)
    assert (first.done, first.bytes_per_s, first.seconds_left) == (500, 0, None)
    assert second.bytes_per_s == 100


def test_only_the_last_seconds_count() -> None:
    steps = [(1.0, 1000)] + [(1.0, 1000 + 10 * second) for second in range(1, 20)]
    assert reports_of(steps, 10_000)[-1].bytes_per_s < 20


def test_many_small_steps_make_few_reports_but_the_last_byte_is_told() -> None:
    reports = reports_of([(0.001, done) for done in range(1, 1001)], 1000)
    assert len(reports) < 20
    assert reports[-1].done == 1000


@given(st.lists(st.tuples(st.floats(0, 10), st.integers(0, 10**9)), max_size=30))
def test_no_sequence_of_steps_makes_nonsense(steps: list[tuple[float, int]]) -> None:
    for report in reports_of(steps, 10**9):
        assert report.bytes_per_s >= 0
        assert report.seconds_left is None or report.seconds_left >= 0


async def test_reports_of_a_thread_arrive_on_the_loop() -> None:
    arrived = asyncio.Event()
    loop = asyncio.get_running_loop()
    seen: list[bool] = []

    def note(_: InstallEvent) -> None:
        seen.append(asyncio.get_running_loop() is loop)
        arrived.set()

    await asyncio.to_thread(Meter("checking", 1, note).reached, 1)
    await asyncio.wait_for(arrived.wait(), 5)
    assert seen == [True]
