"""The store on disk through its handle: turns, prompts, resume, notes, sharing, deletion, failures."""

import asyncio
import json
import os
import stat
import tracemalloc
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import msgspec
import pytest

from smith_core.errors import AgentError, AgentFailure, failure
from smith_core.messages import Message, ToolCall, TurnRecord, TurnResult, Usage
from smith_core.store.interface import ConversationHeld, Persistence
from smith_core.store.journal.line import encode_batch
from smith_core.store.journal.tail import read_entries
from smith_core.store.layout import StoreLayout
from smith_core.store.memory import MemoryPersistence
from smith_core.store.peek import read_stored_overrides
from smith_core.store.persistence import DiskPersistence, open_disk_persistence
from smith_core.store.store import Store
from tests.support.store_disks import FullDisk, open_store


def turn(conversation: str, number: int, *, messages: tuple[Message, ...] = (), at: float = 1000.0) -> TurnRecord:
    """Return a turn of a prompt, one tool round and an answer."""
    messages = messages or (
        prompt(number, at),
        Message(role="assistant", tool_calls=(ToolCall(id=f"c{number}", name="bash", arguments='{"command":"ls"}'),)),
        Message(role="tool", tool_call_id=f"c{number}", name="bash", content=f"files {number}"),
        Message(role="assistant", content=f"answer {number}"),
    )
    turn_id = f"turn-{number}"
    return TurnRecord(
        turn_id=turn_id,
        conversation_id=conversation,
        project_id="p" * 16,
        cwd="/work",
        started_at=at,
        messages=messages,
        result=TurnResult(
            turn_id=turn_id,
            conversation_id=conversation,
            role="direct",
            stop_reason="completed",
            text=f"answer {number}",
            usage=Usage(input_tokens=number, requests=1),
            duration_s=1.0,
        ),
        child_usage=(("job-1", Usage(input_tokens=7)),),
    )


def prompt(number: int, at: float = 1000.0) -> Message:
    return Message(role="user", content=f"prompt {number}", created_at=at)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data" / "smith"


@pytest.fixture
async def store(folder: Path) -> AsyncIterator[DiskPersistence]:
    persistence = open_store(folder)
    yield persistence
    await persistence.aclose()


@pytest.fixture(params=["memory", "disk"])
async def either(request: pytest.FixtureRequest, folder: Path) -> AsyncIterator[Persistence]:
    persistence: Persistence = MemoryPersistence() if request.param == "memory" else open_store(folder)
    yield persistence
    await persistence.aclose()


async def reopened(store: DiskPersistence, folder: Path) -> DiskPersistence:
    await store.aclose()
    return open_store(folder)


async def test_turns_come_back_verbatim_and_in_order(either: Persistence) -> None:
    written: tuple[Message, ...] = ()
    for number in range(1, 4):
        record = turn("conv", number)
        await either.save_prompt("conv", record.turn_id, record.messages[0])
        await either.persist_turn(record)
        written += record.messages
    assert await either.load_messages("conv") == written
    assert [stored.sequence for stored in await either.load_stored("conv")] == list(range(1, 13))
    assert [stored.message for stored in await either.load_tail("conv", 5)] == list(written[-5:])
    assert [stored.sequence for stored in await either.load_stored("conv", since=11)] == [11, 12]
    assert await either.load_tail("conv", 0) == ()
    assert await either.load_messages("other") == ()
    (meta,) = await either.list_conversations()
    assert (meta.title, meta.message_count, meta.cwd) == ("prompt 1", 12, "/work")
    assert await either.active_conversation_id() == "conv"


async def test_a_prompt_without_a_turn_is_a_user_message_in_its_place(either: Persistence) -> None:
    await either.persist_turn(turn("conv", 1))
    await either.save_prompt("conv", "turn-2", prompt(2))
    assert (await either.load_messages("conv"))[-1] == prompt(2)
    await either.persist_turn(turn("conv", 3))
    contents = [message.content for message in await either.load_messages("conv") if message.role == "user"]
    assert contents == ["prompt 1", "prompt 2", "prompt 3"]


