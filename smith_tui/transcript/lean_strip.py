"""A row of the screen that costs as much as its text: Textual's own makes seven caches at once for each row."""

from collections.abc import Iterable
from typing import Any

from rich.segment import Segment
from textual.cache import FIFOCache
from textual.strip import Strip

_CACHE_SIZES = {
    "_divide_cache": 4,
    "_crop_cache": 16,
    "_style_cache": 16,
    "_filter_cache": 4,
    "_line_length_cache": 4,
    "_crop_extend_cache": 4,
    "_offsets_cache": 4,
}
"""The caches of a strip and their sizes, as Textual has them."""


class LeanStrip(Strip):
    """A strip that makes a cache when it is asked for first; most rows are drawn whole, and ask for none."""

    __slots__ = ()

    def __init__(self, segments: Iterable[Segment], cell_length: int | None = None) -> None:
        # Not the base's: the caches are all that it makes besides these.
        self._segments = list(segments)
        self._cell_length = cell_length
        self._render_cache = None
        self._link_ids = None
        self._cell_count = None

    def __getattr__(self, name: str) -> Any:
        if name not in _CACHE_SIZES:
            raise AttributeError(f"a strip has no {name}")
        cache: FIFOCache[Any, Any] = FIFOCache(_CACHE_SIZES[name])
        setattr(self, name, cache)
        return cache
