"""The transcripts of dispatched children in the store: they come and go with the turn that dispatched them."""

from pathlib import Path

import msgspec
import pytest

from smith_core.maintenance import check_store, export_store, import_store
from smith_core.messages import ChildTranscript, Message, ToolMetadata, TurnRecord, Usage
from smith_core.store.interface import MessageChange, Persistence
from smith_core.store.memory import MemoryPersistence
from tests.core.store.test_persistence import turn
from tests.support.store_disks import open_store

SAID = (Message(role="user", content="find x"), Message(role="assistant", content="found: 日本"))


def turn_with_child(conversation: str, number: int, job_id: str) -> TurnRecord:
    """Return a turn whose last message is the result of a child."""
    record = turn(conversation, number)
    result = Message(role="tool", tool_call_id="d", name="dispatch", metadata=ToolMetadata(job_id=job_id))
    return msgspec.structs.replace(
        record,
        messages=(*record.messages, result),
        child_usage=((job_id, Usage(input_tokens=7, requests=1)),),
        children=(ChildTranscript(job_id=job_id, messages=SAID),),
    )


@pytest.fixture(params=["disk", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Persistence:
    return open_store(tmp_path) if request.param == "disk" else MemoryPersistence()


async def test_a_fork_has_the_children_whose_results_it_has(store: Persistence) -> None:
    await store.persist_turn(turn_with_child("one", 1, "-job_1"))
    await store.persist_turn(turn_with_child("one", 2, "job2"))
    assert await store.load_child("one", "-job_1") == SAID
    assert [await store.load_child("one", job_id) for job_id in ("other", "-job_", "../x", "")] == [()] * 4
    per_turn = len(await store.load_messages("one")) // 2
    copy = await store.fork("one", up_to=per_turn)
    assert (await store.load_child(copy, "-job_1"), await store.load_child(copy, "job2")) == (SAID, ())
    await store.aclose()


async def test_they_last_travel_and_are_checked(tmp_path: Path) -> None:
    here, there, export = tmp_path / "here", tmp_path / "there", tmp_path / "export.jsonl"
    first = open_store(here)
    await first.persist_turn(turn_with_child("one", 1, "job1"))
    await first.aclose()
    assert check_store(here).is_healthy
    export_store(here, export)
    import_store(there, export)
    assert import_store(there, export).records == 0
    assert check_store(there).is_healthy
    after = open_store(there)
    assert await after.load_child("one", "job1") == SAID
    used = {one.job_id: one.usage.input_tokens for one in await after.usage_of("one")}
    assert used == {"": turn("one", 1).result.usage.input_tokens, "job1": 7}
    assert len(await after.load_messages("one")) == len(turn("one", 1).messages) + 1
    await after.aclose()


async def test_a_purge_takes_the_children_whose_results_were_deleted(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.persist_turn(turn_with_child("one", 1, "job1"))
    await store.persist_turn(turn_with_child("one", 2, "job2"))
    gone = (await store.load_stored("one"))[len(turn("one", 1).messages)]
    await store.change_messages("one", [MessageChange(sequence=gone.sequence, before=gone.message, after=None)])
    assert await store.load_child("one", "job1") == SAID
    await store.purge("one")
    assert (await store.load_child("one", "job1"), await store.load_child("one", "job2")) == ((), SAID)
    await store.aclose()
