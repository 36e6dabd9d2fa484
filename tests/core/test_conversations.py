"""A session over the store on disk: resume, load, fork, delete, follow, damage, full disks, two copies at once."""

import asyncio
import stat
from pathlib import Path

import pytest

from smith_core.commands.listing import where_dispatched
from smith_core.commands.opening import TAIL_MESSAGES, ResumeWish
from smith_core.events import (
    AnyEvent,
    ConversationLoaded,
    PickerRequested,
    SessionChanged,
    TurnEnded,
)
from smith_core.messages import Message, ToolCall, ToolMetadata, TurnRecord, TurnResult
from smith_core.runtime import Runtime
from smith_core.store.interface import StoredMessage
from tests.support.cast import cast
from tests.support.engine import command, open_stored_engine, run_turn, said, shape
from tests.support.scripted_client import ScriptedClient, calls
from tests.support.store_disks import open_store

LAST = ResumeWish("last")
FIND_OUT = {"role": "explorer", "task": "find out"}
REPORT = {"status": "ok", "summary": "found it", "findings": ["x is there"], "evidence": ["a.py:1"]}


async def opened(runtime: Runtime) -> list[AnyEvent]:
    return [event async for event in runtime.open()]


def only(events: list[AnyEvent], kind: type[AnyEvent]) -> AnyEvent:
    (event,) = [event for event in events if isinstance(event, kind)]
    return event


def prompts(runtime: Runtime) -> list[str]:
    return [message.content for message in runtime.services.conversation.messages if message.role == "user"]


def turn_of(conversation_id: str, messages: tuple[Message, ...]) -> TurnRecord:
    return TurnRecord(
        turn_id="turn-1",
        conversation_id=conversation_id,
        project_id="p",
        cwd="/work",
        started_at=1.0,
        messages=messages,
        result=TurnResult(turn_id="turn-1", conversation_id=conversation_id, role="direct", stop_reason="error"),
    )


async def three_turns(folder: Path) -> tuple[str, tuple[Message, ...]]:
    """Run three turns and quit; return the conversation's id and messages."""
    runtime = open_stored_engine(folder, ScriptedClient("one", "two", "three"))
    for number in (1, 2, 3):
        await run_turn(runtime, f"prompt {number}")
    await runtime.stop_session("quit")
    conversation = runtime.services.conversation
    return conversation.conversation_id, conversation.messages


async def test_a_restart_goes_on_where_the_last_one_ended_and_once_only(tmp_path: Path) -> None:
    conversation_id, messages = await three_turns(tmp_path)
    client = ScriptedClient("four")
    runtime = open_stored_engine(tmp_path, client, LAST)
    loaded = only(await opened(runtime), ConversationLoaded)
    assert isinstance(loaded, ConversationLoaded)
    assert (loaded.conversation_id, loaded.messages, loaded.title) == (conversation_id, messages, "prompt 1")
    assert loaded.sequences == (1, 2, 3, 4, 5, 6)
    assert await opened(runtime) == []
    await run_turn(runtime, "prompt 4")
    assert [message.content for message in client.requests[0].messages][1:] == [
        "prompt 1", "one", "prompt 2", "two", "prompt 3", "three", "prompt 4",
    ]  # fmt: skip
    await command(runtime, "/new")
    assert prompts(runtime) == []
    await runtime.stop_session("quit")


async def test_a_prompt_that_comes_before_the_opening_waits_for_it(tmp_path: Path) -> None:
    await three_turns(tmp_path)
    runtime = open_stored_engine(tmp_path, ScriptedClient("four"), LAST)
    events: list[AnyEvent] = []
    await run_turn(runtime, "prompt 4", events)
    assert isinstance(events[0], ConversationLoaded)
    assert prompts(runtime) == ["prompt 1", "prompt 2", "prompt 3", "prompt 4"]
    await runtime.stop_session("quit")


