"""What a start shows and says of the conversation that it goes on with."""

from pathlib import Path

from smith_core.commands.opening import ResumeWish
from smith_core.events import AnyEvent, ConversationLoaded, HeldElsewhere, Notice, SessionChanged
from smith_core.runtime import Runtime
from smith_core.stored_tail import stored_tail
from tests.support.engine import open_stored_engine, run_turn
from tests.support.scripted_client import ScriptedClient
from tests.support.store_disks import open_store

LAST = ResumeWish("last")


async def notices(runtime: Runtime) -> list[str]:
    events: list[AnyEvent] = [event async for event in runtime.open()]
    await runtime.stop_session("quit")
    return [event.text for event in events if isinstance(event, Notice)]


async def test_the_conversation_of_another_folder_is_said_to_be_one(tmp_path: Path) -> None:
    here, other = tmp_path / "here", tmp_path / "other"
    for folder in (here, other):
        folder.mkdir()
    runtime = open_stored_engine(here, ScriptedClient("done"))
    await run_turn(runtime, "go")
    await runtime.stop_session("quit")
    assert await notices(open_stored_engine(here, ScriptedClient(), LAST)) == []
    (said,) = await notices(open_stored_engine(other, ScriptedClient(), LAST, persistence=open_store(here / "data")))
    assert str(here) in said and "/new" in said


async def test_an_end_that_is_shown_already_is_followed_by_the_whole_or_taken_away(tmp_path: Path) -> None:
    runtime = open_stored_engine(tmp_path, ScriptedClient("one", "two"))
    await run_turn(runtime, "go")
    early = stored_tail(tmp_path / "data")
    assert early is None  # whoever has it may go on with it
    await runtime.stop_session("quit")
    early = stored_tail(tmp_path / "data")
    assert early is not None

    async def opened(shown: str) -> list[AnyEvent]:
        runtime = open_stored_engine(tmp_path, ScriptedClient(), LAST)
        runtime.shown = shown
        events = [event async for event in runtime.open()]
        await runtime.stop_session("quit")
        return events

    loaded, *others = await opened(early.conversation_id)
    assert isinstance(loaded, ConversationLoaded) and loaded.is_whole
    assert (loaded.messages, loaded.sequences, loaded.title) == (early.messages, early.sequences, early.title)
    assert not any(event.cleared for event in others if isinstance(event, SessionChanged))
    other, loaded, *_ = await opened("another")
    assert isinstance(other, SessionChanged) and other.cleared and isinstance(loaded, ConversationLoaded)
    holder = open_stored_engine(tmp_path, ScriptedClient(), LAST)
    assert [event async for event in holder.open()]
    cleared, held, *_ = await opened(early.conversation_id)
    assert isinstance(cleared, SessionChanged) and cleared.cleared and isinstance(held, HeldElsewhere)
    await holder.stop_session("quit")
