"""The first look at the conversation to go on with: the same messages that the store gives, and nothing touched."""

from pathlib import Path

from smith_core.messages import Message, TurnRecord, TurnResult
from smith_core.store.early_tail import MAX_UNINDEXED_BYTES, EarlyTail, read_tail
from smith_core.store.journal.offsets import index_path
from smith_core.store.layout import StoreLayout
from smith_core.store.persistence import DiskPersistence
from tests.support.store_disks import open_store


async def add_turn(store: DiskPersistence, number: int, *texts: str, conversation: str = "c1") -> None:
    messages = tuple(
        Message(role="user" if index % 2 == 0 else "assistant", content=text) for index, text in enumerate(texts)
    )
    turn_id = f"t{number}"
    result = TurnResult(turn_id=turn_id, conversation_id=conversation, role="direct", stop_reason="completed")
    record = TurnRecord(
        turn_id=turn_id,
        conversation_id=conversation,
        project_id="p" * 16,
        cwd="/work",
        started_at=1e9,
        messages=messages,
        result=result,
    )
    await store.persist_turn(record)


async def closed(store: DiskPersistence, folder: Path, count: int) -> EarlyTail:
    """Close a store, and return what the store itself says of the end of its conversation."""
    await store.aclose()
    again = open_store(folder)
    meta = await again.describe("c1")
    assert meta is not None
    tail = EarlyTail("c1", meta.title, await again.load_tail("c1", count))
    await again.aclose()
    return tail


def files(folder: Path) -> dict[Path, tuple[int, int]]:
    return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*")}


async def test_it_is_what_the_store_gives_and_nothing_is_touched(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await add_turn(store, 0, "never shown again", "an answer", conversation="c0")
    for number in range(10):
        await add_turn(store, number, f"prompt {number}", f"answer {number}")
    await store.delete_message("c1", 20)
    await store.replace_message("c1", 18, Message(role="assistant", content="edited"))
    await store.save_prompt("c1", "t10", Message(role="user", content="interrupted"))
    expected = await closed(store, tmp_path, 4)
    assert [item.message.content for item in expected.messages] == ["prompt 8", "edited", "prompt 9", "interrupted"]
    before = files(tmp_path)
    assert read_tail(tmp_path, 4) == expected
    assert files(tmp_path) == before


async def test_it_is_not_there_when_the_engine_would_not_open_it_at_once(tmp_path: Path) -> None:
    assert read_tail(tmp_path, 4) is None
    store = open_store(tmp_path)
    await add_turn(store, 1, "prompt", "x" * MAX_UNINDEXED_BYTES)
    assert read_tail(tmp_path, 4) is None  # the store has it still
    journal = StoreLayout(tmp_path).conversation("c1")
    await closed(store, tmp_path, 4)
    assert not index_path(journal).exists()
    assert read_tail(tmp_path, 4) is None  # it would have to be read as a whole
    again = open_store(tmp_path)
    await again.set_active_conversation_id("")
    await again.aclose()
    assert read_tail(tmp_path, 4) is None


async def test_a_deleted_or_damaged_one_is_not_shown(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await add_turn(store, 1, "prompt", "answer")
    expected = await closed(store, tmp_path, 4)
    assert read_tail(tmp_path, 4) == expected
    journal = StoreLayout(tmp_path).conversation("c1")
    whole = journal.read_bytes()
    journal.write_bytes(whole.replace(b"answer", b"ANSWER"))
    assert read_tail(tmp_path, 4) is None
    journal.write_bytes(whole)
    again = open_store(tmp_path)
    await again.delete_conversation("c1")
    await again.aclose()
    assert read_tail(tmp_path, 4) is None
