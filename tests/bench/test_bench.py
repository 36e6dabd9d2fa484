"""The bench itself: counts against their baseline, the table of figures, and the page that it is written into."""

import importlib
from pathlib import Path

import pytest

from tests.bench import check
from tests.bench.far import RATE, FarProbe
from tests.bench.page import BEGIN, END, Measured, said, write
from tests.bench.reading import Reading, Row
from tests.bench.table import PARTS


@pytest.mark.parametrize("scenario", check.SHORT, ids=lambda scenario: scenario.__name__)
def test_nothing_grew_by_more_than_a_quarter(scenario: check.Scenario) -> None:
    baseline = check.read_baseline()
    assert baseline.python == check.python_version(), "renew the baseline: `make bench-check ARGS=--renew`"
    assert check.regressions(scenario(), baseline.counts) == []


def test_a_quarter_more_is_told_and_a_fifth_is_not() -> None:
    baseline = {"calls": 100, "bytes": 100, "syncs": 0}
    told = ["bytes: 126 instead of 100, 26% more"]
    assert check.regressions({"calls": 120, "bytes": 126, "syncs": 0}, baseline) == told
    assert check.regressions({"syncs": 1}, baseline) == ["syncs: 1 instead of 0, more"]
    assert "no baseline" in check.regressions({"new": 1}, baseline)[0]


def test_each_part_of_the_table_is_a_function_of_its_module() -> None:
    for part in PARTS:
        assert callable(getattr(importlib.import_module(f"tests.bench.{part.module}"), part.name)), part.name
    assert len({part.name for part in PARTS}) == len(PARTS)


@pytest.mark.parametrize(
    ("row", "reading", "words"),
    [
        (Row("a", "ms", 50), Reading(12.4, "slowest 20 ms"), "12 ms (slowest 20 ms)"),
        (Row("a", "×", 0.15), Reading(0.1604), "✗ 0.16×"),
        (Row("a", "×", 0.01), Reading(0.0021), "0.002×"),
        (Row("a", ""), Reading(3), "3"),
    ],
)
def test_a_reading_in_words(row: Row, reading: Reading, words: str) -> None:
    assert said(row, reading) == words


def test_the_page_keeps_what_stands_around_the_table(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nof-yesterday\n{END}\nafter\n")
    write({"steady": Measured(0.0, 0.5, (Reading(19.0),)), "burst": Measured(0.0, 0.5, problem="never written")}, page)
    text = page.read_text()
    assert text.startswith(f"before\n{BEGIN}\n") and text.endswith(f"{END}\nafter\n") and "of-yesterday" not in text
    assert "| 200 tokens/s: share of a core, app and host | 19 % | ≤ 20 % |  | 0.5 |" in text
    assert "— never written" in text and "1 of 1 goals are met" in text


def test_a_far_terminal_gets_everything_late_and_no_faster_than_its_line() -> None:
    class Nearer(FarProbe):
        delay_s = 0.05

    with Nearer(["cat"], {"PATH": "/usr/bin:/bin"}, Path("/")) as probe:
        sent = probe.send(b"x\n")
        assert 0.1 <= probe.wait_for(b"x\r\nx") - sent < 1.0
        sent = probe.send(b"y" * 2_500 + b"\n")
        assert probe.wait_for(b"y" * 2_500, timeout=5.0) - sent >= 0.1 + 2_500 / RATE
