"""TUI, foreign text: whatever others say is text, letter for letter, and nothing of it acts (B19, B20)."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from smith_tui.app import SmithApp, app_around
from smith_tui.inspect.host import InspectScreen
from smith_tui.screens.conversation import ConversationScreen
from tests.support.engine import open_engine
from tests.support.model_steps import Call, Calls, Finish, Reasoning, Status, Text, call_tools
from tests.support.place import Place, ready
from tests.support.scripted_client import ScriptedClient, calls
from tests.support.seat import EMPTY_PROMPT, Seat
from tests.support.server_thread import ServerThread
from tests.support.widget_app import lines_of
from tests.tui.test_app import send, shown, until

COMMANDS = {
    "addressing": r"printf 'A\033[?4mB\033[?1;2rC\033[?6nD\033[1;1;1;1HE\n'",
    "strings": r"printf 'F\033_Ga=q;AAAA\033\\G\033P1;2|abc\033\\H\n'",
    "colours": r"printf 'I\033[38:2::1:2:3mJ\n'",
    "bare escape": r"printf 'last\033'",
    "random": "head -c 20000 /dev/urandom",
    "cut": r"printf 'cut\033[3'; sleep 0.3; printf '1mred\033[m\n'",
    "redrawn": r"printf 'one\ntwo\n\033[2A\033[KONE\033[K\r\033[1B\033[7mTWO\n'",
    "next": "echo plain",
}
SHOWN = {
    "addressing": "ABCDE",
    "strings": "FGH",
    "colours": "IJ",
    "bare escape": "last",
    "cut": "cutred",
    "redrawn": "ONE\nTWO",
    "next": "plain",
}


async def run(pilot: Pilot[None], app: SmithApp) -> None:
    app.chat.prompt.load("go")
    await pilot.press("enter")
    for _ in range(1_000):
        await pilot.pause(0.01)
        if app.runtime.services.conversation.messages and not app.chat.turns.is_running:
            return
    raise AssertionError("the turn never ended")


async def test_b20_letters_are_seen_in_pane_and_by_the_model_and_payloads_are_not(tmp_path: Path) -> None:
    client = ScriptedClient(calls(*(("bash", {"command": command}) for command in COMMANDS.values())), "done")
    app = app_around(open_engine(tmp_path, client))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("ctrl+o")
        await run(pilot, app)
        results = [message for message in app.runtime.services.conversation.messages if message.role == "tool"]
        assert [result.ok for result in results] == [True] * len(COMMANDS)
        assert [result.metadata.exit_code for result in results if result.metadata] == [0] * len(COMMANDS)
        output = app.chat.output
        texts = {}
        for call_id, name in zip([f"c{number}" for number in range(1, 9)], COMMANDS, strict=True):
            output.show_call(call_id)
            await pilot.pause(0.05)
            texts[name] = "\n".join(row.rstrip() for row in lines_of(output)[2:]).strip()
        assert {name: text for name, text in texts.items() if name in SHOWN} == SHOWN
        look, plain = next(iter(output.render_line(2))).style, output.rich_style
        assert look is not None
        assert (look.color, look.bgcolor, look.reverse) == (plain.color, plain.bgcolor, plain.reverse)
        for result, name in zip(results, COMMANDS, strict=True):
            if name in ("addressing", "strings", "colours"):
                letters = "".join(character for character in result.content if character in "ABCDEFGHIJ")
                assert letters == SHOWN[name]
            assert not any(payload in result.content for payload in ("Ga=q", "1;2|abc", "2::1:2:3m"))
        assert app.chat.prompt.text == "", "nothing was answered"


def test_b19_foreign_text_is_shown_letter_for_letter(place: Place) -> None:
    strings = ["[/foo]", "[/", "[red]x", "a=[b=c]", "arr[i] = [0]", "[@click=app.quit]go[/]", "[link=http://x]y"]
    command = "; ".join(f"echo '{string}'" for string in strings)
    answers = [
        [Calls(calls=(Call(name="bash", arguments={"command": command}),)), Finish(reason="tool_calls")],
        "model says\n\n" + "\n\n".join(f"m {string}" for string in strings),
    ]
    with ServerThread(answers) as server, place.start(server.url, columns=110, lines=50) as terminal:
        ready(terminal).type("say [/foo] [red]x [@click=app.quit]go[/]\r")
        screen = terminal.wait_for("m [link=http://x]y")
        for string in strings:
            assert f"m {string}" in screen
        assert "say [/foo] [red]x [@click=app.quit]go[/]" in screen
        terminal.type("\x0f")
        terminal.wait_for(lambda text: text.count("[@click=app.quit]go[/]") >= 3)


def test_b20_no_escape_sequence_of_foreign_text_reaches_the_terminal(place: Place) -> None:
    command = r"printf 'F\033_Ga=q;AAAA\033\\G\033]0;stolen\007\033[38:2::1:2:3mJ\033[?1049h\n'"
    answers = [
        [Calls(calls=(Call(name="bash", arguments={"command": command}),)), Finish(reason="tool_calls")],
        "text \x1b]0;stolen\x07with \x1b[31mescapes",
    ]
    with ServerThread(answers) as server, place.start(server.url) as terminal:
        ready(terminal)
        before = len(terminal.raw)
        terminal.type("go\r")
        terminal.wait_for("escapes")
        written = bytes(terminal.raw[before:])
        assert b"stolen\x07" not in written
        assert b"\x1b]0;" not in written
        assert b"\x1b_G" not in written
        assert b"\x1b[?1049h" not in written


FOREIGN = [
    "[/foo]",
    "[/",
    "[/]",
    "[red]x",
    "a=[b=c]",
    "arr[i] = [0]",
    "[@click=app.quit]go[/]",
    "[link=http://x]y",
    r"\[x]",
]


@pytest.mark.parametrize("text", FOREIGN)
async def test_b19_foreign_text_is_literal_everywhere(tmp_path: Path, text: str) -> None:
    target = tmp_path / "f.txt"
    target.write_text(text)
    client = ScriptedClient(calls(("read", {"path": "f.txt"}), text=f"model {text}\n"), f"done {text}")
    app = app_around(open_engine(tmp_path, client, {"default_model": f"m{text}"}))
    async with app.run_test(size=(120, 40)) as pilot:
        await send(pilot, f"user {text}")
        await until(pilot, lambda: app.chat.status.state.activity == "idle" and "done" in shown(app))
        for wanted in (f"user {text}", f"model {text}", f"done {text}"):
            assert wanted in shown(app).replace("\\\\", "\\") or text == r"\[x]", wanted
        await pilot.press("ctrl+o")
        await pilot.press("alt+h")
        await until(pilot, lambda: isinstance(app.screen, ConversationScreen))
        await pilot.press("escape", "alt+i")
        await until(pilot, lambda: isinstance(app.screen, InspectScreen))
        await pilot.press("up", "up", "escape")
        app.notify(text, markup=False)
        await pilot.pause(0.05)
        assert app.is_running
        assert app.crash is None


MARKUP = [
    "[/foo]", "[/", "[/]", "[red]x", "a=[b=c]", "arr[i] = [0]", "[@click=app.quit]go[/]", "[link=http://x]y", r"\[x]",
    "[bold]b[/bold]", "[[x]]", "[not bold]", "[$primary]", "[/red", "[link='file:///etc']w", ":smile:", "&amp;",
    "$x {y} %s {0}", "[blink]k", "[#ff0000]h[/]", "[^1]", "[ ]",
]  # fmt: skip


def test_b19_markup_of_the_toolkit_is_text_wherever_it_comes_from(seat: Seat) -> None:
    listed = "\n".join(MARKUP)
    spoken = [Reasoning(text=listed), Text(text="```\n" + listed + "\n```\n")]
    screen = seat.ask("speak " + " ".join(MARKUP[:4]), [*spoken, *call_tools(("bash", {"command": "true"}))])
    assert [text for text in MARKUP if text not in screen] == []
    for name in ("[red]x[∕foo]", "[@click=app.quit]go"):
        (seat.project / name).write_text(listed)
    screen = seat.ask("read", call_tools(("read", {"path": "[red]x[∕foo]"}), ("read", {"path": "[@click=app.quit]go"})))
    assert "[red]x[∕foo]" in screen and "[@click=app.quit]go" in screen
    rows = screen.split("\n")
    row = next(number for number, text in enumerate(rows) if "[@click=app.quit]go" in text)
    column = rows[row].index("]go") + 2
    seat.terminal.type(f"\x1b[<0;{column};{row + 1}M\x1b[<0;{column};{row + 1}m")
    seat.terminal.type("z")
    seat.terminal.wait_for("> z")
    seat.terminal.type("\x7f")
    seat.terminal.wait_for(EMPTY_PROMPT)
    screen = seat.refused(
        "fail", Status(status=400, body={"error": {"message": "no [/foo] [red]x [/"}}), shows="[red]x [/"
    )
    assert "no [/foo]" in screen
    seat.terminal.type("/[red]x[/foo]\r")
    seat.terminal.wait_for("[red]x[/foo]")
    seat.ask("still here")


HOSTILE = [
    r"\033c", r"\033]52;c;c3RvbGVu\007", r"\033]0;stolen\033\\", r"\033[?1049h\033[?1000h\033[?1003h", r"\033#8",
    r"\033Pq#0;2;0;0;0~\033\\", r"\302\2332J", r"\033Ptmux;\033\033]0;stolen\007\033\\",
    r"\033]8;;file:///etc/passwd\033\\link\033]8;;\033\\", r"\033[9999999999;99999999999H",
    r"\033_Gf=24,a=T,t=f;L2V0Yy9wYXNzd2Q=\033\\", r"\033[6n\033[c\033[>q\033[?u", r"\033[?25l\033[5i",
    r"\033]1337;File=:AA\007", r"\033(0lqk", r"\016", r"\033[!p\033[?3h", r"\033]10;?\007", r"\033[20h",
    r"\033[200~paste\033[201~",
]  # fmt: skip
PAYLOADS = [
    b"\x1bc", b"\x1b]52;",
    b"stolen\x07", b"stolen\x1b", b"\x1b#8", b"\x1bPq", b"\xc2\x9b", b"\x1bPtmux;", b"\x1b]8;;file",
    b"\x1b_Gf=24", b"\x1b[5i", b"\x1b]1337", b"\x1b(0", b"\x0e", b"\x1b[!p", b"\x1b]10;?", b"\x1b[20h",
]  # fmt: skip


def test_b20_no_sequence_of_a_command_a_file_or_the_model_is_acted_upon(seat: Seat) -> None:
    begun = len(seat.terminal.raw)
    commands = [f"printf 'P{number}{sequence}Q{number}\\n'" for number, sequence in enumerate(HOSTILE)]
    script = "; ".join(commands)
    result = seat.run(script + r"; printf 'unfinished\033]0;stolen'")[0]
    assert [number for number in range(len(HOSTILE)) if f"P{number}" not in result or f"Q{number}" not in result] == []
    assert "\x1b" not in result
    raw = b"".join(sequence.encode().decode("unicode_escape").encode("latin-1") for sequence in HOSTILE).decode(
        errors="replace"
    )
    (seat.project / "hostile.txt").write_text(raw)
    (seat.project / "name\x1b]0;stolen\x07").write_text("x")
    calls = call_tools(
        ("read", {"path": "hostile.txt"}), ("read", {"path": "name\x1b]0;stolen\x07"}), ("bash", {"command": "ls"})
    )
    seat.ask("read", [Reasoning(text=raw), Text(text=f"said {raw}\n\n`{raw}`\n"), *calls])
    seat.refused("fail", Status(status=400, body={"error": {"message": f"no {raw}"}}), shows="no ")
    written = bytes(seat.terminal.raw[begun:])
    assert [payload for payload in PAYLOADS if payload in written] == []
    assert "P1" in result and seat.run("echo plain")[0].startswith("plain")
