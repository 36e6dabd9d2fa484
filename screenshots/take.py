"""Takes the pictures of this folder: the app in its main states, with a scripted model and real tools.

make screenshots
"""

import asyncio
import re
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from textual.pilot import Pilot

sys.path.insert(0, str(Path(__file__).parents[1]))

from smith_core.errors import AgentError
from smith_core.llm.protocol import Completion, ModelRequest, StreamReasoning, StreamText
from smith_core.messages import Usage
from smith_tui.app import SmithApp, app_around
from tests.support.children import PROSE, TASKS
from tests.support.demo_task import ANSWER, RIGHT_LINE, TASK, make_repository
from tests.support.engine import open_engine
from tests.support.scripted_client import Answer, ScriptedClient, calls

if TYPE_CHECKING:
    from smith_tui.panes.pane import ChildPane

FOLDER = Path(__file__).parent
SIZE = (110, 34)
WIDE = (150, 44)
Step = Callable[[SmithApp, Pilot[None]], Awaitable[None]]
NEVER = asyncio.Event


def read_first(request: ModelRequest) -> Answer:
    """Read the file."""
    return calls(("read", {"path": "prices.py"}), text="I'll look at the file first.\n")


def then_edit(request: ModelRequest) -> Answer:
    """Change the line, with the hash that was read."""
    found = re.search(r"\b[0-9a-f]{64}\b", request.messages[-1].content)
    assert found
    edit = {"path": "prices.py", "operation": "replace", "start_line": 3, "text": RIGHT_LINE, "hash": found[0]}
    return calls(("edit", edit), text="The sign is wrong: a discount has to be **subtracted**.\n")


def then_run(request: ModelRequest) -> Answer:
    """Run the file."""
    return calls(("bash", {"command": "python3 prices.py"}))


DONE = Completion(text=ANSWER, finish_reason="stop", usage=Usage(input_tokens=4200, output_tokens=310, requests=1))
SLOW_COMMAND = "for n in 1 2 3; do echo tests/test_prices.py::test_$n PASSED; sleep 0.1; done; sleep 60"


async def send(app: SmithApp, pilot: Pilot[None], text: str = TASK) -> None:
    """Type a prompt and send it."""
    app.chat.prompt.load(text)
    await pilot.press("enter")


async def until(condition: Callable[[], bool], pilot: Pilot[None]) -> None:
    """Wait until something holds, then for the frame that shows it."""
    for _ in range(500):
        if condition():
            break
        await pilot.pause(0.02)
    else:
        raise TimeoutError("the state for the picture never came")
    app = pilot.app
    assert isinstance(app, SmithApp)
    app.chat.transcript.flush()
    await pilot.pause(0.1)


def activity(app: SmithApp) -> str:
    """Return what the status bar says the turn does."""
    return app.chat.status.state.activity


async def idle(app: SmithApp, pilot: Pilot[None]) -> None:
    """The app just after its start."""
    await pilot.pause(0.2)


async def streaming(app: SmithApp, pilot: Pilot[None]) -> None:
    """An answer with code while it streams."""
    await send(app, pilot, "How do I sum a list with a discount?")
    await until(lambda: activity(app) == "streaming", pilot)


async def tool_running(app: SmithApp, pilot: Pilot[None]) -> None:
    """A command that runs, its output beside the transcript."""
    await pilot.press("ctrl+o")
    await send(app, pilot, "run the tests")
    await until(lambda: activity(app) == "tool", pilot)
    await pilot.pause(0.6)


async def finished(app: SmithApp, pilot: Pilot[None]) -> None:
    """A task that is done, with its diff."""
    await send(app, pilot)
    await until(lambda: activity(app) == "idle" and len(app.runtime.services.conversation.messages) > 6, pilot)


async def diff(app: SmithApp, pilot: Pilot[None]) -> None:
    """The card of an edit."""
    await finished(app, pilot)
    app.chat.transcript.action_scroll_home()
    await pilot.pause(0.2)


async def error(app: SmithApp, pilot: Pilot[None]) -> None:
    """A request that was refused."""
    await send(app, pilot, "hello")
    await until(lambda: activity(app) == "error", pilot)


async def cancelled(app: SmithApp, pilot: Pilot[None]) -> None:
    """A turn that was cancelled in the middle of its answer."""
    await streaming(app, pilot)
    await pilot.press("ctrl+c")
    await until(lambda: activity(app) == "cancelled", pilot)


async def help_screen(app: SmithApp, pilot: Pilot[None]) -> None:
    """The help screen."""
    await pilot.press("f1")
    await pilot.pause(0.3)


async def inspect(app: SmithApp, pilot: Pilot[None]) -> None:
    """Each message of a task that is done, on the whole screen."""
    await finished(app, pilot)
    await press(pilot, "alt+i", "home", "down", "down", "down")


async def inspect_pane(app: SmithApp, pilot: Pilot[None]) -> None:
    """The same beside the transcript, one message under edit."""
    await finished(app, pilot)
    await press(pilot, "alt+i", "w", "e")


async def next_request(app: SmithApp, pilot: Pilot[None]) -> None:
    """What would be sent next."""
    await finished(app, pilot)
    await press(pilot, "alt+i", "m", "home", "down", "down")


