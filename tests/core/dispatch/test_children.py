"""Children of a turn: isolated, side by side, and never silent, however they end."""

import asyncio
import hashlib
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from smith_core.errors import AgentError
from smith_core.events import AnyEvent, ChildEnded, ChildEvent, ChildStarted, MessageAdded, RequestStarted, ToolEnded
from smith_core.llm.protocol import Completion, ModelRequest, StreamDone, StreamText
from smith_core.messages import Message, Usage
from smith_core.model import ModelChoice
from smith_core.report import DispatchResult
from smith_core.roles import ROLES
from tests.support.cast import cast, results_of, role_of, task_of
from tests.support.engine import command, open_engine, open_stored_engine, run_turn, shape
from tests.support.scripted_client import Answer, ScriptedClient, calls
from tests.support.store_disks import FullDisk

FOUND = {"status": "ok", "summary": "found it", "findings": ["x is there"], "evidence": ["a.py:1"]}
DONE = {"status": "ok", "summary": "did it", "changes": ["a.txt: new"], "verification": ["ran it"]}
REFUSED = AgentError(kind="transport", code="unauthorized", message="the key was refused")


def to(role: str, task: str = "do it", **more: Any) -> tuple[str, dict[str, Any]]:
    return "dispatch", {"role": role, "task": task, **more}


def report(**fields: Any) -> Completion:
    return calls(("report", fields or FOUND))


def result_in(message: Message) -> DispatchResult:
    return msgspec.json.decode(message.content, type=DispatchResult)


async def one_child(
    tmp_path: Path, answers: list[Answer], role: str = "explorer", settings: dict[str, Any] | None = None
) -> tuple[DispatchResult, Message, ScriptedClient]:
    """Let a parent dispatch one child that answers like this; the parent's turn has to go on to its end."""
    client = ScriptedClient(cast(direct=[calls(to(role)), "done"], explorer=answers, worker=answers))
    runtime = open_engine(tmp_path, client, settings or {})
    assert (await run_turn(runtime, "go")).text == "done"
    (message,) = results_of(runtime.services.conversation.messages)
    return result_in(message), message, client


async def test_a_report_is_what_the_parent_gets(tmp_path: Path) -> None:
    result, message, client = await one_child(tmp_path, [calls(("bash", {"command": "true"})), report()])
    assert (result.status, result.summary, result.findings) == ("ok", "found it", ("x is there",))
    assert (message.ok, message.recall_key) == (True, f"dispatch/{result.job_id}")
    assert message.metadata is not None
    assert message.metadata.job_id == result.job_id
    assert (result.recall_key, result.error, result.usage.requests) == (message.recall_key, None, 2)
    assert [role_of(request) for request in client.requests] == ["direct", "explorer", "explorer", "direct"]


async def test_a_child_sees_nothing_of_its_parent_and_has_its_own_tools(tmp_path: Path) -> None:
    client = ScriptedClient(
        cast(direct=[calls(to("explorer", "find x", files=["b", "a"])), "done"], explorer=[report()])
    )
    runtime = open_engine(tmp_path, client)
    await run_turn(runtime, "a secret of the parent")
    child = client.requests[1]
    assert [message.role for message in child.messages] == ["system", "user"]
    assert "secret" not in str(child)
    assert "- a\n- b" in child.messages[1].content
    offered = {tool.name for tool in child.tools}
    assert {"report", "bash", "read"} <= offered
    assert offered.isdisjoint({"dispatch", "edit", "write", "record", "recall", "note"})
    assert "report" not in {tool.name for tool in client.requests[0].tools}


async def test_its_events_come_wrapped_between_its_beginning_and_its_end(tmp_path: Path) -> None:
    client = ScriptedClient(cast(direct=[calls(to("explorer", "find x")), "done"], explorer=[report()]))
    runtime = open_engine(tmp_path, client)
    events: list[AnyEvent] = []
    await run_turn(runtime, "go", events)
    started, *inside, ended = [e for e in events if isinstance(e, ChildStarted | ChildEvent | ChildEnded)]
    assert isinstance(started, ChildStarted) and isinstance(ended, ChildEnded)
    assert (started.call_id, started.role, started.task) == (ended.call_id, "explorer", "find x")
    assert {event.job_id for event in (started, *inside, ended)} == {started.job_id}
    wrapped = [event.event for event in inside if isinstance(event, ChildEvent)]
    assert [event.source_role for event in wrapped if isinstance(event, RequestStarted)] == ["explorer"]
    said = tuple(event.message for event in wrapped if isinstance(event, MessageAdded))
    assert shape(said) == ["user", "assistant c1", "tool c1"]
    assert (ended.tool_calls, ended.result.status) == (1, "ok")
    assert await runtime.child_messages(started.job_id) == said
    assert await runtime.child_messages("nobody") == ()


