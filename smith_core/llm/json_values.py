"""Numbers out of foreign JSON, where they may be text, broken, or larger than anything that is counted."""

from typing import Any

_LARGEST = 10**12


def whole_number(value: Any) -> int | None:
    """Return a number from 0 to 10^12, written as a number or as digits; None for everything else."""
    if isinstance(value, str) and value.isdecimal() and len(value) <= len(str(_LARGEST)):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value <= _LARGEST else None
