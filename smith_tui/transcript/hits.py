"""The matches of a search, counted block by block and made one by one, for there may be a million of them. Pure."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple, overload


class Hit(NamedTuple):
    """A match of a search: the index of its block, and its number among the block's matches from 0."""

    block: int
    number: int


class Hits(Sequence[Hit]):
    """All matches from the top down; counts: pairs of a block's index and how many matches it has."""

    def __init__(self, counts: Iterable[tuple[int, int]] = ()) -> None:
        found = [(block, count) for block, count in counts if count]
        self._blocks = [block for block, _ in found]
        self._ends = list(accumulate(count for _, count in found))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, index: int) -> Hit: ...

    @overload
    def __getitem__(self, index: slice) -> list[Hit]: ...

    def __getitem__(self, index: int | slice) -> Hit | list[Hit]:
        if isinstance(index, slice):
            return [self._hit(number) for number in range(*index.indices(len(self)))]
        return self._hit(range(len(self))[index])

    def __iter__(self) -> Iterator[Hit]:
        start = 0
        for block, end in zip(self._blocks, self._ends, strict=True):
            for number in range(end - start):
                yield Hit(block, number)
            start = end

    def _hit(self, index: int) -> Hit:
        place = bisect_right(self._ends, index)
        return Hit(self._blocks[place], index - (self._ends[place - 1] if place else 0))
