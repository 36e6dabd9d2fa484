"""The writer of the tty: never in the way, in order, nothing lost, and at its end when the terminal is gone."""

import os
import threading
from collections.abc import Iterator
from typing import TextIO

import pytest

from smith_tui.output.writer import FrameWriter

FULL = 1 << 20
"""More characters than any pipe holds."""


class Line:
    """A pipe in the place of a terminal."""

    def __init__(self) -> None:
        self.end, writing = os.pipe()
        self.file: TextIO = os.fdopen(writing, "w", encoding="utf-8", errors="backslashreplace")
        self.writer = FrameWriter(self.file)
        self.writer.start()

    def read(self, characters: int) -> str:
        data = b""
        while len(data) < characters:
            data += os.read(self.end, 65536)
        return data.decode()


@pytest.fixture
def line() -> Iterator[Line]:
    line = Line()
    yield line
    os.close(line.end)
    line.writer.stop()
    line.file.close()


def test_a_slow_terminal_holds_nobody_up_and_gets_everything_in_order(line: Line) -> None:
    idle = threading.Event()
    for number in range(200):
        line.writer.write(f"{number:03}" * 5000)
    line.writer.when_idle(idle.set)
    assert line.writer.is_busy and not idle.is_set()
    assert line.read(3_000_000) == "".join(f"{number:03}" * 5000 for number in range(200))
    assert idle.wait(10) and not line.writer.is_busy


def test_who_asks_while_nothing_waits_is_told_at_once(line: Line) -> None:
    told = []
    line.writer.when_idle(lambda: told.append(1))
    assert told == [1]


def test_the_end_waits_until_all_is_written(line: Line) -> None:
    line.writer.write("x" * FULL)
    reader = threading.Thread(target=line.read, args=(FULL,))
    reader.start()
    line.writer.stop()
    reader.join(10)
    assert not line.writer.is_alive() and not line.writer.is_busy


def test_a_terminal_that_others_made_non_blocking_gets_everything(line: Line) -> None:
    os.set_blocking(line.file.fileno(), False)
    line.writer.write("y" * FULL)
    assert line.read(FULL) == "y" * FULL


def test_a_terminal_that_is_gone_is_no_error_and_takes_no_memory(line: Line) -> None:
    os.close(line.end)
    idle = threading.Event()
    line.writer.write("into nothing")
    line.writer.when_idle(idle.set)
    assert idle.wait(10)
    line.writer.write("x" * FULL)
    assert not line.writer.is_busy
    line.end = os.open(os.devnull, os.O_RDONLY)


def test_what_the_encoding_lacks_is_written_as_its_number(line: Line) -> None:
    line.writer.write("a\udcffb")
    assert line.read(8) == "a\\udcffb"
