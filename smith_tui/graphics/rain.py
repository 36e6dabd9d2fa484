"""The rain itself: which sign stands where and how bright, step by step; the same for the same seed."""

import random
from collections.abc import Sequence
from itertools import compress, repeat
from operator import ne

SHADES = 7
"""Steps of brightness: 1 is the head of a drop, the last is the faintest part of its tail; 0 is nothing."""
_SLOWEST, _FASTEST = 0.25, 1.1
"""Rows that a drop falls in one step."""
_SHORTEST = 5
_LONGEST_SHARE = 0.55
"""Length of the longest tail, as a part of the rows."""


class Rain:
    """Columns with one drop each. signs: how many different signs there are. colors: how many colours they mix."""

    def __init__(self, columns: int, rows: int, *, signs: int, colors: int = 1, seed: int = 0) -> None:
        self.columns, self.rows = columns, rows
        self._signs = signs
        self._all_rows = range(rows)
        self._random = random.Random(seed)
        self.colors = [column % colors for column in range(columns)]
        self._random.shuffle(self.colors)
        self.shades = [bytes(rows)] * columns
        self.signs = [bytearray(self._random.randrange(signs) for _ in range(rows)) for _ in range(columns)]
        self._drops = [self._drop(self._random.uniform(-rows, rows)) for _ in range(columns)]

    def recolor(self, colors: int) -> None:
        """Mix so many colours from now on; everything has to be drawn again."""
        self.colors = [column % colors for column in range(self.columns)]
        self._random.shuffle(self.colors)

    def lit(self) -> list[tuple[int, int]]:
        """Return all cells (column, row) that are not dark."""
        return [(column, row) for column, shades in enumerate(self.shades) for row, shade in enumerate(shades) if shade]

    def step(self) -> list[tuple[int, int]]:
        """Let everything fall; return the cells (column, row) that look different now."""
        changed: list[tuple[int, int]] = []
        rows, randrange = self.rows, self._random.randrange
        for column, drop in enumerate(self._drops):
            was_at = drop.head // 1
            drop.head += drop.speed
            if drop.head - drop.length > rows:
                drop = self._drops[column] = self._drop(-self._random.uniform(0, rows / 4))
            row = randrange(rows)
            before = self.shades[column]
            after = before if drop.head // 1 == was_at else drop.shades(rows)
            if after[row]:
                self.signs[column][row] = randrange(self._signs)
            if before != after:
                self.shades[column] = after
                changed += zip(repeat(column), compress(self._all_rows, map(ne, before, after)))
            if after[row] and before[row] == after[row]:
                changed.append((column, row))
        return changed

    def _drop(self, head: float) -> "Drop":
        length = self._random.randint(_SHORTEST, max(_SHORTEST, int(self.rows * _LONGEST_SHARE)))
        return Drop(head, self._random.uniform(_SLOWEST, _FASTEST), length)


class Drop:
    """One drop: where its head is, in rows from the top, and how far it falls in a step."""

    __slots__ = ("_tail", "head", "length", "speed")

    def __init__(self, head: float, speed: float, length: int) -> None:
        self.head, self.speed, self.length = head, speed, length
        self._tail = bytes(reversed([1, *fading(length - 1)]))

    def shades(self, rows: int) -> bytes:
        """Return the brightness of each row from the top."""
        end = int(self.head // 1) + 1
        start = end - self.length
        if end <= 0 or start >= rows:
            return bytes(rows)
        seen = self._tail[max(0, -start) : self.length - max(0, end - rows)]
        return bytes(max(0, start)) + seen + bytes(max(0, rows - end))


def fading(length: int) -> Sequence[int]:
    """Return the shades of a tail of so many rows, from the brightest to the faintest."""
    return [2 + index * (SHADES - 1) // length for index in range(length)]
