"""litellm's bundled table of models, read as a file: the import of litellm takes seconds."""

import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

_LONGEST_ENTRY = 50_000
_TABLE_NAME = "model_prices_and_context_window_backup.json"


class TableEntry(msgspec.Struct, frozen=True, gc=False):
    """The fields of one entry that we use; the entry that explains the format holds words in them.

    Prices are US dollars for one token.
    """

    max_input_tokens: Any = None
    max_output_tokens_: Any = msgspec.field(name="max_output_tokens", default=None)
    input_cost_per_token: Any = None
    output_cost_per_token: Any = None
    cache_read_input_token_cost: Any = None

    @property
    def context_window(self) -> int | None:
        """Tokens that a request may have, None where the table does not say."""
        return _size(self.max_input_tokens)

    @property
    def max_output_tokens(self) -> int | None:
        """Tokens that an answer may have, None where the table does not say."""
        return _size(self.max_output_tokens_)


class Prices(msgspec.Struct, frozen=True, kw_only=True):
    """US dollars for one token of each kind."""

    input: float
    output: float
    cached: float

    def cost(self, input_tokens: int, output_tokens: int, cached_tokens: int) -> float:
        """Return the dollars of a count; cached tokens are part of the input tokens."""
        cached = min(cached_tokens, input_tokens)
        return (input_tokens - cached) * self.input + cached * self.cached + output_tokens * self.output


def entries(model: str) -> Iterator[TableEntry]:
    """Yield what the table has for a model, the most exact name first; it reads a file of megabytes.

    Only the entries that are wanted are decoded: decoding all of them keeps every other thread waiting for 200 ms.
    """
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        return
    try:
        table = (Path(spec.origin).parent / _TABLE_NAME).read_bytes()
    except OSError:
        return
    for name in _names_to_try(model):
        entry = _entry(table, name)
        if entry is not None:
            yield entry


def prices_of(model: str) -> Prices | None:
    """Return the prices of a model, None where the table has none; it reads a file of megabytes."""
    for entry in entries(model):
        paid, written = _price(entry.input_cost_per_token), _price(entry.output_cost_per_token)
        if paid is not None and written is not None:
            cached = _price(entry.cache_read_input_token_cost)
            return Prices(input=paid, output=written, cached=paid if cached is None else cached)
    return None


def _entry(table: bytes, name: str) -> TableEntry | None:
    """Find the object of a name in the table's JSON text."""
    key = re.search(rb"\n\s*" + re.escape(msgspec.json.encode(name)) + rb":\s*(?={)", table)
    if key is None:
        return None
    text = table[key.end() : key.end() + _LONGEST_ENTRY].decode("utf-8", "replace")
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
        return msgspec.convert(value, TableEntry)
    except (ValueError, msgspec.ValidationError):
        return None


def _names_to_try(model: str) -> list[str]:
    """Return the id as written, then without its prefixes, then without a tag such as `:free`."""
    names = [model]
    while "/" in names[-1]:
        names.append(names[-1].partition("/")[2])
    return names + [name.partition(":")[0] for name in names if ":" in name]


def _size(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _price(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None
