"""The numbers inside "too long": what an endpoint says it takes, and how many tokens it counted."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from smith_core.llm.json_values import whole_number
from smith_core.patterns import later

_NUMBER = r"(\d[\d,_]{2,11})"
_LIMIT = later(
    r"(?:maximum|max|available|model'?s)[^.\d]{0,40}?(?:length|size|window|limit|tokens allowed)[^.\d]{0,15}" + _NUMBER
    + r"|(?:context|prompt)[ _](?:length|window|size)[^.\d]{0,15}" + _NUMBER
    + r"|> ?" + _NUMBER + r" (?:tokens )?(?:maximum|allowed)"
    + r"|\b" + _NUMBER + r" (?:tokens? )?(?:maximum context|max context|token limit|context limit)",
    re.IGNORECASE,
)  # fmt: skip
_COUNTED = later(
    r"(?:requested|resulted in|contains|too long:|passed|token count|prompt of|input of)[^.\d]{0,12}" + _NUMBER
    + r"|\(" + _NUMBER + r" tokens\) exceeds",
    re.IGNORECASE,
)  # fmt: skip
_SMALLEST, _LARGEST = 512, 100_000_000
"""Anything else is no window of a model, whatever the message calls it."""


class ContextSizes(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens that an endpoint takes, and that it counted in the request that it refused; None where it does not say."""

    limit: int | None = None
    counted: int | None = None


def context_sizes(said: str) -> ContextSizes:
    """Read the sizes out of the words of an endpoint; numbers that cannot be sizes of a window are passed over."""
    return ContextSizes(limit=_number(_LIMIT, said), counted=_number(_COUNTED, said))


def _number(pattern: re.Pattern[str], said: str) -> int | None:
    found = pattern.search(said[:2000])
    digits = next((group for group in found.groups() if group), "") if found else ""
    number = int(digits.replace(",", "").replace("_", "") or 0)
    return number if _SMALLEST <= number <= _LARGEST else None


def data_of(sizes: ContextSizes) -> dict[str, int]:
    """Return the sizes that are known as fields of an error's data."""
    fields = {"context_limit": sizes.limit, "context_counted": sizes.counted}
    return {name: number for name, number in fields.items() if number is not None}


def sizes_in(data: Mapping[str, Any]) -> ContextSizes:
    """Return the sizes that an error's data holds."""
    return ContextSizes(
        limit=whole_number(data.get("context_limit")), counted=whole_number(data.get("context_counted"))
    )
