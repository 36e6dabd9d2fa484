"""What an app takes that nobody uses: memory, processor time, bytes."""

from tests.bench import histories
from tests.bench.programs import BASELINE_READY, READY, Load, baseline, smith, warm_up
from tests.bench.reading import Reading
from tests.bench.start import LIVE
from tests.bench.timing import cpu_seconds, resident_bytes
from tests.support.server_thread import ServerThread


def memory() -> tuple[Reading, ...]:
    """Resident memory of the app with its host running, against an empty Textual app; and that of the host."""
    empty = _of_an_empty_app()
    with ServerThread(lambda request: "fine.") as backend, smith(backend.url) as probe:
        probe.wait_for(LIVE)
        probe.quiet(1.0, 5.0)
        begun = resident_bytes(probe.process.pid)
        warm_up(probe, backend)
        load = Load(probe)
        used, host = resident_bytes(load.app), resident_bytes(load.host)
    return (
        Reading(begun / empty, f"{begun / 1e6:.0f} against {empty / 1e6:.0f} MB"),
        Reading(used / empty, f"{used / 1e6:.0f} MB"),
        Reading(host / 1e6),
    )


def memory_of_a_long_conversation() -> tuple[Reading, ...]:
    """Resident memory with 5,000 messages, their last page drawn, against an empty Textual app."""
    empty = _of_an_empty_app()
    with smith(prepare=histories.answers(5_000)) as probe:
        probe.wait_for(READY)
        probe.wait_for(histories.LAST_WORDS.encode())
        probe.quiet(1.0, 5.0)
        long = resident_bytes(probe.process.pid)
    return (Reading(long / empty, f"{long / 1e6:.0f} MB"),)


def _of_an_empty_app() -> int:
    with baseline("empty_app") as probe:
        probe.wait_for(BASELINE_READY)
        probe.quiet(1.0)
        return resident_bytes(probe.process.pid)


def idle(seconds: float = 60.0) -> tuple[Reading, ...]:
    """A minute without a key after the start: processor time and bytes."""
    with smith() as probe:
        probe.wait_for(LIVE)
        probe.quiet(2.0, 15.0)
        spent = cpu_seconds(probe.process.pid)
        written = probe.read_for(seconds)
        return Reading(cpu_seconds(probe.process.pid) - spent), Reading(written)
