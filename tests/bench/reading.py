"""What a figure is: a row of the table with its goal, the part of the bench that measures it, and what it read."""

from typing import Literal

import msgspec

Unit = Literal["×", "ms", "s", "µs", "%", "MB", "bytes", ""]

_DIGITS: dict[Unit, int] = {"×": 2, "ms": 0, "s": 2, "µs": 0, "%": 0, "MB": 0, "bytes": 0, "": 0}


class Row(msgspec.Struct, frozen=True):
    """One figure: its name, its unit, the most that it may be, and what it is measured against.

    goal: None for a figure that is only told. against: "" for one that stands by itself.
    """

    figure: str
    unit: Unit
    goal: float | None = None
    against: str = ""

    def holds(self, reading: "Reading") -> bool:
        """Whether a reading meets the goal."""
        return self.goal is None or reading.value <= self.goal

    def told(self, value: float) -> str:
        """Return a value in the figure's unit, with as many digits as tell something."""
        digits = _DIGITS[self.unit]
        if self.unit in ("×", "ms") and 0 < abs(value) < 10 ** (1 - digits):
            digits += 1
        if self.unit == "×" and 0 < abs(value) < 0.1:
            digits = 3
        unit = self.unit if self.unit == "×" else f" {self.unit}" if self.unit else ""
        return f"{value:,.{digits}f}{unit}"


class Part(msgspec.Struct, frozen=True):
    """A function of the bench and the rows that it measures, in the order of its readings.

    module: below tests.bench. The name is that of the function, and what the command line takes.
    """

    name: str
    module: str
    rows: tuple[Row, ...]


class Reading(msgspec.Struct, frozen=True):
    """A value in the unit of its row, and what else is worth telling."""

    value: float
    detail: str = ""


class NotMeasuredError(Exception):
    """A figure cannot be measured here and now; the words say what to do."""
