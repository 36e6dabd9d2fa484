"""From Enter, or from exec, to the request and to the first words of the answer."""

import subprocess
import time
from collections.abc import Callable, Mapping

from smith_core.llm.host_control import running_hosts
from tests.bench.probe import Probe
from tests.bench.programs import BASELINE_READY, BIN, READY, baseline, new_home, smith, warm_up
from tests.bench.reading import Reading
from tests.bench.timing import exact_threads, median
from tests.support.server_thread import ServerThread


def enter_to_answer(rounds: int = 15) -> tuple[Reading, ...]:
    """Enter → request on the wire → first character on the screen, the host warm, and the same of the line floor.

    The server answers as soon as the request is there, so its first byte is counted from then: a little too long.
    """
    exact_threads()
    asked, answered = _of_the_app(rounds)
    whole = [request + answer for request, answer in zip(asked, answered, strict=True)]
    floor = _of_the_line_app(rounds)
    ratio = median(whole) / median(floor)
    return (
        Reading(median(asked) * 1000, f"slowest {max(asked) * 1000:.0f} ms"),
        Reading(median(answered) * 1000, f"slowest {max(answered) * 1000:.0f} ms"),
        Reading(ratio, f"{median(whole) * 1000:.0f} ms against {median(floor) * 1000:.0f} ms"),
        Reading(median(whole) * 1000),
    )


def _of_the_app(rounds: int) -> tuple[list[float], list[float]]:
    script = lambda request: f"{_marks(len(request['messages']))} is the answer"  # noqa: E731
    with ServerThread(script) as backend, smith(backend.url) as probe:
        warm_up(probe, backend, _marks(2))
        return _ask(probe, backend, rounds, lambda number: _marks(2 * number))


def _of_the_line_app(rounds: int) -> list[float]:
    script = lambda request: f"{request['messages'][0]['content']}> is the answer"  # noqa: E731
    with ServerThread(script) as backend, baseline("line_app", backend.url) as probe:
        probe.wait_for(BASELINE_READY)
        probe.send(b"hello\r")
        backend.wait_for_requests(1)
        probe.quiet(0.5)
        asked, answered = _ask(probe, backend, rounds, lambda number: f"{_marks(number)}>", _marks)
        return [request + answer for request, answer in zip(asked, answered, strict=True)]


def _ask(
    probe: Probe,
    backend: ServerThread,
    rounds: int,
    mark: Callable[[int], str],
    prompt: Callable[[int], str] = lambda number: "hello",
) -> tuple[list[float], list[float]]:
    """Send prompts; return for each the seconds to its request, and from there to the first word of the answer."""
    asked, answered = [], []
    for number in range(2, rounds + 2):
        probe.quiet(0.2)
        probe.send(prompt(number).encode())
        probe.quiet(0.1)
        place, sent = probe.mark(), probe.send(b"\r")
        began = backend.wait_for_requests(number).started_at
        asked.append(began - sent)
        answered.append(probe.wait_for(mark(number).encode(), place) - began)
    return asked, answered


def _marks(count: int) -> str:
    """Return a word that the screen has not shown before, so that it is drawn whole."""
    return f"#{count:03d}#"


def first_request(rounds: int = 9) -> tuple[Reading, ...]:
    """exec of `smith-tui run` → its request on the wire, with a host waiting; and the first start, without."""
    delays = []
    with ServerThread(lambda request: "fine.") as backend, new_home(is_first=True) as (_, environ):
        options = ["--set", f"llm_config.api_url={backend.url}", "--model", "scripted"]
        command = [str(BIN / "smith-tui"), *options, "run", "hello"]
        for number in range(1, rounds + 2):
            started = time.perf_counter()
            done = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            delays.append(backend.wait_for_requests(number).started_at - started)
            done.wait(30)
            # Warm means that nothing is left to be loaded.
            while number == 1 and not all(
                report.status and report.status.is_ready for report in running_hosts(environ)
            ):
                time.sleep(0.1)
    return (Reading(median(delays[1:]) * 1000, f"without a host {delays[0] * 1000:.0f} ms"),)


def _is_warm(environ: Mapping[str, str]) -> bool:
    """Whether nothing is left to be loaded."""
    return all(report.status and report.status.is_ready for report in running_hosts(environ))


def first_request_of_the_app(rounds: int = 5) -> tuple[Reading, ...]:
    """exec of the app → the request of a prompt that was typed at once, with a host waiting."""
    delays = []
    with ServerThread(lambda request: "fine.") as backend:
        with smith(backend.url) as first:
            warm_up(first, backend)
        for number in range(2, rounds + 2):
            with smith(backend.url) as probe:
                probe.wait_for(READY)
                probe.send(b"hello\r")
                delays.append(backend.wait_for_requests(number).started_at - probe.started_at)
    return (Reading(median(delays) * 1000),)
