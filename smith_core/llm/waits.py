"""How long an endpoint asks to wait before the next try: in its headers, or in the words of a refusal."""

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from smith_core.patterns import later

_UNITS: tuple[tuple[str, float], ...] = (
    (r"ms|milliseconds?", 0.001),
    (r"s|secs?|seconds?", 1.0),
    (r"m|mins?|minutes?", 60.0),
    (r"h|hrs?|hours?", 3600.0),
    (r"d|days?", 86_400.0),
)
_NUMBER = r"\d{1,9}(?:\.\d{1,9})?"
_UNIT = rf" ?(?:{'|'.join(names for names, _ in _UNITS)})(?![a-z])"
_NAMED = later(
    rf"\b(?:(?:retry|try again) (?:in|after) |retry_?delay\W{{1,8}})((?:{_NUMBER}{_UNIT}[ ,]{{0,2}}){{1,4}})",
    re.IGNORECASE,
)
_PARTS = tuple((later(rf"({_NUMBER}) ?(?:{names})(?![a-z])", re.IGNORECASE), seconds) for names, seconds in _UNITS)
_MOST_READ_CHARS = 20_000


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the wait in seconds that `Retry-After` (seconds or a date) or `retry-after-ms` asks for."""
    lower = {name.lower(): value.strip() for name, value in headers.items()}
    try:
        if "retry-after-ms" in lower:
            return max(0.0, float(lower["retry-after-ms"]) / 1000)
        return max(0.0, float(lower["retry-after"]))
    except KeyError:
        return None
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(lower.get("retry-after", "")).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def wait_named_in(body: str) -> float | None:
    """Return the longest wait in seconds that a body names: "retry in 20.04s", "try again in 6m0s", retryDelay "20s".

    None where it names none with a number and a unit.
    """
    named = [found[1] for found in _NAMED.finditer(body[:_MOST_READ_CHARS])]
    return max(map(_seconds, named), default=None)


def _seconds(duration: str) -> float:
    return sum(float(number) * seconds for part, seconds in _PARTS for number in part.findall(duration))
