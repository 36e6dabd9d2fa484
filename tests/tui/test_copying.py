"""Copying by key and opening addresses: what is taken, where it goes, and what is asked before."""

import asyncio
import base64
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.command import CommandPalette
from textual.pilot import Pilot

from smith_core.messages import Message
from smith_tui.app import SmithApp, app_around
from smith_tui.browser import open_address
from smith_tui.clipboard import MAX_ENCODED, clipboard_program, copy_by_program, outcome_sentence, terminal_sequences
from smith_tui.copying import code_blocks, copyables, links
from smith_tui.screens.open_link import OpenLinkScreen, host_of
from smith_tui.theme import DARK
from smith_tui.transcript.addresses import address_at
from smith_tui.transcript.history import blocks_of
from smith_tui.transcript.model import Document, Place
from tests.support.engine import open_engine
from tests.support.scripted_client import ScriptedClient
from tests.support.widget_app import MARKUP

ANSWER = "Do this:\n\n```python\nprint('one')\n```\n\nor\n\n- in a list:\n  ```sh\n  ls\n  cd x\n  ```\n"


def decoded(sequence: str) -> str:
    found = re.search(r"\x1b\]52;c;([^\x07]*)\x07", sequence)
    assert found
    return base64.b64decode(found[1]).decode()


def executable(folder: Path, name: str, script: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    for _ in range(300):
        if condition():
            return
        await pilot.pause(0.01)
    raise AssertionError("never came true")


def test_the_terminal_gets_the_text_also_through_tmux_and_screen() -> None:
    text = "naïve 漢字\nsecond \ud800 line"
    assert decoded(terminal_sequences(text, {})) == "naïve 漢字\nsecond ? line"
    in_tmux = terminal_sequences("x" * 3000, {"TMUX": "/tmp/tmux"})
    plain, passed = in_tmux.split("\x1bPtmux;")
    assert decoded(plain) == "x" * 3000
    assert decoded(passed.removesuffix("\x1b\\").replace("\x1b\x1b", "\x1b")) == "x" * 3000
    in_screen = terminal_sequences("y" * 3000, {"STY": "1.pts"})
    pieces = re.findall(r"\x1bP(.*?)\x1b\\", in_screen, re.DOTALL)
    assert decoded("".join(pieces)) == "y" * 3000
    assert max(map(len, pieces)) <= 764
    assert terminal_sequences("z" * MAX_ENCODED, {}) == ""


async def test_the_clipboard_program_is_found_and_gets_the_text(tmp_path: Path) -> None:
    executable(tmp_path, "xclip", f'cat > "{tmp_path}/copied"; env > "{tmp_path}/env"')
    assert clipboard_program({"PATH": str(tmp_path)}, "linux") == ()
    command = clipboard_program({"PATH": str(tmp_path), "DISPLAY": ":0", "WAYLAND_DISPLAY": "w"}, "linux")
    assert command == (str(tmp_path / "xclip"), "-selection", "clipboard")
    environ = {"PATH": os.environ["PATH"], "MARK": "1"}
    assert await copy_by_program(command, "text 漢字", environ)
    assert (tmp_path / "copied").read_text() == "text 漢字"
    assert "MARK=1" in (tmp_path / "env").read_text()
    assert not await copy_by_program((str(executable(tmp_path, "bad", "exit 3")),), "x" * 200_000, environ)
    assert not await copy_by_program((str(tmp_path / "gone"),), "x", environ)


def test_it_is_said_where_a_copy_went() -> None:
    assert (
        outcome_sentence("a\nb", by_terminal=True, by_program=True)
        == "Copied 3 characters in 2 lines to the clipboard."
    )
    assert outcome_sentence("a", by_terminal=True, by_program=False).startswith("Copied 1 character through")
    assert "too many" in outcome_sentence("a", by_terminal=False, by_program=False)


def test_messages_and_their_code_blocks_are_offered_the_newest_first() -> None:
    assert [(block.language, block.text) for block in code_blocks(ANSWER)] == [
        ("python", "print('one')"),
        ("sh", "ls\ncd x"),
    ]
    messages = [Message(role="user", content="go"), Message(role="assistant", content=ANSWER)]
    messages.append(Message(role="tool", content="out", tool_call_id="c"))
    assert [one.title for one in copyables(messages)] == ["answer", "code sh", "code python", "prompt"]


def test_addresses_are_offered_once_the_newest_first_and_without_the_sentence_around_them() -> None:
    messages = [
        Message(role="user", content="see http://old.example/a."),
        Message(role="tool", content="<http://tool.example/x?y=1>\n\x1b]8;;http://esc.example\x1b", tool_call_id="c"),
        Message(role="assistant", content="[docs](https://new.example/(b)) and http://old.example/a, ftp://no.example"),
    ]
    assert [link.text for link in links(messages)] == [
        "http://old.example/a",
        "https://new.example/(b)",
        "http://esc.example",
        "http://tool.example/x?y=1",
    ]


async def test_keys_copy_the_last_answer_the_last_code_or_a_choice(tmp_path: Path) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient(ANSWER)))
    copied: list[str] = []
    async with app.run_test(size=(80, 24)) as pilot:
        app.copying.copy = copied.append  # type: ignore[method-assign]
        await pilot.press("alt+a", *"hi", "enter")
        await until(pilot, lambda: len(app.chat.said()) == 2 and not app.chat.turns.is_running)
        await pilot.press("alt+a", "alt+k")
        await pilot.press("alt+y", "3")
        await pilot.press("alt+y", "down", "down", "down", "enter")
        await pilot.press("alt+y", "escape")
        assert copied == [ANSWER, "ls\ncd x", "print('one')", "hi"]


