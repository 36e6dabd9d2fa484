"""Lets go of copies that are too old or too many, the oldest turns first, and never of one that a kept turn needs."""

import contextlib
from pathlib import Path

import msgspec

from smith_core.tools.changes.recorder import ChangeStore
from smith_core.tools.changes.records import TurnRecord

_DAY_S = 86_400.0


class Limits(msgspec.Struct, frozen=True):
    """How much is kept: bytes of all copies together, and days since a turn began."""

    bytes: int
    days: float


def prune(store: ChangeStore, limits: Limits, now: float) -> int:
    """Remove what is beyond the limits, and what nothing refers to; return how many turns went.

    now: seconds since the epoch. Raises OSError, BlockingIOError when somebody writes at this moment, and AgentFailure.
    """
    if not store.folder.is_dir():
        return 0
    with store.removing():
        sizes = dict(store.blobs.entries())
        kept: set[Path] = set()
        room, gone = limits.bytes, 0
        is_full = False
        for path in reversed(store.records.files()):
            record = store.records.read(path)
            copies = set() if record is None else _copies_of(record, store)
            room -= sum(sizes.get(copy, 0) for copy in copies - kept)
            # What comes behind the first that has no room is older, and goes as well.
            is_full = is_full or (room < 0 and bool(kept))
            if record is None or is_full or record.started_at < now - limits.days * _DAY_S:
                _remove(path)
                gone += 1
            else:
                kept |= copies
        for copy in sizes.keys() - kept:
            _remove(copy)
        return gone


def _copies_of(record: TurnRecord, store: ChangeStore) -> set[Path]:
    states = [state for change in record.changes for state in (change.before, change.after)]
    return {store.blobs.path_of(state.digest) for state in states if state.digest}


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
        path.parent.rmdir()  # which only an empty folder allows
