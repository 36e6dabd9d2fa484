"""The app in a real pseudo terminal: a task from key press to changed file, cancel, signals, and bad endpoints."""

import sys
from pathlib import Path

from tests.support.demo_task import RIGHT_LINE, TASK, do_task
from tests.support.model_steps import Finish, Status, Text
from tests.support.place import RESTORED, Place, ready
from tests.support.server_thread import ServerThread


def test_a_task_from_key_press_to_changed_file(place: Place) -> None:
    with ServerThread(do_task(rate=200), strict=True) as server, place.start(server.url, lines=45) as terminal:
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
        if sys.platform == "linux":
            # Nobody has searched: the search's library would take a quarter of the memory.
            assert b"tantivy" not in Path(f"/proc/{terminal.process.pid}/maps").read_bytes()


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


def test_ctrl_c_twice_quits_and_once_does_not_and_alt_is_an_escape_in_between(place: Place) -> None:
    with ServerThread(["x"]) as server, place.start(server.url) as terminal:
        assert b"\x1b[?1036$p\x1b[?1039$p" in ready(terminal).raw
        # As xterm does: one is on, the other off.
        terminal.type("\x1b[?1036;1$y\x1b[?1039;2$y\x03")
        terminal.wait_for("again to quit")
        terminal.type("\x03")
        assert terminal.wait_for_exit() == 0
        assert all(mode in terminal.raw for mode in RESTORED)
        assert 0 < terminal.raw.index(b"\x1b[?1039h") < terminal.raw.index(b"\x1b[?1039l")
        assert b"\x1b[?1036h" not in terminal.raw


def test_a_size_that_no_terminal_has_is_not_believed(place: Place) -> None:
    with ServerThread(["x"]) as server, place.start(server.url) as terminal:
        # It reports its size by itself (mode 2048), which is the way here for what a program has printed there.
        ready(terminal).type("\x1b[?2048;1$y\x1b[48;20000;20000;0;0tone ")
        terminal.wait_for("> one")
        terminal.type("two")
        terminal.wait_for("> one two", timeout=10)
        terminal.type("\x1b[48;20;60;0;0t")
        terminal.wait_for(lambda text: text.splitlines()[17].startswith("> one two"))


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
