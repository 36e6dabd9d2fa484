"""Questions on the screen: what they show, which keys answer them, and that typed text never does."""

import json
from pathlib import Path

import msgspec
from textual.pilot import Pilot

from smith_core.events import PermissionRequested
from smith_core.llm.protocol import Completion
from smith_core.runtime import Runtime
from smith_tui.app import SmithApp, app_around
from smith_tui.screens.permission_desk import QUIET_S
from smith_tui.widgets.permission_bar import PermissionBar, call_text
from tests.core.dispatch.test_children import report, to
from tests.support.cast import cast
from tests.support.engine import open_engine
from tests.support.scripted_client import ScriptedClient, calls
from tests.support.widget_app import ODD_WIDTHS, WidgetApp, assert_exact_width, lines_of
from tests.tui.test_queueing import send, shown, until

ASK = {"tools": {"permission": "ask"}}


def asking(folder: Path, client: ScriptedClient) -> tuple[SmithApp, Runtime]:
    runtime = open_engine(folder, client, ASK)
    return app_around(runtime), runtime


def bash(command: str) -> Completion:
    return calls(("bash", {"command": command}))


class Clock:
    """Stands still until it is put on."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def wait_for_question(pilot: Pilot[None], clock: Clock) -> PermissionBar:
    """Wait for a question, and until keys answer it."""
    app = pilot.app
    assert isinstance(app, SmithApp)
    desk = app.chat.asking
    desk.clock = clock
    await until(pilot, lambda: desk.question is not None)
    await pilot.pause()
    desk._last_key = clock.now
    clock.now += QUIET_S
    return app.chat.query_one(PermissionBar)


async def test_a_question_is_shown_in_bar_card_and_status_and_one_key_answers(tmp_path: Path) -> None:
    app, _ = asking(tmp_path, ScriptedClient(calls(("bash", {"command": "touch new\necho [red]x"})), "finished"))
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "go")
        bar = await wait_for_question(pilot, Clock())
        assert [line.rstrip() for line in lines_of(bar)] == [
            "? Smith wants to run bash. Allow it?",
            "  touch new",
            "  echo [red]x",
            "  y yes   a always bash   c always this command   n no",
        ]
        assert_exact_width(bar)
        assert "waits for your answer" in shown(app)
        assert app.chat.status.state.activity == "asking"
        assert not (tmp_path / "new").exists()
        await pilot.press("y")
        await until(pilot, lambda: "finished" in shown(app))
        assert (tmp_path / "new").exists()
        assert not bar.display
        assert app.chat.prompt.text == ""
        await until(pilot, lambda: app.chat.status.state.activity == "idle")


async def test_the_mode_is_changed_from_the_prompt_while_a_question_waits(tmp_path: Path) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient(bash("touch new"), "finished")))
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "/config set tools.permission ask")
        await until(pilot, lambda: app.chat.status.state.permission == "ask")
        await send(pilot, "go")
        bar = await wait_for_question(pilot, Clock())
        await send(pilot, "/config set tools.permission read-only")
        await until(pilot, lambda: "finished" in shown(app) and not app.chat.turns.is_running)
        assert app.chat.status.state.permission == "read-only"
        assert not bar.display
        assert not (tmp_path / "new").exists()


async def test_keys_that_were_meant_for_the_prompt_go_there(tmp_path: Path) -> None:
    """Who types while the question comes up loses nothing and allows nothing."""
    app, _ = asking(tmp_path, ScriptedClient(bash("touch new"), "finished"))
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "go")
        clock = Clock()
        bar = await wait_for_question(pilot, clock)
        clock.now -= QUIET_S / 2
        await pilot.press("y", "a", "c", "n")
        assert app.chat.prompt.text == "yacn"
        clock.now += 100
        await pilot.press("y")
        assert app.chat.prompt.text == "yacny"
        assert lines_of(bar)[-1].strip() == "What you type goes to the prompt; Alt+P answers"
        assert app.chat.asking.question is not None
        await pilot.press("alt+p")
        assert app.focused is bar
        assert "y yes" in lines_of(bar)[-1]
        await pilot.press("x")
        assert (app.focused, app.chat.prompt.text) == (app.chat.prompt, "yacnyx")
        await pilot.press("alt+p", "n")
        await until(pilot, lambda: "finished" in shown(app))
        assert (app.focused, app.chat.prompt.text) == (app.chat.prompt, "yacnyx")
        assert not (tmp_path / "new").exists()


async def test_a_word_that_is_typed_in_one_go_is_no_answer(tmp_path: Path) -> None:
    app, _ = asking(tmp_path, ScriptedClient(bash("touch new"), "finished"))
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "go")
        await wait_for_question(pilot, Clock())
        app.chat.asking.hold_s = 3600
        await pilot.press("y", "e", "s")
        assert app.chat.prompt.text == "yes"
        assert app.chat.asking.question is not None
        assert not (tmp_path / "new").exists()


async def test_a_paste_never_answers(tmp_path: Path) -> None:
    from textual import events

    app, _ = asking(tmp_path, ScriptedClient(bash("touch new"), "finished"))
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "go")
        await wait_for_question(pilot, Clock())
        app.chat.prompt.post_message(events.Paste("y"))
        await pilot.pause()
        assert app.chat.prompt.text == "y"
        assert app.chat.asking.question is not None


async def test_escape_says_no_and_a_says_yes_for_the_session(tmp_path: Path) -> None:
    client = ScriptedClient(*[bash(f"touch {name}") for name in ("one", "two", "three")], "finished")
    app, _ = asking(tmp_path, client)
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "go")
        for key in ("escape", "a"):
            await wait_for_question(pilot, Clock())
            await pilot.press(key)
        await until(pilot, lambda: "finished" in shown(app))
        assert "the person did not allow this call" in shown(app)
        assert sorted(path.name for path in tmp_path.glob("[ot]*")) == ["three", "two"]


async def test_a_cancel_takes_the_question_away(tmp_path: Path) -> None:
    app, _ = asking(tmp_path, ScriptedClient(bash("touch new"), "finished"))
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "go")
        bar = await wait_for_question(pilot, Clock())
        await pilot.press("alt+p", "ctrl+c")
        await until(pilot, lambda: app.chat.asking.question is None)
        assert not bar.display
        assert app.focused is app.chat.prompt
        assert not (tmp_path / "new").exists()


async def test_children_are_asked_for_by_name_one_after_the_other(tmp_path: Path) -> None:
    client = ScriptedClient(
        cast(
            direct=[calls(to("worker", "a"), to("worker", "b")), "finished"],
            worker=[calls(("bash", {"command": "echo x >>both"})), report()],
        )
    )
    app, _ = asking(tmp_path, client)
    async with app.run_test(size=(100, 30)) as pilot:
        await send(pilot, "go")
        asked = []
        for _ in range(2):
            bar = await wait_for_question(pilot, Clock())
            assert lines_of(bar)[0].startswith("? Niobe wants to run bash.")
            asked.append(app.chat.asking.question)
            await pilot.press("y")
            await until(pilot, lambda: app.chat.asking.question is not asked[-1])
        assert asked[0] != asked[1]
        await until(pilot, lambda: "finished" in shown(app))
        assert (tmp_path / "both").read_text() == "x\nx\n"


async def test_long_and_odd_calls_keep_the_bar_whole() -> None:
    text = "\n".join([*ODD_WIDTHS, "\x1b[31mred", "x" * 5000])
    question = PermissionRequested(
        call_id="c", name="bash", arguments=json.dumps({"command": text}), covers="this command", role="direct"
    )
    bar = PermissionBar(lambda answer: None, lambda: True)
    app = WidgetApp(bar)
    for size in ((80, 24), (20, 12), (2, 5)):
        async with app.run_test(size=size) as pilot:
            bar.ask(question)
            await pilot.pause()
            assert bar.size.height <= max(3, size[1] // 3)
            assert_exact_width(bar)
            assert "\x1b" not in "".join(lines_of(bar))
            if size[0] == 80:
                assert "more rows; a click on the card above, or Tab and Enter, unfolds them" in lines_of(bar)[-2]
        bar = PermissionBar(lambda answer: None, lambda: True)
        app = WidgetApp(bar)


def test_other_tools_are_said_in_one_line() -> None:
    question = PermissionRequested(
        call_id="c", name="write", arguments='{"path": "a.txt", "content": "x\\ny"}', covers="this file", role="worker"
    )
    assert call_text(question) == "a.txt"
    long = json.dumps({"content": "text\n" * 100_000, "path": "~/.profile"})
    assert call_text(msgspec.structs.replace(question, arguments=long)) == "~/.profile"
    odd = PermissionRequested(call_id="c", name="bash", arguments="[1]", covers="", role="direct")
    assert call_text(odd) == "[1]"
