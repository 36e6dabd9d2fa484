"""Editing the history of a session over the store on disk: live session, store, index and next request agree."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from smith_core.commands.opening import ResumeWish
from smith_core.errors import AgentFailure
from smith_core.events import AnyEvent, HistoryEdited
from smith_core.llm.protocol import Completion, ModelRequest
from smith_core.llm.wire import MessageEncoder, request_body
from smith_core.messages import Message
from smith_core.runtime import Runtime
from smith_core.session.editing import TEXT
from smith_core.session.history import History
from tests.support.engine import command, open_stored_engine, run_turn, said, shape
from tests.support.scripted_client import ScriptedClient, calls
from tests.support.store_disks import FullDisk
from tests.support.strict_requests import message_violations

LAST = ResumeWish("last")
Edit = Callable[[History], object]


def strictly(answer: str | Completion) -> Callable[[ModelRequest], str | Completion]:
    """Answer only a request that a strict endpoint takes."""

    def check(request: ModelRequest) -> str | Completion:
        assert message_violations(request_body(MessageEncoder().encode(request))["messages"]) == []
        return answer

    return check


def client(*answers: str | Completion) -> ScriptedClient:
    return ScriptedClient(*map(strictly, answers or ("fine",)))


async def b16(folder: Path, *, disk: FullDisk | None = None, is_searched: bool = False) -> Runtime:
    """Return a session that has u1, a1(calls c1, c2), t(c1), t(c2), a2."""
    two_calls = calls(("bash", {"command": "echo alpha"}), ("bash", {"command": "echo beta"}))
    runtime = open_stored_engine(folder, client(two_calls, "that is all", "yes"), disk=disk, is_searched=is_searched)
    await run_turn(runtime, "first prompt")
    assert shape(runtime.services.conversation.messages) == [
        "user",
        "assistant c1 c2",
        "tool c1",
        "tool c2",
        "assistant",
    ]
    return runtime


async def stored(runtime: Runtime) -> tuple[tuple[int, Message], ...]:
    found = await runtime.services.persistence.load_stored(runtime.services.conversation.conversation_id)
    return tuple((item.sequence, item.message) for item in found)


async def resumed(folder: Path, *answers: str) -> Runtime:
    runtime = open_stored_engine(folder, client(*answers), LAST)
    _ = [event async for event in runtime.open()]
    return runtime


EDITS: dict[str, tuple[Edit, list[str]]] = {
    "delete a1": (lambda history: history.delete({2}), ["user", "assistant"]),
    "delete t(c1)": (lambda history: history.delete({3}), ["user", "assistant c2", "tool c2", "assistant"]),
    "delete u1": (lambda history: history.delete({1}), ["assistant c1 c2", "tool c1", "tool c2", "assistant"]),
    "edit t(c2)": (
        lambda history: history.edit(4, TEXT, "new\ntext [/x]"),
        ["user", "assistant c1 c2", "tool c1", "tool c2", "assistant"],
    ),
    "delete all": (lambda history: history.delete({1, 2, 3, 4, 5}), []),
}


@pytest.mark.parametrize("name", EDITS)
async def test_b16_an_edit_is_everywhere_before_and_after_a_restart(tmp_path: Path, name: str) -> None:
    edit, expected = EDITS[name]
    runtime = await b16(tmp_path)
    events: list[AnyEvent] = []
    runtime.services.ui.on_event(events.append)
    await edit(runtime.history)  # type: ignore[misc]
    conversation = runtime.services.conversation
    assert shape(conversation.messages) == expected
    assert await stored(runtime) == tuple(zip(conversation.sequences, conversation.messages, strict=True))
    (edited,) = [event for event in events if isinstance(event, HistoryEdited)]
    assert (edited.messages, edited.sequences) == (conversation.messages, conversation.sequences)
    await runtime.history.close()
    assert (await run_turn(runtime, "second prompt")).stop_reason == "completed"
    assert conversation.sequences[-2:] == (6, 7)
    assert await stored(runtime) == tuple(zip(conversation.sequences, conversation.messages, strict=True))
    await runtime.stop_session("quit")

    again = await resumed(tmp_path)
    assert again.services.conversation.messages == conversation.messages
    assert (await run_turn(again, "third prompt")).stop_reason == "completed"
    await again.stop_session("quit")


async def test_b16_delete_all_leaves_nothing_to_resume(tmp_path: Path) -> None:
    runtime = await b16(tmp_path)
    await runtime.history.delete(runtime.services.conversation.sequences)
    await runtime.history.close()
    assert (runtime.services.conversation.messages, runtime.services.conversation.title) == ((), "")
    await runtime.stop_session("quit")
    again = await resumed(tmp_path)
    assert again.services.conversation.messages == ()
    await again.stop_session("quit")


async def test_b16_the_index_follows_an_edit_to_the_letter(tmp_path: Path) -> None:
    runtime = await b16(tmp_path, is_searched=True)
    search = runtime.session.search
    assert search is not None

    async def until(query: str, total: int) -> None:
        for _ in range(500):
            if (await search.search(query)).total == total:
                return
            await asyncio.sleep(0.01)
        raise AssertionError(f"{query!r} is not found {total} times")

    await until("tool:bash beta role:tool", 1)
    await runtime.history.edit(4, TEXT, "new\ntext [/x]")
    await until("role:tool beta", 0)
    await until('"new text"', 1)
    assert runtime.services.conversation.messages[3].content == "new\ntext [/x]"
    await runtime.stop_session("quit")


async def test_what_is_deleted_is_gone_from_the_medium_when_the_view_is_closed(tmp_path: Path) -> None:
    runtime = open_stored_engine(tmp_path, client("the key is XYZZY-SECRET, is it?", "fine"))
    await run_turn(runtime, "my key is XYZZY-SECRET")
    await runtime.history.edit(1, TEXT, "my key is a secret")
    await runtime.history.delete({2})
    await runtime.history.close()
    journals = list((tmp_path / "data" / "conv").rglob("*.jrnl"))
    assert journals and not any(b"XYZZY" in path.read_bytes() for path in journals)
    assert runtime.services.conversation.title == "my key is a secret"
    assert not runtime.history.can_undo
    await runtime.stop_session("quit")


async def test_undo_and_redo_bring_back_messages_under_their_numbers(tmp_path: Path) -> None:
    runtime = await b16(tmp_path)
    before = await stored(runtime)
    history = runtime.history
    await history.edit(1, TEXT, "another prompt")
    await history.delete({3, 4, 5})
    assert [number for number, _ in await stored(runtime)] == [1]
    assert runtime.services.conversation.title == "another prompt"
    undone = await history.undo()
    assert undone is not None and undone.changed == (2, 3, 4, 5)
    assert (await history.undo()) is not None and not history.can_undo and await history.undo() is None
    assert await stored(runtime) == before
    assert runtime.services.conversation.title == "first prompt"
    await history.redo()
    await history.redo()
    assert not history.can_redo and [number for number, _ in await stored(runtime)] == [1]
    await history.undo()
    await history.edit(5, TEXT, "a new branch")
    assert not history.can_redo
    await runtime.stop_session("quit")


async def test_undo_after_a_turn_keeps_the_order(tmp_path: Path) -> None:
    runtime = await b16(tmp_path)
    await runtime.history.delete({5})
    await run_turn(runtime, "second prompt")
    await runtime.history.undo()
    assert [message.content for message in runtime.services.conversation.messages][-3:] == [
        "that is all", "second prompt", "yes",
    ]  # fmt: skip
    assert [number for number, _ in await stored(runtime)] == [1, 2, 3, 4, 5, 6, 7]
    await runtime.stop_session("quit")


async def test_b16_nothing_changes_while_a_turn_runs(tmp_path: Path) -> None:
    gate = asyncio.Event()
    scripted = ScriptedClient("one", [gate])
    runtime = open_stored_engine(tmp_path, scripted)
    await run_turn(runtime, "first prompt")
    before = await stored(runtime)
    turn = asyncio.create_task(run_turn(runtime, "second prompt"))
    while len(scripted.requests) < 2:
        await asyncio.sleep(0.001)
    history = runtime.history
    for attempt in (history.delete({1}), history.edit(1, TEXT, "x"), history.undo(), history.redo()):
        with pytest.raises(AgentFailure, match="not possible while a turn runs"):
            await attempt
    runtime.cancel()
    await turn
    assert (await stored(runtime))[:2] == before
    await runtime.stop_session("quit")


async def test_a_followed_conversation_cannot_be_edited(tmp_path: Path) -> None:
    runtime = await b16(tmp_path)
    other = await resumed(tmp_path)
    following = asyncio.create_task(command(other, "/follow"))
    while not other.services.conversation.messages:
        await asyncio.sleep(0.01)
    with pytest.raises(AgentFailure, match="/fork goes on with a copy"):
        await other.history.delete({1})
    await command(other, "/new")
    await following
    await other.stop_session("quit")
    await runtime.stop_session("quit")


async def test_an_edit_that_cannot_be_saved_changes_nothing(tmp_path: Path) -> None:
    disk = FullDisk(1_000_000)
    runtime = await b16(tmp_path, disk=disk)
    before = await stored(runtime)
    disk.room = 0
    with pytest.raises(AgentFailure) as caught:
        await runtime.history.delete({2})
    assert caught.value.error.kind == "persistence"
    conversation = runtime.services.conversation
    assert tuple(zip(conversation.sequences, conversation.messages, strict=True)) == before == await stored(runtime)
    assert not runtime.history.can_undo
    disk.room = 1_000_000
    await runtime.history.delete({2})
    assert [number for number, _ in await stored(runtime)] == [1, 5]
    await runtime.stop_session("quit")


async def test_turns_that_are_not_on_disk_are_saved_with_the_edit(tmp_path: Path) -> None:
    disk = FullDisk(1_000_000)
    runtime = await b16(tmp_path, disk=disk)
    disk.room = 0
    assert "not saved" in said(await command(runtime, "second prompt"))
    with pytest.raises(AgentFailure):
        await runtime.history.delete({1})
    disk.room = 1_000_000
    await runtime.history.delete({1})
    conversation = runtime.services.conversation
    assert await stored(runtime) == tuple(zip(conversation.sequences, conversation.messages, strict=True))
    assert runtime.services.persistence.unsaved_turns == 0
    await runtime.stop_session("quit")


async def test_what_comes_at_once_is_done_one_after_the_other(tmp_path: Path) -> None:
    runtime = await b16(tmp_path)
    history = runtime.history
    await history.delete({2})
    undone, _, redone, _, _ = await asyncio.gather(
        history.undo(), history.edit(1, TEXT, "other"), history.redo(), history.undo(), history.close()
    )
    assert undone is not None and undone.changed and redone is None
    assert not history.can_undo and not history.can_redo
    assert await stored(runtime) == tuple(
        zip(runtime.services.conversation.sequences, runtime.services.conversation.messages, strict=True)
    )
    await runtime.stop_session("over")
