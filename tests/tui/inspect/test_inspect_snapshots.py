"""Pictures of the inspect view, the model's view and the conversation view; `--snapshot-update` takes them anew."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from smith_core.prompt import PromptService
from smith_core.tools.builtin import BUILTIN_TOOLS
from smith_core.tools.registry import ToolRegistry
from smith_tui.app import SmithApp, app_around
from smith_tui.transcript.view import Transcript
from tests.support.edited_history import NOW, load, messages
from tests.support.engine import open_engine
from tests.support.scripted_client import ScriptedClient

Compare = Callable[..., bool]


class FixedPrompt(PromptService):
    """Says the same wherever the test runs."""

    @staticmethod
    def build_system_prompt(*_: object) -> str:
        return "You are Smith. " * 300


def picture(folder: Path, theme: str, keys: tuple[str, ...]) -> tuple[SmithApp, Any]:
    tools = ToolRegistry(tuple(spec for spec in BUILTIN_TOOLS if spec.name in ("read", "edit")))
    settings = {
        "ui": {"theme": theme, "motion": "reduced"},
        "context_management": {"tool_output_keep_rounds": 1, "tool_output_elide_over_chars": 500},
    }
    runtime = open_engine(folder, ScriptedClient("x"), settings, {"prompt": FixedPrompt(), "tool": tools})
    app = app_around(runtime)

    async def prepare(pilot: Pilot[None]) -> None:
        await pilot.pause()
        await load(runtime, messages())
        app.chat.transcript.load(messages())
        app.chat.status._clock = lambda: 0.0
        app.chat.status.change(folder="~/shop", branch="main")
        app.inspection.now = lambda: NOW
        for key in keys:
            await pilot.press(key)
            # Rows and messages follow the keys a few hundredths of a second later.
            await asyncio.sleep(0.05)
            await app.screen.workers.wait_for_complete()
        for transcript in app.screen.query(Transcript):
            transcript.flush()
        await pilot.pause(0.1)

    return app, prepare


PICTURES: dict[str, tuple[str, tuple[int, int], tuple[str, ...]]] = {
    "messages": ("dark", (140, 40), ("alt+i", "home", "down")),
    "marked": ("contrast", (100, 30), ("alt+i", "space", "up", "up", "v", "up")),
    "narrow": ("dark", (60, 15), ("alt+i",)),
    "pane": ("dark", (150, 40), ("alt+i", "w", "up")),
    "parts": ("light", (120, 24), ("alt+i", "home", "down", "e")),
    "editing": ("dark", (120, 24), ("alt+i", "up", "up", "e", "down", "enter")),
    "record": ("light", (120, 24), ("alt+i", "up", "t")),
    "next request": ("dark", (140, 30), ("alt+i", "home", "down", "down", "m", "home", *["down"] * 5)),
    "next request, light": ("light", (100, 30), ("alt+i", "m")),
    "conversation": ("dark", (110, 34), ("alt+h",)),
    "found": ("contrast", (100, 24), ("alt+h", "slash", *"parse", "enter", "N")),
}


@pytest.mark.parametrize("name", PICTURES)
def test_pictures(snap_compare: Compare, tmp_path: Path, name: str) -> None:
    theme, size, keys = PICTURES[name]
    app, prepare = picture(tmp_path, theme, keys)
    assert snap_compare(app, terminal_size=size, run_before=prepare)
