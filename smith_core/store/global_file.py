"""The journal that all conversations and processes share: catalogue, settings and project memory."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from smith_core.errors import failure
from smith_core.store.adapter import RecordAdapter
from smith_core.store.codec import InvalidRecordError, decode_record
from smith_core.store.interface import ConversationMeta
from smith_core.store.journal.database import JournalDatabase
from smith_core.store.journal.line import Batch, scan
from smith_core.store.journal.lock import FileLock
from smith_core.store.journal.opening import open_for_reading
from smith_core.store.journal.options import JournalOptions
from smith_core.store.journal.tail import read_entries
from smith_core.store.layout import StoreLayout
from smith_core.store.repositories import (
    ConfigRepository,
    ConversationRepository,
    ProjectMemoryRepository,
)
from smith_core.store.schema import METAS
from smith_core.store.version import SCHEMA_VERSION

_GARBAGE_BYTES = 1 << 18
_TAIL_BYTES = 1 << 16
"""Where the newest description of a conversation usually is: it ends every batch that changes it."""


class GlobalFile:
    """Locked for each change, and read without a lock.

    The catalogue is a cache of what the conversations say about themselves: an entry counts as long as the file has
    the size that it had when the entry was written. Opening raises OSError, LockHeldError and AgentFailure.
    """

    def __init__(self, layout: StoreLayout, options: JournalOptions) -> None:
        self._layout = layout
        options = msgspec.structs.replace(options, garbage_bytes=_GARBAGE_BYTES, index_lines=0)
        lock = FileLock(layout.lock_of(layout.global_journal))
        self._database = JournalDatabase(layout.global_journal, options, lock)
        self.adapter = RecordAdapter(self._database)
        self._config = ConfigRepository(self.adapter)
        self._conversations = ConversationRepository(self.adapter)
        self.project_memory = ProjectMemoryRepository(self.adapter)
        version = self._config.schema_version()
        if version > SCHEMA_VERSION:
            raise failure(
                "persistence",
                "newer_store",
                f"{layout.folder} was written by a newer smith-tui (form {version}, this one knows {SCHEMA_VERSION}); "
                "update smith-tui, nothing was changed",
                origin="store",
            )

    def refresh(self) -> None:
        """Take in what other processes have written."""
        self._database.storage.refresh()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    # Settings

    def overrides(self) -> Mapping[str, Any]:
        """Return the persisted patch of the configuration as it is now."""
        self.refresh()
        return self._config.overrides()

    def update_overrides(self, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Mapping[str, Any]:
        """Change the patch while no other process can."""
        with self.adapter.batch():
            self._note_version()
            self._config.put_overrides(change(self._config.overrides()))
            return self._config.overrides()

    def active_conversation(self) -> str:
        """Return the conversation to go on with: the newest one where none is noted, "" when it was deleted."""
        self.refresh()
        noted = self._config.active_conversation()
        if noted is None:
            there = [meta for meta in self.catalogue()[0].values() if not meta.deleted_at]
            return max(there, key=lambda meta: meta.updated_at).conversation_id if there else ""
        if not noted or not self._layout.conversation(noted).exists():
            return ""
        meta = self._conversations.meta(noted)
        return "" if meta is not None and meta.deleted_at else noted

    def goes_on_with(self, conversation_id: str) -> bool:
        """Whether it is noted already, as far as this process knows, that a start goes on with a conversation."""
        return self._config.active_conversation() == conversation_id

    # Catalogue

    def remember(self, meta: ConversationMeta, size: int, *, active: str | None = None) -> None:
        """Note a conversation, and the one to go on with unless it is None; a power cut may take that back."""
        with self.adapter.batch(durable=False):
            self._note_version()
            entry = msgspec.structs.replace(meta, size_bytes=size)
            if entry != self._conversations.meta(meta.conversation_id):
                self._conversations.put_meta(entry)
            if active is not None and active != self._config.active_conversation():
                self._config.put_active_conversation(active)

    def remember_all(self, metas: Sequence[ConversationMeta]) -> None:
        """Note many conversations whose sizes are in their descriptions."""
        with self.adapter.batch(durable=False):
            for meta in metas:
                self.remember(meta, meta.size_bytes)

    def set_active(self, conversation_id: str) -> None:
        """Note the conversation to go on with."""
        with self.adapter.batch():
            self._note_version()
            self._config.put_active_conversation(conversation_id)

    def forget(self, conversation_id: str) -> None:
        """Take a conversation out of the catalogue."""
        with self.adapter.batch():
            self._conversations.discard_meta(conversation_id)

    def catalogue(self) -> tuple[dict[str, ConversationMeta], list[ConversationMeta]]:
        """Return the descriptions of all conversations that have a file, and those that were not up to date."""
        self.refresh()
        known = self._conversations.metas()
        current: dict[str, ConversationMeta] = {}
        outdated = []
        for conversation_id, size in self._layout.sizes().items():
            meta = known.get(conversation_id)
            if meta is None or meta.size_bytes != size:
                found = _read_meta_if_possible(self._layout.conversation(conversation_id))
                if found is None:
                    continue
                meta = msgspec.structs.replace(found, conversation_id=conversation_id, size_bytes=size)
                outdated.append(meta)
            current[conversation_id] = meta
        return current, outdated

    def _note_version(self) -> None:
        if self._config.schema_version() != SCHEMA_VERSION:
            self._config.put_schema_version(SCHEMA_VERSION)


def read_meta(journal: Path) -> ConversationMeta | None:
    """Return the newest description in the journal of a conversation, without reading all of a long one."""
    value: bytes | None = None
    with open_for_reading(journal) as stream:
        start = max(0, stream.seek(0, 2) - _TAIL_BYTES)
        stream.seek(start)
        if start:
            start += len(stream.readline())
        for part in scan(stream, start, previous=None):
            if isinstance(part, Batch):
                for line in part.lines:
                    value = line.value if line.table == METAS.name else value
    if value is None:
        entries = (entry.value for entry in read_entries(journal) if entry.table == METAS.name)
        for value in entries:  # noqa: B007 - the last one counts
            pass
    try:
        return None if value is None else decode_record(value, ConversationMeta)
    except InvalidRecordError:
        return None


def _read_meta_if_possible(journal: Path) -> ConversationMeta | None:
    try:
        return read_meta(journal)
    except OSError:
        return None


def is_expired(meta: ConversationMeta, days: int) -> bool:
    """Say whether a deletion cannot be taken back any more."""
    return 0 < meta.deleted_at < time.time() - days * 86_400
