"""Sums of block heights that are found and changed in logarithmic time."""

from collections.abc import Iterable


class Fenwick:
    """A list of non-negative integers with fast prefix sums (Fenwick, "A new data structure for cumulative
    frequency tables", 1994)."""

    __slots__ = ("_tree", "_values", "total")

    def __init__(self, values: Iterable[int] = ()) -> None:
        self._values = list(values)
        self._tree = [0, *self._values]
        self.total = sum(self._values)
        size = len(self._values)
        for index in range(1, size + 1):
            parent = index + (index & -index)
            if parent <= size:
                self._tree[parent] += self._tree[index]

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: int) -> int:
        return self._values[index]

    def append(self, value: int) -> None:
        """Add one value at the end."""
        index = len(self._values) + 1
        below, stop = index - 1, index - (index & -index)
        node = value
        while below > stop:
            node += self._tree[below]
            below -= below & -below
        self._values.append(value)
        self._tree.append(node)
        self.total += value

    def change(self, index: int, value: int) -> int:
        """Set the value at `index` and return the difference to the old one."""
        difference = value - self._values[index]
        if difference:
            self._values[index] = value
            self.total += difference
            node = index + 1
            while node < len(self._tree):
                self._tree[node] += difference
                node += node & -node
        return difference

    def before(self, index: int) -> int:
        """Return the sum of the first `index` values."""
        total = 0
        while index:
            total += self._tree[index]
            index -= index & -index
        return total

    def find(self, position: int) -> tuple[int, int]:
        """Return the index of the value that covers `position`, and the offset in it.

        Positions count from 0; one at or behind the total gives the length and the rest.
        """
        index = 0
        step = 1 << len(self._values).bit_length()
        while step:
            ahead = index + step
            if ahead < len(self._tree) and self._tree[ahead] <= position:
                index = ahead
                position -= self._tree[ahead]
            step >>= 1
        return index, position
