"""What the toolkit remembers: long caches are emptied, short ones stay, and each of them is one that is there."""

import pytest
from textual.geometry import Region

from smith_tui.toolkit_caches import LONGEST, REMEMBERED, forget_much


@pytest.mark.parametrize(("owner", "name"), REMEMBERED)
def test_each_is_a_function_with_a_cache(owner: object, name: str) -> None:
    assert getattr(owner, name).cache_info().maxsize >= LONGEST


def test_long_ones_are_emptied_and_short_ones_stay() -> None:
    first = Region(0, 0, 10, 10)
    Region.union.cache_clear()
    Region.intersection.cache_clear()
    for x in range(LONGEST + 1):
        first.union(Region(x, 0, 5, 5))
    first.intersection(Region(5, 5, 9, 9))
    forget_much()
    assert Region.union.cache_info().currsize == 0
    assert Region.intersection.cache_info().currsize == 1
    assert first.union(Region(5, 5, 9, 9)) == Region(0, 0, 14, 14)