async def test_usage_is_counted_by_role_and_kept_by_job(tmp_path: Path) -> None:
    client = ScriptedClient(
        cast(direct=[calls(to("explorer"), to("worker")), "done"], explorer=[report()], worker=[report()])
    )
    runtime = open_engine(tmp_path, client)
    result = await run_turn(runtime, "go")
    used = Usage(input_tokens=10, output_tokens=5, requests=1)
    assert runtime.session.usage.children == {"explorer": used, "worker": used}
    assert runtime.session.usage.parent == result.usage
    stored = await runtime.services.persistence.usage_of(result.conversation_id)
    assert sum((one.usage for one in stored), Usage()) == result.usage + used + used
    assert {one.role for one in stored} == {"direct"}


async def test_the_whole_result_is_in_the_scratchpad(tmp_path: Path) -> None:
    client = ScriptedClient(
        cast(
            direct=[
                calls(to("explorer")),
                lambda request: calls(("recall", {"key": result_in(request.messages[-1]).recall_key}), first_id=2),
                "done",
            ],
            explorer=[report()],
        )
    )
    runtime = open_engine(tmp_path, client)
    await run_turn(runtime, "go")
    given, recalled = results_of(runtime.services.conversation.messages)
    kept = msgspec.structs.replace(result_in(given), recall_key="")
    assert msgspec.json.decode(recalled.content, type=DispatchResult) == kept


async def test_b13_on_a_full_disk_a_result_has_no_recall_key_and_the_child_can_be_opened(tmp_path: Path) -> None:
    client = ScriptedClient(cast(direct=[calls(to("explorer")), "done"], explorer=[report()]))
    disk = FullDisk(0)
    runtime = open_stored_engine(tmp_path, client, disk=disk)
    assert (await run_turn(runtime, "go")).stop_reason == "completed"
    (message,) = results_of(runtime.services.conversation.messages)
    result = result_in(message)
    assert (message.recall_key, result.recall_key, result.status) == ("", "", "ok")
    said = await runtime.child_messages(result.job_id)
    assert [each.role for each in said] == ["user", "assistant", "tool"]
    disk.room = 1 << 20
    await run_turn(runtime, "again")
    assert runtime.services.persistence.unsaved_turns == 0
    assert await runtime.child_messages(result.job_id) == said
    await runtime.stop_session("end")


async def test_an_orchestrator_delegates_what_it_may_not_do_itself(tmp_path: Path) -> None:
    client = ScriptedClient(cast(orchestrator=[calls(to("worker")), "reviewed"], worker=[report(**DONE)]))
    runtime = open_engine(tmp_path, client)
    await command(runtime, "/role orchestrator")
    assert (await run_turn(runtime, "go")).text == "reviewed"
    offered = {tool.name for tool in client.requests[0].tools}
    assert {"dispatch", "git", "read", "recall"} <= offered
    assert offered.isdisjoint({"bash", "edit", "write", "report", "web_search", "web_fetch"})
    (message,) = results_of(runtime.services.conversation.messages)
    assert result_in(message).changes == ("a.txt: new",)


# However it ends


async def test_a_child_that_stops_without_a_report_is_asked_once(tmp_path: Path) -> None:
    result, _, client = await one_child(tmp_path, ["I found x in a.py.", report()])
    assert result.status == "ok"
    nudge = client.requests[2].messages[-1]
    assert (nudge.role, "report" in nudge.content) == ("user", True)
    assert shape(client.requests[2].messages[1:]) == ["user", "assistant", "user"]


async def test_a_child_that_never_reports_gives_its_last_words(tmp_path: Path) -> None:
    result, message, client = await one_child(tmp_path, ["I found x in a.py."])
    assert (result.status, message.ok) == ("partial", False)
    assert "without a report" in result.summary and "I found x in a.py." in result.summary
    assert result.error is not None
    assert result.error.code == "no_report"
    assert sum(role_of(request) == "explorer" for request in client.requests) == 2


