"""A quick look at the store before anything else is ready: no TinyDB, no lock, no change."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from smith_core.frozen import EMPTY_MAPPING, freeze
from smith_core.store.codec import InvalidRecordError, decode_document
from smith_core.store.journal.tail import read_entries
from smith_core.store.layout import StoreLayout
from smith_core.store.schema import CONFIG, RUNTIME_OVERRIDES


def read_stored_overrides(folder: Path) -> Mapping[str, Any]:
    """Return the persisted patch of the configuration, empty when it cannot be read; raises nothing."""
    patch: Mapping[str, Any] = EMPTY_MAPPING
    try:
        for entry in read_entries(StoreLayout(folder).global_journal):
            if entry.table == CONFIG and entry.key == RUNTIME_OVERRIDES:
                patch = EMPTY_MAPPING if entry.value is None else freeze(decode_document(entry.value))
    except (OSError, InvalidRecordError):
        pass
    return patch