async def conversation(app: SmithApp, pilot: Pilot[None]) -> None:
    """The whole conversation, with a search in it."""
    await finished(app, pilot)
    await press(pilot, "alt+h", "slash", *"discount", "enter")


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys, and wait for what follows them a moment later."""
    for key in keys:
        await pilot.press(key)
        await pilot.pause(0.05)
    await pilot.pause(0.4)


def streamed() -> list[StreamReasoning | StreamText | asyncio.Event]:
    """An answer that stops in the middle of a code block."""
    return [
        StreamReasoning(text="They want a function. A generator expression keeps it short."),
        StreamText(text="Multiply the sum by what is **left** of the price:\n\n```python\n"),
        StreamText(text='def total(prices, discount):\n    """Return the sum of the prices, less the discount."""\n'),
        StreamText(text="    return sum(prices) * (1 - discount / 100)\n\n\n"),
        StreamText(text='for discount in (0, 10, 50):\n    print(f"{disc'),
        NEVER(),
    ]


async def dispatched(app: SmithApp, pilot: Pilot[None]) -> None:
    """Children at work side by side, the second one with the keys."""
    await send(app, pilot, "Find out why the totals are wrong, and mend it")
    await until(lambda: bool(panes(app)) and all(map(at_work, panes(app))), pilot)
    await pilot.press("alt+2")
    await pilot.pause(2.2)


def panes(app: SmithApp) -> "tuple[ChildPane, ...]":
    """Return the panes of all children."""
    area = app.chat.desk.area
    return area.panes if area is not None else ()


def at_work(pane: "ChildPane") -> bool:
    """Say whether a child has come to where its script waits."""
    return pane.child.status.activity == ("streaming", "tool", "tool", "thinking")[pane.child.number - 1]


def dispatching(count: int) -> Callable[[ModelRequest], object]:
    """Return a script of a parent and so many children, each of which stops in the middle of something else."""

    def answer(request: ModelRequest) -> object:
        asked = next(message.content for message in request.messages if message.role == "user")
        for number, (_, task) in enumerate(TASKS):
            if asked.startswith(task):
                step = sum(message.role == "assistant" for message in request.messages)
                script = child_scripts()[number]
                return script[min(step, len(script) - 1)]
        jobs = [("dispatch", {"role": role, "task": task}) for role, task in TASKS[:count]]
        return calls(*jobs, text="I'll have this looked into from several sides at once.\n")

    return answer


READING = calls(("read", {"path": "prices.py"}), text="I'll look at the file first.\n")


def child_scripts() -> tuple[tuple[object, ...], ...]:
    """Return the answers of each child; what waits for ever belongs to one event loop, so they are made anew."""
    thought = "There is no page on prices yet. I'll begin one and keep it short."
    return (
        (READING, [StreamText(text=PROSE[:420]), NEVER()]),
        (READING, calls(("bash", {"command": SLOW_COMMAND}), text="Now the tests, to see them fail.\n")),
        (calls(("bash", {"command": "git log --stat | head -20; sleep 60"})),),
        (READING, [StreamReasoning(text=thought), NEVER()]),
    )


REFUSED = AgentError(
    kind="protocol",
    code="unauthorized",
    message="401 from qwen3-coder at https://llm.example/v1: the key in LLM_API_KEY was refused; set a valid key, "
    "or name another variable in llm_config.api_key_env",
)
TASK_ANSWERS = (read_first, then_edit, then_run, DONE)
PICTURES: tuple[tuple[str, Step, tuple[object, ...]], ...] = (
    ("idle", idle, ("hello",)),
    ("streaming", streaming, (streamed,)),
    ("tool-running", tool_running, (calls(("bash", {"command": SLOW_COMMAND}), text="Running the tests.\n"),)),
    ("finished", finished, TASK_ANSWERS),
    ("diff", diff, TASK_ANSWERS),
    ("error", error, (REFUSED,)),
    ("cancelled", cancelled, (streamed,)),
    ("help", help_screen, ("hello",)),
    ("inspect", inspect, TASK_ANSWERS),
    ("inspect-pane", inspect_pane, TASK_ANSWERS),
    ("next-request", next_request, TASK_ANSWERS),
    ("conversation", conversation, TASK_ANSWERS),
    ("children-two", dispatched, (dispatching(2),)),
    ("children-three", dispatched, (dispatching(3),)),
    ("children-four", dispatched, (dispatching(4),)),
)


WIDE_STEPS = (dispatched, inspect, inspect_pane, next_request)


async def take(name: str, step: Step, answers: tuple[object, ...], folder: Path) -> None:
    """Bring a fresh app into one state and save its picture."""
    client = ScriptedClient(*[(lambda request: streamed()) if answer is streamed else answer for answer in answers])
    role = "orchestrator" if step is dispatched else "direct"
    settings = {"default_model": "qwen3-coder", "active_role": role, "ui": {"motion": "reduced"}}
    runtime = open_engine(make_repository(folder / "shop"), client, settings)
    app = app_around(runtime)
    async with app.run_test(size=WIDE if step in WIDE_STEPS else SIZE) as pilot:
        await pilot.pause(0.2)
        app.chat.status.change(folder="~/shop")
        await step(app, pilot)
        (FOLDER / f"{name}.svg").write_text(app.export_screenshot(title="Agent Smith"))
        runtime.cancel()
    print(f"screenshots/{name}.svg")


def main() -> None:
    """Take the pictures named on the command line, or all of them."""
    for name, step, answers in PICTURES:
        if not sys.argv[1:] or name in sys.argv[1:]:
            with tempfile.TemporaryDirectory() as folder:
                asyncio.run(take(name, step, answers, Path(folder)))


if __name__ == "__main__":
    main()