async def test_a_refused_report_can_be_mended(tmp_path: Path) -> None:
    result, _, client = await one_child(tmp_path, [report(**{**FOUND, "evidence": []}), report()])
    assert result.evidence == ("a.py:1",)
    assert "evidence" in client.requests[2].messages[-1].content


async def test_a_child_out_of_budget_says_what_it_had_done(tmp_path: Path) -> None:
    writing = calls(("write", {"path": "a.txt", "content": "x"}), text="First the file.")
    result, message, _ = await one_child(tmp_path, [writing], "worker", {"tool_step_budget": 3})
    assert (result.status, message.ok) == ("partial", False)
    assert result.error is not None
    assert result.error.kind == "budget_exhausted"
    assert result.changes == (f"{tmp_path / 'a.txt'}: changed 3 times",)
    assert "First the file." in result.summary
    assert "check" in result.limitations[0]


async def test_the_budget_goes_on_behind_the_nudge(tmp_path: Path) -> None:
    look = calls(("bash", {"command": "true"}))
    answers: list[Answer] = [look, "enough", look]
    result, _, client = await one_child(tmp_path, answers, settings={"tool_step_budget": 3})
    assert result.error is not None
    assert result.error.kind == "budget_exhausted"
    assert sum(role_of(request) == "explorer" for request in client.requests) == 4


async def test_a_child_whose_requests_fail_is_blocked_and_says_why(tmp_path: Path) -> None:
    result, _, _ = await one_child(tmp_path, [REFUSED])
    assert (result.status, result.error) == ("blocked", REFUSED)
    assert "the key was refused" in result.summary


async def test_a_bug_in_a_child_does_not_reach_its_parent(tmp_path: Path) -> None:
    def broken(request: ModelRequest) -> Answer:
        raise ZeroDivisionError("surprise")

    client = ScriptedClient(cast(direct=[calls(to("worker")), "done"], worker=[broken]))
    runtime = open_engine(tmp_path, client)
    assert (await run_turn(runtime, "go")).text == "done"
    (message,) = results_of(runtime.services.conversation.messages)
    assert result_in(message).status == "blocked"
    assert "surprise" in result_in(message).summary


# What is refused


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (to("boss"), "it may to: worker, explorer"),
        (to("orchestrator"), "it may to: worker, explorer"),
        (to("worker", " "), "task is empty"),
        (to("worker", context=[{"role": "user", "content": "hi"}]), "raw transcript"),
        (("dispatch", {"role": "worker"}), "task"),
        (("dispatch", '{"role": "wor'), "not valid JSON"),
    ],
)
async def test_b03_a_call_that_cannot_be_given_is_answered_in_words(
    tmp_path: Path, call: tuple[str, Any], words: str
) -> None:
    client = ScriptedClient(calls(call), "done")
    runtime = open_engine(tmp_path, client)
    events: list[AnyEvent] = []
    assert (await run_turn(runtime, "go", events)).text == "done"
    (message,) = results_of(runtime.services.conversation.messages)
    assert (message.ok, words in message.content) == (False, True)
    assert not [event for event in events if isinstance(event, ChildStarted)]


async def test_b03_a_child_may_not_dispatch(tmp_path: Path) -> None:
    result, _, client = await one_child(tmp_path, [calls(to("worker")), report()])
    assert result.status == "ok"
    assert "may not use dispatch" in client.requests[2].messages[-1].content


async def test_the_model_of_a_child_goes_by_the_eight_steps(tmp_path: Path) -> None:
    for settings, asked, expected in (
        ({"models": {"explorer": "small"}}, {"model": "named"}, "named"),
        ({"models": {"explorer": "small"}}, {}, "small"),
        ({"default_model": None, "models": {"direct": "parent"}}, {}, "parent"),
    ):
        client = ScriptedClient(cast(direct=[calls(to("explorer", **asked)), "done"], explorer=[report()]))
        await run_turn(open_engine(tmp_path, client, settings), "go")
        assert client.requests[1].model == expected


# Side by side


