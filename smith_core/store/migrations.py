"""Bringing records of older schema versions up to the present one, step by step."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from smith_core.store.version import SCHEMA_VERSION

_Record = tuple[str, str, bytes]
Step = Callable[[_Record], _Record | None]
"""Takes a record (table, key, JSON) of one version and returns it in the next one, None to drop it."""


def _keys_without_keyspace(record: _Record) -> _Record:
    """Version 1 repeated the name of the keyspace in front of every key."""
    table, key, value = record
    return table, key.removeprefix(f"{table}:"), value


STEPS: Mapping[int, Step] = {1: _keys_without_keyspace}
"""By the version that a step starts from."""


def migrate(schema: int, records: Iterable[_Record]) -> Iterator[_Record]:
    """Yield the records in the present version; unchanged when `schema` is the present one."""
    steps = [STEPS[version] for version in range(schema, SCHEMA_VERSION) if version in STEPS]
    for record in records:
        current: _Record | None = record
        for step in steps:
            if current is not None:
                current = step(current)
        if current is not None:
            yield current
