"""Where the C library takes memory from: for each thread from a heap of its own, unless it is told otherwise."""

import sys

_ARENA_MAX = -8
"""`M_ARENA_MAX` of malloc.h."""


def share_one_heap() -> None:
    """Let threads that begin from now on share the heaps that are there: what one gives back, another one can have.

    Each thread's own heap keeps holes of its own, 14 MB within minutes, to spare waiting that hardly ever happens where
    one thread at a time computes.
    """
    if sys.platform == "linux":
        # Takes milliseconds, which a start has not before its first frame.
        import ctypes

        # Other C libraries have neither this call nor such heaps.
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(_ARENA_MAX, 1)
