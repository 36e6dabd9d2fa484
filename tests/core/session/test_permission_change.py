"""`/config` while a turn runs: who may change things is another one at once, and what is not possible says so."""

import asyncio
from pathlib import Path

import pytest

from smith_core.events import AnyEvent, PermissionRequested, RequestStarted
from smith_core.llm.protocol import ModelRequest, StreamDone, StreamText
from smith_core.runtime import Runtime
from tests.core.dispatch.test_children import report, to
from tests.core.session.test_permission import asked_in, contents, touch
from tests.support.cast import cast
from tests.support.engine import command, open_engine, said
from tests.support.scripted_client import Answer, ScriptedClient, calls

SET = "/config set tools.permission"


async def asking(folder: Path, client: ScriptedClient) -> Runtime:
    """Return an engine that asks, by a setting that can be changed: what a start names wins over it."""
    runtime = open_engine(folder, client)
    runtime.session.permissions.is_attended = True
    await command(runtime, f"{SET} ask")
    return runtime


async def change_at_the_question(runtime: Runtime, mode: str) -> list[PermissionRequested]:
    """Run a turn, set the mode while its first question is open, and return what was asked."""
    asked = []
    async with asyncio.timeout(20):
        async for event in runtime.process_raw_input("go"):
            question = asked_in(event)
            if question is not None:
                asked.append(question)
                if len(asked) == 1:
                    assert "tools.permission is now" in said(await command(runtime, f"{SET} {mode}"))
                else:
                    assert runtime.answer_permission(question.call_id, "deny", question.job_id)
    return asked


async def test_read_only_counts_for_the_next_call_of_the_running_turn(tmp_path: Path) -> None:
    gate = asyncio.Event()
    answer = [StreamText(text="wait"), gate, StreamDone(completion=calls(*touch("new")))]
    runtime = open_engine(tmp_path, ScriptedClient(answer, "done"))
    async for event in runtime.process_raw_input("go"):
        if isinstance(event, RequestStarted) and not gate.is_set():
            assert "read-only" in said(await command(runtime, f"{SET} read-only"))
            gate.set()
    assert "nothing may be changed in this session" in contents(runtime)[0]
    assert not (tmp_path / "new").exists()


async def test_a_question_that_is_open_ends_with_the_mode_that_asks(tmp_path: Path) -> None:
    runtime = await asking(tmp_path, ScriptedClient(calls(*touch("one", "two")), "done"))
    assert len(await change_at_the_question(runtime, "read-only")) == 1
    assert ["nothing may be changed in this session" in text for text in contents(runtime)] == [True, True]
    assert list(tmp_path.glob("[ot]*")) == []
    runtime = await asking(tmp_path, ScriptedClient(calls(*touch("one", "two")), "done"))
    assert len(await change_at_the_question(runtime, "auto")) == 1
    assert len(list(tmp_path.glob("[ot]*"))) == 2


async def test_children_that_stand_in_line_hear_of_read_only_as_well(tmp_path: Path) -> None:
    heard: list[str] = []

    def worker_ends(request: ModelRequest) -> Answer:
        heard.append(request.messages[-1].content)
        return report()

    client = ScriptedClient(
        cast(direct=[calls(*[to("worker")] * 3), "done"], worker=[calls(*touch("new")), worker_ends])
    )
    runtime = await asking(tmp_path, client)
    assert len(await change_at_the_question(runtime, "read-only")) == 1
    assert ["nothing may be changed in this session" in text for text in heard] == [True] * 3
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        (f"{SET} ask", 'tools.permission is now "ask"'),
        ("/config show tools.permission", 'tools.permission  "auto"'),
        ("/config set ui.theme light", 'ui.theme is now "light"'),
        ("/config set tool_step_budget 7", "is now 7; for this session only; the running turn goes on as it began"),
        ("/config set active_role orchestrator", "/config set active_role is not possible while a turn runs"),
        ("/config unset tools.sandbox", "/config unset tools.sandbox is not possible while a turn runs"),
        ("/config set tools.sandbox_network off", "is not possible while a turn runs"),
    ],
)
async def test_what_can_be_set_while_a_turn_runs(tmp_path: Path, line: str, answer: str) -> None:
    runtime = open_engine(tmp_path, ScriptedClient("done"))
    before = runtime.services.config.effective
    events: list[AnyEvent] = []
    async for event in runtime.process_raw_input("go"):
        if isinstance(event, RequestStarted):
            events += await command(runtime, line)
    assert answer in said(events)
    assert "running turn" in said(events) or "tool_step_budget" not in line
    assert (runtime.services.config.effective == before) == ("not possible" in answer or "show" in line)
