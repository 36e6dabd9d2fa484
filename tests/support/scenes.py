"""Every screen of the app, opened by keys in an app that is ready for it, and closed again."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen

from smith_core.config.user_file import UserFile
from smith_core.endpoints import LocalEndpoint
from smith_core.events import Notice, PermissionRequested, ToolEnded, ToolOutput, ToolStarted
from smith_core.llm.protocol import ModelInfo
from smith_core.messages import Message, ToolMetadata, ToolResult
from smith_core.model import ModelService
from smith_core.prompt import PromptService
from smith_core.tools.builtin import BUILTIN_TOOLS
from smith_core.tools.registry import ToolRegistry
from smith_tui.app import SmithApp, app_around
from smith_tui.screens.conversations import ConversationsScreen
from smith_tui.screens.first_start import FirstStartScreen
from smith_tui.screens.look import Look
from smith_tui.screens.open_link import OpenLinkScreen
from smith_tui.screens.paste import PasteScreen
from smith_tui.screens.search import SearchScreen
from smith_tui.setup import Setup
from smith_tui.theme import THEMES, textual_theme
from smith_tui.transcript.view import Transcript
from tests.support import children, turns
from tests.support.edited_history import NOW
from tests.support.engine import open_engine
from tests.support.screen_app import ScreenApp
from tests.support.scripted_client import ScriptedClient
from tests.support.shelf import Archive, Shelf
from tests.support.shelf_examples import ANSWER, CONVERSATIONS

FILES = ("src/prices.py", "src/cart [red].py", "docs/prices 漢字.md", "README.md")
WINDOW = {"tool_output_keep_rounds": 1, "tool_output_elide_over_chars": 500}
PALETTE_QUERY = ("slash", *"us")
ANSI = b"".join(b"\x1b[%dmcolour %d\x1b[0m " % (code, code) for code in (*range(30, 38), *range(90, 98)))
OUTPUT = b"\x1b[32m12 passed\x1b[0m\r\n\x1b[1;31m1 failed\x1b[0m \x1b[2mfaint\x1b[0m \x1b[7mreverse\x1b[0m\r\n" + ANSI
SCREEN = b"\x1b[2J\x1b[H\x1b[44;97m top \x1b[0m\x1b[3;5Hin the \x1b[1mmiddle\x1b[0m\x1b[5;1H\x1b[31mred\x1b[39m plain"


class FixedPrompt(PromptService):
    """Says the same wherever the test runs."""

    @staticmethod
    def build_system_prompt(*_: object) -> str:
        return "You are Smith. " * 300


class Stage:
    """An app that shows scenes, and what they may use."""

    def __init__(self, app: App[Any], pilot: Pilot[Any]) -> None:
        self.any_app = app
        self.pilot = pilot
        self.theme = "dark"
        self.inside: Scene | None = None
        """The view that is open around scenes."""

    @property
    def app(self) -> SmithApp:
        """The app."""
        assert isinstance(self.any_app, SmithApp)
        return self.any_app

    @property
    def look(self) -> Look:
        """What screens get that are made for this theme."""
        return Look(theme=THEMES[self.theme])

    async def wear(self, theme: str) -> None:
        """Change the theme as a person does."""
        self.theme = theme
        if isinstance(self.any_app, ScreenApp):
            colours = textual_theme(THEMES[theme])
            self.any_app.register_theme(colours)
            self.any_app.theme = colours.name
            return
        async for event in self.app.runtime.process_raw_input(f"/config set ui.theme {theme}"):
            assert not (isinstance(event, Notice) and event.level == "error"), event

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something."""
        for _ in range(500):
            if condition():
                return
            await self.pilot.pause(0.01)
        raise AssertionError("never came true")

    async def settle(self, wait_s: float = 0.0) -> None:
        """Wait for what follows keys; wait_s: how late timers of the scene act."""
        await self.pilot.pause(wait_s or None)
        screen = self.any_app.screen
        running = [worker for worker in screen.workers if not worker.is_finished]
        if running:
            await self.any_app.workers.wait_for_complete(running)
        for transcript in screen.query(Transcript):
            transcript.flush()
        await self.pilot.pause()


