"""When garbage is collected: mostly between the keys of a person, for a collection takes as long as drawing a page."""

import gc
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.app import App

YOUNG, MIDDLE, OLD = 20_000, 20, 10
"""Thresholds of `gc.set_threshold`. Python's 700 young objects come about several times within one key."""
LOOK_S = 0.25
WORTH_A_LOOK = 2_000
"""Young objects from which on they are looked through between keys, which takes about a millisecond."""


def collect_from_now_on(app: "App[Any]") -> None:
    """Turn collections on again; what the start has made stays, and later ones need not look at it."""
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
    gc.enable()
    app.set_interval(LOOK_S, collect_young)


def collect_young() -> None:
    """Look through what was made lately, if that is much."""
    young, middle, _ = gc.get_count()
    if young >= WORTH_A_LOOK:
        gc.collect(1 if middle >= MIDDLE else 0)