async def drag(pilot: Pilot[None], start: tuple[int, int], end: tuple[int, int]) -> None:
    await pilot.mouse_down("#transcript", offset=start)
    await pilot.hover("#transcript", offset=end)
    await pilot.mouse_up("#transcript", offset=end)
    await pilot.pause()


@pytest.mark.parametrize("wanted", [True, False])
async def test_what_the_mouse_selects_is_copied_at_once_where_that_is_wanted(tmp_path: Path, wanted: bool) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient("first words\n\nother things")))
    copied: list[str] = []
    async with app.run_test(size=(80, 24)) as pilot:
        app.copying.copy = copied.append  # type: ignore[method-assign]
        await pilot.press(*"hi", "enter")
        await until(pilot, lambda: len(app.chat.said()) == 2 and not app.chat.turns.is_running)
        if wanted:
            await pilot.press(*"/config set ui.copy_on_select true", "enter")
            await until(pilot, lambda: app.runtime.services.config.effective.ui.copy_on_select)
        transcript = app.chat.transcript
        transcript.flush()
        await pilot.pause()
        y, row = next((y, row) for y, row in enumerate(transcript.shown_rows) if "first" in row.line.text)
        x = row.line.text.index("first")
        await drag(pilot, (x, y), (x + 4, y))
        # It stays selected, and a button that is released elsewhere copies it no second time.
        assert app.screen.get_selected_text() == "first"
        await pilot.mouse_up("#hints")
        # A double click selects a word.
        await pilot.click("#transcript", offset=(x + 8, y), times=2)
        await pilot.pause()
        assert app.screen.get_selected_text() == "words"
        # Nothing is selected behind a click.
        await pilot.click("#transcript", offset=(x + 30, y))
        assert copied == (["first", "words"] if wanted else [])


async def test_what_is_selected_in_the_prompt_is_copied_too_and_the_next_press_of_the_key_is_about_leaving(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient("ok")))
    copied: list[str] = []
    monkeypatch.setattr(app, "copy_to_clipboard", copied.append)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"one two", "shift+left", "shift+left", "shift+left", "alt+c")
        assert (copied, app.chat.prompt.text) == (["two"], "one two")
        await pilot.press("ctrl+shift+left", "ctrl+c")
        assert copied == ["two", "one "]
        await pilot.press("ctrl+c")
        assert copied == ["two", "one "] and app.is_running
        # What is selected in the prompt goes before what still is elsewhere.
        app.chat.transcript.text_select_all()
        await pilot.press("shift+right", "alt+c")
        assert copied == ["two", "one ", "o"]


async def test_a_very_long_text_that_was_copied_does_not_stay_in_memory(tmp_path: Path) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient("ok")))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        app.copy_to_clipboard("short")
        assert app.clipboard == "short"
        app.copy_to_clipboard("x" * 2_000_000)
        assert app.clipboard == ""


def found(markdown: str, label: str, width: int = 60) -> set[str]:
    """Return the addresses of all characters of a label in the rendered text."""
    document = Document(DARK, width)
    document.extend(blocks_of([Message(role="assistant", content=markdown)], "green"))
    addresses = set()
    for number, line in enumerate(document.rows(0)):
        start = line.text.find(label)
        if start >= 0:
            addresses |= {address_at(document, Place(0, number), at) for at in range(start, start + len(label))}
    return addresses