Act = tuple[str, ...] | Callable[[Stage], Awaitable[None]]


class Scene(NamedTuple):
    """How a screen is opened and closed: keys, or what to do.

    wait_s: how late its timers act. is_live: whether the theme can change while it is open. inside: what is opened
    around it, and stays so for the next scene within. decoration: signs that may be faint, for they tell nothing.
    """

    open: Act = ()
    close: Act = ()
    wait_s: float = 0.0
    is_live: bool = True
    inside: "Scene | None" = None
    decoration: str = ""


class Group(NamedTuple):
    """Scenes of one app."""

    app: Callable[[Path], App[Any]]
    size: tuple[int, int]
    ready: Callable[[Stage], Awaitable[None]]
    scenes: Mapping[str, Scene]


async def enter(stage: Stage, view: Scene | None) -> None:
    """Have this view open, and no other one."""
    if stage.inside is not view:
        if stage.inside is not None:
            await act(stage, stage.inside.close)
        if view is not None:
            await act(stage, view.open)
        stage.inside = view


async def open_scene(stage: Stage, scene: Scene) -> None:
    """Have a scene on the screen."""
    await enter(stage, scene.inside)
    await act(stage, scene.open)
    await stage.settle(scene.wait_s)


async def act(stage: Stage, what: Act) -> None:
    """Press keys, or do what a scene says."""
    if callable(what):
        await what(stage)
    elif what:
        await stage.pilot.press(*what)


def smith(folder: Path, **settings: Any) -> SmithApp:
    for name in FILES:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x")
    tools = ToolRegistry(tuple(spec for spec in BUILTIN_TOOLS if spec.name in ("read", "edit")))
    ui = {"motion": "reduced"}
    settings = {"ui": ui, "context_management": WINDOW, **settings}
    return app_around(open_engine(folder, ScriptedClient("x"), settings, {"prompt": FixedPrompt(), "tool": tools}))


def showing(*events: Any) -> Callable[[Stage], Awaitable[None]]:
    """Return what shows events on the main screen, its clocks standing still."""

    async def ready(stage: Stage) -> None:
        chat = stage.app.chat
        await stage.until(lambda: chat.beginning.is_open.is_set() and not chat._work)
        chat.status._clock = chat.output._clock = chat.desk.clock = lambda: 0.0
        for event in events:
            chat.show(event)
        chat.status.change(folder="~/shop", branch="main")

    return ready


def work() -> Iterable[Any]:
    """Events of a turn that answers, runs a command and asks."""
    yield from turns.streaming()
    yield ToolStarted(call_id="b", name="bash", arguments='{"command": "make test"}')
    yield ToolOutput(call_id="b", chunk=OUTPUT)


def question() -> PermissionRequested:
    return PermissionRequested(
        call_id="q", name="bash", arguments='{"command": "rm -r build\\nls"}', covers="this command", role="direct"
    )


async def ask(stage: Stage) -> None:
    stage.app.chat.show(ToolStarted(call_id="q", name="bash", arguments=question().arguments))
    stage.app.chat.show(question())


async def withdraw(stage: Stage) -> None:
    result = ToolResult(call_id="q", ok=False, content="refused", metadata=ToolMetadata())
    stage.app.chat.show(ToolEnded(name="bash", result=result))
    stage.app.chat.asking._open(None)


async def wait_in_line(stage: Stage) -> None:
    chat = stage.app.chat
    for text in ("then run the tests", "commit\nit all"):
        chat.queue.add(text)
    chat.queue.add_said("leave [b]carts[/b] alone")
    await stage.pilot.press("alt+q", "down")


async def leave_line(stage: Stage) -> None:
    stage.app.chat.queue.take_all()
    stage.app.chat.queue.heard("leave [b]carts[/b] alone")
    stage.app.chat.set_focus(stage.app.chat.prompt)


async def draw_screen(stage: Stage) -> None:
    stage.app.chat.show(ToolStarted(call_id="s", name="bash", arguments='{"command": "top"}'))
    stage.app.chat.show(ToolOutput(call_id="s", chunk=SCREEN))
    if not stage.app.chat.has_class("with-output"):
        await stage.pilot.press("ctrl+o")


