"""How much of the model's window is used, as the status bar says it: from real requests, and never of another one."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from smith_core.errors import AgentError
from smith_core.llm.protocol import Completion, ModelInfo, ModelRequest
from smith_core.messages import Usage
from smith_tui.app import SmithApp, app_around
from tests.support.engine import open_engine
from tests.support.scripted_client import Answer, ScriptedClient, calls
from tests.support.widget_app import lines_of

MODELS = (ModelInfo(id="scripted", context_window=2000), ModelInfo(id="other", context_window=5000))
REFUSED = AgentError(kind="protocol", code="unauthorized", message="401: refused")
TO_CHILD = calls(("dispatch", {"role": "explorer", "task": "look around"}))
REPORT = calls(("report", {"status": "completed", "summary": "nothing", "findings": [], "limitations": []}))


def taking(tokens: int, text: str = "done") -> Completion:
    return Completion(text=text, finish_reason="stop", usage=Usage(input_tokens=tokens, output_tokens=5, requests=1))


def app_with(folder: Path, *answers: Answer | Callable[[ModelRequest], Answer]) -> SmithApp:
    return app_around(open_engine(folder, ScriptedClient(*answers, models=MODELS)))


async def send(pilot: Pilot[None], app: SmithApp, line: str) -> None:
    """Send a line, and wait until what it began is over."""
    app.chat.prompt.load(line)
    await pilot.press("enter")
    for _ in range(300):
        await pilot.pause(0.01)
        if not app.chat.turns.is_running and not app.chat.turns._commands:
            return
    raise AssertionError("never over")


def said(app: SmithApp) -> str:
    return next((word for word in lines_of(app.chat.status)[0].split("  ") if word.startswith("ctx")), "")


async def test_it_is_what_the_last_request_took(tmp_path: Path) -> None:
    app = app_with(tmp_path, calls(("read", {"path": "x"})), taking(400), taking(1700), taking(9000))
    async with app.run_test(size=(150, 24)) as pilot:
        await pilot.pause()
        assert said(app) == ""
        shares = []
        for _ in range(3):
            await send(pilot, app, "go")
            shares.append(said(app))
        assert shares == ["ctx 20%", "ctx 85%", "ctx 100%"]


async def test_a_child_takes_nothing_of_the_window(tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> Answer:
        is_child = any(tool.name == "report" for tool in request.tools)
        if is_child:
            return replace(REPORT, usage=Usage(input_tokens=1900, requests=1))
        has_result = request.messages[-1].role == "tool"
        return REFUSED if has_result else replace(TO_CHILD, usage=Usage(input_tokens=200, requests=1))

    app = app_with(tmp_path, answer)
    async with app.run_test(size=(150, 30)) as pilot:
        await send(pilot, app, "go")
        assert app.chat.status.state.tokens_in >= 1900
        assert said(app) == "ctx 10%"


async def test_a_request_without_an_answer_leaves_it(tmp_path: Path) -> None:
    app = app_with(tmp_path, taking(400), REFUSED)
    async with app.run_test(size=(150, 24)) as pilot:
        await send(pilot, app, "go")
        await send(pilot, app, "go")
        assert app.chat.status.state.activity == "error"
        assert said(app) == "ctx 20%"


@pytest.mark.parametrize("line", ["/model other", "/role orchestrator", "/new", "/clear", "/undo talk"])
async def test_behind_a_change_it_is_not_known_until_the_next_request(tmp_path: Path, line: str) -> None:
    app = app_with(tmp_path, taking(400))
    async with app.run_test(size=(150, 24)) as pilot:
        await send(pilot, app, "go")
        assert said(app) == "ctx 20%"
        await send(pilot, app, "/title A title")
        await send(pilot, app, "/config set ui.motion reduced")
        assert said(app) == "ctx 20%"
        await send(pilot, app, line)
        assert said(app) == ""
        await send(pilot, app, "go")
        assert said(app) == ("ctx 8%" if line == "/model other" else "ctx 20%")
