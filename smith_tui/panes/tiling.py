"""How child panes share a rectangle: which are open, which are strips of one row, and where each stands. Pure."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

MIN_COLUMNS = 30
MIN_ROWS = 5
"""An open pane has at least this many cells and rows; a single column of panes may be narrower."""
BEST_COLUMNS, BEST_ROWS = 84, 24
"""A pane is hardly more readable when it is larger than this."""
AREA_SHARE = 0.64
"""Part of the rows that open panes take; the transcript has the rest."""
MIN_TRANSCRIPT_ROWS = 3
MAX_STRIP_SHARE = 0.25
_WIDTH_WEIGHT = 1.45
"""Columns are worth more than rows, for a narrow pane wraps everything."""


class Item(NamedTuple):
    """What a pane asks for; of those that want room, the lowest rank gets it first."""

    wants_room: bool
    rank: int = 0


class Tile(NamedTuple):
    """A rectangle in cells; a strip has one row."""

    x: int
    y: int
    width: int
    height: int
    is_open: bool


class Tiling(NamedTuple):
    """Tiles in the order of the items, None for what has no room, and the row that says how many those are."""

    tiles: list[Tile | None]
    more: Tile | None = None


def area_rows(rows: int, width: int, items: Sequence[Item]) -> int:
    """Return how many of `rows` the panes take; the transcript above them has the others.

    rows: of transcript and panes together. width: in cells.
    """
    if not items or rows < 2:
        return 0
    wanting = sum(item.wants_room for item in items)
    share = min(round(rows * AREA_SHARE), rows - MIN_TRANSCRIPT_ROWS)
    if wanting and share >= MIN_ROWS:
        strips = _strips_for(share, len(items) - min(wanting, capacity(width, share, wanting)))
        return min(rows - MIN_TRANSCRIPT_ROWS, share + strips // 2)
    return min(len(items), max(1, int(rows * MAX_STRIP_SHARE)))


def capacity(width: int, height: int, count: int) -> int:
    """Return how many of `count` panes can be open in a rectangle."""
    for number in range(count, 0, -1):
        if _shapes(width, height, number):
            return number
    return 0


def tile(width: int, height: int, items: Sequence[Item]) -> Tiling:
    """Return where each pane stands in a rectangle of `width` by `height` cells: open ones above, strips below."""
    wanting = sorted((item.rank, index) for index, item in enumerate(items) if item.wants_room)
    count, strips = len(wanting), 0
    while True:
        strips = _strips_for(height, len(items) - count)
        room = capacity(width, height - strips, count)
        if room == count:
            break
        count = room
    opened = sorted(index for _, index in wanting[:count])
    tiles: list[Tile | None] = [None] * len(items)
    for index, placed in zip(opened, _grid(width, height - strips, count), strict=True):
        tiles[index] = placed
    others = [index for index in range(len(items)) if index not in set(opened)]
    shown = _chosen_strips(items, others, strips)
    first = height - strips if count else 0
    for row, index in enumerate(shown):
        tiles[index] = Tile(0, first + row, width, 1, False)
    is_short = len(shown) < min(len(others), strips)
    return Tiling(tiles, Tile(0, first + len(shown), width, 1, False) if is_short else None)


def _strips_for(height: int, wanted: int) -> int:
    """Return how many rows strips get in a rectangle; more than a quarter of it only when there is nothing else."""
    return min(wanted, height if height < MIN_ROWS else max(1, int(height * MAX_STRIP_SHARE)))


def _chosen_strips(items: Sequence[Item], indices: list[int], rows: int) -> list[int]:
    """Return the strips that have a row, those of the lowest rank; of several rows the last is for all the others."""
    kept = rows if len(indices) <= rows or rows < 2 else rows - 1
    return sorted(sorted(indices, key=lambda index: items[index].rank)[:kept])


def _grid(width: int, height: int, count: int) -> list[Tile]:
    """Return the tiles of the most readable grid; rows that are not full share the width among fewer panes."""
    if not count:
        return []
    columns = max(_shapes(width, height, count))[1]
    rows = -(-count // columns)
    tiles: list[Tile] = []
    for row, (y, tall) in enumerate(_split(height, rows)):
        in_row = min(columns, count - row * columns)
        tiles += [Tile(x, y, wide, tall, True) for x, wide in _split(width, in_row)]
    return tiles


def _shapes(width: int, height: int, count: int) -> list[tuple[float, int]]:
    """Return (worth, columns) of each grid in which `count` panes are large enough."""
    shapes = []
    for columns in range(1, count + 1):
        rows = -(-count // columns)
        wide, tall = width // columns, height // rows
        if tall >= MIN_ROWS and (wide >= MIN_COLUMNS or (columns == 1 and wide > 0)):
            worth = min(wide, BEST_COLUMNS) ** _WIDTH_WEIGHT * min(tall - 2, BEST_ROWS)
            shapes.append((worth * count / (rows * columns), columns))
    return shapes


def _split(length: int, parts: int) -> list[tuple[int, int]]:
    """Return (start, length) of parts that differ by at most one."""
    edges = [length * part // parts for part in range(parts + 1)]
    return [(start, end - start) for start, end in pairwise(edges)]