async def push_link(stage: Stage) -> None:
    await stage.app.push_screen(OpenLinkScreen("https://exämple.org/a?b=[red]c", stage.app.actions))


async def push_paste(stage: Stage) -> None:
    await stage.app.push_screen(PasteScreen("first line\nsecond [/x] 漢字\n" * 9, stage.app.actions))


async def type_slash(stage: Stage) -> None:
    await stage.pilot.press(*"/re", "down")
    await stage.until(lambda: stage.app.chat.completing.is_open)


async def type_mention(stage: Stage) -> None:
    await stage.pilot.press(*"look at @r")
    await stage.until(lambda: stage.app.chat.completing.is_open)


async def empty_prompt(stage: Stage) -> None:
    stage.app.chat.completing.close()
    stage.app.chat.prompt.clear()


async def type_text(stage: Stage) -> None:
    prompt = stage.app.chat.prompt
    prompt.load("!make test | tee 'log 漢字'\nand a second line")
    await stage.pilot.press(*["shift+left"] * 6)


async def open_palette(stage: Stage) -> None:
    await stage.pilot.press("ctrl+p", *PALETTE_QUERY)
    await stage.pilot.pause(0.3)


def search_screen(archive: Archive, query: str) -> Callable[[Stage], Awaitable[None]]:
    async def push(stage: Stage) -> None:
        screen = SearchScreen(archive, query, look=stage.look, now=lambda: NOW, timer=lambda: 0.0)
        await stage.any_app.push_screen(screen)

    return push


def bare(folder: Path) -> ScreenApp:
    """An app without the engine, for screens that need none."""
    return ScreenApp(Screen())


async def nothing(stage: Stage) -> None:
    """Need no preparation."""


async def push_list(stage: Stage) -> None:
    shelf = Shelf(CONVERSATIONS, [Message(role="assistant", content=ANSWER)])
    shelf.held = {"c1": 4242}
    await stage.any_app.push_screen(ConversationsScreen(shelf, current="c2", look=stage.look, now=lambda: NOW))


async def push_deletion(stage: Stage) -> None:
    await stage.any_app.push_screen(ConversationsScreen(Shelf(CONVERSATIONS), look=stage.look, now=lambda: NOW))
    await stage.settle(0.06)
    await stage.pilot.press("d")


async def pop(stage: Stage) -> None:
    stage.any_app.pop_screen()


def setup_screen(*answers: str) -> Callable[[Stage], Awaitable[None]]:
    async def push(stage: Stage) -> None:
        found = LocalEndpoint(program="Ollama", api_url="http://127.0.0.1:11434/v1", models=("qwen3:8b", "[red]x"))
        client = ScriptedClient("x", models=(ModelInfo(id="alpha"), ModelInfo(id="beta")))
        setup = Setup(
            ModelService(client),
            UserFile(path=Path("/nowhere/config.json")),
            environ={"OPENAI_API_KEY": "sk-real"},
            detect=lambda: (found,),
        )
        screen = FirstStartScreen(setup)
        await stage.app.push_screen(screen)
        await stage.until(lambda: bool(screen._rows))
        for answer in answers:
            await stage.pilot.press(*answer.split())

    return push


async def open_child(stage: Stage) -> None:
    stage.app.chat.set_focus(stage.app.chat.prompt)
    await stage.pilot.press("alt+t")


async def notify(stage: Stage) -> None:
    stage.app.notify("Press Ctrl+C again to [quit]", timeout=600, markup=False)
    stage.app.notify("The main screen asks: may bash run?", severity="warning", timeout=600, markup=False)
    await stage.pilot.pause(0.2)


async def forget_notices(stage: Stage) -> None:
    stage.app.clear_notifications()
    await stage.pilot.pause(0.2)


def running(count: int, *ends: tuple[int, Any]) -> list[Any]:
    events = [*children.turn(count), *(event for number in range(1, count + 1) for event in children.work(number))]
    return events + [event for number, status in ends for event in children.end(number, status)]
