"""When files are left alone, and what is kept how long."""

import os
import time
from pathlib import Path

import pytest

from smith_core.composition import compose_services
from smith_core.config.shape import ToolsConfig
from smith_core.session.changed_files import ChangedFiles
from smith_core.tools.changes.pruning import Limits, prune
from smith_core.tools.changes.recorder import ChangeStore
from smith_core.tools.changes.service import FileChanges
from smith_core.tools.sandbox.layout import Layout
from smith_core.tools.sandbox.sandboxes import Sandbox, Sandboxes
from smith_core.turn_files import TurnFiles

Turn = tuple[FileChanges, Path]


def change(folder: Path, turn_id: str, name: str, text: str, started_at: float = 1.0) -> FileChanges:
    """Write a file as a tool does, as a turn of its own."""
    changes = FileChanges(folder / "undo", lambda: Limits(10**9, 30))
    recorder = changes.begin_turn("c", turn_id, str(folder), started_at)
    assert recorder is not None
    target = folder / name
    with recorder.changing(target, text.encode()):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return changes


def undo(changes: FileChanges, turn_id: str = "t") -> TurnFiles:
    return changes.move("c", turn_id, "undo", lambda path: "")


def test_nothing_is_written_through_a_folder_that_is_a_link_by_now(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    (folder / "d").mkdir()
    (folder / "d/a").write_text("before")
    changes = change(folder, "t", "d/a", "after")
    (folder / "d").rename(folder / "elsewhere")
    (folder / "d").symlink_to("elsewhere")
    assert undo(changes).files[0].note == "a folder above it is a symbolic link now"
    assert (folder / "elsewhere/a").read_text() == "after"


def test_a_link_in_the_place_of_a_file_is_not_followed(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    (folder / "a").write_text("before")
    (folder / "outside").write_text("after")
    changes = change(folder, "t", "a", "after")
    (folder / "a").unlink()
    (folder / "a").symlink_to("outside")
    assert undo(changes).held_back
    changes.move("c", "t", "undo", lambda path: "", is_forced=True)
    assert ((folder / "a").read_text(), (folder / "a").is_symlink()) == ("before", False)
    assert (folder / "outside").read_text() == "after"
    changes.move("c", "t", "redo", lambda path: "")
    assert str((folder / "a").readlink()) == "outside"


def test_a_write_that_fails_is_no_change(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    (folder / "a").write_text("before")
    changes = FileChanges(folder / "undo", lambda: Limits(10**9, 30))
    recorder = changes.begin_turn("c", "t", str(folder), 1.0)
    assert recorder is not None
    with pytest.raises(RuntimeError), recorder.changing(folder / "a", b"after"):
        raise RuntimeError
    assert recorder.record() is None
    assert changes.of_conversation("c") == ()


def test_where_nothing_may_be_written_the_file_stays(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    changes = change(folder, "t", "a", "after")
    moved = changes.move("c", "t", "undo", lambda path: "the sandbox says no")
    assert (moved.files[0].note, moved.is_undone) == ("the sandbox says no", False)
    assert (folder / "a").exists()


def test_the_oldest_go_first_and_what_is_still_needed_stays(tmp_path: Path) -> None:
    folder, now = tmp_path.resolve(), time.time()
    shared, large = os.urandom(50_000).hex(), os.urandom(50_000).hex()
    for name, text in (("a", shared), ("b", shared), ("c", large), ("d", "small")):
        (folder / name).write_text(text)
    for number, name in enumerate("abcd"):
        changes = change(folder, f"t{number}", name, "x", now - 400_000 + 100_000 * number)
    store = ChangeStore(folder / "undo")
    assert prune(store, Limits(10**9, 3.5), now) == 1
    assert [turn.turn_id for turn in changes.of_conversation("c")] == ["t1", "t2", "t3"]
    assert not undo(changes, "t1").held_back, "its copy was that of a turn that went, too"
    (folder / "undo/blobs/ab").mkdir(exist_ok=True)
    (folder / "undo/blobs/ab/left.tmp").write_text("half")
    assert prune(store, Limits(80_000, 30), now) == 1
    assert [turn.turn_id for turn in changes.of_conversation("c")] == ["t2", "t3"]
    assert {store.blobs.get(path.name) for path, _ in store.blobs.entries()} == {large.encode(), b"small", b"x"}
    with store.writing(), pytest.raises(BlockingIOError):
        prune(store, Limits(0, 30), now)


def test_a_damaged_copy_is_never_put_in_place_and_a_cut_line_does_not_count(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    for name in "ab":
        (folder / name).write_text(f"{name} before")
    changes = change(folder, "t", "a", "after")
    change(folder, "u", "b", "after", 2.0)
    for path, _ in ChangeStore(folder / "undo").blobs.entries():
        path.write_bytes(b"r" + b"something else")
    assert undo(changes).files[0].note == "no copy of that is there"
    (record,) = (folder / "undo/turns/c").glob("*-u.turn")
    record.write_bytes(record.read_bytes()[:-10])
    assert [turn.turn_id for turn in changes.of_conversation("c")] == ["t"]


async def test_while_commands_are_in_a_sandbox_only_what_they_can_write_is_moved(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    for name in ("project", "shared", "own"):
        (folder / name).mkdir()
    layout = Layout(
        writable=(str(folder / "project"),),
        hidden=(),
        kept=(),
        temporary=str(folder / "own"),
        replaced=(str(folder / "shared"),),
    )

    class Sandboxed(Sandboxes):
        async def sandbox(self, tools: ToolsConfig, root: str) -> Sandbox:
            return Sandbox(program="/b", layout=layout)

    services = compose_services({})
    for number, name in enumerate(("project/a", "outside", "shared/b", "own/c")):
        change(folder, f"t{number}", name, "x")
    moved = []
    for number in range(4):
        store = folder / "undo"
        (turns,) = (store / "turns").iterdir()
        services.conversation.reset(turns.name)
        files = ChangedFiles(services, Sandboxed(folder), store, folder)
        moved.append((await files.move(f"t{number}", "undo", str(folder / "project"))).files[0].note)
    assert moved[0] == moved[3] == ""
    assert "lets only" in moved[1]
    assert "temporary files of its own" in moved[2]
