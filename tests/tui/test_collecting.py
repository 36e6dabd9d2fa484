"""Collections of garbage between keys: what is much is looked through, what is little waits."""

import gc
import weakref

from smith_tui.collecting import WORTH_A_LOOK, collect_young


class Ring:
    """Refers to itself, so that only a collection frees it."""

    def __init__(self) -> None:
        self.itself = self


def test_young_garbage_is_freed_once_it_is_much() -> None:
    gc.collect()
    gc.disable()
    try:
        ring = Ring()
        gone = weakref.ref(ring)
        del ring
        collect_young()
        assert gone() is not None
        kept = [[] for _ in range(WORTH_A_LOOK)]
        collect_young()
        assert gone() is None and len(kept) == WORTH_A_LOOK
    finally:
        gc.enable()
