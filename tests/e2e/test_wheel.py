"""The wheel, built and unpacked: it has every file, and does a task without the repository."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from hatch_build import commit_line
from smith_tui.version import UNKNOWN, commit_of
from tests.e2e.conftest import Place
from tests.support.server_thread import ServerThread
from tests.wheel.build import ROOT, build_wheel, missing_files
from tests.wheel.checks import RIGHT, script


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


def test_it_has_every_file(wheel: Path) -> None:
    assert missing_files(wheel) == set()
    with zipfile.ZipFile(wheel) as archive:
        data = [name for name in archive.namelist() if "/share/" in name]
    assert [name.partition(".data/data/")[2] for name in data] == ["share/man/man1/smith-tui.1"]


def test_it_does_a_task_without_the_repository(wheel: Path, own_place: Place, tmp_path: Path) -> None:
    unpacked = tmp_path / "unpacked"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(unpacked)
    own_place.environ["PYTHONPATH"] = str(unpacked)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-P", "-m", "smith_tui.cli", *arguments]
        return subprocess.run(
            command,
            cwd=own_place.project,
            env=own_place.environ,
            capture_output=True,
            text=True,
            timeout=90,
            check=True,
        )

    commit = "[0-9a-f]{12}(, with changes)?" if commit_line(ROOT) else UNKNOWN
    assert re.fullmatch(rf"smith-tui [0-9.]+ \(commit {commit}\)\n", run("--version").stdout)
    with ServerThread(script, strict=True) as server:
        done = run("run", "--set", f"llm_config.api_url={server.url}", "mend the price")
    assert "15.0" in done.stderr + done.stdout
    assert (own_place.project / "prices.py").read_text() == RIGHT
    assert server.server.violations == []


def test_a_checkout_around_a_virtual_environment_is_not_ours(tmp_path: Path) -> None:
    head = tmp_path / ".git" / "HEAD"
    head.parent.mkdir()
    head.write_text("0123456789abcdef0123456789abcdef01234567\n")
    ours, theirs = tmp_path / "smith_tui", tmp_path / "venv" / "smith_tui"
    theirs.mkdir(parents=True)
    assert commit_of(ours) == "0123456789ab"
    assert commit_of(theirs) == UNKNOWN
    (theirs / "commit.txt").write_text("fedcba987654, with changes\n")
    assert commit_of(theirs) == "fedcba987654, with changes"
