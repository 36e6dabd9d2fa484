"""The command lines of the guide that need no model, run as they stand there."""

import re
import subprocess

import pytest

from docs.generate.pages import GUIDE
from tests.e2e.conftest import SMITH, Place

WITHOUT_A_MODEL = re.compile(r"smith-tui (?:store|host|model list|completion (?:bash|fish))\b.*")
LINES = {
    line.strip()
    for page in GUIDE.glob("*.md")
    for line in page.read_text("utf-8").splitlines()
    if WITHOUT_A_MODEL.fullmatch(line.strip())
}


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
    export_first = sorted(LINES, key=lambda line: (" import " in line, line))
    assert len(export_first) > 5
    said, _ = bash.communicate("\n".join(export_first), timeout=90)
    assert bash.returncode == 0, said
    assert "Everything is whole." in said
    assert (own_place.home / "smith.jsonl").exists()
    assert "complete -c smith-tui" in (own_place.home / ".config/fish/completions/smith-tui.fish").read_text()
