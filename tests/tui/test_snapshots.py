"""Pictures of the main states, compared with those on record; `pytest --snapshot-update` takes them anew."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from smith_core.errors import AgentError
from smith_core.events import (
    AnyEvent,
    CommandOutput,
    MessageAdded,
    Notice,
    ReasoningDelta,
    RequestStarted,
    RetryWaiting,
    TextDelta,
    ToolEnded,
    ToolOutput,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from smith_core.llm.protocol import StreamText
from smith_core.messages import Message, StopReason, ToolMetadata, ToolResult, TurnResult
from smith_tui.app import SmithApp, app_around
from tests.support.demo_task import ANSWER, TASK
from tests.support.engine import open_engine
from tests.support.scripted_client import ScriptedClient

DIFF = "--- prices.py\n+++ prices.py\n@@ -1,3 +1,3 @@\n def total():\n-    return 1 + 1\n+    return 1 - 1\n done\n"
REFUSED = AgentError(
    kind="protocol", code="unauthorized", message="401: the key in LLM_API_KEY was refused; set a valid key"
)


def started() -> Iterable[AnyEvent]:
    yield TurnStarted(turn_id="t", conversation_id="c", role="direct", text=TASK)
    yield RequestStarted(turn_id="t", model="scripted")


def tool(name: str, arguments: str, content: str, ok: bool = True, **metadata: Any) -> Iterable[AnyEvent]:
    yield ToolStarted(call_id=name, name=name, arguments=arguments)
    if name == "bash":
        yield ToolOutput(call_id=name, chunk=content.encode())
    result = ToolResult(call_id=name, ok=ok, content=content, metadata=ToolMetadata(duration_s=0.25, **metadata))
    yield ToolEnded(name=name, result=result)


def ended(reason: StopReason, error: AgentError | None = None) -> Iterable[AnyEvent]:
    result = TurnResult(turn_id="t", conversation_id="c", role="direct", stop_reason=reason, error=error)
    yield TurnEnded(result=result)


def finished() -> Iterable[AnyEvent]:
    yield from started()
    yield ReasoningDelta(text="Let me look at the file.")
    yield MessageAdded(message=Message(role="assistant", content="", reasoning="Let me look at the file."))
    yield from tool("read", '{"path": "prices.py"}', "prices.py: lines 1-7 of 7", lines=7)
    yield from tool("edit", '{"path": "prices.py", "operation": "replace"}', "replaced", diff=DIFF)
    yield from tool("bash", '{"command": "python3 prices.py"}', "15.0\n", exit_code=0)
    yield TextDelta(text=ANSWER)
    yield MessageAdded(message=Message(role="assistant", content=ANSWER))
    yield from ended("completed")


def streaming() -> Iterable[AnyEvent]:
    yield from started()
    yield TextDelta(text="It goes like **this**:\n\n```python\ndef total(prices):\n    return sum(pri")


def running() -> Iterable[AnyEvent]:
    yield from started()
    yield ToolStarted(call_id="b", name="bash", arguments='{"command": "make test"}')
    yield ToolOutput(call_id="b", chunk=b"\x1b[32m12 passed\x1b[0m\r\n\x1b[31m1 failed\x1b[0m\r\n")


def failed() -> Iterable[AnyEvent]:
    yield from started()
    yield from ended("error", REFUSED)


def cancelled() -> Iterable[AnyEvent]:
    yield from started()
    yield TextDelta(text="Half an ans")
    yield MessageAdded(message=Message(role="assistant", content="Half an ans", interrupted=True))
    yield from ended("cancelled")


def retrying() -> Iterable[AnyEvent]:
    yield from started()
    error = AgentError(kind="transport", code="rate_limited", message="429 from scripted: too many requests")
    yield RetryWaiting(layer="transport", attempt=2, max_attempts=3, wait_s=7200.0, error=error)


def notices() -> Iterable[AnyEvent]:
    yield Notice(level="warning", text="Some settings are ignored:\n  - contxt is not a setting")
    yield CommandOutput(command="usage", text="this session: 10 tokens in (0 cached), 5 out, 1 requests")


STATES: dict[str, Callable[[], Iterable[AnyEvent]]] = {
    "idle": lambda: (),
    "streaming": streaming,
    "running": running,
    "finished": finished,
    "failed": failed,
    "cancelled": cancelled,
    "retrying": retrying,
    "notices": notices,
}


def picture(folder: Path, state: str, theme: str, keys: tuple[str, ...] = ()) -> tuple[SmithApp, Any]:
    settings = {"ui": {"theme": theme, "motion": "reduced"}}
    app = app_around(open_engine(folder, ScriptedClient("x"), settings))

    async def prepare(pilot: Pilot[None]) -> None:
        await pilot.pause()
        status = app.chat.status
        status._clock = lambda: 0.0
        app.chat.output._clock = lambda: 0.0
        for event in STATES[state]():
            app.chat.presenter.show(event)
        for key in keys:
            await pilot.press(key)
        app.chat.transcript.flush()
        status.change(folder="~/shop", branch="main")
        await pilot.pause()

    return app, prepare


Compare = Callable[..., bool]


@pytest.mark.parametrize("state", STATES)
def test_states(snap_compare: Compare, tmp_path: Path, state: str) -> None:
    keys = ("ctrl+o",) if state == "running" else ()
    app, prepare = picture(tmp_path, state, "dark", keys)
    assert snap_compare(app, terminal_size=(100, 30), run_before=prepare)


@pytest.mark.parametrize("theme", ["light", "contrast"])
def test_themes(snap_compare: Compare, tmp_path: Path, theme: str) -> None:
    app, prepare = picture(tmp_path, "finished", theme)
    assert snap_compare(app, terminal_size=(100, 30), run_before=prepare)


@pytest.mark.parametrize("size", [(60, 15), (140, 40)])
def test_sizes(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    app, prepare = picture(tmp_path, "finished", "dark", ("ctrl+o",))
    assert snap_compare(app, terminal_size=size, run_before=prepare)


def test_help(snap_compare: Compare, tmp_path: Path) -> None:
    app, prepare = picture(tmp_path, "idle", "dark", ("f1",))
    assert snap_compare(app, terminal_size=(100, 40), run_before=prepare)


def lists(folder: Path, keys: tuple[str, ...], texts: tuple[tuple[str, str], ...] = ()) -> tuple[SmithApp, Any]:
    """Return an app with keys pressed; texts: prompts sent while a turn runs, each with the key that sends it."""
    for name in ("src/prices.py", "src/cart [red].py", "docs/prices 漢字.md", "README.md"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x")
    client = ScriptedClient([StreamText(text="Working on it."), asyncio.Event()])
    app = app_around(open_engine(folder, client, {"ui": {"motion": "reduced"}}))

    async def prepare(pilot: Pilot[None]) -> None:
        await pilot.pause()
        status = app.chat.status
        status._clock = lambda: 0.0
        for number, (text, key) in enumerate((("go on", "enter"), *texts) if texts else ()):
            app.chat.prompt.load(text)
            await pilot.press(key)
            while number == 0 and app.chat.status.state.activity != "streaming":
                await pilot.pause(0.01)
        await pilot.press(*keys)
        while "@" in keys and not app.chat.completing.is_open:
            await pilot.pause(0.01)
        app.chat.transcript.flush()
        status.change(folder="~/shop", branch="main")
        await pilot.pause()

    return app, prepare


def test_the_list_of_commands(snap_compare: Compare, tmp_path: Path) -> None:
    app, prepare = lists(tmp_path, (*"/re", "down"))
    assert snap_compare(app, terminal_size=(100, 30), run_before=prepare)


def test_the_list_of_files(snap_compare: Compare, tmp_path: Path) -> None:
    app, prepare = lists(tmp_path, (*"look at @", *"r"))
    assert snap_compare(app, terminal_size=(60, 15), run_before=prepare)


def test_prompts_that_wait(snap_compare: Compare, tmp_path: Path) -> None:
    texts = (("then run the tests", "enter"), ("leave [b]carts[/b] alone", "alt+enter"), ("commit\nit all", "enter"))
    app, prepare = lists(tmp_path, ("alt+q", "down"), texts)
    assert snap_compare(app, terminal_size=(80, 24), run_before=prepare)
