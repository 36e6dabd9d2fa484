"""`make bench`: measure figures, print them, and write all of them into docs/benchmarks.md.

Arguments: names of parts or of modules; without any, everything is measured. --list: only name the parts. --write:
also write a run of some parts into the page. --prepare: build the corpus of the search figures once, for minutes.
The exit status is 1 if a goal was missed or a figure could not be measured; whatever fails, the others go on.
"""

import importlib
import os
import platform
import signal
import sys
import time
from types import FrameType

from tests.bench import corpus, page
from tests.bench.page import Measured
from tests.bench.reading import NotMeasuredError, Part, Reading
from tests.bench.table import PARTS

LONGEST_S = 150
"""A part that takes longer is given up."""


def main() -> int:
    """Do what the command line says."""
    options = {argument for argument in sys.argv[1:] if argument.startswith("--")}
    names = [argument for argument in sys.argv[1:] if argument not in options]
    unknown = (options - {"--list", "--write", "--prepare"}) | set(names).difference(
        *({part.name, part.module} for part in PARTS)
    )
    if unknown:
        print(f"unknown: {', '.join(sorted(unknown))}; `make bench ARGS=--list` names all parts", file=sys.stderr)
        return 2
    if "--list" in options:
        for part in PARTS:
            print(f"{part.name:<30} {part.module:<10} {'; '.join(row.figure for row in part.rows)}")
        return 0
    if "--prepare" in options:
        corpus.prepare()
        return 0
    parts = [part for part in PARTS if not names or part.name in names or part.module in names]
    measured = _measure(parts)
    if not names or "--write" in options:
        page.write(page.keep(measured))
    return 0 if all(_is_good(part, measured[part.name]) for part in parts) else 1


def _measure(parts: list[Part]) -> dict[str, Measured]:
    print(f"{time.strftime('%Y-%m-%d %H:%M')}, {os.cpu_count()} cores, Python {platform.python_version()}", flush=True)
    begun = time.perf_counter()
    measured = {}
    for part in parts:
        started = time.perf_counter()
        measured[part.name] = found = _run(part)
        took = f"[{part.name}, {time.perf_counter() - started:.0f} s, load {found.load:.1f}]"
        if found.problem:
            print(f"✗ not measured: {found.problem} {took}", flush=True)
        for row, reading in zip(part.rows, found.readings, strict=False):
            mark = "✓" if row.holds(reading) else "✗"
            goal = "" if row.goal is None else f"≤ {row.told(row.goal)}"
            detail = f"({reading.detail})" if reading.detail else ""
            figure = f"{row.figure}, against {row.against}" if row.against else row.figure
            print(f"{mark} {figure:<76} {row.told(reading.value):>9} {goal:<10} {detail} {took}", flush=True)
            took = ""
    print(f"{time.perf_counter() - begun:.0f} s in all", flush=True)
    return measured


def _run(part: Part) -> Measured:
    load, taken_at = os.getloadavg()[0], time.time()
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(LONGEST_S)
    try:
        readings: tuple[Reading, ...] = getattr(importlib.import_module(f"tests.bench.{part.module}"), part.name)()
        if len(readings) != len(part.rows):
            return Measured(taken_at, load, problem=f"{len(readings)} readings for {len(part.rows)} rows")
        return Measured(taken_at, load, readings)
    except NotMeasuredError as error:
        return Measured(taken_at, load, problem=str(error))
    except Exception as error:  # noqa: BLE001 - the other figures must be measured
        return Measured(taken_at, load, problem=f"{type(error).__name__}: {str(error)[:200]}".replace("\n", " "))
    finally:
        signal.alarm(0)


def _give_up(number: int, frame: FrameType | None) -> None:
    raise TimeoutError(f"took longer than {LONGEST_S} s")


def _is_good(part: Part, measured: Measured) -> bool:
    return not measured.problem and all(map(lambda row, reading: row.holds(reading), part.rows, measured.readings))


if __name__ == "__main__":
    sys.exit(main())
