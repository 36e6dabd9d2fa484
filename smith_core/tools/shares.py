"""Shares out the room of a result among the things that it shows."""

from collections.abc import Sequence


def fair_shares(sizes: Sequence[int], limit: int) -> list[int]:
    """Return how much each of several things gets of `limit`: what is small stays whole, the rest gets equal shares."""
    shares = [0] * len(sizes)
    left, waiting = limit, len(sizes)
    for index in sorted(range(len(sizes)), key=sizes.__getitem__):
        shares[index] = min(sizes[index], left // waiting)
        left -= shares[index]
        waiting -= 1
    return shares