async def test_every_record_is_under_its_key(store: DiskPersistence, folder: Path) -> None:
    await store.persist_turn(turn("conv", 1))
    await store.put_note("conv", "dispatch/job:1", "found it")
    await store.put_project_note("p" * 16, "style", "tabs")
    await store.write_overrides({"tool_step_budget": 7})
    await store.aclose()
    layout = StoreLayout(folder)
    path = layout.conversation("conv")
    assert path.parent.parent == folder / "conv" and path.name == "conv.jrnl"
    there = {(entry.table, entry.key): json.loads(entry.value or b"") for entry in read_entries(path)}
    assert {
        *(("conversation", f"conv:0000000{number}") for number in (1, 2, 3, 4)),
        ("usage", "conv:turn-1"),
        ("usage", "conv:turn-1:job-1"),
        ("conversation_note", "conv:turn_record-turn-1"),
        ("conversation_note", "conv:scratchpad:dispatch/job:1"),
        ("conversation_meta", "conv"),
    } == set(there)
    record = there["conversation_note", "conv:turn_record-turn-1"]
    assert (record["first_sequence"], record["message_count"], record["result"]["text"]) == (1, 4, "answer 1")
    assert there["usage", "conv:turn-1:job-1"]["input_tokens"] == 7
    general = {
        (entry.table, entry.key): json.loads(entry.value or b"") for entry in read_entries(layout.global_journal)
    }
    assert general["config", "runtime_overrides"] == {"tool_step_budget": 7}
    assert general["config", "meta:active_conversation_id"] == {"value": "conv"}
    assert general["config", "meta:schema_version"] == {"value": 2}
    assert general["project_memory", f"{'p' * 16}:style"]["text"] == "tabs"
    assert general["conversation_meta", "conv"]["message_count"] == 4


async def test_a_turn_is_one_batch(store: DiskPersistence, folder: Path) -> None:
    await store.persist_turn(turn("conv", 1))
    await store.persist_turn(turn("conv", 2))
    ends = {entry.offset_after for entry in read_entries(StoreLayout(folder).conversation("conv"))}
    assert len(ends) == 3  # the header's end is where the first batch starts


@pytest.mark.parametrize("bad", ["a:b", "", "../up", ".hidden", "a/b", "x" * 200])
async def test_ids_that_are_no_ids_are_refused_and_block_nothing(store: DiskPersistence, bad: str) -> None:
    with pytest.raises(AgentFailure) as caught:
        await store.persist_turn(turn(bad, 1))
    assert caught.value.error.kind == "persistence"
    assert store.unsaved_turns == 0
    await store.persist_turn(turn("conv", 1))


async def test_b04_text_that_cannot_be_encoded_is_replaced(store: DiskPersistence, folder: Path) -> None:
    error = AgentError(kind="tool", code="x", message="a\ud83d", data={"raw": b"\xff", "nan": float("nan")})
    record = turn("conv", 1, messages=(Message(role="user", content="x\ud83d\0y", created_at=float("nan")),))
    result = msgspec.structs.replace(record.result, stop_reason="error", error=error)
    await store.persist_turn(msgspec.structs.replace(record, result=result))
    await store.put_note("conv", "k", "lone \udfff")
    again = await reopened(store, folder)
    (message,) = await again.load_messages("conv")
    assert message.content == "x��y"
    assert (await again.list_notes("conv"))[0].text == "lone �"
    await again.aclose()


async def test_notes_of_scratchpad_and_project(either: Persistence) -> None:
    for key in ("b", "a:1", "a:2"):
        await either.put_note("conv", key, f"text {key}")
    await either.put_note("other", "a:3", "elsewhere")
    first = await either.get_note("conv", "b")
    again = await either.put_note("conv", "b", "new")
    assert first is not None and again.created_at == first.created_at and again.text == "new"
    assert [note.key for note in await either.list_notes("conv", "a:")] == ["a:1", "a:2"]
    assert [note.key for note in await either.list_notes("conv")] == ["a:1", "a:2", "b"]
    assert await either.delete_note("conv", "b") and not await either.delete_note("conv", "b")
    assert await either.get_note("conv", "b") is None
    await either.put_project_note("project", "style", "tabs")
    assert [note.text for note in await either.list_project_notes("project")] == ["tabs"]
    assert await either.get_project_note("elsewhere", "style") is None
    assert await either.delete_project_note("project", "style")
    assert await either.list_project_notes("project") == ()


