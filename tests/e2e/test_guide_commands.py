"""The command lines of the README and the guide that need no screen, run as they stand there."""

import json
import subprocess

import pytest

from tests.docs.collected import WITH_A_MODEL, WITHOUT_A_MODEL
from tests.e2e.conftest import SMITH, Place
from tests.support.server_thread import ServerThread


@pytest.fixture
def bash(own_place: Place) -> subprocess.Popen[str]:
    """A shell of a person who has the program, and the folders that the guide asks for."""
    own_place.environ["PATH"] = f"{SMITH.rpartition('/')[0]}:{own_place.environ['PATH']}"
    for folder in (".local/share/bash-completion/completions", ".config/fish/completions"):
        (own_place.home / folder).mkdir(parents=True)
    return subprocess.Popen(
        ["bash", "-e"],
        cwd=own_place.project,
        env=own_place.environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_they_all_work(own_place: Place, bash: subprocess.Popen[str]) -> None:
    export_first = sorted(WITHOUT_A_MODEL, key=lambda line: (" import " in line, line))
    assert len(export_first) > 5
    said, _ = bash.communicate("\n".join(export_first), timeout=90)
    assert bash.returncode == 0, said
    assert "Everything is whole." in said
    assert (own_place.home / "smith.jsonl").exists()
    assert "complete -c smith-tui" in (own_place.home / ".config/fish/completions/smith-tui.fish").read_text()


def test_those_that_ask_a_model_do(place: Place) -> None:
    with ServerThread(lambda request: "fine.") as server:
        settings = place.home / ".config/smith/config.json"
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps({"default_model": "scripted", "llm_config": {"api_url": server.url}}))
        (place.project / "prices.py").write_text("# something to tell apart\n")
        place.environ["PATH"] = f"{SMITH.rpartition('/')[0]}:{place.environ['PATH']}"
        lines = "\n".join(WITH_A_MODEL)
        done = subprocess.run(
            ["bash", "-e"],
            input=lines,
            cwd=place.project,
            env=place.environ,
            capture_output=True,
            text=True,
            timeout=90,
        )
        assert done.returncode == 0, done.stderr
        assert len(WITH_A_MODEL) == len(server.requests) == 3
        assert done.stdout.count("fine.") >= 3 and '"type":"turn_ended"' in done.stdout
        assert any("something to tell apart" in str(request.json["messages"]) for request in server.requests)
