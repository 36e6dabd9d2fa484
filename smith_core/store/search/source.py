"""What the search index asks of the journals; whatever can answer this can be indexed."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

import msgspec

GLOBAL_JOURNAL = ":global"
"""Name of the journal that belongs to no conversation (their ids have no `:`); it holds the project memory."""


class Journal(msgspec.Struct, frozen=True, kw_only=True):
    """One append-only file as it is now.

    name: the conversation id, or GLOBAL_JOURNAL. size: bytes. generation: changes whenever the file is rewritten, so
    that offsets of the old one mean nothing any more. projects: what `project:` finds it by, the project id first.
    """

    name: str
    size: int
    generation: str
    projects: tuple[str, ...] = ()


class JournalEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One record that was put (`record`) or deleted (None); reading may go on at `offset_after` (bytes)."""

    table: str
    key: str
    record: Mapping[str, Any] | None
    offset_after: int


class GenerationChangedError(Exception):
    """The journal was rewritten since it was listed; list it again."""


class JournalSource(Protocol):
    """All journals of one store, of this process and of others; called from threads, `journals` from one at a time."""

    def journals(self) -> Iterable[Journal]:
        """Return every journal there is; raises OSError when they cannot be listed."""
        ...

    def entries(self, journal: Journal, offset: int) -> Iterator[JournalEntry]:
        """Read whole entries behind `offset`, 0 being the start, up to the last complete one.

        Raises OSError, and GenerationChangedError when the file no longer is of `journal.generation`.
        """
        ...
