"""`smith-tui doctor` as a process: it claims no more of an endpoint than what it has asked."""

import subprocess

import pytest

from tests.e2e.conftest import SMITH, Place
from tests.support.model_steps import http_error
from tests.support.server_thread import ServerThread
from tests.support.terminal import Terminal

EVERYTHING = "Everything that a task needs works."
OPEN = "Nothing is wrong that can be seen here; whether the endpoint takes the key and the model, the first task shows."


def doctor(place: Place, *settings: str) -> tuple[int, str]:
    pairs = [word for setting in settings for word in ("--set", setting)]
    done = subprocess.run(
        [SMITH, *pairs, "doctor"], cwd=place.project, env=place.environ, capture_output=True, text=True, timeout=60
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout


def test_an_endpoint_that_only_the_model_id_names_was_not_asked(place: Place) -> None:
    place.environ["LLM_API_KEY"] = "sk-of-nobody"
    status, said = doctor(place, "default_model=anthropic/claude-opus-5-5")
    assert status == 0 and said.endswith(f"{OPEN}\n") and EVERYTHING not in said
    assert "· endpoint     the one that the model id anthropic/claude-opus-5-5 names; it was not asked" in said


def test_an_endpoint_that_lists_its_models_works(place: Place) -> None:
    with ServerThread([]) as server:
        status, said = doctor(place, f"llm_config.api_url={server.url}")
    assert status == 0 and said.endswith(f"{EVERYTHING}\n") and "answers; models:" in said


@pytest.mark.parametrize("refused", [404, 501])
def test_an_endpoint_without_a_list_may_work_once_a_model_is_named(refused: int, place: Place) -> None:
    with ServerThread([], models=http_error(refused, "no such page")) as server:
        address = f"llm_config.api_url={server.url}"
        status, said = doctor(place, address, "default_model=m")
        assert status == 0 and said.endswith(f"{OPEN}\n") and "· endpoint     no list of models:" in said
        status, said = doctor(place, address)
    assert status == 1 and "✗ model        no model is named" in said and "set default_model" in said


def test_a_terminal_sees_which_local_model_is_tried_and_rows_that_end_with_a_word(place: Place) -> None:
    weights = place.project / "notes.gguf"
    weights.write_text("no model")
    command = [SMITH, "--model", f"file:{weights}", "--set", "llm_config.host_linger_s=0", "doctor"]
    with Terminal(command, columns=50, lines=60, cwd=place.project, environ=place.environ) as terminal:
        terminal.wait_for("Smith cannot work yet")
        rows = [row.rstrip() for row in terminal.screen.display]
    start = next(at for at, row in enumerate(rows) if row.startswith("· web search"))
    assert rows[start + 1].startswith(" " * 15 + "to a key of linkup.so to")
    tried = next(at for at, row in enumerate(rows) if row.startswith("· model        trying"))
    assert tried < next(at for at, row in enumerate(rows) if row.startswith("✗ model"))


def test_what_is_tried_is_said_to_a_terminal_alone(place: Place) -> None:
    weights = place.project / "notes.gguf"
    weights.write_text("no model")
    status, said = doctor(place, f"default_model=file:{weights}")
    assert status == 1 and "✗ model" in said and "trying" not in said
