"""Records the commit in what is built, so that an installed copy can name it; read by `smith_tui/version.py`."""

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TARGET = "smith_tui/commit.txt"


class CommitHook(BuildHookInterface[Any]):
    """Adds one line to wheels and source archives: the commit, and whether files were changed since."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the line beside the sources that are packed; an editable installation reads its checkout itself."""
        if version == "editable":
            return
        commit = commit_line(Path(self.root))
        if commit:
            self._folder = tempfile.TemporaryDirectory()
            path = Path(self._folder.name, "commit.txt")
            path.write_text(f"{commit}\n", "utf-8")
            build_data["force_include"][str(path)] = TARGET

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was written."""
        folder = getattr(self, "_folder", None)
        if folder is not None:
            folder.cleanup()


def commit_line(root: Path) -> str:
    """Return the short hash of the checkout at `root`, "" when it is none or git is not there.

    A source archive has the line in it already, and no repository.
    """
    if not (root / ".git").exists():
        return ""
    try:
        commit = _git(root, "rev-parse", "--short=12", "HEAD")
        is_changed = bool(_git(root, "status", "--porcelain", "--", "smith_core", "smith_tui"))
    except (OSError, subprocess.SubprocessError):
        return ""
    return f"{commit}, with changes" if is_changed else commit


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()
