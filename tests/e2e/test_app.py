"""The app in a real pseudo terminal: a task from key press to changed file, cancel, signals, and bad endpoints."""

import signal
import time

import pytest

from tests.e2e.conftest import SMITH, Place
from tests.support.demo_task import RIGHT_LINE, TASK, do_task
from tests.support.model_steps import Call, Calls, Finish, Status, Text
from tests.support.processes import is_alive, wait_for_file
from tests.support.server_thread import ServerThread
from tests.support.terminal import Terminal

RESTORED = (b"\x1b[?1049l", b"\x1b[?1000l", b"\x1b[?1003l", b"\x1b[?1006l", b"\x1b[?2004l", b"\x1b[?25h")


def ready(terminal: Terminal) -> Terminal:
    terminal.wait_for("Smith")
    return terminal


def test_a_task_from_key_press_to_changed_file(place: Place) -> None:
    with ServerThread(do_task(rate=200), strict=True) as server, place.start(server.url) as terminal:
        ready(terminal).type(f"{TASK}\r")
        screen = terminal.wait_for("it prints")
        assert RIGHT_LINE in (place.project / "prices.py").read_text()
        for shown in ("edit", "bash", "subtracts", "scripted", "main"):
            assert shown in screen, shown
        assert "**" not in screen
        terminal.wait_for(lambda text: "idle" in text)
        terminal.type("thanks\r")
        server.wait_for_requests(5)
        assert server.server.violations == []


def test_cancel_in_mid_stream_keeps_the_text_and_goes_on(place: Place) -> None:
    answers = [[Text(text="endless words " * 5000, size=14, rate=100)], "hello again"]
    with ServerThread(answers, strict=True) as server, place.start(server.url) as terminal:
        ready(terminal).type("go\r")
        terminal.wait_for("endless words endless")
        terminal.type("\x03")
        terminal.wait_for("cancelled")
        server.wait_until_gone(server.requests[0])
        terminal.type("and now\r")
        terminal.wait_for("hello again")
        sent = server.requests[1].json["messages"]
        assert [message["role"] for message in sent] == ["system", "user", "assistant", "user"]
        assert sent[2]["content"].startswith("endless words")
        assert server.server.violations == []


def test_b07_cancel_in_mid_tool_ends_the_whole_tree(place: Place) -> None:
    command = "trap '' TERM INT; (sleep 9872 & echo $! > inner; wait) & echo $! > outer; sleep 9871"
    call = Call(name="bash", arguments={"command": command})
    answers = [[Calls(calls=(call,)), Finish(reason="tool_calls")], "hello again"]
    with ServerThread(answers, strict=True) as server, place.start(server.url) as terminal:
        ready(terminal).type("go\r")
        wait_for_file(place.project / "inner")
        terminal.type("\x03")
        terminal.type("typed at once")
        terminal.wait_for("typed at once", timeout=2)
        terminal.wait_for("cancelled", timeout=5)
        pids = [int((place.project / name).read_text()) for name in ("inner", "outer")]
        assert not any(map(is_alive, pids))
        terminal.type("\r")
        terminal.wait_for("hello again")
        assert server.server.violations == []


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)], ids=["SIGTERM", "SIGINT"])
def test_b23_a_signal_restores_the_terminal(place: Place, number: signal.Signals, status: int) -> None:
    call = Call(name="bash", arguments={"command": "echo $$ > pid; exec sleep 9875"})
    answer = [Calls(calls=(call,)), Finish(reason="tool_calls")]
    with ServerThread(lambda request: answer) as server, place.start(server.url) as terminal:
        ready(terminal).type("go\r")
        pid = int(wait_for_file(place.project / "pid"))
        terminal.process.send_signal(number)
        assert terminal.wait_for_exit() == status
        assert all(mode in terminal.raw for mode in RESTORED)
        assert terminal.attributes()[3] == terminal.attributes_before[3]
        assert not is_alive(pid)


@pytest.mark.parametrize("delay", [0.0, 0.02])
def test_b23_a_signal_during_the_start_restores_the_terminal(place: Place, delay: float) -> None:
    with place.start("http://127.0.0.1:9/v1") as terminal:
        while b"\x1b[?1049h" not in terminal.raw:
            assert terminal.process.poll() is None
            time.sleep(0.001)
        time.sleep(delay)
        terminal.process.terminate()
        assert terminal.wait_for_exit() == 143
        assert all(mode in terminal.raw for mode in RESTORED)
        assert terminal.attributes() == terminal.attributes_before


