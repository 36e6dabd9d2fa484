"""Journals in memory, with the promises of the real ones: whole entries, sizes that grow, generations that change."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from smith_core.store.search.results import SearchHit, SearchOrder
from smith_core.store.search.service import SearchService
from smith_core.store.search.source import GenerationChangedError, Journal, JournalEntry

HEADER_BYTES = 40
ENTRY_BYTES = 100


class MemoryJournals:
    """A source whose journals are lists; every entry counts 100 bytes."""

    def __init__(self) -> None:
        self.logs: dict[str, list[tuple[str, str, Mapping[str, Any] | None]]] = {}
        self.generations: dict[str, int] = {}
        self.projects: dict[str, tuple[str, ...]] = {}
        self.torn_bytes: dict[str, int] = {}
        self.unreadable: set[str] = set()
        self.entries_read = 0

    def put(self, journal: str, table: str, key: str, record: Mapping[str, Any] | None) -> None:
        """Append one entry."""
        self.generations.setdefault(journal, 1)
        self.logs.setdefault(journal, []).append((table, key, record))

    def say(self, conversation: str, sequence: int, content: str, role: str = "user", **fields: Any) -> None:
        """Append or replace a message."""
        record = {"role": role, "content": content, "created_at": 1_700_000_000.0 + sequence, **fields}
        self.put(conversation, "conversation", f"{conversation}:{sequence:08d}", record)

    def unsay(self, conversation: str, sequence: int) -> None:
        """Delete a message."""
        self.put(conversation, "conversation", f"{conversation}:{sequence:08d}", None)

    def compact(self, journal: str) -> None:
        """Rewrite a journal with what is live in it."""
        live: dict[tuple[str, str], Mapping[str, Any]] = {}
        for table, key, record in self.logs[journal]:
            if record is None:
                live.pop((table, key), None)
            else:
                live[table, key] = record
        self.logs[journal] = [(table, key, record) for (table, key), record in live.items()]
        self.generations[journal] += 1

    def journals(self) -> list[Journal]:
        return [
            Journal(
                name=name,
                size=HEADER_BYTES + ENTRY_BYTES * len(log) + self.torn_bytes.get(name, 0),
                generation=str(self.generations[name]),
                projects=self.projects.get(name, ()),
            )
            for name, log in self.logs.items()
        ]

    def entries(self, journal: Journal, offset: int) -> Iterator[JournalEntry]:
        if journal.name in self.unreadable:
            raise PermissionError(13, "Permission denied")
        first = max(0, offset - HEADER_BYTES) // ENTRY_BYTES
        for number, (table, key, record) in enumerate(self.logs[journal.name][first:], first + 1):
            if str(self.generations[journal.name]) != journal.generation:
                raise GenerationChangedError
            self.entries_read += 1
            yield JournalEntry(table=table, key=key, record=record, offset_after=HEADER_BYTES + ENTRY_BYTES * number)


async def caught_up(service: SearchService) -> None:
    """Wake the service and wait until it has read all journals."""
    async with asyncio.timeout(20):
        service.wake()
        while (status := await service.status()).lag_bytes or status.is_working:
            await asyncio.sleep(0.01)


async def find(service: SearchService, query: str, order: SearchOrder = "best") -> tuple[SearchHit, ...]:
    page = await service.search(query, order)
    assert page.notice is None
    assert page.total == len(page.hits)
    return page.hits


def sequences(hits: tuple[SearchHit, ...]) -> list[int]:
    return [hit.sequence for hit in hits]
