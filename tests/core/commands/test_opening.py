"""What a start says of the conversation that it goes on with."""

from pathlib import Path

from smith_core.commands.opening import ResumeWish
from smith_core.events import AnyEvent, Notice
from smith_core.runtime import Runtime
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