@pytest.mark.parametrize("how", ["new", "clear", "empty", "deleted"])
async def test_starts_that_resume_nothing(tmp_path: Path, how: str) -> None:
    if how != "empty":
        await three_turns(tmp_path)
    if how in ("clear", "deleted"):
        first = open_stored_engine(tmp_path, ScriptedClient("x"), LAST)
        await command(first, "/clear" if how == "clear" else "/delete")
        await first.stop_session("quit")
    runtime = open_stored_engine(tmp_path, ScriptedClient("x"), ResumeWish("new") if how == "new" else LAST)
    assert not [event for event in await opened(runtime) if isinstance(event, ConversationLoaded)]
    assert runtime.services.conversation.messages == ()
    await runtime.stop_session("quit")


async def test_a_start_can_name_the_conversation_or_ask(tmp_path: Path) -> None:
    conversation_id, _ = await three_turns(tmp_path)
    for target in (conversation_id, "prompt", "1"):
        runtime = open_stored_engine(tmp_path, ScriptedClient("x"), ResumeWish("named", target))
        await opened(runtime)
        assert runtime.services.conversation.conversation_id == conversation_id
        await runtime.stop_session("quit")
    runtime = open_stored_engine(tmp_path, ScriptedClient("x"), ResumeWish("named", "nonsense"))
    assert "there is no conversation 'nonsense'" in said(await opened(runtime))
    assert (await run_turn(runtime, "goes on")).text == "x"
    await runtime.stop_session("quit")
    runtime = open_stored_engine(tmp_path, ScriptedClient("x"), ResumeWish("pick"))
    assert "prompt 1" in said(await opened(runtime))
    runtime.session.has_screen = True
    picker = only(await command(runtime, "/load"), PickerRequested)
    assert picker == PickerRequested(kind="conversations")
    assert only(await command(runtime, "/search x"), PickerRequested) == PickerRequested(kind="search", query="x")
    await runtime.stop_session("quit")


async def test_stored_settings_are_in_effect_before_the_first_turn(tmp_path: Path) -> None:
    first = open_stored_engine(tmp_path, ScriptedClient("x"))
    await command(first, "/config set active_role orchestrator")
    await command(first, "/config set tool_step_budget 9")
    await command(first, "/config set default_model other")
    await first.stop_session("quit")
    runtime = open_stored_engine(tmp_path, ScriptedClient("x"))
    assert (await run_turn(runtime, "go")).role == "orchestrator"
    assert runtime.services.config.effective.tool_step_budget == 9
    await runtime.stop_session("quit")
    later = open_stored_engine(tmp_path, ScriptedClient("x"))
    changed = only(await opened(later), SessionChanged)
    assert isinstance(changed, SessionChanged) and changed.role == "orchestrator"
    assert later.services.config.effective.default_model == "scripted"  # the arguments of the start win
    await later.stop_session("quit")


@pytest.mark.parametrize(
    ("settings", "line", "role"),
    [
        ({}, "", "orchestrator"),
        ({"active_role": "direct"}, "", "direct"),
        ({}, "/config set active_role direct", "direct"),
    ],
)
async def test_a_conversation_goes_on_in_its_role_unless_somebody_has_set_one(
    settings: dict[str, str], line: str, role: str, tmp_path: Path
) -> None:
    first = open_stored_engine(tmp_path, ScriptedClient("x"))
    if line:
        await command(first, line)
    await command(first, "/role orchestrator")
    await run_turn(first, "go")
    await first.stop_session("quit")
    runtime = open_stored_engine(tmp_path, ScriptedClient("x"), LAST, settings)
    await opened(runtime)
    assert prompts(runtime) == ["go"] and runtime.session.active_role == role
    await runtime.stop_session("quit")


