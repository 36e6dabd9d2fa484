"""What reaches the terminal and when: first ink, key echoes, bytes, a slow line, and an idle screen."""

import os
import select
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.bench.figures import BIN, READY, Figure
from tests.bench.pane_figures import KEY, TOKEN_CHARS, TOKENS_PER_SECOND, _cpu_s, _echoes
from tests.bench.probe import Probe
from tests.support.children import PROSE
from tests.support.model_steps import Finish, Text
from tests.support.server_thread import ServerThread

MARK = b"READY-MARK"
SLOW_LINE = 150_000
"""Bytes per second of a slow line."""
STREAM_S = 10.0
IDLE_S = 60.0


def first_ink(rounds: int = 9) -> Figure:
    """exec → first ink, and → full live paint, each against an empty Textual app; the picture was kept before."""
    ink, live, times = [], [], []
    with tempfile.TemporaryDirectory() as home:
        _keep_picture(Path(home))
        for _ in range(rounds):
            with _baseline("empty_app") as probe:
                base = probe.wait_for(MARK) - probe.started_at
            with _smith(Path(home)) as probe:
                first = probe.wait_for(READY) - probe.started_at
                whole = probe.wait_for(b"idle") - probe.started_at
            ink.append(first / base)
            live.append(whole / base)
            times.append((first, whole, base))
    medians = (statistics.median(column) * 1000 for column in zip(*times, strict=True))
    in_ms = ", ".join(f"{median:.0f}" for median in medians)
    return Figure(
        name="exec → first ink / full live paint, against an empty Textual app",
        value=f"{statistics.median(ink):.2f}× / {statistics.median(live):.2f}× ({in_ms} ms)",
        goal="≤ 0.15× / ≤ 1.2×",
        good=statistics.median(ink) <= 0.15 and statistics.median(live) <= 1.2,
    )


def key_echo(seconds: float = STREAM_S) -> Figure:
    """Key echo while an answer comes at 200 tokens/s, against a Textual app with a text area and nothing to do."""
    sys.setswitchinterval(0.0005)
    with _baseline("typing_app") as probe:
        probe.wait_for(MARK)
        probe.quiet(0.5)
        idle = _echoes(probe, time.perf_counter() + seconds)
    with _streaming() as probe:
        busy = _echoes(probe, time.perf_counter() + seconds)
    median, tail = statistics.median(busy) / statistics.median(idle), _p95(busy) / _p95(idle)
    return Figure(
        name="key echo at 200 tokens/s p50 / p95, against an idle text area",
        value=f"{median:.1f}× / {tail:.1f}× ({statistics.median(busy) * 1000:.1f}, {_p95(busy) * 1000:.1f} ms)",
        goal="≤ 4× / ≤ 5×, ≤ 15 ms",
        good=median <= 4 and tail <= 5 and _p95(busy) <= 0.015,
    )


def bytes_written(seconds: float = STREAM_S) -> Figure:
    """Bytes to the terminal while an answer comes at 200 tokens/s, against the same text in Textual's Markdown."""
    with _streaming() as probe:
        ours = _bytes_in(probe, seconds)
    with _streaming("--set", "ui.output=stock") as probe:
        stock = _bytes_in(probe, seconds)
    with _baseline("markdown_app", str(TOKEN_CHARS), str(TOKENS_PER_SECOND)) as probe:
        probe.wait_for(b"three")
        theirs = _bytes_in(probe, seconds)
    ratio = ours / theirs
    return Figure(
        name="bytes to the tty at 200 tokens/s, against Markdown widgets",
        value=f"{ratio:.3f}× ({ours / seconds / 1000:.1f} KB/s; stock output {stock / seconds / 1000:.1f})",
        goal="≤ 0.3×",
        good=ratio <= 0.3,
    )


def slow_line(seconds: float = STREAM_S) -> Figure:
    """Key echo behind a line of 150 KB/s while an answer comes and its pages are turned, against the stock output."""
    sys.setswitchinterval(0.0005)
    ours, stock = _on_slow_line("diff", seconds), _on_slow_line("stock", seconds)
    return Figure(
        name="key echo on a line of 150 KB/s, pages turning, p50 / p95 (stock)",
        value=f"{statistics.median(ours) * 1000:.0f} / {_p95(ours) * 1000:.0f} ms "
        f"({statistics.median(stock) * 1000:.0f} / {_p95(stock) * 1000:.0f})",
        goal="p95 ≤ 100 ms",
        good=_p95(ours) <= 0.1,
    )


