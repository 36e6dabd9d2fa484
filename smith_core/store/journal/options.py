"""How journals are kept: what tests and special callers may choose."""

from collections.abc import Callable

import msgspec

from smith_core.store.interface import StoreNotice
from smith_core.store.journal.disk import Disk


class JournalOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a journal is kept.

    report: is told of damage and of what was done about it. garbage_bytes: superseded lines are dropped when they take
    more than this and more than the live ones. index_lines: lines after which the side file with the offsets is
    written again, 0 for no side file.
    """

    disk: Disk = Disk()
    report: Callable[[StoreNotice], None] = lambda notice: None
    garbage_bytes: int = 1 << 20
    index_lines: int = 2000
