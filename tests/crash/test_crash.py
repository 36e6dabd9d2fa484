"""A small run of what `make crash` does at length."""

from pathlib import Path

import pytest

from tests.crash.disks import POINTS
from tests.crash.kills import fresh, kill_journal_writers, kill_shared_writers, kill_turn_writers
from tests.crash.power import cut_power


def test_b13_kills_at_every_point_of_a_batch_lose_nothing(tmp_path: Path) -> None:
    tally = kill_journal_writers(fresh(tmp_path, "points"), len(POINTS), 3, POINTS)
    assert tally.bad == []
    assert tally.acknowledged > 0


def test_b13_a_killed_session_keeps_whole_turns(tmp_path: Path) -> None:
    tally = kill_turn_writers(fresh(tmp_path, "turns"), 3, 5)
    assert tally.bad == []
    assert tally.acknowledged > 0


def test_b14_killed_writers_of_the_shared_file_take_nothing_from_each_other(tmp_path: Path) -> None:
    tally = kill_shared_writers(fresh(tmp_path, "shared"), 3, 7)
    assert tally.bad == []
    assert tally.acknowledged > 0


@pytest.mark.parametrize("seed", [1, 2])
def test_b13_power_cuts_lose_nothing(tmp_path: Path, seed: int) -> None:
    assert cut_power(tmp_path, 40, 60, seed).bad == []
