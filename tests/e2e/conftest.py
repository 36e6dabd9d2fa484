"""A home, a project and a way to start the real program for end-to-end tests."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from smith_core.llm.host_control import running_hosts, stop_hosts
from tests.support.demo_task import make_repository
from tests.support.terminal import Terminal

SMITH = str(Path(sys.executable).parent / "smith-tui")


class Place:
    """An empty home and a project; `environ` belongs to that home and holds no key unless the test puts one in."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.home.mkdir(mode=0o700)
        self.project = make_repository(root / "project")
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TZ") if name in os.environ}
        self.environ: dict[str, str] = {**kept, "HOME": str(self.home), "LC_ALL": "C.UTF-8"}

    def start(self, url: str, *more: str, columns: int = 100, lines: int = 30) -> Terminal:
        """Start the app in a pseudo terminal."""
        command = [SMITH, "--set", f"llm_config.api_url={url}", "--set", "llm_config.retry_backoff_ms=[10]", *more]
        return Terminal(command, columns=columns, lines=lines, cwd=self.project, environ=self.environ)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Give a test its own place; the model host that waits there for another start is ended."""
    made = Place(tmp_path)
    yield made
    stop_hosts(made.environ)
    assert running_hosts(made.environ) == ()