async def test_messages_can_be_edited_and_deleted(either: Persistence) -> None:
    await either.persist_turn(turn("conv", 1))
    await either.replace_message("conv", 4, Message(role="assistant", content="better"))
    await either.delete_message("conv", 3)
    stored = await either.load_stored("conv")
    assert [item.sequence for item in stored] == [1, 2, 4]
    assert stored[-1].message.content == "better"
    await either.persist_turn(turn("conv", 2))
    assert [item.sequence for item in await either.load_stored("conv")] == [1, 2, 4, 5, 6, 7, 8]


async def test_a_message_that_is_gone_cannot_be_changed(store: DiskPersistence) -> None:
    await store.persist_turn(turn("conv", 1))
    for change in (store.delete_message("conv", 9), store.replace_message("conv", 9, prompt(1))):
        with pytest.raises(AgentFailure, match="no message 9"):
            await change


async def test_a_fork_goes_its_own_way(either: Persistence) -> None:
    await either.persist_turn(turn("conv", 1))
    await either.persist_turn(turn("conv", 2))
    await either.put_note("conv", "k", "kept")
    copy = await either.fork("conv", up_to=4)
    await either.persist_turn(turn(copy, 3))
    contents = [message.content for message in await either.load_messages(copy) if message.role == "user"]
    assert contents == ["prompt 1", "prompt 3"]
    assert len(await either.load_messages("conv")) == 8
    assert (await either.get_note(copy, "k")) is not None
    metas = {meta.conversation_id: meta for meta in await either.list_conversations()}
    assert metas[copy].forked_from == "conv"
    assert metas[copy].message_count == 8


@pytest.mark.parametrize(("up_to", "kept"), [(1, 1), (2, 4), (3, 4), (4, 4), (5, 5), (6, 7), (7, 7), (8, 8), (9, 8)])
async def test_a_fork_never_parts_a_call_from_its_result(either: Persistence, up_to: int, kept: int) -> None:
    messages = (
        *(Message(role="user", content="go"), asking("a", "b"), answering("a"), answering("b")),
        *(Message(role="assistant", content="half"), asking("c"), answering("c"), Message(role="user", content="on")),
    )
    await either.persist_turn(msgspec.structs.replace(turn("conv", 1), messages=messages))
    assert await either.load_messages(await either.fork("conv", up_to=up_to)) == messages[:kept]


def asking(*calls: str) -> Message:
    return Message(role="assistant", tool_calls=tuple(ToolCall(id=call, name="edit", arguments="{}") for call in calls))


def answering(call: str) -> Message:
    return Message(role="tool", tool_call_id=call, name="edit", content="edited")


async def test_deleting_can_be_taken_back(either: Persistence) -> None:
    await either.persist_turn(turn("conv", 1))
    await either.delete_conversation("conv")
    assert await either.list_conversations() == ()
    assert await either.active_conversation_id() == ""
    await either.restore_conversation("conv")
    assert len(await either.list_conversations()) == 1
    assert len(await either.load_messages("conv")) == 4


async def test_deleted_conversations_leave_the_disk_after_days(store: DiskPersistence, folder: Path) -> None:
    from smith_core.store.store import Store

    await store.persist_turn(turn("old", 1))
    await store.persist_turn(turn("new", 1))
    await store.aclose()
    direct = Store(folder)
    for conversation, deleted_at in (("old", 1000.0), ("new", 9e12)):
        with direct.changing(conversation) as file:
            file.change_meta(deleted_at=deleted_at)
    direct.close()
    again = open_store(folder)
    await again.list_conversations()
    assert not StoreLayout(folder).conversation("old").exists()
    assert StoreLayout(folder).conversation("new").exists()
    await again.aclose()


async def test_titles_and_times(store: DiskPersistence) -> None:
    await store.persist_turn(turn("one", 1, at=5000.0))
    await store.persist_turn(turn("two", 1, at=4000.0))
    await store.persist_turn(turn("one", 2, at=10.0))
    await store.set_title("two", "my title")
    metas = await store.list_conversations()
    assert [(meta.conversation_id, meta.title) for meta in metas] == [("one", "prompt 1"), ("two", "my title")]
    assert metas[0].updated_at == 5001.0
    assert metas[0].size_bytes > 0


