"""The progress of an installation on a terminal and in a log."""

import io

import pytest

from smith_core.embedded.progress import BytesMoved, Phase, SourceFailed, SourceStarted
from smith_core.errors import AgentError
from smith_tui.install_progress import ProgressPrinter, progress_line
from tests.support.weights_server import make_model, make_weights

MODEL = make_model(make_weights(1000))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def moved(done: int, total: int = 1000, speed: float = 100, phase: Phase = "fetching") -> BytesMoved:
    left = (total - done) / speed if speed else None
    return BytesMoved(phase=phase, done=done, total=total, bytes_per_s=speed, seconds_left=left)


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (moved(0, speed=0), "  0 % [....................]  0 bytes of 1.00 kB fetched"),
        (moved(500), " 50 % [##########..........]  500 bytes of 1.00 kB fetched  100 bytes/s  5 s left"),
        (moved(999), " 99 % [###################.]  999 bytes of 1.00 kB fetched  100 bytes/s  0 s left"),
        (moved(1000), "100 % [####################]  1.00 kB of 1.00 kB fetched  100 bytes/s"),
        (
            moved(250, phase="checking"),
            " 25 % [#####...............]  250 bytes of 1.00 kB checked  100 bytes/s  8 s left",
        ),
    ],
)
def test_a_line_has_percent_bytes_speed_and_time_left(event: BytesMoved, line: str) -> None:
    assert progress_line(event) == line


def test_a_terminal_gets_one_line_that_is_overwritten() -> None:
    stream = Terminal()
    printer = ProgressPrinter(stream, MODEL)
    printer.show(moved(100))
    printer.show(moved(200))
    assert stream.getvalue().count("\r") == 2
    assert "\n" not in stream.getvalue()
    printer.show(SourceStarted(label="the next place", resumed_at=200))
    assert stream.getvalue().count("\n") == 2
    assert "200 bytes are there already" in stream.getvalue()


def test_a_log_gets_a_line_every_few_seconds_and_the_last_one() -> None:
    stream, clock = io.StringIO(), Clock()
    printer = ProgressPrinter(stream, MODEL, clock)
    for step in range(100):
        clock.now = step / 10
        printer.show(moved(step))
    printer.show(moved(1000))
    lines = stream.getvalue().splitlines()
    assert [line[:5] for line in lines] == ["  0 %", "  5 %", "100 %"]
    assert "\r" not in stream.getvalue()


def test_what_a_source_says_cannot_act_on_the_terminal() -> None:
    stream = Terminal()
    error = AgentError(kind="protocol", code="not_offered", message="\x1b]0;owned\x07 no\nsecond line")
    ProgressPrinter(stream, MODEL).show(SourceFailed(label="x", error=error))
    assert "\x1b" not in stream.getvalue()
    assert stream.getvalue().count("\n") == 1
