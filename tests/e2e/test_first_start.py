"""The first start in a real terminal: a few keys after nothing was configured a model works; nobody is asked twice."""

import json
import stat
from pathlib import Path

from tests.e2e.conftest import SMITH, Place
from tests.support.server_thread import ServerThread
from tests.support.terminal import Terminal


def start(place: Place, *arguments: str, columns: int = 80, lines: int = 24) -> Terminal:
    command = [SMITH, *arguments]
    return Terminal(command, columns=columns, lines=lines, cwd=place.project, environ=place.environ)


def settings_file(place: Place) -> Path:
    return place.home / ".config" / "smith" / "config.json"


def test_from_nothing_to_a_working_model_by_keys_alone(place: Place) -> None:
    with ServerThread(["ready", "The answer is 42."], strict=True) as server:
        with start(place) as terminal:
            terminal.wait_for("Which model shall work for you?")
            screen = terminal.wait_for(lambda text: "OpenAI" in text and "Looking" not in text)
            assert "Esc leaves it for later" in screen
            terminal.type("\x1b[A" * 4 + "\r")
            terminal.wait_for("Where is the endpoint?")
            terminal.type(f"{server.url}\r")
            terminal.wait_for("Which environment variable holds the key?")
            terminal.type("\r")
            terminal.wait_for(lambda text: "Which model?" in text and "scripted" in text, timeout=30)
            terminal.type("\r")
            terminal.wait_for("scripted is your model from now on", timeout=30)
            terminal.type("what is it?\r")
            terminal.wait_for("The answer is 42.")
            assert server.server.violations == []
        assert json.loads(settings_file(place).read_text()) == {
            "default_model": "scripted",
            "llm_config": {"api_url": server.url},
        }
        assert stat.S_IMODE(settings_file(place).stat().st_mode) == 0o600
        with start(place) as terminal:
            screen = terminal.wait_for(lambda text: "Smith" in text and "scripted" in text)
            assert "Which model shall" not in screen


def test_leaving_it_for_later_is_remembered_and_setup_asks_again(place: Place) -> None:
    with start(place, columns=60, lines=15) as terminal:
        terminal.wait_for("Which model shall work for you?")
        terminal.type("\x1b[27u")
        terminal.wait_for("/setup")
    assert not settings_file(place).exists()
    with start(place) as terminal:
        terminal.wait_for("no model is configured")
    with start(place, "setup") as terminal:
        terminal.wait_for("Which model shall work for you?")


def test_the_tour_begins_from_the_first_start(place: Place) -> None:
    with start(place, columns=100, lines=30) as terminal:
        terminal.wait_for(lambda text: "Only look around" in text and "Looking" not in text)
        terminal.type("\x1b[A\r")
        terminal.wait_for("Type hello", timeout=30)
        terminal.type("hello\r")
        terminal.wait_for("Type next: fix the price", timeout=30)
        terminal.type("/quit\r")
        assert terminal.wait_for_exit() == 0