async def test_neighbours_run_at_the_same_time_and_are_answered_in_order(tmp_path: Path) -> None:
    gates = {name: asyncio.Event() for name in "abc"}
    begun: list[str] = []

    def child(request: ModelRequest) -> Answer:
        begun.append(task_of(request))
        if len(begun) == 3:
            gates["c"].set()
        return [
            StreamText(text="…"),
            gates[task_of(request)],
            StreamDone(completion=report(status="ok", summary=task_of(request))),
        ]

    client = ScriptedClient(cast(direct=[calls(*(to("worker", name) for name in "abc")), "done"], worker=[child]))
    runtime = open_engine(tmp_path, client)
    ended: list[str] = []
    async for event in runtime.process_raw_input("go"):
        if isinstance(event, ChildEnded):
            ended.append(event.result.summary)
            gates[{"c": "b", "b": "a", "a": "a"}[event.result.summary]].set()
    messages = runtime.services.conversation.messages
    assert ended == ["c", "b", "a"]
    assert shape(messages) == ["user", "assistant c1 c2 c3", "tool c1", "tool c2", "tool c3", "assistant"]
    assert [result_in(message).summary for message in results_of(messages)] == ["a", "b", "c"]


async def test_no_more_than_the_limit_at_once(tmp_path: Path) -> None:
    client = ScriptedClient(
        cast(direct=[calls(*[to("worker")] * 5), "done"], worker=[calls(("bash", {"command": "true"})), report()])
    )
    runtime = open_engine(tmp_path, client, {"dispatch": {"max_parallel": 2}})
    running = most = 0
    async for event in runtime.process_raw_input("go"):
        running += isinstance(event, ChildStarted) - isinstance(event, ChildEnded)
        most = max(most, running)
    assert (most, len(results_of(runtime.services.conversation.messages))) == (2, 5)


async def test_other_calls_keep_their_place(tmp_path: Path) -> None:
    order: list[str] = []
    asked = calls(
        ("bash", {"command": "true"}), to("worker", "a"), to("worker", "b"), ("read", {"path": "x"}), to("worker", "c")
    )
    client = ScriptedClient(cast(direct=[asked, "done"], worker=[report()]))
    runtime = open_engine(tmp_path, client)
    async for event in runtime.process_raw_input("go"):
        if isinstance(event, ChildStarted):
            order.append(event.task)
        if isinstance(event, ToolEnded) and event.name != "dispatch":
            order.append(event.name)
    assert order == ["bash", "a", "b", "read", "c"]


async def test_each_call_costs_one_of_the_budget(tmp_path: Path) -> None:
    client = ScriptedClient(cast(direct=[calls(*[to("worker")] * 3)], worker=[report()]))
    runtime = open_engine(tmp_path, client, {"tool_step_budget": 2})
    result = await run_turn(runtime, "go")
    assert (result.stop_reason, result.tool_calls) == ("budget_exhausted", 2)
    answers = results_of(runtime.services.conversation.messages)
    assert [answer.ok for answer in answers] == [True, True, False]
    assert "not run" in answers[2].content


async def test_calls_behind_a_report_are_not_run_and_not_called_cancelled(tmp_path: Path) -> None:
    both = calls(("report", FOUND), ("bash", {"command": "touch never"}))
    client = ScriptedClient(cast(direct=[calls(to("worker")), "done"], worker=[both]))
    runtime = open_engine(tmp_path, client)
    events = [event async for event in runtime.process_raw_input("go")]
    inner = [event.event for event in events if isinstance(event, ChildEvent)]
    (left,) = [event.result for event in inner if isinstance(event, ToolEnded) and event.name == "bash"]
    assert (left.content, left.cancelled, left.error and left.error.kind) == (
        "not run: the turn has ended",
        False,
        "policy",
    )
    assert not (tmp_path / "never").exists()


@pytest.mark.parametrize(
    ("answers", "state"),
    [
        ([report()], "none"),
        ([calls(("code_files", {})), REFUSED], "none"),
        ([calls(("bash", {"command": "true"})), report()], "attempted"),
        ([calls(("write", {"path": "new.txt", "content": "x"})), REFUSED], "attempted"),
        ([calls(("edit", {"path": "absent.txt"})), report()], "none"),
        ([calls(("bash", {"command": "echo x > y; sleep 60", "timeout": 0.3})), report()], "unknown"),
        ([report(**DONE)], "attempted"),
    ],
)
async def test_a_dispatch_says_whether_the_child_may_have_changed_something(
    tmp_path: Path, answers: list[Answer], state: str
) -> None:
    client = ScriptedClient(cast(direct=[calls(to("worker")), "done"], worker=answers))
    runtime = open_engine(tmp_path, client)
    events = [event async for event in runtime.process_raw_input("go")]
    (ended,) = [event.result for event in events if isinstance(event, ToolEnded)]
    assert ended.mutation_state == state