async def test_a_title_given_between_two_turns_stays(store: DiskPersistence) -> None:
    await store.persist_turn(turn("c1", 1))
    await store.set_title("c1", "mine")
    await store.save_prompt("c1", "t2", prompt(2))
    await store.persist_turn(turn("c1", 2))
    await store.delete_message("c1", 1)
    await store.persist_turn(turn("c1", 3))
    meta = await store.describe("c1")
    assert meta is not None
    assert (meta.title, meta.message_count) == ("mine", len(await store.load_messages("c1")))


async def test_a_catalogue_that_is_behind_or_lost_is_made_again(store: DiskPersistence, folder: Path) -> None:
    for name in ("one", "two"):
        await store.persist_turn(turn(name, 1, at=1000.0 if name == "one" else 2000.0))
    await store.aclose()
    StoreLayout(folder).global_journal.write_bytes(b"[]")
    again = open_store(folder)
    assert await again.active_conversation_id() == "two"
    assert [meta.conversation_id for meta in await again.list_conversations()] == ["two", "one"]
    (notice,) = again.take_notices()
    assert Path(notice.kept_copy).read_bytes() == b"[]"
    await again.aclose()


async def test_b14_the_second_process_learns_who_has_the_conversation(store: DiskPersistence, folder: Path) -> None:
    await store.persist_turn(turn("conv", 1))
    second = open_store(folder)
    assert await second.hold("conv") == ConversationHeld(conversation_id="conv", pid=os.getpid())
    with pytest.raises(AgentFailure, match="open in another smith-tui") as caught:
        await second.save_prompt("conv", "turn-9", prompt(9))
    assert caught.value.error.data["pid"] == os.getpid()
    assert len(await second.follow("conv", 1)) == 4
    await store.persist_turn(turn("conv", 2))
    assert [stored.sequence for stored in await second.follow("conv", 5)] == [5, 6, 7, 8]
    copy = await second.fork("conv")
    await second.persist_turn(turn(copy, 3))
    await store.persist_turn(turn("conv", 4))
    assert len(await second.load_messages(copy)) == len(await store.load_messages("conv")) == 12
    assert {meta.conversation_id for meta in await second.list_conversations()} == {"conv", copy}
    await store.hold("elsewhere")
    assert await second.hold("conv") is None
    await second.aclose()


async def test_b14_both_may_change_settings_and_notes(store: DiskPersistence, folder: Path) -> None:
    second = open_store(folder)

    async def work(who: Persistence, name: str) -> None:
        for number in range(10):
            await who.update_overrides(lambda patch, number=number: {**patch, f"{name}{number}": number})
            await who.put_project_note("project", f"{name}{number}", "text")

    await asyncio.gather(work(store, "a"), work(second, "b"))
    assert len(await store.read_overrides()) == len(await second.read_overrides()) == 20
    assert len(await store.list_project_notes("project")) == 20
    assert len(await second.list_project_notes("project")) == 20
    await second.aclose()
    assert len(read_stored_overrides(folder)) == 20