async def test_the_last_messages_of_a_long_conversation_come_first(tmp_path: Path) -> None:
    messages = tuple(Message(role="user", content=f"prompt {number}") for number in range(TAIL_MESSAGES + 50))
    store = open_store(tmp_path / "data")
    await store.persist_turn(turn_of("long", messages))
    await store.aclose()
    runtime = open_stored_engine(tmp_path, ScriptedClient("x"), LAST)
    first, second = [event for event in await opened(runtime) if isinstance(event, ConversationLoaded)]
    assert (first.messages, first.is_whole, first.sequences[0]) == (messages[50:], False, 51)
    assert (second.messages, second.is_whole) == (messages, True)
    assert runtime.services.conversation.messages == messages
    await runtime.stop_session("quit")


# Commands


async def test_list_load_and_titles(tmp_path: Path) -> None:
    runtime = open_stored_engine(tmp_path, ScriptedClient("one", "two"))
    assert "no such conversation" in said(await command(runtime, "/list"))
    await run_turn(runtime, "fix the parser")
    first = runtime.services.conversation.conversation_id
    await command(runtime, "/new Second one")
    await run_turn(runtime, "write docs")
    listed = said(await command(runtime, "/list")).splitlines()
    assert "1* Second one" in listed[0] and "2  fix the parser" in listed[1]
    loaded = only(await command(runtime, "/load 2"), ConversationLoaded)
    assert isinstance(loaded, ConversationLoaded) and loaded.conversation_id == first
    await command(runtime, "/title A better name")
    assert "A better name" in said(await command(runtime, "/title"))
    await command(runtime, "/load second")
    assert prompts(runtime) == ["write docs"]
    assert "1  A better name" in said(await command(runtime, "/list better"))
    assert "there is no conversation 'zzz'" in said(await command(runtime, "/load zzz"))
    assert prompts(runtime) == ["write docs"]
    assert "this conversation" not in said(await command(runtime, "/usage"))
    await runtime.stop_session("quit")


async def test_the_title_is_made_from_the_first_prompt(tmp_path: Path) -> None:
    runtime = open_stored_engine(tmp_path, ScriptedClient("x"))
    await run_turn(runtime, "fix\nthe " + "very " * 50)
    title = runtime.services.conversation.title
    assert title.startswith("fix the very") and len(title) <= 60
    (meta,) = await runtime.shelf.list_conversations()
    assert meta.title == title
    await runtime.stop_session("quit")


async def test_a_fork_at_a_message_goes_its_own_way(tmp_path: Path) -> None:
    conversation_id, messages = await three_turns(tmp_path)
    runtime = open_stored_engine(tmp_path, ScriptedClient("other"), LAST)
    await command(runtime, "/fork 4")
    assert runtime.services.conversation.conversation_id != conversation_id
    assert runtime.services.conversation.messages == messages[:4]
    await run_turn(runtime, "another third")
    assert prompts(runtime) == ["prompt 1", "prompt 2", "another third"]
    await command(runtime, f"/load {conversation_id}")
    assert runtime.services.conversation.messages == messages
    assert "usage" in said(await command(runtime, "/fork x"))
    last = runtime.services.conversation.conversation_id
    assert "the last message is number 6" in said(await command(runtime, "/fork 7"))
    assert runtime.services.conversation.conversation_id == last
    await command(runtime, "/new")
    assert "nothing to copy" in said(await command(runtime, "/fork"))
    await runtime.stop_session("quit")


async def test_a_deletion_can_be_taken_back(tmp_path: Path) -> None:
    conversation_id, messages = await three_turns(tmp_path)
    runtime = open_stored_engine(tmp_path, ScriptedClient("x"), LAST)
    assert "'prompt 1' is deleted" in said(await command(runtime, "/delete"))
    assert runtime.services.conversation.messages == ()
    assert await runtime.shelf.list_conversations() == ()
    assert "nothing to delete" in said(await command(runtime, "/delete"))
    await command(runtime, "/undelete")
    assert runtime.services.conversation.messages == messages
    assert "nothing was deleted" in said(await command(runtime, "/undelete"))
    await command(runtime, "/new")
    await command(runtime, "/delete 1")
    assert await runtime.shelf.list_conversations() == ()
    await command(runtime, f"/undelete {conversation_id}")
    assert len(await runtime.shelf.list_conversations()) == 1
    await runtime.stop_session("quit")