async def test_a_window_that_a_child_found_smaller_is_remembered_for_its_model(tmp_path: Path) -> None:
    too_long = AgentError(kind="protocol", code="context_too_long", message="too long")
    steps = [calls(("bash", {"command": f"seq {number}000 {number}900"})) for number in range(1, 5)]
    answers = iter([*steps, too_long, report()])
    client = ScriptedClient(cast(direct=[calls(to("worker")), "done"], worker=[lambda _: next(answers)]))
    runtime = open_engine(tmp_path, client)
    assert (await run_turn(runtime, "go")).text == "done"
    config = runtime.services.config.effective
    selected = await runtime.services.model.select(ModelChoice(), ROLES["direct"], config)
    assert selected.most_tokens is not None


async def test_one_childs_failure_does_not_touch_the_others(tmp_path: Path) -> None:
    def worker(request: ModelRequest) -> Answer:
        return REFUSED if task_of(request) == "bad" else report(status="ok", summary="fine")

    client = ScriptedClient(cast(direct=[calls(to("worker", "bad"), to("worker", "good")), "done"], worker=[worker]))
    runtime = open_engine(tmp_path, client)
    assert (await run_turn(runtime, "go")).text == "done"
    results = [result_in(message) for message in results_of(runtime.services.conversation.messages)]
    assert [result.status for result in results] == ["blocked", "ok"]


async def test_two_workers_on_one_file_are_kept_apart_by_the_hash(tmp_path: Path) -> None:
    """Both have read the same state; the second edit is refused, and its worker looks again before it edits."""
    (tmp_path / "a.txt").write_text("one\n")
    stale = hashlib.sha256(b"one\n").hexdigest()
    both_have_read = asyncio.Event()
    readers: set[str] = set()

    def insert(task: str, known: str, number: int) -> Completion:
        fields = {"path": "a.txt", "operation": "insert", "start_line": 1, "text": task, "hash": known}
        return calls(("edit", fields), first_id=number)

    def edit_after_both_read(request: ModelRequest) -> Answer:
        readers.add(task_of(request))
        if len(readers) == 2:
            both_have_read.set()
        return [both_have_read, StreamDone(completion=insert(task_of(request), stale, 2))]

    def look_again_or_report(request: ModelRequest) -> Answer:
        last = request.messages[-1]
        if last.name == "edit" and "changed since it was read" in last.content:
            return calls(("read", {"path": "a.txt"}), first_id=len(request.messages))
        if last.name == "read":
            known = next(line for line in last.content.splitlines() if line.startswith("hash: "))
            return insert(task_of(request), known.removeprefix("hash: "), len(request.messages))
        return calls(("report", DONE), first_id=len(request.messages))

    client = ScriptedClient(
        cast(
            direct=[calls(to("worker", "left"), to("worker", "right")), "done"],
            worker=[calls(("read", {"path": "a.txt"})), edit_after_both_read, look_again_or_report],
        )
    )
    runtime = open_engine(tmp_path, client)
    events: list[AnyEvent] = []
    await run_turn(runtime, "go", events)
    assert sorted((tmp_path / "a.txt").read_text().splitlines()) == ["left", "one", "right"]
    refused = [
        event
        for event in events
        if isinstance(event, ChildEvent)
        and isinstance(event.event, ToolEnded)
        and event.event.name == "edit"
        and not event.event.result.ok
    ]
    assert len(refused) == 1
    results = [result_in(message) for message in results_of(runtime.services.conversation.messages)]
    assert [result.status for result in results] == ["ok", "ok"]


def test_results_are_json_that_names_their_job() -> None:
    result = DispatchResult(job_id="j", role="worker", status="ok", summary="日本")
    assert json.loads(msgspec.json.encode(result)) == {
        "job_id": "j",
        "role": "worker",
        "status": "ok",
        "summary": "日本",
    }
