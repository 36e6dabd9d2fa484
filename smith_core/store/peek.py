"""A quick look at the store before anything else is ready: no TinyDB, no lock, no change."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from smith_core.frozen import EMPTY_MAPPING, freeze
from smith_core.store.codec import InvalidRecordError, decode_document
from smith_core.store.journal.line import DELETED, Line, parse_header, parse_line
from smith_core.store.journal.opening import open_for_reading
from smith_core.store.journal.tail import read_entries
from smith_core.store.schema import CONFIG, RUNTIME_OVERRIDES
from smith_core.store.version import GLOBAL_JOURNAL, SCHEMA_VERSION

RECORD = f" {CONFIG} {RUNTIME_OVERRIDES}\t"
"""What each line of the persisted patch has in it, and hardly any other."""


def read_stored_overrides(folder: Path) -> Mapping[str, Any]:
    """Return the persisted patch of the configuration, empty when it cannot be read; raises nothing."""
    path = folder / GLOBAL_JOURNAL
    try:
        with open_for_reading(path) as stream:
            data = stream.read()
        header = parse_header(data)
        newest = newest_line(data, CONFIG, RUNTIME_OVERRIDES)
        if header is None or header.schema != SCHEMA_VERSION or newest is None:
            return EMPTY_MAPPING
        # Settings are written by themselves; what is part of more counts only if all of it is there.
        is_whole_batch = newest.is_first and newest.remaining == 0
        value = newest.value if is_whole_batch else _last_in_whole_batches(path)
        return EMPTY_MAPPING if value == DELETED else freeze(decode_document(value))
    except (OSError, InvalidRecordError):
        return EMPTY_MAPPING


def newest_line(data: bytes, table: str, key: str) -> Line | None:
    """Return the last line of a record in a journal's bytes, be its batch whole or not; None when there is none."""
    record = f" {table} {key}\t".encode()
    at = data.rfind(record)
    while at >= 0:
        end = data.find(b"\n", at) + 1
        line = parse_line(data[data.rfind(b"\n", 0, at) + 1 : end]) if end else None
        if line is not None and (line.table, line.key) == (table, key):
            return line
        at = data.rfind(record, 0, at)
    return None


def _last_in_whole_batches(path: Path) -> bytes:
    value = DELETED
    for entry in read_entries(path):
        if entry.table == CONFIG and entry.key == RUNTIME_OVERRIDES:
            value = DELETED if entry.value is None else entry.value
    return value
