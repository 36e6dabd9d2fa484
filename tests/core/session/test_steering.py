"""What a person says to a turn that runs, through a whole engine."""

import asyncio
from pathlib import Path

from smith_core.events import AnyEvent, MessageAdded, TextDelta, ToolStarted
from smith_core.llm.protocol import Completion, ModelRequest, StreamDone, StreamText
from smith_core.messages import Message, ToolCall
from smith_core.runtime import Runtime
from tests.support.engine import open_engine, run_turn
from tests.support.scripted_client import Answer, ScriptedClient


def said(messages: tuple[Message, ...]) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in messages if message.role in ("user", "assistant")]


async def steer_at(runtime: Runtime, kind: type, text: str) -> list[AnyEvent]:
    events: list[AnyEvent] = []
    async for event in runtime.process_raw_input("begin"):
        if isinstance(event, kind) and not any(isinstance(other, kind) for other in events):
            assert runtime.session.steer(text)
        events.append(event)
    return events


async def test_it_reaches_the_next_request_behind_the_results(tmp_path: Path) -> None:
    call = ToolCall("c1", "bash", '{"command": "sleep 0.2"}')
    client = ScriptedClient(Completion(text="", tool_calls=(call,), finish_reason="tool_calls"), "done")
    runtime = open_engine(tmp_path, client)
    events = await steer_at(runtime, ToolStarted, "use the other file")
    assert [message.role for message in client.requests[1].messages] == ["system", "user", "assistant", "tool", "user"]
    assert client.requests[1].messages[-1].content == "use the other file"
    added = [event.message.content for event in events if isinstance(event, MessageAdded)]
    assert added.index("use the other file") == 3
    assert said(runtime.services.conversation.messages)[-1] == ("assistant", "done")


async def test_an_answer_that_was_being_written_is_followed_by_another_request(tmp_path: Path) -> None:
    client = ScriptedClient("first answer", "second answer")
    runtime = open_engine(tmp_path, client)
    await steer_at(runtime, TextDelta, "and in French?")
    assert said(runtime.services.conversation.messages) == [
        ("user", "begin"),
        ("assistant", "first answer"),
        ("user", "and in French?"),
        ("assistant", "second answer"),
    ]


async def test_what_a_cancelled_turn_did_not_hear_is_given_back(tmp_path: Path) -> None:
    released = asyncio.Event()

    def stuck(request: ModelRequest) -> Answer:
        return [StreamText(text="x"), released, StreamDone(completion=Completion(text="x", finish_reason="stop"))]

    runtime = open_engine(tmp_path, ScriptedClient(stuck))
    async for event in runtime.process_raw_input("begin"):
        if isinstance(event, TextDelta):
            assert runtime.session.steer("too late")
            runtime.cancel()
    assert runtime.session.take_steering() == ("too late",)
    assert runtime.session.take_steering() == ()
    assert all(message.content != "too late" for message in runtime.services.conversation.messages)


async def test_without_a_turn_nothing_takes_it(tmp_path: Path) -> None:
    runtime = open_engine(tmp_path, ScriptedClient("x"))
    assert not runtime.session.steer("hello")
    await run_turn(runtime, "go")
    assert not runtime.session.steer("hello")