def test_b23_a_byte_that_is_no_utf_8_does_not_end_the_app(place: Place) -> None:
    with place.start("http://127.0.0.1:9/v1") as terminal:
        ready(terminal).send(b"caf\xe9 ole")
        terminal.wait_for("caf\ufffd ole")


def test_b23_a_hang_up_ends_the_app_and_what_it_runs(place: Place) -> None:
    with ServerThread(["x"]) as server, place.start(server.url) as terminal:
        ready(terminal)
        terminal.process.send_signal(signal.SIGHUP)
        assert terminal.wait_for_exit(5) == 129


def test_b23_the_screen_is_drawn_although_standard_error_goes_elsewhere(place: Place) -> None:
    command = ["sh", "-c", 'exec "$@" 2>/dev/null', "sh", SMITH]
    with Terminal(command, cwd=place.project, environ=place.environ) as terminal:
        ready(terminal)


def test_ctrl_c_twice_quits_and_once_does_not(place: Place) -> None:
    with ServerThread(["x"]) as server, place.start(server.url) as terminal:
        ready(terminal).type("\x03")
        terminal.wait_for("again to quit")
        terminal.type("\x03")
        assert terminal.wait_for_exit() == 0
        assert all(mode in terminal.raw for mode in RESTORED)


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


def test_an_endpoint_that_refuses_says_what_to_do_and_the_app_stays(place: Place) -> None:
    answers = [Status(status=401, body={"error": {"message": "no"}}), "better now"]
    with ServerThread(answers) as server, place.start(server.url) as terminal:
        ready(terminal).type("one\r")
        terminal.wait_for("LLM_API_KEY")
        terminal.type("two\r")
        terminal.wait_for("better now")


def test_a_rate_limit_shows_its_wait_and_can_be_cancelled(place: Place) -> None:
    limited = Status(status=429, body={"error": {"message": "slow down"}}, headers={"retry-after": "30"})
    with ServerThread(lambda request: limited) as server, place.start(server.url) as terminal:
        ready(terminal).type("one\r")
        terminal.wait_for(lambda text: "2/3" in text)
        terminal.type("\x03")
        terminal.wait_for("cancelled", timeout=2)


def test_prompts_typed_while_a_turn_runs_wait_for_its_end(place: Place) -> None:
    answers = [[Text(text="slow words " * 30, size=11, rate=60), Finish()], "second answer"]
    with ServerThread(answers) as server, place.start(server.url) as terminal:
        ready(terminal).type("first\r")
        terminal.wait_for("slow words")
        terminal.type("second\r")
        terminal.wait_for("second answer")
        assert [request.json["messages"][-1]["content"] for request in server.requests] == ["first", "second"]


def test_b25_a_broken_settings_file_shows_a_banner(place: Place) -> None:
    settings = place.home / ".config" / "smith" / "config.json"
    settings.parent.mkdir(parents=True)
    settings.write_text("{")
    with ServerThread(["x"]) as server, place.start(server.url, "--model", "m") as terminal:
        # The path is longer than a row, so it is wrapped somewhere.
        terminal.wait_for(lambda text: "config.json" in "".join(text.split()) and "line 1" in text)
        terminal.type("/config set tool_step_budget 9\r")
        terminal.wait_for("tool_step_budget is now 9")
        assert settings.read_text() == "{"


def test_commands_help_and_views_open_by_key(place: Place) -> None:
    with ServerThread(["an answer to look at"]) as server, place.start(server.url, lines=40) as terminal:
        ready(terminal).type("a question\r")
        terminal.wait_for("an answer to look at")
        terminal.type("/hlp\r")
        terminal.wait_for("did you mean /help?")
        terminal.type("\x1bOP")
        terminal.wait_for("Show all keys")
        terminal.type("\x1b[27u")
        terminal.wait_for(lambda text: "Show all keys" not in text)
        terminal.type("\x1bh")
        terminal.wait_for("2 messages ─╯")
        terminal.type("q")
        terminal.wait_for(lambda text: "2 messages ─╯" not in text)
        terminal.type("\x1bi")
        terminal.wait_for("/ filters by role, tool and text")
        terminal.wait_for("20 characters")
        terminal.type("q")
        terminal.wait_for(lambda text: "/ filters by role" not in text)
        terminal.type("\x06question")
        terminal.wait_for("1/1")
