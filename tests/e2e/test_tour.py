"""The tour as a person takes it: in the full screen key by key, and printed where there is no terminal."""

import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import SMITH, Place
from tests.support.terminal import Terminal

LABEL = "scripted demo, no language model"


@pytest.fixture(scope="module")
def folder_for_all(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all of these tests: another TMPDIR is another model host, too."""
    return tmp_path_factory.mktemp("tmp")


@pytest.fixture
def temporary(folder_for_all: Path, place: Place) -> Path:
    place.environ["TMPDIR"] = str(folder_for_all)
    return folder_for_all


def left_in(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir() if entry.name.startswith("smith-tour")]


def run(place: Place, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [SMITH, "tour", *arguments],
        cwd=place.project,
        env=place.environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
    )


def test_the_whole_tour_in_the_full_screen(place: Place, temporary: Path) -> None:
    with Terminal([SMITH, "tour"], columns=100, lines=40, cwd=place.project, environ=place.environ) as terminal:
        screen = terminal.wait_for(lambda text: "Type hello" in text and "Smith" in text)
        assert LABEL in screen.splitlines()[-2], "the status bar names what answers"
        terminal.type("hello\r")
        screen = terminal.wait_for("Type next: fix the price")
        assert f"This is a {LABEL}" in screen
        terminal.type("fix the price\r")
        screen = terminal.wait_for("Type next: run the tests")
        for shown in ("read", "edit", "bash", "discount / 100", "It prints 15.0 now"):
            assert shown in screen, shown
        terminal.type("\x0f")
        terminal.wait_for(lambda text: "15.0" in text.replace("prints 15.0", ""))
        terminal.type("\x0f")
        terminal.type("run the tests\r")
        screen = terminal.wait_for("Type next: count slowly")
        assert "exit code 1" in screen
        terminal.type("count slowly\r")
        terminal.wait_for("Press Ctrl+C to stop me")
        terminal.wait_for(lambda text: re.search(r"(?m)^\W*2\W*$", text) is not None)
        terminal.type("\x03")
        terminal.wait_for("cancelled")
        terminal.type("go on\r")
        terminal.wait_for("You stopped the command")
        terminal.type("/usage\r")
        terminal.wait_for("time in ")
        terminal.type("find the needle\r")
        terminal.wait_for("Type next: finish")
        terminal.type("\x06needle")
        terminal.wait_for(lambda text: "Find: needle" in text and "/" in text)
        terminal.type("\x1b[27u")
        terminal.wait_for(lambda text: "Find:" not in text)
        terminal.type("write me a compiler\r")
        terminal.wait_for("I know only the steps")
        terminal.type("finish\r")
        terminal.wait_for("smith-tui setup")
        terminal.type("/quit\r")
        assert terminal.wait_for_exit() == 0
    assert left_in(temporary) == []


def test_without_a_terminal_all_steps_are_printed(place: Place, temporary: Path) -> None:
    done = run(place)
    assert done.returncode == 0, done.stdout + done.stderr
    for shown in (LABEL, "> fix the price", "▸ edit", "+    return sum", "[exit code 0]", "[exit code 1]", "> /help"):
        assert shown in done.stdout, shown
    assert "The tour is over." in done.stdout
    assert "stopped the command" in done.stdout
    assert left_in(temporary) == []
    assert (place.project / "prices.py").exists()


def test_neither_settings_nor_keys_of_the_persons_get_into_the_tour(place: Place, temporary: Path) -> None:
    place.environ["LLM_API_KEY"] = "sk-secret-of-mine"
    folder = place.home / ".config" / "smith"
    folder.mkdir(parents=True)
    settings = (
        '{"default_model": "m", "tool_step_budget": 1, "llm_config": {"api_url": "http://127.0.0.1:9/v1"}, "x": 1}'
    )
    (folder / "config.json").write_text(settings)
    done = run(place, "--plain", "--model", "other", "--set", "models.direct=third")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "asking scripted demo" in done.stdout
    assert "asking other" not in done.stdout
    assert "sk-secret" not in done.stdout + done.stderr
    assert (folder / "config.json").read_text() == settings


def test_doctor_names_the_script_for_what_it_is_and_never_as_a_model(own_place: Place) -> None:
    done = subprocess.run(
        [SMITH, "doctor"], cwd=own_place.project, env=own_place.environ, capture_output=True, text=True, timeout=60
    )
    (line,) = [line for line in done.stdout.splitlines() if LABEL in line]
    assert line.split()[:2] == ["·", "tour"]
    assert "no model is configured" in done.stdout
    assert "· web search   LINKUP_API_KEY is not set; set it to a key of linkup.so" in done.stdout
    assert "✓ model host   none is waiting; the next start leaves one" in done.stdout


def test_a_signal_stops_the_tour_and_clears_up(place: Place, temporary: Path) -> None:
    process = subprocess.Popen(
        [SMITH, "tour"], cwd=place.project, env=place.environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    while b"> fix the price" not in process.stdout.readline():
        pass
    process.send_signal(signal.SIGINT)
    process.stdout.read()
    assert process.wait(20) == 130
    assert left_in(temporary) == []
