"""What the toolkit remembers of frames long gone: up to 16,384 results of each function, megabytes within an hour."""

from typing import Any

from rich import cells
from rich.segment import Segment
from textual._xterm_parser import XTermParser
from textual.css.scalar import Scalar
from textual.geometry import Region
from textual.strip import Strip

LONGEST = 500
"""Results that one function may keep: more than the frames of a view need, and less than many views have left."""

REMEMBERED: tuple[tuple[Any, str], ...] = (
    (cells, "cached_cell_len"),
    (Segment, "_split_cells"),
    (Scalar, "resolve"),
    (Strip, "blank"),
    (XTermParser, "_parse_extended_key"),
    *((Region, name) for name in ("grow", "shrink", "intersection", "union", "overlaps", "translate", "__contains__")),
    *((Region, name) for name in ("contains_region", "split", "split_vertical", "split_horizontal")),
)
"""Where each of the functions is, and its name; the keys are texts, places and sizes, of which there is no end."""


def forget_much() -> None:
    """Empty the caches that have become long; the next frame fills them with what it needs."""
    for owner, name in REMEMBERED:
        remembered = getattr(getattr(owner, name), "cache_info", None)
        if remembered is not None and remembered().currsize > LONGEST:
            getattr(owner, name).cache_clear()