async def test_notes_by_command_are_those_of_the_tools(tmp_path: Path) -> None:
    recalling = calls(("recall", {"key": "plan"}), ("note", {"action": "get", "id": "build"}))
    runtime = open_stored_engine(tmp_path, ScriptedClient(recalling, "ok"))
    assert "usage: /record" in said(await command(runtime, "/record plan"))
    await command(runtime, "/record plan first  the tests")
    await command(runtime, "/note upsert build make test")
    await run_turn(runtime, "go")
    results = [message.content for message in runtime.services.conversation.messages if message.role == "tool"]
    assert results == ["first  the tests", "make test"]
    assert said(await command(runtime, "/recall plan")) == "first  the tests"
    assert "plan (16 characters)" in said(await command(runtime, "/recall pl"))
    assert "plan (16 characters)" in said(await command(runtime, "/recall"))
    assert "make test" in said(await command(runtime, "/note"))
    assert said(await command(runtime, "/note get build")) == "make test"
    assert "deleted" in said(await command(runtime, "/note delete build"))
    assert "no notes yet" in said(await command(runtime, "/note list"))
    assert "usage: /note" in said(await command(runtime, "/note explode"))
    await runtime.stop_session("quit")


async def test_search_by_command_leads_to_the_message(tmp_path: Path) -> None:
    runtime = open_stored_engine(tmp_path, ScriptedClient("uses parseHTTPRequest", "fine", "x"), is_searched=True)
    await run_turn(runtime, "where?")
    await run_turn(runtime, "thanks")
    first = runtime.services.conversation.conversation_id
    await command(runtime, "/new")
    found = said(await command(runtime, "/search http"))
    assert "assistant in 'where?', message 2" in found and "uses parseHTTPRequest" in found
    loaded = only(await command(runtime, "/load 1"), ConversationLoaded)
    assert isinstance(loaded, ConversationLoaded)
    assert (loaded.conversation_id, loaded.shown_sequence) == (first, 2)
    assert "nothing was found" in said(await command(runtime, "/search zzz"))
    await runtime.stop_session("quit")


@pytest.mark.parametrize("line", ["/search zanzibar", "/recall zanzibar"])
async def test_what_a_child_said_leads_to_the_call_that_dispatched_it(line: str, tmp_path: Path) -> None:
    child = [calls(("bash", {"command": "true"}), text="off to zanzibar"), calls(("report", REPORT))]
    direct = ["fine", calls(("bash", {"command": "true"})), calls(("dispatch", FIND_OUT)), "done"]
    client = ScriptedClient(cast(direct=direct, explorer=child))
    runtime = open_stored_engine(tmp_path, client, is_searched=True)
    await run_turn(runtime, "hello")
    await run_turn(runtime, "go")
    assert runtime.services.conversation.messages[5].tool_calls[0].name == "dispatch"
    await command(runtime, "/new")
    found = said(await command(runtime, line))
    assert ", message 2" in found and "child " in found
    loaded = only(await command(runtime, "/load 1"), ConversationLoaded)
    assert isinstance(loaded, ConversationLoaded) and loaded.shown_sequence == 6
    await runtime.stop_session("quit")


def test_a_child_is_looked_for_where_it_was_dispatched_even_if_ids_repeat() -> None:
    asked = Message(role="assistant", tool_calls=(ToolCall("c1", "dispatch"),))
    first, second = (
        Message(role="tool", tool_call_id="c1", metadata=ToolMetadata(job_id=job)) for job in ("first", "second")
    )
    stored = [StoredMessage(at, message) for at, message in enumerate((asked, first, asked, second), 11)]
    assert [where_dispatched(stored, job) for job in ("first", "second", "nobody")] == [11, 13, 0]
    assert where_dispatched(stored[1:2], "first") == 12, "the call was deleted"


