"""Persistence, damage and sharing: nothing acknowledged is lost, nothing stands in the way of a start (B13, B14)."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from smith_core.commands.opening import ResumeWish
from smith_core.errors import AgentFailure
from smith_core.events import (
    AnyEvent,
    ConversationLoaded,
    HeldElsewhere,
    MessagesFollowed,
    SaveStateChanged,
)
from smith_core.maintenance import check_store
from smith_core.messages import Message
from smith_core.runtime import Runtime
from smith_core.store.journal.lock import FileLock
from smith_core.store.layout import StoreLayout
from smith_core.store.peek import read_stored_overrides
from smith_core.store.transfer import export_store
from tests.core.store.test_persistence import turn
from tests.core.test_conversations import LAST, only, opened, prompts, three_turns
from tests.support.copy_process import CopyProcess
from tests.support.engine import command, open_stored_engine, run_turn, said
from tests.support.place import Place, ask, sent
from tests.support.processes import wait_for_file
from tests.support.scripted_client import ScriptedClient
from tests.support.server_thread import ServerThread
from tests.support.store_disks import FullDisk, open_store

HOLDING = """
import sys, time
from pathlib import Path
from smith_core.store.journal.lock import FileLock
for name in sys.argv[1:]:
    FileLock(Path(name)).acquire()
