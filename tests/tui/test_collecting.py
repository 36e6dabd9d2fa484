"""Collections of garbage between keys: what is much is looked through, all when it is quiet, what is little waits."""

import gc
import sys
import weakref
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from smith_tui import collecting
from smith_tui.app import app_around
from smith_tui.collecting import HIDDEN_S, LONGEST_HIDDEN_S, MUCH, QUIET_LOOKS, WORTH_A_LOOK, WORTH_ALL, Collector
from tests.support.edited_history import engine

TIMES, MOST_PAUSES = 3, 20
FEW = 40
"""Objects of a kind that caches with a limit may keep of each view; the rows of one are hundreds."""
VIEWS = {"alt+i": "escape", "alt+h": "escape", "ctrl+p": "escape", "ctrl+o": "ctrl+o"}


class Ring:
    """Refers to itself, so that only a collection frees it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def _nothing_else_collects() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_young_garbage_is_freed_once_it_is_much() -> None:
    gone = weakref.ref(Ring())
    collector = Collector()
    collector.look()
    assert gone() is not None
    kept: list[list[int]] = [[] for _ in range(WORTH_A_LOOK)]
    collector.look()
    assert gone() is None and len(kept) == WORTH_A_LOOK


@pytest.mark.parametrize(("busy", "quiet"), [(WORTH_ALL, QUIET_LOOKS), (MUCH, 0)], ids=["quiet", "never quiet"])
def test_old_garbage_is_freed_when_it_is_quiet_and_after_long_without(
    busy: int, quiet: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_back: list[bool] = []
    monkeypatch.setattr(collecting, "give_back", lambda: given_back.append(gone() is None))
    ring = Ring()
    gc.collect()
    gone = weakref.ref(ring)
    del ring
    collector = Collector()
    for looks, much in ((busy, 2 * WORTH_A_LOOK), (quiet, 0)):
        for _ in range(looks):
            assert gone() is not None
            kept: list[list[int]] = [[] for _ in range(much)]
            collector.look()
            del kept
    assert gone() is None
    assert given_back == [True]


@pytest.mark.parametrize(
    ("passed", "most", "is_freed"),
    [(HIDDEN_S, sys.maxsize, True), (HIDDEN_S - 1.0, sys.maxsize, False), (HIDDEN_S, 0, False)],
    ids=["long ago", "lately", "too many"],
)
def test_what_was_hidden_is_looked_through_seldom_and_only_when_it_is_quiet(
    passed: float, most: int, is_freed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collecting, "MOST_HIDDEN", most)
    now = [0.0]
    collector = Collector(lambda: now[0])
    ring = Ring()
    gone = weakref.ref(ring)
    try:
        gc.freeze()
        del ring
        now[0] = passed
        for looks, much in ((MUCH, 2 * WORTH_A_LOOK), (WORTH_ALL, 2 * WORTH_A_LOOK), (QUIET_LOOKS, 0)):
            assert gone() is not None
            for _ in range(looks):
                kept: list[list[int]] = [[] for _ in range(much)]
                collector.look()
                del kept
        assert (gone() is None) is is_freed
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()


def test_what_was_hidden_is_looked_through_at_last_where_it_never_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "MOST_HIDDEN", sys.maxsize)
    now = [0.0]
    collector = Collector(lambda: now[0])
    ring = Ring()
    gone = weakref.ref(ring)
    try:
        gc.freeze()
        del ring
        freed = []
        for now[0] in (LONGEST_HIDDEN_S - 1.0, LONGEST_HIDDEN_S):
            for _ in range(MUCH):
                kept: list[list[int]] = [[] for _ in range(2 * WORTH_A_LOOK)]
                collector.look()
                del kept
            freed.append(gone() is None)
        assert freed == [False, True]
    finally:
        gc.unfreeze()


async def test_nothing_of_a_view_is_left_when_it_was_closed(tmp_path: Path) -> None:
    app = app_around(engine(tmp_path))
    async with app.run_test(size=(80, 20)) as pilot:
        await _walk(pilot, times=1)
        before = _objects()
        await _walk(pilot, times=TIMES)
        for _ in range(MOST_PAUSES):
            more = {kind: count for kind, count in (_objects() - before).items() if count >= FEW * TIMES}
            if not more:
                break
            # The last view is still being taken away.
            await pilot.pause(0.05)
    assert more == {}


async def _walk(pilot: Pilot[None], *, times: int) -> None:
    for _ in range(times):
        for opening, closing in VIEWS.items():
            await pilot.press(opening)
            await pilot.pause()
            await pilot.press(closing)
            await pilot.pause()


def _objects() -> Counter[str]:
    """Count what is not garbage, by kind."""
    gc.collect()
    return Counter(f"{type(thing).__module__}.{type(thing).__qualname__}" for thing in gc.get_objects())
