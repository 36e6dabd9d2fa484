"""The list of completions as people use it: what opens and closes it, and which keys it takes."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.events import Key
from textual.pilot import Pilot

from smith_tui.app import SmithApp, app_around
from smith_tui.start import AppStart
from smith_tui.widgets.choice_list import ChoiceList
from tests.support.engine import open_engine
from tests.support.scripted_client import ScriptedClient
from tests.support.widget_app import MARKUP, ODD_WIDTHS, assert_exact_width, lines_of, running_timers


def app_in(folder: Path, *answers: str, **settings: object) -> SmithApp:
    return app_around(open_engine(folder, ScriptedClient(*(answers or ("answer",))), settings))


def box(app: SmithApp) -> ChoiceList:
    return app.chat.choices


def offered(app: SmithApp) -> list[str]:
    return [choice.label for choice in box(app).choices]


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    for _ in range(300):
        if condition():
            return
        await pilot.pause(0.01)
    raise AssertionError("never came true")


async def test_a_command_is_taken_by_tab_and_sent_by_enter(tmp_path: Path) -> None:
    app = app_in(tmp_path)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press(*"/mod")
        await until(pilot, lambda: offered(app)[:1] == ["/model [id]"])
        assert box(app).region.bottom == app.chat.prompt.region.y
        await pilot.press("tab")
        assert app.chat.prompt.text == "/model "
        await until(pilot, lambda: offered(app) == ["scripted"])
        assert box(app).selected == -1
        await pilot.press("down", "enter")
        assert app.chat.prompt.text == "/model scripted "
        app.chat.prompt.load("")
        await pilot.press(*"/usag")
        await until(pilot, lambda: bool(offered(app)))
        await pilot.press("enter")
        assert app.chat.prompt.text == "/usage"
        await pilot.press("enter")
        await until(pilot, lambda: not app.chat.prompt.text)
        assert not box(app).display


@pytest.mark.parametrize(
    ("opened_by", "rest"), [("/", "config show"), ("/config", " set tool_step_budget 7"), ("see @", "nothing there")]
)
async def test_what_is_typed_faster_than_it_is_looked_up_is_sent_as_it_is(
    tmp_path: Path, opened_by: str, rest: str
) -> None:
    (tmp_path / "prices.py").write_text("x")
    app = app_in(tmp_path)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press(*opened_by)
        await until(pilot, lambda: bool(offered(app)))
        prompt = app.chat.prompt
        for character in rest:
            prompt.on_key(Key("space" if character == " " else character, character))
        prompt.on_key(Key("enter", "\r"))
        assert prompt.text == ""
        assert prompt.history[-1] == opened_by + rest
        await until(pilot, lambda: not box(app).display)


async def test_enter_sends_a_mistyped_command_so_that_it_is_said_what_was_meant(tmp_path: Path) -> None:
    app = app_in(tmp_path)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press(*"/hlp")
        await until(pilot, lambda: offered(app) == ["/help"])
        assert box(app).selected == -1
        await pilot.press("enter")
        await until(pilot, lambda: "did you mean /help?" in app.chat.transcript.document.blocks[-1].text)
        await pilot.press(*"/hlp", "tab")
        assert app.chat.prompt.text == "/help"


async def test_escape_closes_it_until_the_text_changes(tmp_path: Path) -> None:
    app = app_in(tmp_path)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press(*"/r")
        await until(pilot, lambda: bool(offered(app)))
        await pilot.press("escape", "left", "right", "escape")
        await pilot.pause()
        assert not box(app).display
        await pilot.press("o")
        await until(pilot, lambda: offered(app)[:1] == ["/role [name]"])
        await pilot.press("backspace", "backspace", "backspace", "x")
        await pilot.pause()
        assert not box(app).display
        assert running_timers(app) == 0


async def test_nothing_that_was_not_typed_opens_it_and_no_key_is_taken_then(tmp_path: Path) -> None:
    app = app_in(tmp_path)
    async with app.run_test(size=(100, 30)) as pilot:
        app.chat.prompt.learn_history(["first words", "/usage"])
        await pilot.press("up")
        await pilot.pause()
        assert (app.chat.prompt.text, box(app).display) == ("/usage", False)
        await pilot.press("up")
        assert app.chat.prompt.text == "first words"
        app.chat.prompt.load("/usage")
        await pilot.press("enter")
        await until(pilot, lambda: not app.chat.prompt.text)


async def test_files_are_offered_where_a_mention_begins_and_quoted_where_needed(tmp_path: Path) -> None:
    for name in ("prices.py", "my notes.md"):
        (tmp_path / name).write_text("x")
    app = app_in(tmp_path)
    async with app.run_test(size=(60, 15)) as pilot:
        await pilot.press(*"see @note")
        await until(pilot, lambda: offered(app) == ["my notes.md"])
        assert box(app).region.x == app.chat.prompt.region.x + len("> see ") - 2
        await pilot.press("enter")
        assert app.chat.prompt.text == 'see @"my notes.md" '
        assert not box(app).display
        await pilot.press(*"and @pri")
        await until(pilot, lambda: offered(app) == ["prices.py"])
        await pilot.click(ChoiceList, offset=(4, 0))
        assert app.chat.prompt.text == 'see @"my notes.md" and @prices.py '


@pytest.mark.parametrize("size", [(60, 15), (20, 5), (2, 2), (300, 100)])
async def test_b19_b22_foreign_names_are_literal_and_every_row_is_exact(tmp_path: Path, size: tuple[int, int]) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    for number, name in enumerate([*MARKUP, *ODD_WIDTHS]):
        (folder / f"{number} {name.replace('/', '%')}").write_text("x")
    app = app_in(folder)
    async with app.run_test(size=size) as pilot:
        await pilot.press("@")
        await until(pilot, lambda: bool(app.chat.completing.is_open))
        await pilot.pause()
        for _ in range(len(MARKUP) + len(ODD_WIDTHS)):
            if box(app).display:
                assert_exact_width(box(app))
                assert box(app).region in app.screen.region
            await pilot.press("down")
        if size[0] >= 60:
            assert any("[red]x" in label for label in offered(app))
            assert "done" in "\n".join(offered(app))
        assert app.crash is None


async def test_a_list_stays_beside_its_word_when_the_screen_changes(tmp_path: Path) -> None:
    app = app_in(tmp_path)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("/")
        await until(pilot, lambda: bool(offered(app)))
        await pilot.resize_terminal(50, 12)
        await pilot.pause()
        await pilot.pause()
        assert box(app).region.bottom == app.chat.prompt.region.y
        assert box(app).region in app.screen.region
        assert "of" in lines_of(box(app))[-1]


async def test_an_earlier_prompt_goes_on_behind_the_caret(tmp_path: Path) -> None:
    app = app_in(tmp_path)
    async with app.run_test(size=(60, 15)) as pilot:
        prompt = app.chat.prompt
        prompt.learn_history(["fix the tests", "fix the 漢字 total\nand more"])
        await pilot.press(*"fix")
        assert lines_of(prompt)[0].rstrip() == "> fix the 漢字 total…"
        assert_exact_width(prompt)
        await pilot.press("ctrl+right")
        assert prompt.text == "fix the"
        await pilot.press("right")
        assert prompt.text == "fix the 漢字 total\nand more"
        await pilot.press("ctrl+z", "left")
        assert lines_of(prompt)[0].rstrip() == "> fix the"
        await pilot.press("end", "end", "!")
        assert prompt.text == "fix the 漢字 total\nand more!"


async def test_a_line_for_the_shell_is_marked(tmp_path: Path) -> None:
    app = app_in(tmp_path)
    async with app.run_test(size=(60, 15)) as pilot:
        await pilot.press("!")
        assert lines_of(app.chat.prompt)[0].startswith("$ !a command for your shell")
        await pilot.press("!", "l", "s")
        assert lines_of(app.chat.prompt)[0].rstrip() == "$$!!ls"


async def test_typing_before_the_engine_is_open_waits_for_it(tmp_path: Path) -> None:
    runtime, gate = open_engine(tmp_path, ScriptedClient("x")), threading.Event()
    start = AppStart(
        config=runtime.services.config.effective,
        cwd=tmp_path,
        open_runtime=lambda: runtime,
        import_engine=lambda: gate.wait(10) or None,
    )
    app = SmithApp(start)
    async with app.run_test(size=(60, 15)) as pilot:
        await pilot.press(*"/us")
        await pilot.pause(0.05)
        assert not box(app).display
        gate.set()
        await until(pilot, lambda: offered(app)[:1] == ["/usage"])


async def test_in_a_line_for_the_shell_tab_takes_and_enter_runs_what_is_typed(tmp_path: Path) -> None:
    (tmp_path / "my notes").mkdir()
    (tmp_path / "my notes" / "one.txt").write_text("found\n")
    app = app_in(tmp_path)
    async with app.run_test(size=(60, 15)) as pilot:
        await pilot.press(*"!cat my")
        await until(pilot, lambda: offered(app) == ["my notes/"])
        assert box(app).selected == -1
        await pilot.press("tab")
        await until(pilot, lambda: offered(app) == ["my notes/one.txt"])
        await pilot.press("tab")
        assert app.chat.prompt.text == "!cat my\\ notes/one.txt "
        assert not box(app).display
        await pilot.press("backspace", "enter")
        await until(pilot, lambda: any(app.chat.output.find("found")))
