"""Keeps turns in a store while files may have 64 KiB, as under `ulimit -f 64`; the folder is the argument."""

import asyncio
import resource
import sys
from pathlib import Path

import msgspec

from smith_core.errors import AgentFailure
from smith_core.maintenance import check_store
from tests.core.store.test_persistence import turn
from tests.support.store_disks import open_store


async def main(folder: Path) -> None:
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


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
