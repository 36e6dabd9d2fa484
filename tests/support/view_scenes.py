"""Scenes that need more than keys: the inspect view with what is done in it, the rain, and the report of usage."""

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import msgspec

from smith_core.commands.usage_report import render_usage, usage_rows
from smith_core.embedded.label import SCRIPTED_MODEL
from smith_core.events import AnyEvent, CommandOutput, MessageAdded, ReasoningDelta, TextDelta, TurnStarted
from smith_core.llm.model_table import Prices
from smith_core.messages import Message, Usage
from smith_core.session.spending import Spender, TimeSpent
from smith_core.tour.parts import Say, Think
from smith_core.tour.script import answer_to
from smith_tui.app import SmithApp
from smith_tui.graphics.cell_rain import CellRain
from smith_tui.graphics.glyphs import KATAKANA
from smith_tui.graphics.scene import Stage as RainStage
from smith_tui.tour_command import WELCOME
from tests.support import turns
from tests.support.edited_history import NOW, load, messages
from tests.support.scenes import Scene, Stage, showing, smith


async def have_messages(stage: Stage) -> None:
    await showing()(stage)
    await load(stage.app.runtime, messages())
    stage.app.chat.transcript.load(messages())
    stage.app.inspection.now = lambda: NOW


def pressing(*keys: str) -> Callable[[Stage], Awaitable[None]]:
    """Press keys of the inspect view, and wait behind those that build something."""

    async def press(stage: Stage) -> None:
        waiting: list[str] = []
        for key in keys:
            waiting.append(key)
            if key in ("m", "w", "e", "alt+i"):
                await stage.pilot.press(*waiting)
                waiting.clear()
                await stage.settle(0.06)
        await stage.pilot.press(*waiting)

    return press


async def _open_inspect_view(stage: Stage) -> None:
    stage.app.inspection.now = lambda: NOW
    await pressing("alt+i", "home")(stage)


async def _close_inspect_view(stage: Stage) -> None:
    stage.app.inspection.close_inspector()
    await stage.settle(0.06)
    del stage.app.__dict__["inspection"]


INSPECT_VIEW = Scene(_open_inspect_view, _close_inspect_view)


def inspect(opening: str, closing: str) -> Scene:
    """Keys within the inspect view, of which the first message is chosen, and those that lead back there."""
    return Scene(
        pressing(*opening.split()), pressing(*closing.split(), "home"), 0.06, is_live=False, inside=INSPECT_VIEW
    )


def rain(steps: int) -> Scene:
    """The rain behind what the transcript shows, which stands still so many steps from a fixed seed."""

    async def begin(stage: Stage) -> None:
        view = stage.app.chat.transcript
        falling = CellRain(RainStage(view), seed=3)
        falling.start(stage.look.theme, ("cyan", "violet"))
        assert falling._timer is not None
        falling._timer.pause()
        for _ in range(steps):
            falling.tick()
        ends.append(falling.stop)

    async def end(stage: Stage) -> None:
        ends.pop()()

    ends: list[Callable[[], None]] = []
    return Scene(begin, end, is_live=False, decoration="".join(KATAKANA))


def tour(folder: Path) -> SmithApp:
    """The app as the tour opens it."""
    app = smith(folder, default_model=SCRIPTED_MODEL)
    return SmithApp(msgspec.structs.replace(app.start, welcome=WELCOME))


def first_step() -> Iterator[AnyEvent]:
    """What the tour answers to its first prompt."""
    thought, said = answer_to([{"role": "user", "content": "hello"}])
    assert isinstance(thought, Think)
    assert isinstance(said, Say)
    yield TurnStarted(turn_id="t", conversation_id="c", role="direct", text="hello")
    yield ReasoningDelta(text=thought.text)
    yield TextDelta(text=said.text)
    yield MessageAdded(message=Message(role="assistant", content=said.text, reasoning=thought.text))
    yield from turns.ended("completed")


def usage_report() -> Iterator[AnyEvent]:
    """What `/usage` says of a session with children, one model of which has no known price."""
    tokens = {
        Spender("orchestrator", "big"): Usage(
            input_tokens=1_204_310, output_tokens=48_200, cached_tokens=980_000, requests=61
        ),
        Spender("explorer", "small", "V1StGXR8_Z5j"): Usage(input_tokens=88_020, output_tokens=3_900, requests=9),
        Spender("explorer", "local", "k9dLm2pQ7xYa"): Usage(
            input_tokens=21_400, output_tokens=1_100, requests=4, estimated=True
        ),
        Spender("worker", "big", "q0Zr5TtUvW1b"): Usage(
            input_tokens=310_000, output_tokens=22_750, cached_tokens=201_000, requests=23
        ),
    }
    prices = {
        "big": Prices(input=3e-6, output=1.5e-5, cached=3e-7),
        "small": Prices(input=2.5e-7, output=1.25e-6, cached=2.5e-8),
        "local": None,
    }
    time_spent = TimeSpent(model=412.0, tools=96.5, waiting=7.2)
    saved = tokens | {Spender("orchestrator", "big"): Usage(input_tokens=2_010_500, output_tokens=90_300, requests=120)}
    report = render_usage(usage_rows(tokens, prices), time_spent, usage_rows(saved, prices))
    yield CommandOutput(command="usage", text=report)
