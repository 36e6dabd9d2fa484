"""What an answer costs while it comes: processor time, bytes and key echoes, against Markdown widgets and idle apps."""

import statistics
import time

from tests.bench import histories
from tests.bench.host import written
from tests.bench.probe import SlowProbe
from tests.bench.programs import (
    BASELINE_READY,
    LAST_WORD,
    TOKENS_PER_SECOND,
    Load,
    Prepare,
    baseline,
    paced,
    smith,
    streaming,
    warm_up,
)
from tests.bench.reading import Reading
from tests.bench.timing import KEY, cpu_seconds, echoes, exact_threads, in_ms, median, p95
from tests.support.server_thread import ServerThread

MEASURED_S = 6.0


def key_echo(seconds: float = MEASURED_S) -> tuple[Reading, ...]:
    """Key echo while an answer comes at 200 tokens/s, against a Textual app with a text area and nothing to do."""
    exact_threads()
    with baseline("typing_app") as probe:
        probe.wait_for(BASELINE_READY)
        probe.quiet(0.5)
        idle = echoes(probe, seconds)
    with streaming() as probe:
        busy = echoes(probe, seconds)
    told = f"{in_ms(busy)}; idle {in_ms(idle)}"
    return Reading(median(busy) / median(idle), told), Reading(p95(busy) / p95(idle)), Reading(p95(busy) * 1000)


def against_markdown() -> tuple[Reading, ...]:
    """An answer of prose at 200 and at 1,000 tokens/s, to its last word: CPU of a screen alone, and bytes."""
    spent, written = {}, {}
    for rate, tokens in ((200, 1_600), (1_000, 3_000)):
        for app in ("transcript_app", "markdown_app"):
            cpu, size = _of_a_screen(app, tokens, rate)
            spent[app, rate], written[app, rate] = cpu / tokens, size / tokens
    readings = []
    for rate in (200, 1_000):
        ours, theirs = spent["transcript_app", rate], spent["markdown_app", rate]
        readings.append(Reading(ours / theirs, f"{ours * 1e6:.0f} against {theirs * 1e6:.0f} µs"))
    ours, theirs = written["transcript_app", 200], written["markdown_app", 200]
    return *readings, Reading(ours / theirs, f"{ours:.0f} against {theirs:.0f} bytes a token")


def _of_a_screen(app: str, tokens: int, rate: float) -> tuple[float, int]:
    """Return the processor seconds and the bytes that one answer takes in an app of the bench."""
    with baseline(app, tokens, rate, 1) as probe:
        probe.wait_for(BASELINE_READY)
        spent, mark = cpu_seconds(probe.process.pid), probe.mark()
        probe.wait_for(LAST_WORD.encode(), mark, 90)
        return cpu_seconds(probe.process.pid) - spent, probe.mark() - mark


def whole_app(tokens: int = 1_000) -> tuple[Reading, ...]:
    """The same answer at 200 tokens/s through the whole app, without its host; and with the stock output."""
    cpu, size = _of_an_answer(tokens, TOKENS_PER_SECOND)
    stock, more = _of_an_answer(tokens, TOKENS_PER_SECOND, "--set", "ui.output=stock")
    told = (
        f"{size / tokens:.0f} bytes a token; stock output {stock / tokens * 1e6:.0f} µs and {more / tokens:.0f} bytes"
    )
    return (Reading(cpu / tokens * 1e6, told),)


def _of_an_answer(tokens: int, rate: float, *arguments: str, prepare: Prepare | None = None) -> tuple[float, int]:
    """Return the processor seconds of the app, without its host, and the bytes that one answer takes."""
    with (
        ServerThread(
            lambda request: paced(tokens, rate) if request["messages"][-1]["content"] == "go" else "fine."
        ) as backend,
        smith(backend.url, *arguments, prepare=prepare) as probe,
    ):
        warm_up(probe, backend)
        spent, mark = cpu_seconds(probe.process.pid), probe.mark()
        probe.send(b"go\r")
        probe.wait_for(LAST_WORD.encode(), mark, 60)
        return cpu_seconds(probe.process.pid) - spent, probe.mark() - mark


def long_history(tokens: int = 1_200) -> tuple[Reading, ...]:
    """An answer at 200 tokens/s behind 5,000 messages against one behind 100: processor time of the app."""
    spent = {}
    for count in (100, 5_000):
        spent[count], _ = _of_an_answer(tokens, TOKENS_PER_SECOND, prepare=histories.answers(count))
    told = f"{spent[5_000]:.2f} against {spent[100]:.2f} s"
    return (Reading(spent[5_000] / spent[100], told),)


def slow_line(seconds: float = MEASURED_S) -> tuple[Reading, ...]:
    """Key echo behind a line of 150 KB/s while an answer comes and its pages are turned, and with the stock output."""
    exact_threads()
    ours, stock = _on_slow_line("diff", seconds), _on_slow_line("stock", seconds / 2)
    return (Reading(p95(ours) * 1000, f"p50 {median(ours) * 1000:.0f} ms; stock {in_ms(stock)}"),)


def _on_slow_line(output: str, seconds: float) -> list[float]:
    delays = []
    with streaming("--set", f"ui.output={output}", kind=SlowProbe) as probe:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            # A page up and one down, so that whole pages are on their way while keys are typed.
            for page in (b"\x1b[5~", b"\x1b[6~"):
                probe.send(page)
                mark, sent = probe.mark(), probe.send(KEY)
                delays.append(probe.wait_for(KEY, mark) - sent)
                probe.read_for(0.05)
    return delays


def steady(seconds: float = 10.0) -> tuple[Reading, ...]:
    """200 tokens a second: the share of one core that app and host take together."""
    with streaming() as probe:
        probe.read_for(2.0)
        load, began = Load(probe), time.perf_counter()
        probe.read_for(seconds)
        took = time.perf_counter() - began
        app, host = (spent / took for spent in load.spent())
    return (Reading((app + host) * 100, f"app {app:.1%}, host {host:.1%}"),)


def burst(rounds: int = 5, tokens: int = 20_000) -> tuple[Reading, ...]:
    """20,000 tokens as fast as they can be sent: from Enter to the last word, and the CPU of app and host."""
    answer = written(tokens)
    walls, apps, hosts = [], [], []
    with (
        ServerThread(lambda request: answer if request["messages"][-1]["content"] == "go" else "fine.") as backend,
        smith(backend.url) as probe,
    ):
        warm_up(probe, backend)
        load = Load(probe)
        for _ in range(rounds):
            probe.send(b"/new\r")
            probe.quiet(0.5)
            load.spent()
            mark, sent = probe.mark(), probe.send(b"go\r")
            walls.append(probe.wait_for(LAST_WORD.encode(), mark, 60) - sent)
            probe.quiet(0.3)
            app, host = load.spent()
            apps.append(app)
            hosts.append(host)
    cpu = statistics.median(map(sum, zip(apps, hosts, strict=True)))
    return Reading(median(walls)), Reading(cpu, f"app {median(apps):.2f} s, host {median(hosts):.2f} s")
