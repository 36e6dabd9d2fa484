"""When garbage is collected: mostly between the keys of a person, for a collection takes as long as drawing a page."""

import gc
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from smith_core.heap import give_back

if TYPE_CHECKING:
    from textual.app import App

YOUNG, MIDDLE, OLD = 20_000, 20, 10
"""Thresholds of `gc.set_threshold`. Python's 700 young objects come about several times within one key."""
LOOK_S = 0.25
WORTH_A_LOOK = 2_000
"""Young objects from which on they are looked through between keys, which takes about a millisecond."""
QUIET_LOOKS = 8
"""Looks in a row that find little: nobody types, and nothing is drawn."""
WORTH_ALL = 4
"""Times that the young ones were looked through from which on all are, as soon as it is quiet."""
MUCH = 60
"""As many times, but without waiting for quiet: 15 seconds in which something is drawn all the time."""
HIDDEN_S = 300.0
"""How long garbage may stay among what collections pass over: 24,000 blocks, 2 MB, within 40 minutes of use."""
LONGEST_HIDDEN_S = 900.0
"""How long it may stay there where it never is quiet; a key that comes in that moment waits for a tenth of a second."""
MOST_HIDDEN = 300_000
"""Hidden objects beyond which they stay so: looking through them takes a tenth of a second, even if nobody types."""


def collect_from_now_on(app: "App[Any]") -> None:
    """Turn collections on again; what the start has made stays, and later ones need not look at it."""
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
    gc.enable()
    app.set_interval(LOOK_S, Collector().look)


class Collector:
    """Looks for garbage again and again, for what was made lately in a hurry, and for all when there is time.

    A view that was open for some seconds has outlived the young ones; what remains of it goes with all alone. What is
    free behind that is given back: a long output has taken a multiple of what is kept of it. Seldom, what the start
    and loading a conversation have hidden is looked through as well.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._young_looks = 0
        self._quiet_looks = 0
        self._clock = clock
        self._hidden_at = clock()

    def look(self) -> None:
        """Look through what was made lately, if that is much, and through everything, if that is due."""
        young, middle, _ = gc.get_count()
        if young >= WORTH_A_LOOK:
            gc.collect(1 if middle >= MIDDLE else 0)
            self._young_looks += 1
            self._quiet_looks = 0
        else:
            self._quiet_looks += 1
        is_quiet = self._quiet_looks >= QUIET_LOOKS
        if self._young_looks >= (WORTH_ALL if is_quiet else MUCH):
            # Not at the top: this belongs to the first quiet moment, not to the start.
            from smith_tui.toolkit_caches import forget_much

            forget_much()
            hidden_s = self._clock() - self._hidden_at
            if hidden_s >= (HIDDEN_S if is_quiet else LONGEST_HIDDEN_S) and gc.get_freeze_count() < MOST_HIDDEN:
                gc.unfreeze()
                gc.collect()
                gc.freeze()
                self._hidden_at = self._clock()
            else:
                gc.collect()
            give_back()
            self._young_looks = 0
