"""Cancelling: a parent with all its children, one child alone, and what a kill leaves behind."""

import asyncio
from pathlib import Path

from smith_core.commands.opening import ResumeWish
from smith_core.events import AnyEvent, ChildEnded, ChildEvent, ChildStarted, TextDelta, ToolEnded, ToolOutput
from smith_core.llm.protocol import ModelRequest, StreamDone, StreamText
from smith_core.messages import Message, ToolCall, ToolResult
from smith_core.runtime import Runtime
from smith_core.session.values import TurnRequest
from smith_core.store.repair import repair
from tests.core.dispatch.test_children import report, result_in, to
from tests.support.cast import cast, results_of, task_of
from tests.support.engine import command, open_engine, open_stored_engine, run_turn, shape
from tests.support.engine import said as said_by
from tests.support.scripted_client import Answer, ScriptedClient, calls

ENDLESS: Answer = [StreamText(text="looking"), asyncio.Event()]


async def watch(runtime: Runtime, count: int) -> list[AnyEvent]:
    """Run a turn, and cancel it when so many children have begun to speak."""
    events: list[AnyEvent] = []
    async for event in runtime.process_raw_input("go"):
        events.append(event)
        speaking = [e for e in events if isinstance(e, ChildEvent) and isinstance(e.event, TextDelta)]
        if event is (speaking[-1:] or [None])[0] and len(speaking) == count:
            runtime.cancel()
    return events


async def test_b15_a_cancel_ends_all_children_and_no_request_follows(tmp_path: Path) -> None:
    client = ScriptedClient(cast(direct=[calls(*[to("worker")] * 4), "hello"], worker=[ENDLESS]))
    runtime = open_engine(tmp_path, client)
    events = await watch(runtime, 4)
    assert len(client.requests) == 5
    assert client.closed_streams == 5
    ends = [event.result for event in events if isinstance(event, ChildEnded)]
    assert [(end.cancelled, end.status) for end in ends] == [(True, "partial")] * 4
    messages = runtime.services.conversation.messages
    assert shape(messages) == ["user", "assistant c1 c2 c3 c4", "tool c1", "tool c2", "tool c3", "tool c4"]
    assert all(message.cancelled and "looking" in message.content for message in results_of(messages))
    assert (await run_turn(runtime, "go on")).text == "hello"


async def test_b15_children_that_wait_for_room_never_begin_after_a_cancel(tmp_path: Path) -> None:
    client = ScriptedClient(cast(direct=[calls(*[to("worker")] * 3)], worker=[ENDLESS]))
    runtime = open_engine(tmp_path, client, {"dispatch": {"max_parallel": 1}})
    events = await watch(runtime, 1)
    assert len([event for event in events if isinstance(event, ChildStarted | ChildEnded)]) == 2
    assert len(client.requests) == 2
    answers = results_of(runtime.services.conversation.messages)
    assert [result_in(answer).status for answer in answers] == ["partial", "blocked", "blocked"]
    assert result_in(answers[1]).summary == "The worker was cancelled before it began."


async def test_one_child_is_cancelled_alone(tmp_path: Path) -> None:
    release = asyncio.Event()

    def worker(request: ModelRequest) -> Answer:
        return ENDLESS if task_of(request) == "slow" else [release, StreamDone(completion=report())]

    client = ScriptedClient(cast(direct=[calls(to("worker", "slow"), to("worker", "good")), "done"], worker=[worker]))
    runtime = open_engine(tmp_path, client)
    jobs: dict[str, str] = {}
    async for event in runtime.process_raw_input("go"):
        if isinstance(event, ChildStarted):
            jobs[event.task] = event.job_id
        if isinstance(event, ChildEvent) and isinstance(event.event, TextDelta):
            assert runtime.cancel_child(jobs["slow"])
        if isinstance(event, ChildEnded):
            assert not runtime.cancel_child(event.job_id)
            release.set()
    slow, good = (result_in(message) for message in results_of(runtime.services.conversation.messages))
    assert (slow.cancelled, slow.status, slow.error and slow.error.kind) == (True, "partial", "cancelled")
    assert "it was cancelled" in slow.summary and "looking" in slow.summary
    assert (good.status, good.cancelled) == ("ok", False)
    assert runtime.services.conversation.messages[-1].content == "done"
    assert not runtime.cancel_child("nobody")


