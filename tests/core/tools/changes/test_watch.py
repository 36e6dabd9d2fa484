"""What is noticed of the changes that commands make, with the system's help and without it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from smith_core.tools.changes.notifier import Notifier
from smith_core.tools.changes.pruning import Limits
from smith_core.tools.changes.recorder import TurnRecorder
from smith_core.tools.changes.service import FileChanges
from smith_core.tools.changes.watch import FolderWatch
from smith_core.turn_files import TurnFiles
from tests.support.listed_files import files_of


def no_notifier(root: str) -> Notifier:
    raise OSError("there is none")


class Watched:
    """A project whose files, apart from ignored ones, are watched."""

    def __init__(self, folder: Path, notifier: type[Notifier]) -> None:
        self.root = folder / "project"
        (self.root / "src").mkdir(parents=True)
        (self.root / "src/a").write_text("a")
        self.ignored = {"secret"}
        self.changes = FileChanges(folder / "undo", lambda: Limits(10**9, 30))
        self.watch = FolderWatch(str(self.root), folder, None, self.listed, notifier=notifier)
        self.turns = 0

    def listed(self) -> Iterator[str]:
        return (path for path in files_of(self.root)() if path not in self.ignored)

    def begin(self) -> TurnRecorder:
        self.turns += 1
        recorder = self.changes.begin_turn("c", f"turn-{self.turns}", str(self.root), float(self.turns))
        assert recorder is not None
        return recorder

    def found(self) -> list[list[str]]:
        """Return the paths of each turn that has changed something."""
        return [[file.path for file in turn.files] for turn in self.changes.of_conversation("c")]

    def undo(self, turn_id: str) -> TurnFiles:
        return self.changes.move("c", turn_id, "undo", lambda path: "")


@pytest.fixture(params=[Notifier, no_notifier])
def watched(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Watched]:
    made = Watched(tmp_path.resolve(), request.param)
    yield made
    made.watch.close()


def test_what_others_change_between_commands_is_not_put_on_record(watched: Watched) -> None:
    root, first = watched.root, watched.begin()
    watched.watch.enter(first)
    (root / "src/a").write_text("by the command")
    watched.watch.leave(first)
    (root / "src/a").write_text("by the person")
    (root / "src/own").write_text("by the person")
    second = watched.begin()
    watched.watch.enter(second)
    (root / "src/own").unlink()
    watched.watch.leave(second)
    assert watched.found() == [["src/a"], ["src/own"]]
    assert watched.undo("turn-1").files[0].note == "it has changed since"
    assert not watched.undo("turn-2").held_back
    assert (root / "src/own").read_text() == "by the person"


def test_commands_side_by_side_share_what_is_found(watched: Watched) -> None:
    root, turn = watched.root, watched.begin()
    watched.watch.enter(turn)
    (root / "one").write_text("1")
    watched.watch.enter(turn)
    (root / "two").write_text("2")
    watched.watch.leave(turn)
    (root / "src/a").unlink()
    watched.watch.leave(turn)
    assert watched.found() == [["one", "src/a", "two"]]
    watched.undo("turn-1")
    assert sorted(files_of(root)()) == ["src/a"]


def test_a_folder_that_comes_moves_and_goes(watched: Watched) -> None:
    root, turn = watched.root, watched.begin()
    watched.watch.enter(turn)
    (root / "src").rename(root / "lib")
    (root / "lib/deep").mkdir()
    (root / "lib/deep/n").write_text("n")
    watched.watch.leave(turn)
    watched.watch.enter(turn)
    (root / "lib/deep/n").write_text("again")
    watched.watch.leave(turn)
    assert watched.found() == [["lib/a", "lib/deep/n", "src/a"]]
    watched.undo("turn-1")
    assert sorted(path.name for path in root.rglob("*")) == ["a", "src"]


def test_what_was_ignored_until_now_is_never_taken_for_new(watched: Watched) -> None:
    """Or else undo would delete a file that was there all the time."""
    root, turn = watched.root, watched.begin()
    (root / "secret").write_text("there before")
    watched.watch.enter(turn)
    watched.ignored.clear()
    (root / "src/a").write_text("x")
    watched.watch.leave(turn)
    watched.undo("turn-1")
    assert (root / "secret").read_text() == "there before"
    assert (root / "src/a").read_text() == "a"
