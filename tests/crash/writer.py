"""The process that gets killed: writes without end, and says on standard output what is acknowledged.

python -m tests.crash.writer journal|turns|shared FOLDER NUMBER NAME POINT COUNT
"""

import os
import sys
from itertools import count
from pathlib import Path

from smith_core.store.journal.options import JournalOptions
from smith_core.store.journal.storage import JournalStorage
from smith_core.store.store import Store
from tests.crash.disks import KillingDisk
from tests.crash.workload import CONVERSATION, batch, prompt, turn

GARBAGE_BYTES = 100_000


def main() -> None:
    """Write from the given number on until somebody ends it."""
    kind, folder, first, name, point, times = sys.argv[1:]
    options = JournalOptions(disk=KillingDisk(point, int(times)), garbage_bytes=GARBAGE_BYTES, index_lines=50)
    {"journal": _write_batches, "turns": _write_turns, "shared": _write_settings}[kind](
        Path(folder), int(first), name, options
    )


def _say(text: str) -> None:
    os.write(1, f"{text}\n".encode())


def _write_batches(folder: Path, first: int, name: str, options: JournalOptions) -> None:
    storage = JournalStorage(folder / "a.jrnl", options)
    _say("ready")
    for number in count(first):
        with storage.batch():
            for table, key, value in batch(number):
                storage.put(table, key, value)
        _say(str(number))


def _write_turns(folder: Path, first: int, name: str, options: JournalOptions) -> None:
    store = Store(folder, options=options)
    held = store.hold(CONVERSATION)
    assert held is None, held
    _say("ready")
    for number in count(first):
        store.save_prompt(CONVERSATION, f"turn-{number}", prompt(number))
        store.persist_turn(turn(number))
        _say(str(number))


def _write_settings(folder: Path, first: int, name: str, options: JournalOptions) -> None:
    store = Store(folder, options=options)
    _say("ready")
    for number in count(first):
        store.global_file.update_overrides(lambda patch, number=number: {**patch, name: number, "x": "x" * 3000})
        _say(str(number))


if __name__ == "__main__":
    main()
