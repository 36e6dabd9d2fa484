"""The log that SMITH_LOG asks for."""

import logging
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from smith_core.log import LOGGER, start_logging


@pytest.fixture(autouse=True)
def quiet_again() -> Iterator[None]:
    yield
    for handler in tuple(LOGGER.handlers):
        LOGGER.removeHandler(handler)
        handler.close()
    LOGGER.setLevel(logging.NOTSET)


def test_without_the_variable_nothing_is_logged(tmp_path: Path) -> None:
    assert start_logging({}) == ""
    assert LOGGER.handlers == []


@pytest.mark.parametrize("log", ["", "/dev/full"])
def test_an_error_is_never_printed(log: str) -> None:
    program = "from smith_core.log import *; start_logging(); LOGGER.error('secret'); logging.error('secret')"
    environ = {"SMITH_LOG": log}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environ)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(("level", "lines"), [("", 1), (":debug", 2), (":error", 0)])
def test_the_level_stands_behind_the_path(tmp_path: Path, level: str, lines: int) -> None:
    path = tmp_path / "smith.log"
    assert start_logging({"SMITH_LOG": f"{path}{level}"}) == ""
    LOGGER.debug("one")
    LOGGER.info("two")
    assert len(path.read_text().splitlines()) == lines
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_path_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (f"{tmp_path}/no/such/folder.log", f"{tmp_path}/pipe", str(tmp_path), "~nobody-of-that-name/log"):
        assert path in start_logging({"SMITH_LOG": path})
