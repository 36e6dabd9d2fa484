"""What an app has acknowledged: the prompts that a model got, the answers that a turn ended with. None may be lost."""

import time
from collections.abc import Set

import msgspec

_FORGIVEN_S = 90.0
"""Within that time what somebody has removed is gone from the disk, also on a machine with much else to do."""


class Ledger(msgspec.Struct):
    """known: marks of prompts and answers that have to be in the store. lost: those that were found missing."""

    known: set[str] = msgspec.field(default_factory=set)
    lost: list[str] = msgspec.field(default_factory=list)
    _removals: list[tuple[float, int]] = msgspec.field(default_factory=list)
    _checked_at: float = 0.0

    def acknowledge(self, marks: Set[str]) -> None:
        """Take marks in."""
        self.known |= marks - {""}

    def expect_removal(self, most: int) -> None:
        """Know that somebody takes away up to so many marks on purpose."""
        self._removals.append((time.monotonic() + _FORGIVEN_S, most))

    def check(self, stored: Set[str]) -> set[str]:
        """Note what is missing without having been removed on purpose, and return it; each mark is noted once."""
        missing = self.known - stored
        self.known -= missing
        left = len(missing)
        # A check that comes late finds what was removed in time.
        removals = [(until, most) for until, most in self._removals if until > self._checked_at]
        self._checked_at = time.monotonic()
        self._removals = []
        for until, most in removals:
            used = min(left, most)
            left -= used
            self._removals += [(until, most - used)] if most > used else []
        if not left:
            return set()
        self.lost += sorted(missing)
        return missing