Path(sys.argv[1] + ".told").write_text("held")
time.sleep(60)
"""

ROOT = Path(__file__).parents[2]
THINGS: tuple[Callable[[Path], None], ...] = (os.mkfifo, Path.mkdir)

Damage = Callable[[Path], object]

DAMAGES: dict[str, tuple[Damage, int]] = {  # and how many messages of six are lost
    "cut": (lambda path: path.write_bytes(path.read_bytes()[:-20]), 1),
    "empty": (lambda path: path.write_bytes(b""), 6),
    "brackets": (lambda path: path.write_bytes(b"[]"), 6),
    "brace": (lambda path: path.write_bytes(path.read_bytes() + b"}"), 0),
    "nul": (lambda path: path.write_bytes(path.read_bytes()[:-200] + bytes(100) + path.read_bytes()[-100:]), 1),
}


def start_holder(locks: list[str]) -> "subprocess.Popen[bytes]":
    """Start a process that has the locks when this returns."""
    holder = subprocess.Popen([sys.executable, "-c", HOLDING, *locks])
    wait_for_file(Path(f"{locks[0]}.told"))
    return holder


async def test_b13_a_size_limit_leaves_a_whole_store_and_saves_again_without_it(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "tests.support.limited_store", str(folder)],
        cwd=ROOT,
        check=True,
        timeout=60,
    )
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


def searched(folder: Path, wish: ResumeWish) -> Runtime:
    return open_stored_engine(folder, ScriptedClient("fine"), wish, is_searched=True)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("put", THINGS)
@pytest.mark.parametrize("which", ["global", "conversation", "side file", "lock"])
async def test_b13_a_start_waits_for_nothing_that_is_no_file(
    tmp_path: Path, which: str, put: Callable[[Path], None]
) -> None:
    first = searched(tmp_path, ResumeWish("last"))
    await run_turn(first, "hello")
    conversation_id = first.services.conversation.conversation_id
    await first.stop_session("end")
    layout = StoreLayout(tmp_path / "data")
    journal = layout.conversation(conversation_id)
    path = {
        "global": layout.global_journal,
        "conversation": journal,
        "side file": journal.with_name(f"{journal.name}.idx"),
        "lock": layout.lock_of(journal),
    }[which]
    path.unlink(missing_ok=True)
    put(path)

    assert read_stored_overrides(layout.folder) == {}
    again = searched(tmp_path, ResumeWish("last"))
    words = said([event async for event in again.open()])
    assert (await run_turn(again, "go on")).text == "fine"
    if which in ("global", "conversation"):
        assert f"{path} cannot be used (it is a" in words
        assert "move away what stands there" in words
        assert [report.path for report in check_store(layout.folder).journals if report.problems] == [path]
    await again.stop_session("end")
    assert not path.is_file()


def test_b14_a_second_app_says_who_has_the_conversation(place: Place) -> None:
    with (
        ServerThread(["answer one", "answer two", "answer three"], strict=True) as server,
        place.start(server.url) as first,
    ):
        first.wait_for("Smith")
        ask(first, "prompt one", "answer one")
        with place.start(server.url) as second:
            screen = second.wait_for("/follow shows it read-only")
            assert f"process {first.process.pid}" in screen
            ask(second, "prompt two", "answer two")
        ask(first, "prompt three", "answer three")
        expected = [("user", "prompt one"), ("assistant", "answer one"), ("user", "prompt three")]
        assert sent(server) == expected


@pytest.mark.parametrize("place", ["conversation", "global"])
@pytest.mark.parametrize("damage", DAMAGES)
async def test_b13_a_damaged_file_is_named_kept_and_worked_around(tmp_path: Path, damage: str, place: str) -> None:
    conversation_id, _ = await three_turns(tmp_path)
    layout = StoreLayout(tmp_path / "data")
    path = layout.conversation(conversation_id) if place == "conversation" else layout.global_journal
    hurt, lost = DAMAGES[damage]
    hurt(path)
    damaged = path.read_bytes()
    runtime = open_stored_engine(tmp_path, ScriptedClient("again"), LAST)
    words = said(await opened(runtime))
    (copy,) = (tmp_path / "data").rglob("*.corrupt-*")
    assert str(path) in words and str(copy) in words
    assert copy.read_bytes() == damaged
    kept = 6 - (lost if place == "conversation" else 0)
    assert len(runtime.services.conversation.messages) == kept
    assert (await run_turn(runtime, "next")).stop_reason == "completed"
    await runtime.stop_session("quit")
    third = open_stored_engine(tmp_path, ScriptedClient("x"), LAST)
    assert said(await opened(third)) == ""
    assert prompts(third)[-1:] == ["next"]
    assert len(third.services.conversation.messages) == kept + 2
    await third.stop_session("quit")


async def test_b13_a_full_disk_shows_the_answer_says_not_saved_and_saves_again(tmp_path: Path) -> None:
    disk = FullDisk(1 << 20)
    runtime = open_stored_engine(tmp_path, ScriptedClient("one", "two", "three", "four"), disk=disk)
    await run_turn(runtime, "prompt 1")
    disk.room = 0
    events: list[AnyEvent] = []
    assert (await run_turn(runtime, "prompt 2", events)).text == "two"
    assert said(events).count("not saved: the disk is full; free some space") == 1
    states = [event for event in events if isinstance(event, SaveStateChanged)]
    assert states[-1].unsaved_turns == 1 and "disk is full" in states[-1].problem
    events.clear()
    assert (await run_turn(runtime, "prompt 3", events)).text == "three"
    assert said(events).count("not saved") == 1
    assert "3 messages" not in runtime.unsaved_sentence() and runtime.unsaved_sentence().startswith("2 turns could not")
    disk.room = 1 << 20
    events.clear()
    await run_turn(runtime, "prompt 4", events)
    assert "saved again" in said(events)
    assert only(events, SaveStateChanged) == SaveStateChanged(problem="")
    await runtime.stop_session("quit")
    assert runtime.unsaved_sentence() == ""
    again = open_stored_engine(tmp_path, ScriptedClient("x"), LAST)
    await opened(again)
    assert prompts(again) == [f"prompt {number}" for number in (1, 2, 3, 4)]
    await again.stop_session("quit")


async def test_b13_a_data_folder_that_cannot_be_made_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("in the way")
    runtime = open_stored_engine(tmp_path, ScriptedClient("one", "two"), LAST, is_searched=True)
    assert "not saved: cannot make the folder" in said(await opened(runtime))
    events: list[AnyEvent] = []
    assert (await run_turn(runtime, "prompt 1", events)).text == "one"
    assert "not saved" in said(events)
    text = said(await command(runtime, "/config set tool_step_budget 4"))
    assert "for this session only" in text
    assert runtime.services.config.effective.tool_step_budget == 4
    for line in ("/list", "/record a b", "/recall", "/note", "/search x", "/usage"):
        assert "Traceback" not in said(await command(runtime, line)), line
    assert (tmp_path / "data").read_text() == "in the way"
    (tmp_path / "data").unlink()
    events.clear()
    await run_turn(runtime, "prompt 2", events)
    assert "saved again" in said(events)
    await runtime.stop_session("quit")
    again = open_stored_engine(tmp_path, ScriptedClient("x"), LAST)
    await opened(again)
    assert prompts(again) == ["prompt 1", "prompt 2"]
    await again.stop_session("quit")


async def test_b14_the_second_copy_learns_who_has_the_conversation_and_uses_a_new_one(tmp_path: Path) -> None:
    conversation_id, messages = await three_turns(tmp_path)
    one = open_stored_engine(tmp_path, ScriptedClient("answer"), LAST)
    two = open_stored_engine(tmp_path, ScriptedClient("answer"), LAST)
    await opened(one)
    events = await opened(two)
    held = only(events, HeldElsewhere)
    assert isinstance(held, HeldElsewhere)
    assert (held.conversation_id, held.title) == (conversation_id, "prompt 1") and held.pid > 0
    assert all(choice in said(events) for choice in (str(held.pid), "/follow", "/fork", "/new"))

    async def work(runtime: Runtime, name: str) -> None:
        for number in range(10):
            await run_turn(runtime, f"{name} {number}")
            await command(runtime, f"/note upsert {name}{number} text")
        await command(runtime, "/config set " + ("tool_step_budget 7" if name == "one" else "index_file NOTES.md"))

    await asyncio.gather(work(one, "one"), work(two, "two"))
    await asyncio.gather(one.stop_session("quit"), two.stop_session("quit"))
    third = open_stored_engine(tmp_path, ScriptedClient("x"))
    assert said(await opened(third)) == ""
    metas = {meta.conversation_id: meta.message_count for meta in await third.shelf.list_conversations()}
    assert sorted(metas.values()) == [20, 26]
    assert metas[conversation_id] == len(messages) + 20
    assert len(said(await command(third, "/note")).splitlines()) == 20
    stored = await third.services.persistence.read_overrides()
    assert stored == {"tool_step_budget": 7, "index_file": "NOTES.md"}
    await third.stop_session("quit")


async def test_b14_the_other_copys_conversation_can_be_forked(tmp_path: Path) -> None:
    _, messages = await three_turns(tmp_path)
    one = open_stored_engine(tmp_path, ScriptedClient("answer"), LAST)
    two = open_stored_engine(tmp_path, ScriptedClient("answer"), LAST)
    await opened(one)
    await opened(two)
    await command(two, "/fork")
    assert two.services.conversation.messages == messages
    assert (await run_turn(two, "on my own")).text == "answer"
    await run_turn(one, "on mine")
    assert prompts(one)[-1] == "on mine" and prompts(two)[-1] == "on my own"
    assert set((await two.shelf.held_conversations()).values()) != set()
    await asyncio.gather(one.stop_session("quit"), two.stop_session("quit"))


async def test_b14_following_shows_what_is_added_and_ends_with_the_other_copy(tmp_path: Path) -> None:
    _, messages = await three_turns(tmp_path)
    one = open_stored_engine(tmp_path, ScriptedClient("answer"), LAST)
    two = open_stored_engine(tmp_path, ScriptedClient("mine now"), LAST)
    await opened(one)
    await opened(two)
    followed = two.process_raw_input("/follow")
    loaded = await anext(followed)
    assert isinstance(loaded, ConversationLoaded)
    assert loaded.messages == messages and loaded.is_read_only
    assert "/fork goes on with a copy" in said(await command(two, "my prompt"))
    await run_turn(one, "prompt 4")
    added: list[Message] = []
    async for event in followed:
        if isinstance(event, MessagesFollowed):
            added += event.messages
        if len(added) == 2:
            break
    assert [message.content for message in added] == ["prompt 4", "answer"]
    await one.stop_session("quit")
    assert (await run_turn(two, "prompt 5")).text == "mine now"
    assert [event async for event in followed] == []  # it ended when the conversation became our own
    assert prompts(two)[-2:] == ["prompt 4", "prompt 5"]
    await two.stop_session("quit")


PROMPTS = 10


def test_b14_two_copies_save_all_prompts_notes_and_settings_and_a_killed_one_blocks_nobody(tmp_path: Path) -> None:
    first = CopyProcess(tmp_path)
    assert first.say("seed")["ends"] == ["kept"]
    second = CopyProcess(tmp_path)
    assert second.opened["held_by"] == [first.process.pid]
    copies = {"a": first, "b": second}
    for number in range(PROMPTS):
        for name, copy in copies.items():
            assert copy.say(f"{name} in turn {number}") == {"said": [], "ends": ["kept"], "held_by": []}
    for number in range(PROMPTS):
        waiting = [copy.begin(f"{name} at once {number}") for name, copy in copies.items()]
        assert [wait()["ends"] for wait in waiting] == [["kept"], ["kept"]]
    waiting = [first.begin("/config set tool_step_budget 7"), second.begin("/config set default_model m2")]
    assert all("is now" in wait()["said"][0] for wait in waiting)
    assert second.end() == 0
    first.end(kill=True)  # which holds the lock of its conversation until then

    started = time.monotonic()
    third = CopyProcess(tmp_path)
    assert time.monotonic() - started < 5
    assert (third.opened["said"], third.opened["held_by"]) == ([], [])
    assert third.say("gone on")["ends"] == ["kept"]
    assert third.end() == 0
    assert check_store(tmp_path / "data").is_healthy
    _all_is_there(tmp_path)


def _all_is_there(folder: Path) -> None:
    """Each prompt is there once, in the order of its copy and in whole rounds, and each note."""
    export_store(folder / "data", folder / "out.jsonl")
    lines = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()[1:-1]]
    ways = ("in turn", "at once")
    expected = {name: [f"{name} {way} {number}" for way in ways for number in range(PROMPTS)] for name in "ab"}
    talks: dict[str, list[str]] = {}
    for line in lines:
        if line["table"] == "conversation":
            talks.setdefault(line["conversation"], []).append(line["value"])
    prompts = [[message["content"] for message in talk if message["role"] == "user"] for talk in talks.values()]
    # The third goes on with the conversation that was saved last, which is that of one or the other.
    assert ["gone on"] in [said[-1:] for said in prompts]
    assert sorted([prompt for prompt in said if prompt != "gone on"] for said in prompts) == [
        expected["b"], ["seed", *expected["a"]]
    ]  # fmt: skip
    for talk in talks.values():
        assert [message["role"] for message in talk] == ["user", "assistant", "tool", "assistant"] * (len(talk) // 4)
    notes = {line["value"]["text"] for line in lines if line["table"] == "project_memory"}
    assert notes == {f"note of {prompt}" for said in prompts for prompt in said}
    settings = [line["value"] for line in lines if line.get("key") == "runtime_overrides"]
    assert settings == [{"default_model": "m2", "tool_step_budget": 7}]


def test_b13_a_damaged_conversation_comes_back_in_the_running_app_and_its_original_is_kept(place: Place) -> None:
    with ServerThread([f"answer {number}" for number in range(6)], strict=True) as server:
        with place.start(server.url) as terminal:
            terminal.wait_for("Smith")
            for number in range(3):
                ask(terminal, f"prompt {number}", f"answer {number}")
            terminal.type("/quit\r")
            assert terminal.wait_for_exit() == 0
        (journal,) = (place.home / ".local/share/smith/conv").rglob("*.jrnl")
        damaged = bytearray(journal.read_bytes())
        damaged[-40:-30] = bytes(10)
        journal.write_bytes(damaged)
        with place.start(server.url) as terminal:
            terminal.wait_for("prompt 1")
            ask(terminal, "prompt 3", "answer 3")
            terminal.type("/quit\r")
            assert terminal.wait_for_exit() == 0
        (kept,) = journal.parent.glob("*.corrupt-*")
        assert kept.read_bytes() == bytes(damaged)
        assert b"Traceback" not in terminal.raw
        assert "answer 1" in [content for _, content in sent(server)]
