"""How the C library keeps memory that was freed: shared by all threads, and given back to the system."""

import sys
from collections.abc import Callable

_ARENA_MAX = -8
"""`M_ARENA_MAX` of malloc.h."""


def share_one_heap() -> None:
    """Let threads that begin from now on share the heaps that are there: what one gives back, another one can have.

    Each thread's own heap keeps holes of its own, 14 MB within minutes, to spare waiting that hardly ever happens where
    one thread at a time computes.
    """
    mallopt = _function("mallopt")
    if mallopt is not None:
        mallopt(_ARENA_MAX, 1)


def give_back() -> None:
    """Return what is free to the system, which takes a tenth of a millisecond for each megabyte of it."""
    trim = _function("malloc_trim")
    if trim is not None:
        trim(0)


def _function(name: str) -> Callable[..., int] | None:
    """Return a function of the C library; None where it has no such function, and does well without."""
    if sys.platform != "linux":
        return None
    # Takes milliseconds, which a start has not before its first frame.
    import ctypes

    return getattr(ctypes.CDLL(None), name, None)
