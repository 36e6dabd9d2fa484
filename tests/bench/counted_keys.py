"""What is counted of single keys beside much that stays: a letter typed, a row up in a table, a page up in both."""

import asyncio
from collections.abc import Callable

import msgspec
from rich.console import Console
from textual import events
from textual._compositor import ChopsUpdate
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.pilot import Pilot

from smith_core.messages import Message
from smith_tui.inspect.state import InspectState
from smith_tui.inspect.table_pane import TablePane
from smith_tui.output.app import OutputApp
from smith_tui.output.canvas import Canvas
from smith_tui.screens.look import Look
from smith_tui.theme import DARK, textual_theme
from smith_tui.transcript.view import Transcript
from smith_tui.widgets.prompt import Prompt
from tests.bench.counted import Counts
from tests.bench.counting import calls_in
from tests.support.children import PROSE

_MESSAGES = 4_000
_NOW = 2e9


class _Stored(msgspec.Struct, frozen=True):
    sequence: int
    message: Message


class _KeyApp(OutputApp):
    """A transcript and a table of its messages side by side, and a prompt."""

    CSS = "Horizontal { height: 1fr; } Horizontal > * { width: 1fr; } Prompt { height: 1; }"

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Transcript()
            yield TablePane(InspectState(), Look(), lambda: _NOW)
        yield Prompt()

    def on_mount(self) -> None:
        theme = textual_theme(DARK)
        self.register_theme(theme)
        self.theme = theme.name


def keys_on_the_screen() -> Counts:
    """A letter typed, a row further up in the table, a page up in table and transcript, at 160×50: calls and rows."""
    return asyncio.run(_keys())


async def _keys() -> Counts:
    app = _KeyApp()
    async with app.run_test(size=(160, 50)) as pilot:
        messages = [
            Message(role="assistant" if number % 2 else "user", content=PROSE if number % 2 else f"q {number}")
            for number in range(_MESSAGES)
        ]
        transcript, table, prompt = app.query_one(Transcript), app.query_one(TablePane), app.query_one(Prompt)
        transcript.load(messages)
        table.load([_Stored(number, message) for number, message in enumerate(messages, 1)])
        prompt.focus()
        actions: dict[str, Callable[[], object]] = {
            "a letter typed": lambda: prompt.on_key(events.Key("a", "a")),
            "a row further up": lambda: table.rows.press("up"),
            "a page up in a table": lambda: table.rows.press("pageup"),
            "a page up in a transcript": transcript.action_page_up,
        }
        counts: dict[str, int] = {}
        for name, action in actions.items():
            for _ in range(2):
                # The first time is for what is made once.
                calls, rows = await _drawn(app, pilot, action)
            counts |= {f"keys: calls for {name}": calls, f"keys: rows drawn for {name}": rows}
        return counts


async def _drawn(app: _KeyApp, pilot: Pilot[None], action: Callable[[], object]) -> tuple[int, int]:
    """Return the calls that an action makes until its frame is ready for the terminal, and the rows in that frame."""
    await pilot.pause()
    compositor = app.screen._compositor
    canvas = Canvas(Console(force_terminal=True, color_system="truecolor")._color_system, has_color_erase=True)
    canvas.resize(*app.size)
    canvas.apply(compositor.render_full_update())
    canvas.encode((0, 0))
    updates: list[ChopsUpdate] = []

    def draw() -> None:
        action()
        compositor.update_widgets({widget for widget in compositor.visible_widgets if widget._repaint_regions})
        update = compositor.render_update()
        assert isinstance(update, ChopsUpdate)
        canvas.apply(update)
        canvas.encode((0, 0))
        updates.append(update)

    return calls_in(draw), len({y for update in updates for y, _, _ in update.spans})


SHORT = (keys_on_the_screen,)
