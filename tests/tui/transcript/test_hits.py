"""Matches that are made one by one are those that a list would hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_tui.transcript.hits import Hit, Hits


@given(st.lists(st.integers(0, 5), max_size=20), st.slices(20))
def test_they_are_the_same_as_a_list(counts: list[int], part: slice) -> None:
    hits = Hits(enumerate(counts))
    listed = [Hit(block, number) for block, count in enumerate(counts) for number in range(count)]
    assert list(hits) == listed
    assert [hits[index] for index in range(len(listed))] == listed
    assert hits[part] == listed[part]
    assert [hits[index - len(listed)] for index in range(len(listed))] == listed


def test_there_is_nothing_behind_the_last() -> None:
    with pytest.raises(IndexError):
        Hits([(3, 2)])[2]