def idle(seconds: float = IDLE_S) -> Figure:
    """A minute without a key after the start: processor time and bytes."""
    with tempfile.TemporaryDirectory() as home, _smith(Path(home)) as probe:
        probe.wait_for(b"idle")
        probe.quiet(2.0, 15.0)
        used, mark = _cpu_s(probe), probe.mark()
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            probe.quiet(left, left)
            time.sleep(min(0.05, max(0.0, left)))
        spent, written = _cpu_s(probe) - used, probe.mark() - mark
    return Figure(
        name=f"idle for {seconds:.0f} s",
        value=f"{spent:.2f} s CPU, {written} bytes",
        goal="≤ 0.5 s, ≤ 1 KB",
        good=spent <= 0.5 and written <= 1000,
    )


class SlowProbe(Probe):
    """A terminal at the end of a slow line: what is read in a second is bounded."""

    _budget = 0.0
    _filled_at = 0.0

    def _read(self, timeout: float) -> bool:
        readable, _, _ = select.select([self._master], [], [], timeout)
        if not readable:
            return False
        now = time.perf_counter()
        self._budget = min(SLOW_LINE / 100, self._budget + (now - self._filled_at) * SLOW_LINE)
        self._filled_at = now
        if self._budget < 1:
            time.sleep(0.001)
            return True
        try:
            data = os.read(self._master, int(self._budget))
        except OSError:
            return False
        self._budget -= len(data)
        self.output += data
        return True


def _on_slow_line(output: str, seconds: float) -> list[float]:
    delays = []
    with _streaming("--set", f"ui.output={output}", kind=SlowProbe) as probe:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            # A page up and one down, so that whole pages are on their way while keys are typed.
            for page in (b"\x1b[5~", b"\x1b[6~"):
                probe.send(page)
                mark = probe.mark()
                sent = probe.send(KEY)
                delays.append(probe.wait_for(KEY, mark) - sent)
                probe.quiet(0.05, 0.05)
    return delays


def _bytes_in(probe: Probe, seconds: float) -> int:
    mark, end = probe.mark(), time.perf_counter() + seconds
    while (left := end - time.perf_counter()) > 0:
        probe.quiet(left, left)
    return probe.mark() - mark


def _p95(delays: list[float]) -> float:
    return statistics.quantiles(delays, n=20)[-1]


@contextmanager
def _baseline(module: str, *arguments: str) -> Iterator[Probe]:
    with Probe([sys.executable, "-m", f"tests.bench.{module}", *arguments], dict(os.environ), Path.cwd()) as probe:
        yield probe


@contextmanager
def _smith(home: Path, *arguments: str, url: str = "http://127.0.0.1:9/v1", kind: type[Probe] = Probe) -> Iterator[Any]:
    (home / "project").mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    folders = {f"XDG_{name}_HOME": f"{home}/{name.lower()}" for name in ("CACHE", "CONFIG", "DATA", "STATE")}
    command = [str(BIN / "smith-tui"), "--new", "--set", f"llm_config.api_url={url}", "--model", "scripted", *arguments]
    with kind(command, {**kept, **folders, "HOME": str(home)}, home / "project") as probe:
        yield probe


def _keep_picture(home: Path) -> None:
    with _smith(home) as probe:
        probe.wait_for(b"idle")
        end = time.perf_counter() + 10
        while not list(home.glob("cache/smith/pictures/*")) and time.perf_counter() < end:
            probe.quiet(0.1, 0.1)


@contextmanager
def _streaming(*arguments: str, kind: type[Probe] = Probe) -> Iterator[Any]:
    """An app into which an answer comes for longer than is measured; the start is over."""
    text = "\n\n".join([PROSE] * 200)
    backend = ServerThread(lambda request: [Text(text=text, size=TOKEN_CHARS, rate=TOKENS_PER_SECOND), Finish()])
    with tempfile.TemporaryDirectory() as home, _smith(Path(home), *arguments, url=backend.url, kind=kind) as probe:
        probe.wait_for(READY)
        probe.quiet(0.5)
        probe.send(b"go\r")
        backend.wait_for_requests(1)
        probe.wait_for(b"places")
        yield probe
    backend.stop()


SCREEN_FIGURES = (first_ink, key_echo, bytes_written, slow_line, idle)
