"""Prompts that are sent while a turn runs: they wait, are said to the turn, are changed, and are never lost."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from smith_core.commands.opening import ResumeWish
from smith_core.errors import AgentError
from smith_core.events import PromptReturned
from smith_core.llm.protocol import Completion, StreamDone, StreamText
from smith_tui.app import SmithApp, app_around
from smith_tui.prompt_queue import PromptQueue, Waiting
from smith_tui.widgets.queue_panel import QueuePanel
from tests.support.engine import open_engine, open_stored_engine
from tests.support.scripted_client import ScriptedClient, calls
from tests.support.widget_app import assert_exact_width, lines_of

REFUSED = AgentError(kind="protocol", code="unauthorized", message="401: refused; set a valid key")
FIRST = StreamText(text="first")
DONE = StreamDone(completion=Completion(text="first", finish_reason="stop"))


def shown(app: SmithApp) -> str:
    app.chat.transcript.flush()
    return "\n".join(row.line.text for row in app.chat.transcript.shown_rows)


def waiting(app: SmithApp) -> list[str]:
    return [item.text for item in app.chat.queue.items]


def said_to(client: ScriptedClient) -> list[list[str]]:
    return [[message.content for message in request.messages if message.role == "user"] for request in client.requests]


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    for _ in range(300):
        if condition():
            return
        await pilot.pause(0.01)
    raise AssertionError("never came true")


async def send(pilot: Pilot[None], text: str, key: str = "enter") -> None:
    app = pilot.app
    assert isinstance(app, SmithApp)
    app.chat.prompt.load(text)
    await pilot.press(key)
    await pilot.pause()


async def begin(pilot: Pilot[None]) -> None:
    await send(pilot, "one")
    app = pilot.app
    assert isinstance(app, SmithApp)
    await until(pilot, lambda: "first" in shown(app))


async def test_waiting_prompts_are_moved_removed_and_taken_back_by_keys(tmp_path: Path) -> None:
    gate = asyncio.Event()
    client = ScriptedClient([FIRST, gate, DONE], "answer", "answer")
    app = app_around(open_engine(tmp_path, client))
    async with app.run_test(size=(60, 24)) as pilot:
        await begin(pilot)
        for text in ("two", "three\nwith more", "four [/x]"):
            await send(pilot, text)
        panel = app.chat.query_one(QueuePanel)
        assert [line.strip() for line in lines_of(panel)[1:]] == ["1 two", "2 three …", "3 four [/x]"]
        await pilot.press("alt+q", "down", "down", "u", "s", "d")
        assert app.chat.queue.items == (Waiting("four [/x]", is_said=True), Waiting("three\nwith more"))
        await pilot.press("alt+q")
        assert app.focused is app.chat.prompt
        app.chat.prompt.load("draft")
        await pilot.press("alt+q", "up", "up", "up", "enter")
        assert app.focused is app.chat.prompt
        assert app.chat.prompt.text == "four [/x]\n\ndraft"
        app.chat.prompt.load("")
        gate.set()
        await until(pilot, lambda: not app.chat.turns.is_running and not waiting(app))
        assert not panel.display
        assert said_to(client) == [["one"], ["one", "three\nwith more"]]


async def test_what_is_said_to_a_turn_is_shown_once_where_it_was_heard(tmp_path: Path) -> None:
    gate = asyncio.Event()
    client = ScriptedClient(
        [FIRST, gate, StreamDone(completion=calls(("bash", {"command": "true"}), text="first"))], "done now"
    )
    app = app_around(open_engine(tmp_path, client))
    async with app.run_test(size=(60, 24)) as pilot:
        await begin(pilot)
        await send(pilot, "also this", "alt+enter")
        await until(pilot, lambda: "→ also this" in "".join(lines_of(app.chat.query_one(QueuePanel))[1:2]))
        assert "also this" not in shown(app)
        gate.set()
        await until(pilot, lambda: "done now" in shown(app) and not app.chat.turns.is_running)
        assert said_to(client)[1] == ["one", "also this"]
        assert shown(app).count("also this") == 1
        assert waiting(app) == []


async def test_what_a_turn_did_not_hear_is_sent_first_afterwards(tmp_path: Path) -> None:
    gate = asyncio.Event()
    client = ScriptedClient([FIRST, gate, REFUSED], "b", "c", "d")
    app = app_around(open_engine(tmp_path, client))
    async with app.run_test(size=(60, 24)) as pilot:
        await begin(pilot)
        await send(pilot, "later")
        await send(pilot, "unheard", "alt+enter")
        await send(pilot, "!true", "alt+enter")
        gate.set()
        await until(pilot, lambda: not app.chat.turns.is_running)
        assert waiting(app) == ["unheard", "later", "!true"]
        await send(pilot, "go on")
        await until(pilot, lambda: not app.chat.turns.is_running and not waiting(app))
        assert [texts[-1].splitlines()[0] for texts in said_to(client)] == ["one", "go on", "unheard", "later"]


@pytest.mark.parametrize("way", ["key", "command", "palette"])
async def test_b21_cancel_gives_everything_back_to_the_prompt(tmp_path: Path, way: str) -> None:
    app = app_around(open_engine(tmp_path, client := ScriptedClient([FIRST, asyncio.Event()], "x")))
    async with app.run_test(size=(60, 24)) as pilot:
        await begin(pilot)
        await send(pilot, "waits")
        await send(pilot, "said", "alt+enter")
        draft = "" if way == "command" else "\n\ndraft"
        if way == "command":
            await send(pilot, "/Cancel ")
        else:
            app.chat.prompt.load("draft")
            await pilot.press(*(["ctrl+c"] if way == "key" else ["ctrl+p", "slash", *"cancel", "enter"]))
        await until(pilot, lambda: not app.chat.turns.is_running)
        await pilot.pause()
        assert app.chat.prompt.text == f"said\n\nwaits{draft}"
        assert waiting(app) == []
        assert len(client.requests) == 1
        await send(pilot, "/cancel")
        await until(pilot, lambda: "no turn is running" in shown(app))


async def test_after_a_failure_waiting_prompts_are_held_until_a_turn_works(tmp_path: Path) -> None:
    gate, second_gate = asyncio.Event(), asyncio.Event()
    client = ScriptedClient([FIRST, gate, REFUSED], [FIRST, second_gate, DONE], "works too")
    app = app_around(open_engine(tmp_path, client))
    async with app.run_test(size=(60, 24)) as pilot:
        await begin(pilot)
        await send(pilot, "two")
        gate.set()
        await until(pilot, lambda: not app.chat.turns.is_running)
        assert waiting(app) == ["two"]
        await until(pilot, lambda: "held, the turn failed" in "".join(lines_of(app.chat.query_one(QueuePanel))[:1]))
        await send(pilot, "try again")
        await until(pilot, lambda: len(client.requests) == 2)
        await until(pilot, lambda: "1 next" in "".join(lines_of(app.chat.query_one(QueuePanel))[:1]))
        second_gate.set()
        await until(pilot, lambda: len(client.requests) == 3 and not app.chat.turns.is_running)
        assert waiting(app) == []


async def test_what_waits_and_the_role_are_there_again_at_the_next_start(tmp_path: Path) -> None:
    runtime = open_stored_engine(tmp_path, ScriptedClient([FIRST, asyncio.Event(), DONE]))
    app = app_around(runtime)
    async with app.run_test(size=(60, 24)) as pilot:
        await send(pilot, "/role orchestrator")
        await begin(pilot)
        await send(pilot, "two")
        await send(pilot, "three")
        store, conversation_id = runtime.services.persistence, runtime.services.conversation.conversation_id
        async with asyncio.timeout(10):  # before the end, which may be a kill -9
            while await store.load_waiting(conversation_id) != ("two", "three"):
                await asyncio.sleep(0.01)
    await runtime.stop_session("test")
    client = ScriptedClient("new", "answer")
    runtime = open_stored_engine(tmp_path, client, ResumeWish("last"))
    app = app_around(runtime)
    async with app.run_test(size=(60, 24)) as pilot:
        await until(pilot, lambda: waiting(app) == ["two", "three"])
        assert runtime.session.active_role == "orchestrator"
        await until(pilot, lambda: "2 from last time" in "".join(lines_of(app.chat.query_one(QueuePanel))[:1]))
        await send(pilot, "four")
        await until(pilot, lambda: len(client.requests) == 1 and not app.chat.turns.is_running)
        await pilot.press("alt+q", "down", "s")
        await until(pilot, lambda: len(client.requests) == 2 and not app.chat.turns.is_running)
        assert [prompts[-1] for prompts in said_to(client)] == ["four", "three"]
        await pilot.press("alt+q")
        await send(pilot, "/new")
        await until(pilot, lambda: not waiting(app))
        assert await runtime.services.persistence.load_waiting(conversation_id) == ("two",)
    await runtime.stop_session("test")


async def test_a_turn_that_a_command_begins_can_be_cancelled_and_waited_for(tmp_path: Path) -> None:
    client = ScriptedClient("first", [StreamText(text="second"), asyncio.Event()], "third")
    app = app_around(open_engine(tmp_path, client))
    async with app.run_test(size=(60, 24)) as pilot:
        await begin(pilot)
        await until(pilot, lambda: not app.chat.turns.is_running)
        await send(pilot, "/retry")
        await until(pilot, lambda: "second" in shown(app))
        assert app.chat.turns.is_running
        assert app.chat.status.state.activity == "streaming"
        await send(pilot, "next")
        assert waiting(app) == ["next"]
        await pilot.press("ctrl+c")
        await until(pilot, lambda: not app.chat.turns.is_running)
        assert app.chat.prompt.text == "next"


async def test_a_command_of_ones_own_waits_while_a_turn_runs(tmp_path: Path) -> None:
    (tmp_path / ".smith" / "commands").mkdir(parents=True)
    (tmp_path / ".smith" / "commands" / "review.md").write_text("Look at $1.")
    gate = asyncio.Event()
    app = app_around(open_engine(tmp_path, client := ScriptedClient([FIRST, gate, DONE], "fine")))
    async with app.run_test(size=(60, 24)) as pilot:
        await begin(pilot)
        await send(pilot, "/review a.py")
        assert waiting(app) == ["/review a.py"]
        gate.set()
        await until(pilot, lambda: "fine" in shown(app) and not app.chat.turns.is_running)
        assert said_to(client)[1] == ["one", "Look at a.py."]


async def test_a_prompt_that_is_given_back_never_takes_the_place_of_another(tmp_path: Path) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient("x")))
    async with app.run_test(size=(60, 24)) as pilot:
        app.chat.show(PromptReturned(text="old"))
        assert app.chat.prompt.text == "old"
        app.chat.show(PromptReturned(text="older"))
        assert app.chat.prompt.text == "old"
        await pilot.press("up")
        assert app.chat.prompt.text == "older"


async def test_the_panel_holds_on_small_screens(tmp_path: Path) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient([FIRST, asyncio.Event()], "x")))
    async with app.run_test(size=(20, 5)) as pilot:
        await begin(pilot)
        for text in ("two", "wide 漢字漢字漢字漢字漢字", "four"):
            await send(pilot, text)
        panel = app.chat.query_one(QueuePanel)
        for size in ((20, 5), (60, 15), (2, 2), (300, 100)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            if panel.size:
                assert_exact_width(panel)
            if size[1] > 2:
                assert app.chat.prompt.region.height == 1
        assert waiting(app)[0] == "two"


@given(st.lists(st.tuples(st.sampled_from(["add", "say", "hear", "drop", "move", "end", "pop"]), st.integers(0, 4))))
def test_nothing_gets_lost_in_the_queue(steps: list[tuple[str, int]]) -> None:
    queue = PromptQueue()
    alive: list[str] = []
    for number, (step, where) in enumerate(steps):
        match step:
            case "add" | "say":
                (queue.add if step == "add" else queue.add_said)(str(number))
                alive.append(str(number))
            case "hear":
                said = [item.text for item in queue.items if item.is_said]
                if said:
                    queue.heard(said[0])
                    alive.remove(said[0])
            case "drop":
                if (gone := queue.remove(where)) is not None:
                    alive.remove(gone.text)
            case "move":
                queue.move(where, 1)
            case "end":
                queue.not_heard([item.text for item in queue.items if item.is_said])
            case "pop":
                if (text := queue.pop()) is not None:
                    alive.remove(text)
        assert sorted(item.text for item in queue.items) == sorted(alive)
        flags = [item.is_said for item in queue.items]
        assert flags == sorted(flags, reverse=True)
    assert all(isinstance(item, Waiting) for item in queue.items)


def test_a_prompt_of_an_earlier_session_is_not_the_next_one() -> None:
    queue = PromptQueue()
    queue.open(("of last time",), leave=False)
    assert (len(queue), queue.has_next) == (1, False)
    queue.add("of now")
    assert queue.has_next


async def test_a_turn_that_is_about_to_begin_can_be_cancelled(tmp_path: Path) -> None:
    client = ScriptedClient("an answer")
    app = app_around(open_engine(tmp_path, client))
    async with app.run_test(size=(80, 24)) as pilot:
        # The key comes before the engine has begun with the prompt.
        app.chat.submit("one")
        assert app.chat.turns.cancel()
        await until(pilot, lambda: not app.chat.turns.is_running)
        assert (client.requests, "cancelled" in shown(app)) == ([], True)
        await send(pilot, "two")
        await until(pilot, lambda: "an answer" in shown(app))