async def test_a_quick_look_at_the_settings_believes_whole_batches_only(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    assert read_stored_overrides(tmp_path) == {}
    await store.write_overrides({"a": 1})
    await store.put_project_note("project", "n", "config runtime_overrides\t")
    assert read_stored_overrides(tmp_path) == {"a": 1}
    await store.aclose()
    journal = StoreLayout(tmp_path).global_journal
    whole = journal.read_bytes()
    lines = encode_batch(90, [("config", "runtime_overrides", b'{"a":2}'), ("config", "other", b"1")])
    journal.write_bytes(whole + lines[0])
    assert read_stored_overrides(tmp_path) == {"a": 1}
    journal.write_bytes(whole + b"".join(lines))
    assert read_stored_overrides(tmp_path) == {"a": 2}
    journal.write_bytes(whole + b"".join(encode_batch(90, [("config", "runtime_overrides", b"null")])))
    assert read_stored_overrides(tmp_path) == {}
    journal.write_bytes(whole[:-20] + b"\0" * 50)
    assert read_stored_overrides(tmp_path) == {"a": 1}


async def test_a_change_that_raises_leaves_the_settings(either: Persistence) -> None:
    await either.write_overrides({"a": {"b": 1}})

    def refuse(patch: object) -> dict[str, object]:
        raise failure("schema", "bad", "no")

    with pytest.raises(AgentFailure, match="no"):
        await either.update_overrides(refuse)
    assert await either.read_overrides() == {"a": {"b": 1}}


async def test_b28_modes_are_private_again_after_the_next_start(store: DiskPersistence, folder: Path) -> None:
    await store.persist_turn(turn("conv", 1))
    await store.aclose()
    everything = [folder, *folder.rglob("*")]
    assert {stat.S_IMODE(path.stat().st_mode) for path in everything if path.is_dir()} == {0o700}
    assert {stat.S_IMODE(path.stat().st_mode) for path in everything if path.is_file()} == {0o600}
    for path in everything:
        path.chmod(0o755 if path.is_dir() else 0o644)
    again = open_store(folder)
    await again.list_conversations()
    assert {stat.S_IMODE(path.stat().st_mode) for path in everything if path.is_dir()} == {0o700}
    assert {stat.S_IMODE(path.stat().st_mode) for path in everything if path.is_file()} == {0o600}
    await again.aclose()


Damage = Callable[[Path], None]


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def append(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"}")


def put_nul(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 30] = bytes(30)
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("damage", "lost_turns"),
    [
        (cut, 1),
        (append, 0),
        (put_nul, 1),
        (lambda path: path.write_bytes(b""), 3),
        (lambda path: path.write_bytes(b"[]"), 3),
    ],
)
async def test_b13_a_damaged_conversation_starts_keeps_the_original_and_saves_on(
    store: DiskPersistence, folder: Path, damage: Damage, lost_turns: int
) -> None:
    for number in range(1, 4):
        await store.persist_turn(turn("conv", number))
    await store.aclose()
    path = StoreLayout(folder).conversation("conv")
    damage(path)
    damaged = path.read_bytes()
    again = open_store(folder)
    assert await again.active_conversation_id() == "conv"
    assert await again.hold("conv") is None
    messages = await again.load_messages("conv")
    assert len(messages) == 4 * (3 - lost_turns)
    (notice,) = again.take_notices()
    assert str(path) in notice.text and notice.kept_copy in notice.text
    assert Path(notice.kept_copy).read_bytes() == damaged
    await again.persist_turn(turn("conv", 9))
    third = await reopened(again, folder)
    assert len(await third.load_messages("conv")) == len(messages) + 4
    assert third.take_notices() == ()
    await third.aclose()


async def test_b13_a_newer_store_is_left_alone(store: DiskPersistence, folder: Path) -> None:
    from smith_core.store.journal.line import encode_header

    await store.persist_turn(turn("conv", 1))
    await store.aclose()
    path = StoreLayout(folder).global_journal
    data = path.read_bytes()
    newer = encode_header(3, 1) + data[data.index(b"\n") + 1 :]
    path.write_bytes(newer)
    again = open_store(folder)
    with pytest.raises(AgentFailure, match="newer smith-tui"):
        await again.list_conversations()
    assert path.read_bytes() == newer
    await again.aclose()


async def test_b13_a_full_disk_keeps_turns_in_memory_until_there_is_room(folder: Path) -> None:
    disk = FullDisk(1 << 20)
    store = open_store(folder, disk)
    await store.persist_turn(turn("conv", 1))
    disk.room = 0
    for number in (2, 3):
        with pytest.raises(AgentFailure) as caught:
            await store.save_prompt("conv", f"turn-{number}", prompt(number))
        assert caught.value.error.kind == "persistence"
        with pytest.raises(AgentFailure, match="disk is full; free some space"):
            await store.persist_turn(turn("conv", number))
        disk.room = 100
    assert store.unsaved_turns == 2
    assert len(await store.load_messages("conv")) == 12
    assert [stored.sequence for stored in await store.load_tail("conv", 6)] == list(range(7, 13))
    disk.room = 1 << 20
    await store.persist_turn(turn("conv", 4))
    assert store.unsaved_turns == 0
    again = await reopened(store, folder)
    prompts = [message.content for message in await again.load_messages("conv") if message.role == "user"]
    assert prompts == ["prompt 1", "prompt 2", "prompt 3", "prompt 4"]
    await again.aclose()