# What is kept of a turn


async def test_a_cancelled_turn_is_kept_when_the_program_ends_in_the_middle_of_it(tmp_path: Path) -> None:
    two = calls(("bash", {"command": "echo first"}), ("bash", {"command": "sleep 300"}))
    runtime = open_stored_engine(tmp_path, ScriptedClient(two))
    turn = asyncio.create_task(run_turn(runtime, "go"))
    while runtime.session.current_turn is None or not runtime.session.current_turn.token:
        await asyncio.sleep(0)
    while not list((tmp_path / "data").rglob("*.jrnl")) or len(runtime.services.model.client.requests) < 1:  # type: ignore[attr-defined]
        await asyncio.sleep(0.01)
    await runtime.stop_session("quit")
    assert (await turn).stop_reason == "cancelled"
    again = open_stored_engine(tmp_path, ScriptedClient("x"), LAST)
    await opened(again)
    assert shape(again.services.conversation.messages) == ["user", "assistant c1 c2", "tool c1", "tool c2"]
    await again.stop_session("quit")


async def test_b15_a_prompt_of_a_killed_turn_is_sent_again_with_the_next(tmp_path: Path) -> None:
    await three_turns(tmp_path)
    # What kill -9 in the middle of a turn leaves: the prompt, and nothing of the turn.
    store = open_store(tmp_path / "data")
    active = await store.active_conversation_id()
    await store.save_prompt(active, "turn-9", Message(role="user", content="killed"))
    await store.aclose()
    client = ScriptedClient("hello yourself")
    runtime = open_stored_engine(tmp_path, client, LAST)
    assert "no answer; /retry" in said(await opened(runtime))
    await run_turn(runtime, "hello")
    sent = client.requests[0].messages
    assert [message.role for message in sent] == ["system", *["user", "assistant"] * 3, "user"]
    assert sent[-1].content == "killed\n\nhello"
    assert prompts(runtime)[-2:] == ["killed", "hello"]
    await runtime.stop_session("quit")


async def test_b15_a_dangling_call_is_answered_in_the_models_copy_only(tmp_path: Path) -> None:
    call = ToolCall("c1", "bash", '{"command": "sleep 300"}')
    broken = (Message(role="user", content="go"), Message(role="assistant", tool_calls=(call,)))
    store = open_store(tmp_path / "data")
    await store.persist_turn(turn_of("conv", broken))
    await store.aclose()
    client = ScriptedClient("hello")
    runtime = open_stored_engine(tmp_path, client, LAST)
    await run_turn(runtime, "hello")
    assert shape(client.requests[0].messages)[1:] == ["user", "assistant c1", "tool c1", "user"]
    assert shape(runtime.services.conversation.messages)[:3] == ["user", "assistant c1", "user"]
    await runtime.stop_session("quit")


# B13: damage, and disks that take nothing


# B14: two copies at once


async def test_following_ends_with_the_session_or_another_conversation(tmp_path: Path) -> None:
    conversation_id, _ = await three_turns(tmp_path)
    one = open_stored_engine(tmp_path, ScriptedClient("answer"), LAST)
    await opened(one)
    for way in ("/new", "stop"):
        two = open_stored_engine(tmp_path, ScriptedClient("x"), ResumeWish("named", conversation_id))
        await opened(two)
        following = asyncio.create_task(command(two, "/follow"))
        while not two.services.conversation.is_read_only:
            await asyncio.sleep(0)
        if way == "/new":
            await command(two, "/new")
            assert (await run_turn(two, "mine")).text == "x"
        else:
            await two.stop_session("quit")
        await asyncio.wait_for(following, 5)
        await two.stop_session("quit")
    # Whoever stops listening ends it as well.
    two = open_stored_engine(tmp_path, ScriptedClient("x"), ResumeWish("named", conversation_id))
    await opened(two)
    followed = two.process_raw_input("/follow")
    await anext(followed)
    await asyncio.wait_for(followed.aclose(), 5)  # type: ignore[attr-defined]
    await two.stop_session("quit")
    runtime = open_stored_engine(tmp_path, ScriptedClient("x"))
    assert "/load one first" in said(await command(runtime, "/follow"))
    await asyncio.gather(one.stop_session("quit"), runtime.stop_session("quit"))


