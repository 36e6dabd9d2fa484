from hypothesis import given, settings
from hypothesis import strategies as st

from smith_tui.transcript.fenwick import Fenwick

VALUES = st.lists(st.integers(0, 9), max_size=40)


@given(VALUES, VALUES, st.data())
@settings(deadline=None)
def test_it_sums_like_a_list(first: list[int], more: list[int], data: st.DataObject) -> None:
    tree = Fenwick(first)
    values = list(first)
    for value in more:
        tree.append(value)
        values.append(value)
        index = data.draw(st.integers(0, len(values) - 1))
        changed = data.draw(st.integers(0, 9))
        assert tree.change(index, changed) == changed - values[index]
        values[index] = changed
    assert tree.total == sum(values)
    assert [tree.before(index) for index in range(len(values) + 1)] == [
        sum(values[:index]) for index in range(len(values) + 1)
    ]


@given(VALUES)
@settings(deadline=None)
def test_every_position_is_found_in_its_value(values: list[int]) -> None:
    tree = Fenwick(values)
    owners = [(index, offset) for index, value in enumerate(values) for offset in range(value)]
    assert [tree.find(position) for position in range(tree.total)] == owners
    assert tree.find(tree.total) == (len(values), 0)