LONG = "https://example.com/" + "path/" * 30 + "end"


@pytest.mark.parametrize(
    ("markdown", "label", "address"),
    [
        ("see https://example.com/a_(b)?q=1.", "https://example.com", "https://example.com/a_(b)?q=1"),
        ("(https://example.com/x)", "example", "https://example.com/x"),
        ("the [manual](https://example.com/m) here", "manual", "https://example.com/m"),
        ("the [manual](https://example.com/m) here", "here", ""),
        (f"so: {LONG}", "nd", LONG),
        ("| a | b |\n|---|---|\n| [t](https://example.com/t) | x |", "t", "https://example.com/t"),
        ("[x](javascript:alert(1)) and [y](file:///etc/passwd)", "x", ""),
        ("`code` and ftp://example.com", "ftp", ""),
    ],
)
def test_the_address_under_a_click(markdown: str, label: str, address: str) -> None:
    assert address in found(markdown, label)
    assert found(markdown, label) <= {address, ""} or label == "t"


async def test_an_address_is_shown_whole_before_anything_opens_it(tmp_path: Path) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient("the manual https://example.com/[red]m is here")))
    opened: list[str] = []
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"hi", "enter")
        await until(pilot, lambda: len(app.chat.said()) == 2 and not app.chat.turns.is_running)
        app.copying._open = opened.append  # type: ignore[method-assign]
        transcript = app.chat.transcript
        transcript.flush()
        await pilot.pause()
        y, row = next((y, row) for y, row in enumerate(transcript.shown_rows) if "manual" in row.line.text)
        for key, outcome in (("escape", []), ("enter", ["https://example.com/[red]m"])):
            await pilot.click("#transcript", offset=(row.line.text.index("example"), y))
            await until(pilot, lambda: isinstance(app.screen, OpenLinkScreen))
            assert "https://example.com/[red]m" in str(app.screen.query("Static").first().render())  # type: ignore[attr-defined]
            assert opened == []
            await pilot.press(key)
            assert opened == outcome
        # The same without a mouse.
        await pilot.press("alt+l", "1", "enter")
        assert opened == outcome * 2


def test_only_web_addresses_are_handed_to_the_system(tmp_path: Path) -> None:
    executable(
        tmp_path, "xdg-open", f'echo "$1" > "{tmp_path}/opened.part"; mv "{tmp_path}/opened.part" "{tmp_path}/opened"'
    )
    environ = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "DISPLAY": ":0"}
    assert "only addresses of the web" in open_address("file:///etc/passwd", environ, "linux")
    assert "no screen" in open_address("https://example.com", {"PATH": str(tmp_path)}, "linux")
    assert "not installed" in open_address("https://example.com", {"PATH": "/nowhere", "DISPLAY": ":0"}, "linux")
    assert open_address("https://example.com/-x;id", environ, "linux") == ""

    async def opened() -> None:
        while not (tmp_path / "opened").exists():
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(opened(), 10))
    assert (tmp_path / "opened").read_text() == "https://example.com/-x;id\n"


def test_the_host_is_named_as_the_network_knows_it() -> None:
    assert host_of("https://user:pw@EXAMPLE.com:8/x") == "example.com"
    assert host_of("https://bücher.example/x") == "xn--bcher-kva.example"
    assert host_of("https://[::1") == ""


async def test_the_palette_has_actions_and_commands_of_ones_own_letter_for_letter(tmp_path: Path) -> None:
    folder = tmp_path / ".smith" / "commands"
    folder.mkdir(parents=True)
    for number, text in enumerate(MARKUP):
        (folder / f"own{number}.md").write_text(f"---\ndescription: {text}\n---\nx")
    app = app_around(open_engine(tmp_path, ScriptedClient("x")))
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: app.runtime.services.command.get("own0") is not None)
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        await pilot.press(*"own")
        await until(pilot, lambda: len(options(app)) >= len(MARKUP))
        listed = "\n".join(options(app))
        assert all(text in listed for text in MARKUP)
        await pilot.press("backspace", "backspace", "backspace", *"show all keys")
        await until(pilot, lambda: len(options(app)) == 1)
        assert options(app)[0].startswith("Show all keys and commands\nF1")


def options(app: SmithApp) -> list[str]:
    from textual.command import CommandList

    commands = app.screen.query(CommandList)
    if not commands:
        return []
    return [str(commands.first().get_option_at_index(index).prompt) for index in range(commands.first().option_count)]
