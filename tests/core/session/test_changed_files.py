"""Taking back what turns did to files, through a whole engine."""

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from smith_core.events import AnyEvent, FilesChanged
from smith_core.llm.protocol import Completion
from tests.core.completion.test_source import offered
from tests.core.dispatch.test_children import report, to
from tests.support.cast import cast
from tests.support.engine import command, open_engine, open_stored_engine, run_turn, said
from tests.support.scripted_client import ScriptedClient, calls


def bash(line: str) -> Completion:
    return calls(("bash", {"command": line}))


def tree(folder: Path) -> dict[str, str]:
    """Return all that is in a folder: contents, link targets, modes; our own folders and git's left out."""
    found: dict[str, str] = {}
    for top, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in (".git", ".spill", "data")]
        for name in [*folders, *names]:
            path = Path(top, name)
            key = str(path.relative_to(folder))
            if path.is_symlink():
                found[key] = f"-> {path.readlink()}"
            elif path.is_dir():
                found[key] = "folder"
            else:
                found[key] = f"{stat.S_IMODE(path.stat().st_mode):o} {path.read_bytes()!r}"
    return found


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def changed(events: list[AnyEvent]) -> FilesChanged:
    (found,) = [event for event in events if isinstance(event, FilesChanged)]
    return found


@pytest.fixture(params=["git", "plain"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "src").mkdir()
    for name in ("a.txt", "src/b.py", "src/c.py", "run.sh"):
        (tmp_path / name).write_text(f"content of {name}\n")
    (tmp_path / "link").symlink_to("a.txt")
    (tmp_path / ".gitignore").write_text("*.log\n.spill\ndata\nbuild/\n")
    (tmp_path / "build").mkdir()
    (tmp_path / "build/out.bin").write_text("built")
    if request.param == "git":
        git(tmp_path, "init", "-q")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", "begin")
        (tmp_path / "src/c.py").write_text("changed by the person\n")
        (tmp_path / "untracked.txt").write_text("nobody knows it\n")
    yield tmp_path


COMMAND = (
    "echo more >> a.txt; rm src/b.py; chmod +x run.sh; ln -sfn run.sh link; mkdir -p new/deep; "
    "echo n > new/deep/n.txt; "
    "echo x > src/c.py; mv src/c.py src/d.py; echo noise > x.log; echo rebuilt > build/out.bin; ln -s a.txt other; "
    "mkdir empty; [ ! -e untracked.txt ] || rm untracked.txt"
)


async def test_what_a_command_changed_goes_back_and_comes_again(project: Path) -> None:
    before = tree(project)
    index = (project / ".git/index").read_bytes() if (project / ".git").exists() else b""
    runtime = open_engine(project, ScriptedClient(bash(COMMAND), "done"))
    events: list[AnyEvent] = []
    await run_turn(runtime, "go", events)
    after = tree(project)
    files = {file.path: file.kind for file in changed(events).turns[0].files}
    expected = {"a.txt": "changed", "src/b.py": "deleted", "run.sh": "changed", "link": "changed", "other": "created"}
    expected |= {"new/deep/n.txt": "created", "src/c.py": "deleted", "src/d.py": "created"}
    if index:
        expected["untracked.txt"] = "deleted"
    assert files == expected
    words = said(await command(runtime, "/undo files"))
    first = ", ".join(file.path for file in changed(events).turns[0].files[:3])
    assert f"{len(expected)} files taken back ({first} and {len(expected) - 3} more)\n" in words
    ignored = {"x.log": "644 b'noise\\n'", "build/out.bin": "644 b'rebuilt\\n'", "empty": "folder"}
    assert tree(project) == {**before, **ignored}
    assert f"{len(expected)} files put again ({first} and" in said(await command(runtime, "/redo"))
    assert tree(project) == after
    if index:
        assert (project / ".git/index").read_bytes() == index
    await runtime.stop_session("test")


async def test_undo_takes_the_turn_and_its_files_and_leaves_what_somebody_has_changed(project: Path) -> None:
    client = ScriptedClient(
        calls(("write", {"path": "a.txt", "content": "one\n"}), ("write", {"path": "n/new.txt", "content": "x"})),
        "done",
    )
    runtime = open_engine(project, client)
    await run_turn(runtime, "go")
    (project / "n/new.txt").write_text("changed by hand")
    words = said(await command(runtime, "/undo"))
    assert "1 file taken back (a.txt), 1 file left as now" in words
    assert "n/new.txt: it has changed since" in words
    assert runtime.services.conversation.messages == ()
    assert (project / "a.txt").read_text() == "content of a.txt\n"
    assert (project / "n/new.txt").read_text() == "changed by hand"
    assert "2 files taken back (a.txt, n/new.txt)\n" in said(await command(runtime, "/undo files 1 force"))
    assert not (project / "n").exists()
    await command(runtime, "/redo")
    assert (project / "n/new.txt").read_text() == "changed by hand"
    assert (project / "a.txt").read_text() == "one\n"
    await runtime.stop_session("test")


async def test_what_children_and_lines_for_the_shell_change_belongs_to_their_turns_after_a_restart_too(
    tmp_path: Path,
) -> None:
    (tmp_path / ".gitignore").write_text("data\n.spill\n")
    work = [calls(("write", {"path": "w.txt", "content": "x"}), ("bash", {"command": "echo y > b.txt"})), report()]
    client = ScriptedClient(cast(direct=[calls(to("worker")), "done"], worker=work))
    runtime = open_stored_engine(tmp_path, client)
    await run_turn(runtime, "go")
    await run_turn(runtime, "!echo z > c.txt; rm b.txt")
    await command(runtime, "!!echo nobody > own.txt")
    identity = runtime.services.conversation.conversation_id
    await runtime.stop_session("test")

    again = open_stored_engine(tmp_path, ScriptedClient("x"))
    events = await command(again, f"/load {identity}")
    shown = [[file.path for file in turn.files] for turn in changed(events).turns]
    assert shown == [["b.txt", "w.txt"], ["b.txt", "c.txt"]]
    await command(again, "/config set tools.permission read-only")
    assert "nothing may be changed in this session" in said(await command(again, "/undo files"))
    assert (tmp_path / "c.txt").exists()
    await command(again, "/config set tools.permission ask")
    assert list(await offered(again, "/undo files ")) == ["1", "2", "force"]
    await command(again, "/undo files")
    assert (tmp_path / "b.txt").read_text() == "y\n"
    assert list(await offered(again, "/redo ")) == ["1", "force"]
    await command(again, "/undo files")
    assert sorted(tree(tmp_path)) == [".gitignore", "own.txt"]
    assert "every change of files is taken back" in said(await command(again, "/undo files"))
    await command(again, "/redo")
    assert (tmp_path / "b.txt").read_text() == "y\n"
    await again.stop_session("test")
