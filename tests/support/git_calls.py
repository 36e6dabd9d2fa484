"""Calls the git tool in a repository of the test's own, and lists what a repository holds byte for byte."""

import hashlib
import os
import subprocess
from pathlib import Path
from typing import Any

import msgspec

from smith_core.cancel import CancelToken, new_root
from smith_core.project import Project
from smith_core.tools.base import ToolContext, ToolOutcome
from smith_core.tools.git import GIT

GIT_ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.org",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.org",
}


class GitPlace:
    """A repository in `folder` with `a.txt` committed twice and changed once more."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "repo"
        self.spill_dir = folder / "spill"
        self.folder.mkdir()
        self.spill_dir.mkdir(mode=0o700)
        self.env = dict(GIT_ENV)
        self.git("init", "-q", "-b", "main")
        self.commit("a.txt", "one\ntwo\n", "first: begin")
        self.commit("a.txt", "one\n2\n", "second: a number")
        (self.folder / "a.txt").write_text("one\n3\n")

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.folder, env=self.env, capture_output=True, text=True, check=True
        )
        return done.stdout

    def commit(self, name: str, content: str, message: str) -> None:
        (self.folder / name).write_text(content)
        self.git("add", "--", name)
        self.git("commit", "-q", "-m", message)

    def configure(self, text: str) -> None:
        """Add lines to the repository's own configuration."""
        with (self.folder / ".git" / "config").open("a") as file:
            file.write(text)

    def stored(self) -> dict[str, str]:
        """Return a digest of every file below .git."""
        return {
            str(path.relative_to(self.folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted((self.folder / ".git").rglob("*"))
            if path.is_file()
        }

    async def __call__(
        self, subcommand: str, *args: str, token: CancelToken | None = None, **given: Any
    ) -> ToolOutcome:
        arguments = msgspec.convert({"subcommand": subcommand, "args": list(args), **given}, GIT.arguments)
        context = ToolContext(
            call_id="call-1",
            role="orchestrator",
            turn_id="turn-1",
            cancel_token=token or new_root(),
            cwd=self.folder,
            project=Project(root=str(self.folder)),
            emit_output=lambda data: None,
            child_env=self.env,
            spill_dir=self.spill_dir,
        )
        outcome: ToolOutcome = await GIT.handler(arguments, context)
        msgspec.json.encode(outcome.content)
        return outcome
