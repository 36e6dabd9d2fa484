"""Ends what we have started when we are killed: a process of its own that hears of it by the end of its input.

    python -S -P -m smith_core.process_watch

Its input are lines: `+ PID STARTED TEXT LIMIT` for a tree that runs, `- PID` for one that is over. When the input
ends, every tree that still runs is ended like one that was cancelled: SIGTERM, and SIGKILL for what is left.
"""

import os
import signal
import sys
import time

from smith_core.process_list import TreeMarks, tree_members

GRACE_S = 2.0
"""Seconds between SIGTERM and SIGKILL."""

_KILL_LIMIT_S = 2.0
_SCAN_INTERVAL_S = 0.02

Tree = tuple[int, int, TreeMarks]


def main() -> None:
    """Watch until the input ends."""
    trees: dict[int, Tree] = {}
    for line in sys.stdin:
        action, pid, *rest = line.split()
        if action == "+":
            started, text, limit = rest
            trees[int(pid)] = (int(pid), int(started), TreeMarks(text.encode(), int(limit)))
        else:
            trees.pop(int(pid), None)
    _end(tuple(trees.values()))


def _end(trees: tuple[Tree, ...]) -> None:
    _signal(trees, signal.SIGTERM)
    _signal(trees, signal.SIGCONT)
    killing_at = time.monotonic() + GRACE_S
    while _members(trees) and time.monotonic() < killing_at:
        time.sleep(_SCAN_INTERVAL_S)
    until = time.monotonic() + _KILL_LIMIT_S
    while _members(trees) and time.monotonic() < until:
        _signal(trees, signal.SIGKILL)
        time.sleep(_SCAN_INTERVAL_S)


def _members(trees: tuple[Tree, ...]) -> list[int]:
    return [member for pid, started, marks in trees for member in tree_members(pid, marks, started) or ()]


def _signal(trees: tuple[Tree, ...], number: signal.Signals) -> None:
    for member in _members(trees):
        try:
            os.kill(member, number)
        except OSError:
            continue


if __name__ == "__main__":
    main()
