"""A model of power cuts: from the record of a run, the states that a disk may show are made and opened.

What was synced is there. Of what was not, nothing, all, some, a torn part or zeros may be there; files that were made
or renamed since the folder was synced may or may not have their names.
"""

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import msgspec

from smith_core.store.journal.options import JournalOptions
from smith_core.store.journal.storage import JournalStorage
from tests.crash.disks import RecordingDisk
from tests.crash.kills import Tally, fresh, read_journal
from tests.crash.workload import COUNTER, State, apply, batch

GARBAGE_BYTES = 60_000


def cut_power(folder: Path, batches: int, cuts: int, seed: int) -> Tally:
    """Record a run of so many batches, and open the journal after each of so many cuts."""
    rng = random.Random(seed)
    operations, states = _record(fresh(folder, "recorded"), batches)
    tally = Tally(acknowledged=batches)
    for _ in range(cuts):
        at = rng.randrange(1, len(operations) + 1)
        acknowledged = max((op[1] for op in operations[:at] if op[0] == "acknowledged"), default=0)
        place = fresh(folder, "cut")
        for name, data in _surviving_files(operations[:at], rng).items():
            (place / name).write_bytes(data)
        tally.kills += 1
        problem = _look(place / "a.jrnl", states, acknowledged)
        if problem:
            tally.bad.append(f"cut at {at}: {problem}")
    return tally


def _record(folder: Path, batches: int) -> tuple[list[tuple[Any, ...]], list[State]]:
    disk = RecordingDisk()
    storage = JournalStorage(folder / "a.jrnl", JournalOptions(disk=disk, garbage_bytes=GARBAGE_BYTES, index_lines=0))
    states: list[State] = [{}]
    for number in range(1, batches + 1):
        with storage.batch():
            for table, key, value in batch(number):
                storage.put(table, key, value)
        disk.operations.append(("acknowledged", number))
        states.append(apply(states[-1], number))
    storage.close()
    return disk.operations, states


def _surviving_files(operations: list[tuple[Any, ...]], rng: random.Random) -> dict[str, bytes]:
    durable: dict[int, bytearray] = defaultdict(bytearray)
    pending: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    names: dict[str, int] = {}
    renamings: list[tuple[Any, ...]] = []
    for operation in operations:
        match operation[0]:
            case "write" | "truncate":
                pending[operation[1]].append(operation)
            case "sync":
                for change in pending.pop(operation[1], []):
                    _change(durable[operation[1]], change)
            case "create" | "replace":
                renamings.append(operation)
            case "sync_folder":
                _rename(names, renamings)
                renamings = []
    _rename(names, renamings[: rng.randint(0, len(renamings))])
    return {name: _torn(durable[file], pending.get(file, []), rng) for name, file in names.items()}


def _rename(names: dict[str, int], operations: list[tuple[Any, ...]]) -> None:
    for operation in operations:
        if operation[0] == "create":
            names[operation[1]] = operation[2]
        elif operation[1] in names:
            names[operation[2]] = names.pop(operation[1])


def _torn(data: bytearray, changes: list[tuple[Any, ...]], rng: random.Random) -> bytes:
    result = bytearray(data)
    mode = rng.choice(("nothing", "all", "some", "torn", "zeros"))
    for change in changes:
        if mode == "nothing" or (mode == "some" and rng.random() < 0.5):
            continue
        if change[0] == "write" and mode in ("torn", "zeros"):
            written = change[3]
            cut = rng.randrange(len(written) + 1)
            rest = bytes(len(written) - cut) if mode == "zeros" else b""
            part = rest + written[cut:] if mode == "zeros" and rng.random() < 0.5 else written[:cut] + rest
            change = (*change[:3], part)
        _change(result, change)
    return bytes(result)


def _change(data: bytearray, operation: tuple[Any, ...]) -> None:
    if operation[0] == "truncate":
        del data[operation[2] :]
        return
    offset, written = operation[2:]
    data.extend(bytes(max(0, offset - len(data))))
    data[offset : offset + len(written)] = written


def _look(path: Path, states: list[State], acknowledged: int) -> str:
    found = read_journal(path)
    number = msgspec.json.decode(found.get(COUNTER, b'{"n":0}'))["n"]
    if number < acknowledged:
        return f"{acknowledged} was acknowledged, {number} is there"
    return "" if found == states[number] else f"batch {number} is there in part"
