"""What was measured last of each part, kept, and written as one table into docs/benchmarks.md."""

import os
import platform
import time
from pathlib import Path

import msgspec

from tests.bench.reading import Reading, Row
from tests.bench.table import PARTS

PAGE = Path("docs/benchmarks.md")
KEPT = Path(".cache/bench/figures.json")
BEGIN = "<!-- written by `make bench`, from here -->"
END = "<!-- to here -->"

_HEAD = "| figure | measured | goal | against | load |\n| --- | --- | --- | --- | --- |"


class Measured(msgspec.Struct, frozen=True):
    """What a part gave: its readings or, without any, why there are none.

    load: the load average of the machine in the minute before.
    """

    taken_at: float
    load: float
    readings: tuple[Reading, ...] = ()
    problem: str = ""


def keep(measured: dict[str, Measured]) -> dict[str, Measured]:
    """Keep what was measured beside what is kept of other parts, and return all of it."""
    kept = msgspec.json.decode(KEPT.read_bytes(), type=dict[str, Measured]) if KEPT.exists() else {}
    kept |= measured
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    KEPT.write_bytes(msgspec.json.encode(kept))
    return kept


def write(measured: dict[str, Measured], page: Path = PAGE) -> None:
    """Write the table into the page, between its marks; what stands around them stays."""
    before, _, rest = page.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n\n{table(measured)}\n\n{END}{after}")


def table(measured: dict[str, Measured]) -> str:
    """Return date and machine, and the table of all figures in markdown."""
    rows = [line for part in PARTS for line in _lines(part.name, part.rows, measured.get(part.name))]
    days = sorted({time.strftime("%Y-%m-%d", time.localtime(one.taken_at)) for one in measured.values()})
    goals = [
        row.holds(reading)
        for part in PARTS
        if part.name in measured
        for row, reading in zip(part.rows, measured[part.name].readings, strict=False)
        if row.goal is not None
    ]
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Linux {platform.release()}"
    first = f"Taken on {' to '.join(days[:1] + days[1:][-1:])}; {machine}, Python {platform.python_version()}."
    second = (
        f"{sum(goals)} of {len(goals)} goals are met; ✗ marks the others. Load is the load average before the figure."
    )
    return f"{first}\n{second}\n\n{_HEAD}\n" + "\n".join(rows)


def _lines(name: str, rows: tuple[Row, ...], measured: Measured | None) -> list[str]:
    if measured is None or measured.problem:
        why = measured.problem if measured else "not measured yet"
        return [f"| {row.figure} | — {why} | {_goal(row)} | {row.against} | |" for row in rows]
    return [
        f"| {row.figure} | {said(row, reading)} | {_goal(row)} | {row.against} | {measured.load:.1f} |"
        for row, reading in zip(rows, measured.readings, strict=True)
    ]


def said(row: Row, reading: Reading) -> str:
    """Return a reading in words, marked when it misses the goal."""
    detail = f" ({reading.detail})" if reading.detail else ""
    return f"{'' if row.holds(reading) else '✗ '}{row.told(reading.value)}{detail}"


def _goal(row: Row) -> str:
    return "" if row.goal is None else f"≤ {row.told(row.goal)}"