async def test_b07_a_child_that_was_cancelled_in_a_command_may_have_changed_something(tmp_path: Path) -> None:
    waits = calls(("bash", {"command": "echo begun; sleep 60"}))
    client = ScriptedClient(cast(direct=[calls(to("worker")), "done"], worker=[waits]))
    runtime = open_engine(tmp_path, client)
    ended: list[ToolResult] = []
    async for event in runtime.process_raw_input("go"):
        if isinstance(event, ChildEvent) and isinstance(event.event, ToolOutput):
            runtime.cancel()
        if isinstance(event, ToolEnded):
            ended.append(event.result)
    (result,) = ended
    assert (result.cancelled, result.mutation_state) == (True, "unknown")


async def test_a_childs_transcript_and_usage_come_back_after_a_restart(tmp_path: Path) -> None:
    client = ScriptedClient(
        cast(
            direct=[calls(to("explorer", "find x")), "done"],
            explorer=[calls(("bash", {"command": "echo seen"})), report()],
        )
    )
    runtime = open_stored_engine(tmp_path, client)
    await run_turn(runtime, "go")
    (card,) = results_of(runtime.services.conversation.messages)
    job_id = result_in(card).job_id
    said = await runtime.child_messages(job_id)
    usage = await runtime.services.persistence.usage_of(runtime.services.conversation.conversation_id)
    await runtime.stop_session("end")

    again = open_stored_engine(tmp_path, ScriptedClient("hello"), ResumeWish("last"))
    async for _ in again.open():
        pass
    (card,) = results_of(again.services.conversation.messages)
    assert card.metadata is not None
    assert card.metadata.job_id == job_id
    assert await again.child_messages(job_id) == said
    assert [message.role for message in said] == ["user", *["assistant", "tool"] * 2]
    assert await again.services.persistence.usage_of(again.services.conversation.conversation_id) == usage
    report_of_usage = said_by(await command(again, "/usage"))
    for words in ("this conversation", "direct", "explorer", f"  child {job_id[:8]}", "all together"):
        assert words in report_of_usage
    note = await again.services.persistence.get_note(again.services.conversation.conversation_id, card.recall_key)
    assert note is not None
    assert "found it" in note.text
    await again.stop_session("end")


async def test_b15_a_dispatch_that_a_kill_left_without_result_is_repaired() -> None:
    asked = Message(role="assistant", tool_calls=(ToolCall("c1", "dispatch"), ToolCall("c2", "dispatch")))
    answered = Message(role="tool", tool_call_id="c2", name="dispatch", content="{}")
    repaired = repair((Message(role="user", content="go"), asked, answered))
    assert shape(repaired) == ["user", "assistant c1 c2", "tool c1", "tool c2"]
    assert "not run" in repaired[2].content


async def test_an_elided_result_says_how_to_get_it_back(tmp_path: Path) -> None:
    long = report(status="ok", summary="x" * 3000)
    client = ScriptedClient(cast(direct=[calls(to("explorer")), "done"], explorer=[long]))
    policy = {"context_management": {"tool_output_keep_rounds": 0, "tool_output_elide_over_chars": 1000}}
    runtime = open_engine(tmp_path, client, policy)
    await run_turn(runtime, "go")
    (whole,) = results_of(runtime.services.conversation.messages)
    (sent,) = results_of(client.requests[-1].messages)
    assert "xxx" not in sent.content
    assert f'recall(key="{whole.recall_key}")' in sent.content
    assert whole.recall_key == f"dispatch/{result_in(whole).job_id}"


async def test_b15_what_a_child_has_reported_stays_when_the_task_of_the_turn_is_cancelled(tmp_path: Path) -> None:
    def worker(request: ModelRequest) -> Answer:
        return report() if task_of(request) == "quick" else [StreamText(text="looking"), asyncio.Event()]

    client = ScriptedClient(cast(direct=[calls(to("worker", "quick"), to("worker", "slow"))], worker=[worker]))
    runtime = open_engine(tmp_path, client)
    over = asyncio.Event()
    events: list[AnyEvent] = []

    def emit(event: AnyEvent) -> None:
        events.append(event)
        if isinstance(event, ChildEnded):
            over.set()

    turn = asyncio.ensure_future(runtime.session.run_turn(TurnRequest(text="go"), emit))
    await over.wait()
    turn.cancel()
    result = await turn
    assert result.stop_reason == "cancelled"
    assert len(client.requests) == 3
    messages = runtime.services.conversation.messages
    assert shape(messages) == ["user", "assistant c1 c2", "tool c1", "tool c2"]
    quick, slow = map(result_in, results_of(messages))
    assert (quick.status, quick.cancelled, quick.summary) == ("ok", False, "found it")
    assert (slow.status, slow.cancelled) == ("partial", True)
