"""The store between real processes and real limits: size limits, locks that somebody keeps, kills that free them."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest

from smith_core.errors import AgentFailure
from smith_core.maintenance import check_store
from smith_core.store.journal.lock import FileLock
from smith_core.store.layout import StoreLayout
from tests.core.store.test_persistence import turn
from tests.support.processes import wait_for_file
from tests.support.store_disks import open_store

LIMITED = """
import asyncio, resource, sys
from pathlib import Path
import msgspec
from smith_core.errors import AgentFailure
from smith_core.maintenance import check_store
from tests.core.store.test_persistence import turn
from tests.support.store_disks import open_store

async def main(folder):
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 * 1024, hard))
    store = open_store(folder)
    refused = 0
    for number in range(1, 60):
        record = turn("conv", number)
        messages = (msgspec.structs.replace(record.messages[0], reasoning="x" * 3000), *record.messages[1:])
        try:
            await store.persist_turn(msgspec.structs.replace(record, messages=messages))
        except AgentFailure as caught:
            assert "raise the limit" in caught.error.message, caught.error
            refused += 1
        assert check_store(folder).is_healthy
        if refused == 2:
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    assert refused == 2 and store.unsaved_turns == 0
    await store.aclose()

asyncio.run(main(Path(sys.argv[1])))
"""

HOLDING = """
import sys, time
from pathlib import Path
from smith_core.store.journal.lock import FileLock
for name in sys.argv[1:]:
    FileLock(Path(name)).acquire()
Path(sys.argv[1] + ".told").write_text("held")
time.sleep(60)
"""


def start_holder(locks: list[str]) -> "subprocess.Popen[bytes]":
    """Start a process that has the locks when this returns."""
    holder = subprocess.Popen([sys.executable, "-c", HOLDING, *locks])
    wait_for_file(Path(f"{locks[0]}.told"))
    return holder


async def test_b13_a_size_limit_leaves_a_whole_store_and_saves_again_without_it(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    await asyncio.to_thread(subprocess.run, [sys.executable, "-c", LIMITED, str(folder)], check=True, timeout=60)
    assert check_store(folder).is_healthy
    store = open_store(folder)
    assert len(await store.load_messages("conv")) == 59 * 4
    assert store.take_notices() == ()
    await store.aclose()


async def test_b13_a_lock_that_somebody_keeps_delays_the_start_little_and_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    store = open_store(folder)
    await store.persist_turn(turn("conv", 1))
    await store.aclose()
    lock = FileLock(StoreLayout(folder).lock_of(StoreLayout(folder).global_journal))
    lock.acquire()
    started = time.monotonic()
    again = open_store(folder)
    assert await again.active_conversation_id() == "conv"
    assert len(await again.load_messages("conv")) == 4
    assert time.monotonic() - started < 5
    with pytest.raises(AgentFailure, match="the store is busy: process"):
        await again.write_overrides({"a": 1})
    lock.release()
    await again.write_overrides({"a": 1})
    assert await again.read_overrides() == {"a": 1}
    await again.aclose()


async def test_b14_a_killed_process_frees_its_locks(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    store = open_store(folder)
    await store.persist_turn(turn("conv", 1))
    await store.aclose()
    layout = StoreLayout(folder)
    locks = [str(layout.lock_of(path)) for path in layout.journals()]
    with start_holder(locks) as holder:
        again = open_store(folder)
        held = await again.hold("conv")
        assert held is not None and held.pid == holder.pid
        holder.kill()
        holder.wait()
        assert await again.hold("conv") is None
        await again.persist_turn(turn("conv", 2))
        await again.aclose()
