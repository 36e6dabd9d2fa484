"""The app driven by keys through Pilot: turns, queue, cancel, panes, find, views and foreign text."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from textual import events
from textual.geometry import Offset
from textual.pilot import Pilot

from smith_core.config.schema import Config
from smith_core.embedded.local_models import LocalModels
from smith_core.errors import AgentError, failure
from smith_core.events import AnyEvent, MessageAdded, OutputDiscarded, RetryWaiting, TextDelta
from smith_core.llm.protocol import Completion, Endpoint, StreamDone, StreamText
from smith_core.messages import Message, Usage
from smith_core.model import ModelService
from smith_core.runtime import Runtime
from smith_tui.app import SmithApp, app_around
from smith_tui.crash import crash_sentence
from smith_tui.inspect.host import InspectScreen
from smith_tui.screens.chat import ChatScreen
from smith_tui.screens.conversation import ConversationScreen
from smith_tui.screens.help import HelpScreen
from smith_tui.start import AppStart
from tests.support.engine import open_engine
from tests.support.scripted_client import ScriptedClient, calls
from tests.support.widget_app import lines_of


def shown(app: SmithApp) -> str:
    app.chat.transcript.flush()
    return "\n".join(row.line.text for row in app.chat.transcript.shown_rows)


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    for _ in range(300):
        if condition():
            return
        await pilot.pause(0.01)
    raise AssertionError("never came true")


async def send(pilot: Pilot[None], text: str) -> None:
    app = pilot.app
    assert isinstance(app, SmithApp)
    app.chat.prompt.load(text)
    await pilot.press("enter")


async def test_a_prompt_typed_by_key_gets_its_answer(tmp_path: Path) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient("The **answer** is 42.")))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("h", "i", "enter")
        await until(pilot, lambda: "answer is 42." in shown(app))
        assert "hi" in shown(app)
        assert "**" not in shown(app)
        assert app.chat.status.state.activity == "idle"
        assert app.chat.prompt.text == ""


async def test_the_queue_runs_prompts_in_order_and_cancel_gives_them_back(tmp_path: Path) -> None:
    gate = asyncio.Event()
    client = ScriptedClient([StreamText(text="first"), gate], "second answer")
    app = app_around(open_engine(tmp_path, client))
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "one")
        await until(pilot, lambda: "first" in shown(app))
        await send(pilot, "two")
        await send(pilot, "three")
        assert len(client.requests) == 1
        await pilot.press("ctrl+c")
        await until(pilot, lambda: app.chat.status.state.activity == "cancelled")
        assert app.chat.prompt.text == "two\n\nthree"
        await pilot.press("enter")
        await until(pilot, lambda: "second answer" in shown(app))


async def test_an_answer_is_never_shown_twice(tmp_path: Path) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient("x")))
    events: list[AnyEvent] = [
        TextDelta(text="The answer "),
        OutputDiscarded(),
        TextDelta(text="The answer is 42."),
        MessageAdded(message=Message(role="assistant", content="The answer is 42.")),
    ]
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        for event in events:
            app.chat.presenter.show(event)
        assert shown(app).count("The answer") == 1
        assert "The answer is 42." in shown(app)


async def test_a_retry_shows_its_attempt_and_reason(tmp_path: Path) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient("x")))
    error = AgentError(kind="transport", code="rate_limited", message="too many requests at the endpoint")
    async with app.run_test(size=(100, 24)) as pilot:
        await pilot.pause()
        app.chat.presenter.show(RetryWaiting(layer="transport", attempt=2, max_attempts=3, wait_s=8.0, error=error))
        assert "too many requests at the endpoint" in shown(app)
        assert "Attempt 2 of 3" in shown(app)
        assert app.chat.status.state.activity == "retry"
        app.chat.presenter.show(RetryWaiting(layer="transport", attempt=3, max_attempts=3, wait_s=8.0, error=error))
        assert shown(app).count("too many requests") == 1 and "The same again. Attempt 3 of 3" in shown(app)


async def test_views_open_and_close_by_their_keys(tmp_path: Path) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient("x")))
    async with app.run_test(size=(80, 24)) as pilot:
        for key, screen in (("f1", HelpScreen), ("alt+h", ConversationScreen), ("alt+i", InspectScreen)):
            await pilot.press(key)
            assert isinstance(app.screen, screen)
            await pilot.press("escape")
            assert isinstance(app.screen, ChatScreen)
            await pilot.press(key, key)
            assert isinstance(app.screen, ChatScreen)


async def test_tool_output_opens_beside_or_below(tmp_path: Path) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient(calls(("bash", {"command": "echo hello"})), "done")))
    async with app.run_test(size=(140, 30)) as pilot:
        assert not app.chat.output.display
        await pilot.press("ctrl+o")
        await pilot.pause()
        assert app.chat.output.region.x > app.chat.transcript.region.x
        await pilot.resize_terminal(80, 30)
        await pilot.pause()
        assert app.chat.output.region.y > app.chat.transcript.region.y
        await pilot.press("ctrl+o")
        await pilot.pause()
        assert not app.chat.output.display


async def test_the_tool_output_names_the_way_in_and_out_and_leaves_typing_to_the_prompt(tmp_path: Path) -> None:
    client = ScriptedClient(calls(("bash", {"command": "echo hello"})), "done")
    app = app_around(open_engine(tmp_path, client, {"keys": {"output_focus": "f4", "output_leave": "f5"}}))
    async with app.run_test(size=(80, 30)) as pilot:
        await send(pilot, "go")
        await until(pilot, lambda: "done" in shown(app))
        await pilot.press("ctrl+o")
        await until(pilot, lambda: "F4 enters" in lines_of(app.chat.output)[0])
        await pilot.press("f4")
        await until(pilot, lambda: "F5 leaves" in lines_of(app.chat.output)[0])
        await pilot.press("f5")
        assert app.focused is app.chat.prompt
        await pilot.press("f4")
        await until(pilot, lambda: app.chat.output.has_focus)
        await pilot.press("c", "X", "c")
        assert (app.focused, app.chat.prompt.text) == (app.chat.prompt, "Xc")


async def test_a_line_for_the_shell_leaves_the_tokens_of_the_turn_before(tmp_path: Path) -> None:
    answer = Completion(text="done", finish_reason="stop", usage=Usage(input_tokens=10, output_tokens=5, requests=1))
    engine = open_engine(tmp_path, ScriptedClient(answer))
    app = app_around(engine)
    async with app.run_test(size=(80, 24)) as pilot:
        for line, said in (("go", 2), ("!echo hi", 3), ("go", 5)):
            await send(pilot, line)
            await until(pilot, lambda said=said: len(engine.services.conversation.messages) == said)  # type: ignore[misc]
            await until(pilot, lambda: app.chat.status.state.activity == "idle")
            assert "↑10 ↓5" in lines_of(app.chat.status)[0], line


async def test_a_turn_says_that_it_waits_for_the_model_host(tmp_path: Path) -> None:
    is_up = asyncio.Event()

    class Client(ScriptedClient):
        async def wait_until_ready(self) -> float:
            await is_up.wait()
            return 1.0

    app = app_around(open_engine(tmp_path, Client([asyncio.Event()])))
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "go")
        await until(pilot, lambda: "starting the model host" in lines_of(app.chat.status)[0])
        is_up.set()
        await until(pilot, lambda: "thinking" in lines_of(app.chat.status)[0])


async def test_a_turn_says_that_a_local_model_is_loaded(tmp_path: Path) -> None:
    is_up = asyncio.Event()

    class Server:
        async def start(self, weights: Path, model: str) -> Endpoint:
            await is_up.wait()
            return Endpoint(api_url="http://127.0.0.1:1/v1", api_key="token")

        async def aclose(self) -> None:
            pass

    client = ScriptedClient([asyncio.Event()])
    model = ModelService(client, LocalModels(Server))
    app = app_around(open_engine(tmp_path, client, {"default_model": "file:/m.gguf"}, {"model": model}))
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "go")
        await until(pilot, lambda: "loading the local model" in lines_of(app.chat.status)[0])
        is_up.set()
        await until(pilot, lambda: "thinking" in lines_of(app.chat.status)[0])


async def test_a_turn_says_so_too_when_the_model_host_has_ended_since(tmp_path: Path) -> None:
    is_up = asyncio.Event()

    class Client(ScriptedClient):
        async def wait_until_ready(self) -> float:
            await is_up.wait()
            return 1.0

    goes_on = asyncio.Event()
    second = Completion(text="two", finish_reason="stop")
    engine = open_engine(tmp_path, Client("one", [goes_on, StreamText(text="two"), StreamDone(completion=second)]))
    app = app_around(engine)
    is_up.set()
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "go")
        await until(pilot, lambda: "one" in shown(app) and app.chat.status.state.activity == "idle")
        is_up.clear()
        await send(pilot, "on")
        await until(pilot, lambda: "starting the model host" in lines_of(app.chat.status)[0])
        is_up.set()
        await until(pilot, lambda: "thinking" in lines_of(app.chat.status)[0])
        goes_on.set()
        await until(pilot, lambda: "two" in shown(app))


async def test_find_goes_through_the_matches(tmp_path: Path) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient("needle one\n\nneedle two\n\nneedle three")))
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "go")
        await until(pilot, lambda: "three" in shown(app))
        await pilot.press("ctrl+f", *"needle")
        await pilot.pause()
        seen = [app.chat.finder.hit]
        for key in ("enter", "enter", "shift+enter"):
            await pilot.press(key)
            await pilot.pause()
            seen.append(app.chat.finder.hit)
        assert seen == [2, 0, 1, 0]
        await pilot.press("escape")
        assert app.focused is app.chat.prompt


async def test_the_terminals_cursor_stands_at_the_caret_for_input_methods(tmp_path: Path) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient("x")))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("h", "i")
        assert app.cursor_position == app.chat.prompt.region.offset + Offset(4, 0)
        await pilot.press("ctrl+j", "漢", "x")
        await pilot.pause()
        assert app.cursor_position == app.chat.prompt.region.offset + Offset(5, 1)
        await pilot.press("ctrl+f", "a", "b", "c", "escape")
        await pilot.pause()
        assert app.cursor_position == app.chat.prompt.region.offset + Offset(5, 1)
        await pilot.resize_terminal(60, 15)
        await pilot.pause()
        assert app.cursor_position == app.chat.prompt.region.offset + Offset(5, 1)
        await pilot.press("alt+h", "/")
        assert app.cursor_position != app.chat.prompt.region.offset + Offset(5, 1)
        await pilot.press("escape", "escape")
        await pilot.pause()
        assert app.cursor_position == app.chat.prompt.region.offset + Offset(5, 1)
        await pilot.press("ctrl+f")
        await pilot.resize_terminal(60, 20)
        await pilot.pause()
        assert app.cursor_position.y == app.chat.find_bar.region.y


async def test_a_size_that_is_announced_again_lays_nothing_out_and_one_that_is_new_does(tmp_path: Path) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient("x")))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        laid_out: list[object] = []
        app.chat.screen_layout_refresh_signal.subscribe(app.chat, laid_out.append)
        app.chat.post_message(events.Resize(app.size, app.size))
        await pilot.pause()
        assert laid_out == []
        # While another screen has it, the size is told to that one alone.
        await pilot.press("f1")
        await pilot.resize_terminal(60, 20)
        await pilot.press("escape")
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert laid_out
        assert app.chat.prompt.region.right == 80


async def test_home_and_end_turn_to_the_transcript_where_they_move_nothing_in_the_prompt(tmp_path: Path) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient("\n\n".join(f"row {number}" for number in range(60)))))
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "go")
        await until(pilot, lambda: "row 59" in shown(app))
        for keys, follows, caret in (
            (["pageup", "pageup"], False, 0),
            (["end"], True, 0),
            (["home"], False, 0),
            (["a", "b", "home"], False, 0),
            (["end"], False, 2),
            (["end"], True, 2),
        ):
            await pilot.press(*keys)
            assert (app.chat.transcript.is_following, app.chat.prompt.caret) == (follows, caret), keys
        await pilot.press("home", "home")
        assert "go" in shown(app)


async def test_typing_goes_to_the_prompt_wherever_the_focus_is(tmp_path: Path) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient("x")))
    async with app.run_test(size=(80, 24)) as pilot:
        app.chat.transcript.focus()
        await pilot.press("a", "b")
        assert app.chat.prompt.text == "ab"
        app.chat.transcript.focus()
        for key in ("c", "backspace", "c", "enter"):
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: "abc" in shown(app))
        assert app.chat.prompt.text == ""


async def test_the_palette_puts_a_command_with_arguments_into_the_prompt(tmp_path: Path) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient("x")))
    async with app.run_test(size=(80, 24)) as pilot:
        table = app.runtime.services.command
        app.choose_command(table.get("role"))
        assert app.chat.prompt.text == "/role "
        app.choose_command(table.get("tools"))
        await until(pilot, lambda: "web_fetch:" in shown(app))


@pytest.mark.parametrize("size", [(60, 15), (20, 5), (300, 100), (2, 2)])
async def test_the_layout_survives_any_size(tmp_path: Path, size: tuple[int, int]) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient("**bold** answer `code`\n\n| a | b |\n|---|---|\n| 1 | 2 |")))
    async with app.run_test(size=size) as pilot:
        await send(pilot, "go")
        await until(pilot, lambda: app.chat.status.state.activity == "idle" and not app.chat.turns.is_running)
        await pilot.press("ctrl+o")
        await pilot.pause()
        assert app.crash is None
        assert app.chat.prompt.region.width <= size[0]


async def test_a_config_key_override_moves_an_action(tmp_path: Path) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient("x"), {"keys": {"help": "f2", "bogus": "f3"}}))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "keys.bogus" in shown(app)
        await pilot.press("f2")
        assert isinstance(app.screen, HelpScreen)


async def test_role_changes_the_colours(tmp_path: Path) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient("x")))
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "/role orchestrator")
        await until(pilot, lambda: app.chat.status.state.role_alias == "Tank")
        assert app.theme == "smith-dark-amber"


async def test_ctrl_c_twice_quits_only_when_quick(tmp_path: Path) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient("x")))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+c")
        app._last_cancel -= 2
        await pilot.press("ctrl+c")
        assert app.is_running
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert app.return_code == 0


async def test_an_engine_that_cannot_be_opened_ends_the_app_with_its_sentence(tmp_path: Path) -> None:
    def open_nothing() -> Runtime:
        raise failure("persistence", "no_temporary_folder", "no folder; set TMPDIR")

    app = SmithApp(AppStart(config=Config(), cwd=tmp_path, open_runtime=open_nothing))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.crash is not None)
    assert app.crash is not None
    assert crash_sentence(app.crash) == "no folder; set TMPDIR"
    assert app.return_code == 1


async def test_only_the_keys_of_our_table_quit(tmp_path: Path) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient("hello")))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+q", "ctrl+d", "ctrl+z", "ctrl+backslash", "h", "i", "enter")
        await until(pilot, lambda: "hello" in shown(app))
        assert app.return_code is None
