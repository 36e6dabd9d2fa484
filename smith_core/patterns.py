"""Regular expressions that are compiled when they are first used: that takes milliseconds, and a start has few."""

import re
from typing import Any, AnyStr, cast


def later(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what acts as a compiled pattern; one that is wrong raises `re.error` at its first use."""
    return cast("re.Pattern[AnyStr]", _Later(pattern, flags))


class _Later:
    """A pattern whose methods are bound one by one as they are asked for; from then on they cost no more than its."""

    def __init__(self, pattern: Any, flags: int) -> None:
        self._source = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        # `re` keeps what it has compiled, so the second method of the same pattern finds it there.
        found = getattr(re.compile(*self._source), name)
        setattr(self, name, found)
        return found