async def test_a_conversation_that_was_left_is_free_for_others(tmp_path: Path) -> None:
    conversation_id, _ = await three_turns(tmp_path)
    one = open_stored_engine(tmp_path, ScriptedClient("x"), LAST)
    two = open_stored_engine(tmp_path, ScriptedClient("x"))
    await opened(one)
    assert await two.shelf.held_conversations() != {}
    await command(one, "/new")
    assert await two.shelf.held_conversations() == {}
    await command(two, f"/load {conversation_id}")
    assert prompts(two) == ["prompt 1", "prompt 2", "prompt 3"]
    await asyncio.gather(one.stop_session("quit"), two.stop_session("quit"))


# The shelf, and modes


async def test_the_shelf_leaves_the_open_conversation_alone(tmp_path: Path) -> None:
    conversation_id, messages = await three_turns(tmp_path)
    runtime = open_stored_engine(tmp_path, ScriptedClient("x"), LAST, is_searched=True)
    await opened(runtime)
    shelf = runtime.shelf
    with pytest.raises(Exception, match="/delete deletes it"):
        await shelf.delete_conversation(conversation_id)
    copy = await shelf.fork_conversation(conversation_id)
    await shelf.set_title(copy, "the copy")
    await shelf.delete_conversation(copy)
    assert len(await shelf.list_conversations()) == 1
    await shelf.restore_conversation(copy)
    assert {meta.title for meta in await shelf.list_conversations()} == {"prompt 1", "the copy"}
    assert await shelf.preview(copy) == messages
    events = [event async for event in runtime.open_conversation(copy, 3)]
    loaded = only(events, ConversationLoaded)
    assert isinstance(loaded, ConversationLoaded) and loaded.shown_sequence == 3
    assert "not there any more" in said([event async for event in runtime.open_conversation("gone")])
    assert runtime.services.conversation.conversation_id == copy
    assert (await run_turn(runtime, "go")).text == "x"
    await runtime.stop_session("quit")


async def test_b28_everything_that_a_session_keeps_is_private_also_after_modes_were_changed(tmp_path: Path) -> None:
    data = tmp_path / "data"

    def modes() -> set[str]:
        return {
            f"{'folder' if path.is_dir() else 'file'} {stat.S_IMODE(path.stat().st_mode):o}"
            for path in (data, *data.rglob("*"))
        }

    for _ in range(2):
        runtime = open_stored_engine(tmp_path, ScriptedClient("x"), LAST, is_searched=True)
        events: list[AnyEvent] = []
        await run_turn(runtime, "go", events)
        assert only(events, TurnEnded)
        await command(runtime, "/config set tool_step_budget 9")
        await command(runtime, "/search go")
        await runtime.stop_session("quit")
        assert modes() == {"folder 700", "file 600"}
        for path in (data, *data.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)


async def test_a_note_of_the_project_is_no_conversation_to_open(tmp_path: Path) -> None:
    runtime = open_stored_engine(tmp_path, ScriptedClient("ok"), is_searched=True)
    await run_turn(runtime, "go")
    await command(runtime, "/note upsert proto we speak zebra")
    assert "zebra" in said(await command(runtime, "/search zebra"))
    assert "note of the project" in said(await command(runtime, "/load 1"))
    await runtime.stop_session("done")
