"""How the C library keeps memory that was freed: shared by all threads, and given back to the system."""

import sys
from collections.abc import Callable

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""`M_TRIM_THRESHOLD` and so on of malloc.h."""
_LARGE = 2 << 20
"""Bytes; taking so many from the system, and giving them back, takes a millisecond, and less than that a part of it."""


def keep_little() -> None:
    """Let threads that begin from now on share the heaps that are there, and no heap keep much at its end.

    Each thread's own heap keeps holes of its own, 14 MB within minutes, to spare waiting that hardly ever happens where
    one thread at a time computes. What is free at the end of a thread's heap `give_back` leaves there, and the library
    lets it become twice as large as the largest text that was ever freed.
    """
    mallopt = _function("mallopt")
    if mallopt is not None:
        mallopt(_ARENA_MAX, 1)
        mallopt(_TRIM_THRESHOLD, _LARGE)
        mallopt(_MMAP_THRESHOLD, _LARGE)


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
