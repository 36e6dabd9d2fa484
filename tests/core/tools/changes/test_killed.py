"""Killed at any point while changes are taken back: no file is half, and doing it again does the rest."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from smith_core.tools.changes.pruning import Limits
from smith_core.tools.changes.service import FileChanges
from smith_core.tools.changes.watch import FolderWatch
from tests.support.listed_files import files_of

KEPT = Limits(10**9, 30)
STEPS = 60
"""System calls of the whole undo that open or change a file; there are some more."""

KILLED_AT = """
import os, signal, sys
from pathlib import Path
from smith_core.tools.changes.service import FileChanges
from smith_core.tools.changes.pruning import Limits

changes, seen = FileChanges(Path(sys.argv[1]), lambda: Limits(10**9, 30)), 0

def count(event, arguments):
    global seen
    if event in ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.symlink"):
        seen += 1
        if seen == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(count)
changes.move("conversation", "turn-1", "undo", lambda path: "")
"""


def tree(root: Path) -> dict[str, str]:
    """Return links and contents by path; what a kill left half-written beside them is not a file of the project."""
    found: dict[str, str] = {}
    for path in sorted(root.rglob("*")):
        if not path.name.startswith(".smith-"):
            name = str(path.relative_to(root))
            found[name] = (
                str(path.readlink()) if path.is_symlink() else path.read_text() if path.is_file() else "folder"
            )
    return found


def make(root: Path, undo: Path) -> tuple[FileChanges, dict[str, str], dict[str, str]]:
    """Change files, make some, delete some; return what was before and after."""
    (root / "old").mkdir(parents=True)
    for name in ("a", "b", "old/c", "old/d"):
        (root / name).write_text(f"{name} before")
    before = tree(root)
    changes = FileChanges(undo, lambda: KEPT)
    recorder = changes.begin_turn("conversation", "turn-1", str(root), 1.0)
    assert recorder is not None
    watch = FolderWatch(str(root), root.parent, None, files_of(root))
    watch.enter(recorder)
    (root / "a").write_text("a after")
    (root / "b").unlink()
    (root / "b").symlink_to("a")
    for name in ("c", "d"):
        (root / "old" / name).unlink()
    (root / "old").rmdir()
    (root / "new/deep").mkdir(parents=True)
    (root / "new/deep/e").write_text("e after")
    watch.leave(recorder)
    watch.close()
    return changes, before, tree(root)


def kill_at(undo: Path, number: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", KILLED_AT, str(undo), str(number)],
        cwd=Path(__file__).parents[4],
        env={**os.environ, "PYTHONPATH": "."},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("share", [0.2, 0.4, 0.55, 0.7, 0.85, 0.95])
def test_after_a_kill_doing_it_again_does_the_rest(tmp_path: Path, share: float) -> None:
    root, undo = tmp_path.resolve() / "project", tmp_path.resolve() / "undo"
    changes, before, after = make(root, undo)
    done = kill_at(undo, round(share * STEPS))
    assert done.returncode == -9, done
    for name, found in tree(root).items():
        assert found in (before.get(name), after.get(name), "folder")
    moved = changes.move("conversation", "turn-1", "undo", lambda path: "")
    assert not moved.held_back
    assert moved.is_undone
    assert tree(root) == before
    changes.move("conversation", "turn-1", "redo", lambda path: "")
    assert tree(root) == after