async def test_a_prompt_that_was_saved_is_not_doubled_by_a_turn_that_was_not(folder: Path) -> None:
    disk = FullDisk(1 << 20)
    store = open_store(folder, disk)
    await store.save_prompt("conv", "turn-1", prompt(1))
    disk.room = 0
    with pytest.raises(AgentFailure):
        await store.persist_turn(turn("conv", 1))
    assert [message.role for message in await store.load_messages("conv")] == ["user", "assistant", "tool", "assistant"]
    disk.room = 1 << 20
    await store.aclose()
    again = open_store(folder)
    assert [message.role for message in await again.load_messages("conv")] == ["user", "assistant", "tool", "assistant"]
    await again.aclose()


def test_a_kill_right_behind_the_first_prompt_of_a_conversation_is_gone_on_behind(folder: Path) -> None:
    store = Store(folder)
    store.persist_turn(turn("old", 1))
    store.global_file.set_active("")
    store.save_prompt("new", "turn-2", prompt(2))
    assert Store(folder).global_file.active_conversation() == "new"
    store.close()


async def test_a_failed_sync_neither_loses_nor_doubles_a_turn(folder: Path) -> None:
    disk = FullDisk(1 << 20)
    store = open_store(folder, disk)
    await store.persist_turn(turn("conv", 1))
    disk.sync_fails = True
    with pytest.raises(AgentFailure, match="check the disk"):
        await store.persist_turn(turn("conv", 2))
    await store.persist_turn(turn("conv", 3))
    again = await reopened(store, folder)
    assert [message.content for message in await again.load_messages("conv") if message.role == "user"] == [
        "prompt 1",
        "prompt 2",
        "prompt 3",
    ]
    await again.aclose()


async def test_b13_a_folder_that_cannot_be_made_is_one_clear_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = open_disk_persistence(tmp_path / "file" / "smith")
    with pytest.raises(AgentFailure, match="cannot make the folder"):
        await store.list_conversations()
    with pytest.raises(AgentFailure, match="cannot make the folder"):
        await store.persist_turn(turn("conv", 1))
    assert len(await store.load_messages("conv")) == 4
    await store.aclose()
    with pytest.raises(AgentFailure, match="closed"):
        await store.list_conversations()


async def test_a_turn_left_over_in_one_conversation_is_saved_with_another(store: DiskPersistence, folder: Path) -> None:
    await store.persist_turn(turn("one", 1))
    path = StoreLayout(folder).conversation("one")
    await store.save_prompt("one", "turn-2", prompt(2))
    moved = path.parent.with_name("moved")
    path.parent.rename(moved)
    path.parent.write_text("in the way")
    with pytest.raises(AgentFailure):
        await store.persist_turn(turn("one", 2))
    path.parent.unlink()
    moved.rename(path.parent)
    await store.persist_turn(turn("two", 1))
    assert store.unsaved_turns == 0
    again = await reopened(store, folder)
    assert [m.content for m in await again.load_messages("one") if m.role == "user"] == ["prompt 1", "prompt 2"]
    await again.aclose()


async def test_a_cancelled_caller_does_not_stop_a_turn_from_being_saved(store: DiskPersistence, folder: Path) -> None:
    saving = asyncio.create_task(store.persist_turn(turn("conv", 1)))
    await asyncio.sleep(0)
    saving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await saving
    again = await reopened(store, folder)
    assert len(await again.load_messages("conv")) == 4
    await again.aclose()


async def test_the_event_loop_goes_on_while_the_store_works(store: DiskPersistence) -> None:
    ticks = 0
    saving = asyncio.create_task(store.persist_turn(turn("conv", 1)))
    while not saving.done():
        ticks += 1
        await asyncio.sleep(0)
    assert ticks > 3


async def test_a_long_conversation_is_read_without_much_more_room_than_it_takes(folder: Path) -> None:
    texts = [f"{number} {'word ' * 100}" for number in range(2_000)]
    store = open_store(folder)
    await store.persist_turn(turn("c1", 1, messages=tuple(Message(role="user", content=text) for text in texts)))
    store = await reopened(store, folder)
    await store.load_tail("c1", 1)  # what is imported and opened at first does not count
    tracemalloc.start()
    try:
        stored = await store.load_stored("c1")
        kept, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [item.message.content for item in stored] == texts
    assert most < 1.5 * kept
    await store.aclose()
