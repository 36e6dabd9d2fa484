"""Who may change things: nobody, whoever the person lets, or everybody; through a whole engine."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from smith_core.events import (
    AnyEvent,
    ChildEvent,
    PermissionAnswer,
    PermissionAnswered,
    PermissionRequested,
    ToolEnded,
)
from smith_core.runtime import Runtime
from tests.core.dispatch.test_children import report, to
from tests.support.cast import cast, results_of
from tests.support.engine import command, open_engine, run_turn
from tests.support.scripted_client import ScriptedClient, calls

ASK = {"tools": {"permission": "ask"}}


def asking(folder: Path, client: ScriptedClient, *, attended: bool = True) -> Runtime:
    runtime = open_engine(folder, client, ASK)
    runtime.session.permissions.is_attended = attended
    return runtime


def asked_in(event: AnyEvent) -> PermissionRequested | None:
    inner = event.event if isinstance(event, ChildEvent) else event
    return inner if isinstance(inner, PermissionRequested) else None


async def go(
    runtime: Runtime, answer: Callable[[PermissionRequested], PermissionAnswer | None]
) -> list[PermissionRequested]:
    """Run a turn and return what was asked; `answer` answers each question, unless it returns None."""
    asked = []
    async for event in runtime.process_raw_input("go"):
        question = asked_in(event)
        if question is not None:
            asked.append(question)
            said = answer(question)
            if said is not None:
                assert runtime.answer_permission(question.call_id, said, question.job_id)
    return asked


def contents(runtime: Runtime) -> list[str]:
    return [message.content for message in results_of(runtime.services.conversation.messages)]


def touch(*names: str) -> Iterator[tuple[str, dict[str, str]]]:
    for name in names:
        yield "bash", {"command": f"touch {name}"}


async def test_read_only_runs_nothing_that_changes_and_all_that_reads(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("before\n")
    wanted = calls(*touch("new"), ("write", {"path": "a.txt", "content": "x"}), ("read", {"path": "a.txt"}))
    runtime = open_engine(tmp_path, ScriptedClient(wanted, "done"), {"tools": {"permission": "read-only"}})
    events: list[AnyEvent] = []
    assert (await run_turn(runtime, "go", events)).text == "done"
    ended = [event.result for event in events if isinstance(event, ToolEnded)]
    assert [(result.ok, result.error and (result.error.kind, result.error.code)) for result in ended] == [
        (False, ("policy", "read_only")),
        (False, ("policy", "read_only")),
        (True, None),
    ]
    assert "bash was not run" in ended[0].content
    assert "/config set tools.permission ask" in ended[0].content
    assert [result.mutation_state for result in ended] == ["none"] * 3
    assert (tmp_path / "a.txt").read_text() == "before\n"
    assert not (tmp_path / "new").exists()


async def test_auto_asks_nothing(tmp_path: Path) -> None:
    runtime = open_engine(tmp_path, ScriptedClient(calls(*touch("new")), "done"))
    assert await go(runtime, lambda question: None) == []
    assert (tmp_path / "new").exists()


async def test_a_call_waits_for_the_answer_and_then_runs(tmp_path: Path) -> None:
    runtime = asking(tmp_path, ScriptedClient(calls(*touch("new")), "done"))
    seen: list[bool] = []

    def answer(question: PermissionRequested) -> PermissionAnswer:
        seen.append((tmp_path / "new").exists())
        assert not runtime.answer_permission("another", "once")
        return "once"

    (question,) = await go(runtime, answer)
    assert (question.name, question.covers, question.role, question.job_id) == ("bash", "this command", "direct", "")
    assert question.arguments == '{"command": "touch new"}'
    assert seen == [False]
    assert (tmp_path / "new").exists()
    assert not runtime.answer_permission(question.call_id, "once")


async def test_no_is_told_to_the_model_and_the_turn_goes_on(tmp_path: Path) -> None:
    runtime = asking(tmp_path, ScriptedClient(calls(*touch("one", "two")), "done"))
    await go(runtime, lambda question: "deny" if "one" in question.arguments else "once")
    assert "the person did not allow this call" in contents(runtime)[0]
    assert not (tmp_path / "one").exists()
    assert (tmp_path / "two").exists()
    assert runtime.services.conversation.messages[-1].content == "done"


@pytest.mark.parametrize(
    ("answer", "questions"), [("once", ["a", "a", "b", "a"]), ("same", ["a", "b"]), ("tool", ["a"])]
)
async def test_an_answer_is_remembered_as_far_as_it_was_meant(
    tmp_path: Path, answer: PermissionAnswer, questions: list[str]
) -> None:
    client = ScriptedClient(calls(*touch("a", "a", "b")), "done", calls(*touch("a"), first_id=9), "done")
    runtime = asking(tmp_path, client)
    asked = [*await go(runtime, lambda _: answer), *await go(runtime, lambda _: answer)]
    assert [question.arguments.split()[-1][0] for question in asked] == questions


async def test_yes_to_a_file_is_for_the_file_whatever_is_written_and_for_no_other_tool(tmp_path: Path) -> None:
    writes = [("write", {"path": path, "content": text}) for path, text in (("a", "1"), ("a", "2"), ("b", "3"))]
    runtime = asking(tmp_path, ScriptedClient(calls(*writes, *touch("a")), "done"))
    asked = await go(runtime, lambda question: "same" if question.name == "write" else "deny")
    assert [(question.name, question.covers) for question in asked] == [
        ("write", "this file"),
        ("write", "this file"),
        ("bash", "this command"),
    ]
    assert (tmp_path / "a").read_text() == "2"


async def test_a_changed_setting_counts_at_once_and_forgets_what_was_allowed(tmp_path: Path) -> None:
    runtime = open_engine(tmp_path, ScriptedClient(*[calls(*touch("a")), "done"] * 4))
    runtime.session.permissions.is_attended = True
    await command(runtime, "/config set tools.permission ask")
    assert len(await go(runtime, lambda _: "tool")) == 1
    assert await go(runtime, lambda _: "tool") == []
    await command(runtime, "/config set tools.permission read-only")
    assert await go(runtime, lambda _: "tool") == []
    assert "nothing may be changed" in contents(runtime)[-1]
    await command(runtime, "/config set tools.permission ask")
    assert len(await go(runtime, lambda _: "deny")) == 1


async def test_where_nobody_can_answer_the_call_is_refused_in_words(tmp_path: Path) -> None:
    runtime = asking(tmp_path, ScriptedClient(calls(*touch("new")), "done"), attended=False)
    assert await go(runtime, lambda _: None) == []
    assert "--set tools.permission=auto" in contents(runtime)[0]
    assert not (tmp_path / "new").exists()


async def test_a_cancel_ends_the_wait_and_runs_nothing(tmp_path: Path) -> None:
    runtime = asking(tmp_path, ScriptedClient(calls(*touch("one", "two")), "done"))
    events: list[AnyEvent] = []
    async for event in runtime.process_raw_input("go"):
        events.append(event)
        if isinstance(event, PermissionRequested):
            runtime.cancel()
    over = [event for event in events if isinstance(event, PermissionAnswered)]
    assert [(event.call_id, event.answer) for event in over] == [("c1", None)]
    assert contents(runtime) == ["not run: the turn was cancelled"] * 2
    assert not runtime.answer_permission("c1", "once")
    assert list(tmp_path.glob("[ot]*")) == []


async def test_the_persons_own_command_is_not_asked_for(tmp_path: Path) -> None:
    runtime = asking(tmp_path, ScriptedClient("unused"))
    await run_turn(runtime, "!touch mine")
    assert (tmp_path / "mine").exists()


async def test_dispatch_itself_is_free_and_children_wait_in_line_for_their_answers(tmp_path: Path) -> None:
    """Both children call their command c1, as providers do: the answer finds the right one by its job."""
    client = ScriptedClient(
        cast(
            direct=[calls(to("worker", "first"), to("worker", "second")), "done"],
            worker=[lambda request: calls(*touch(request.messages[1].content.split()[0])), report()],
        )
    )
    runtime = asking(tmp_path, client)
    open_now = 0
    jobs: list[str] = []
    async for event in runtime.process_raw_input("go"):
        question = asked_in(event)
        if question is not None:
            open_now += 1
            assert isinstance(event, ChildEvent)
            assert (event.job_id, question.role) == (question.job_id, "worker")
            jobs.append(question.job_id)
            assert not runtime.answer_permission(question.call_id, "once")
            await asyncio.sleep(0)
            assert runtime.answer_permission(question.call_id, "once", question.job_id)
        if isinstance(event, ChildEvent) and isinstance(event.event, PermissionAnswered):
            open_now -= 1
        assert open_now <= 1
    assert len(set(jobs)) == 2
    assert len(list(tmp_path.iterdir())) == 3  # .spill and one file of each child


async def test_yes_to_a_tool_spares_the_children_that_wait_in_line(tmp_path: Path) -> None:
    client = ScriptedClient(cast(direct=[calls(*[to("worker")] * 3), "done"], worker=[calls(*touch("x")), report()]))
    runtime = asking(tmp_path, client)
    assert len(await go(runtime, lambda _: "tool")) == 1


async def test_a_child_that_is_cancelled_while_it_waits_leaves_the_line_to_the_others(tmp_path: Path) -> None:
    client = ScriptedClient(
        cast(direct=[calls(to("worker"), to("worker")), "done"], worker=[calls(*touch("x")), report()])
    )
    runtime = asking(tmp_path, client)
    asked: list[str] = []
    async for event in runtime.process_raw_input("go"):
        question = asked_in(event)
        if question is not None:
            asked.append(question.job_id)
            if len(asked) == 1:
                assert runtime.cancel_child(question.job_id)
            else:
                assert runtime.answer_permission(question.call_id, "once", question.job_id)
    assert len(set(asked)) == 2
    assert (tmp_path / "x").exists()
    assert runtime.services.conversation.messages[-1].content == "done"
