"""Sequences of changes, undo and redo against a model: a file moves if it is as it was left, and else stays."""

import hashlib
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from smith_core.tools.changes.pruning import Limits
from smith_core.tools.changes.service import FileChanges
from smith_core.tools.changes.watch import FolderWatch
from tests.support.listed_files import files_of

PATHS = ("a", "b", "d/x", "d/e/y")
Found = tuple[str, str, int]
Tree = dict[str, Found]

content = st.sampled_from(("one", "two\n", "", "three" * 50))
action = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(PATHS), content),
    st.tuples(st.just("delete"), st.sampled_from(PATHS), st.just("")),
    st.tuples(st.just("link"), st.sampled_from(PATHS), st.sampled_from(("a", "nowhere", "/etc/hostname"))),
    st.tuples(st.just("mode"), st.sampled_from(PATHS), st.sampled_from(("755", "444", "600"))),
)
actions = st.lists(action, min_size=1, max_size=4)
step = st.one_of(
    st.tuples(st.sampled_from(("command", "tool", "person")), actions),
    st.tuples(st.sampled_from(("undo", "redo", "force undo", "force redo")), st.integers(0, 9)),
)


def act(root: Path, kind: str, name: str, value: str) -> None:
    """Change one path as a command would."""
    path = root / name
    if kind == "mode":
        if path.is_file() and not path.is_symlink():
            path.chmod(int(value, 8))
        return
    path.unlink(missing_ok=True)
    if kind == "delete":
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "link":
        path.symlink_to(value)
    else:
        path.write_text(value)


def look(root: Path) -> Tree:
    found: Tree = {}
    for name in PATHS:
        path = root / name
        if path.is_symlink():
            found[name] = ("link", str(path.readlink()), 0)
        elif path.is_file():
            found[name] = ("file", path.read_text(), stat.S_IMODE(path.stat().st_mode))
    return found


class Turns:
    """The real thing, and what each turn found and left."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.root.mkdir()
        self.changes = FileChanges(folder / "undo", lambda: Limits(10**9, 30))
        self.watch = FolderWatch(str(self.root), folder, None, files_of(self.root))
        self.sides: list[tuple[Tree, Tree]] = []
        self.ids: list[str] = []

    def turn(self, who: str, wanted: list[tuple[str, str, str]]) -> None:
        if who == "person":
            for kind, name, value in wanted:
                act(self.root, kind, name, value)
            return
        turn_id = f"turn-{len(self.ids)}"
        recorder = self.changes.begin_turn("conversation", turn_id, str(self.root), float(len(self.ids)))
        assert recorder is not None
        before = look(self.root)
        if who == "command":
            self.watch.enter(recorder)
        for kind, name, value in wanted:
            path = self.root / name
            if who == "command":
                act(self.root, kind, name, value)
            elif kind == "write" and not path.is_symlink():
                with recorder.changing(path, value.encode()):
                    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
                    act(self.root, kind, name, value)
                    if mode is not None:
                        path.chmod(mode)
        if who == "command":
            self.watch.leave(recorder)
        after = look(self.root)
        record = recorder.record()
        changed = {name for name in PATHS if before.get(name) != after.get(name)}
        assert {change.path.removeprefix(f"{self.root}/") for change in (record.changes if record else ())} == changed
        if record:
            self.ids.append(turn_id)
            self.sides.append((before, after))

    def move(self, how: str, number: int) -> None:
        if not self.ids:
            return
        index = number % len(self.ids)
        direction = "undo" if how.endswith("undo") else "redo"
        is_forced = how.startswith("force")
        now, (before, after) = look(self.root), self.sides[index]
        source, goal = (after, before) if direction == "undo" else (before, after)
        names = [name for name in PATHS if before.get(name) != after.get(name)]
        expected, held, gave_way = dict(now), set(), dict(source)
        lost = {name for name in names if self.is_lost(goal.get(name))}
        told = self.changes.move("conversation", self.ids[index], direction, lambda path: "", is_forced=is_forced)  # type: ignore[arg-type]
        without_copy = {file.path for file in told.files if file.note == "no copy of that is there"}
        # Another file of the same content that was copied as it gave way leaves as good a copy.
        assert without_copy <= lost
        lost = without_copy
        for name in names:
            is_there = same(now.get(name), goal.get(name))
            if not is_there and now.get(name) != source.get(name):
                if not is_forced or name in lost:
                    held.add(name)
                    continue
                put(gave_way, name, now.get(name))
            if not is_there and name in lost:
                held.add(name)
                continue
            if is_there and now.get(name) not in (goal.get(name), source.get(name)):
                continue  # its mode is nobody's
            put(expected, name, goal.get(name))
        assert look(self.root) == expected
        assert {file.path for file in told.files if file.note} == held
        self.sides[index] = (goal, gave_way) if direction == "undo" else (gave_way, goal)

    def is_lost(self, found: Found | None) -> bool:
        """Say whether there is no copy: of what a turn left one is made when it gives way, and not before."""
        if found is None or found[0] == "link":
            return False
        return not self.changes._store.blobs.has(hashlib.sha256(found[1].encode()).hexdigest())


def same(one: Found | None, other: Found | None) -> bool:
    return (one and one[:2]) == (other and other[:2])


def put(tree: Tree, name: str, found: Found | None) -> None:
    if found is None:
        tree.pop(name, None)
    else:
        tree[name] = found


@contextmanager
def turns() -> Iterator[Turns]:
    # In memory, where there is such a place: thousands of writes are waited for.
    in_memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=in_memory if in_memory.is_dir() else None) as folder:
        made = Turns(Path(folder).resolve())
        try:
            yield made
        finally:
            made.watch.close()
            made.changes.close()


@settings(max_examples=40, deadline=None)
@given(st.lists(step, max_size=8))
def test_any_sequence_ends_as_the_model_says(steps: list[tuple[str, object]]) -> None:
    with turns() as made:
        for how, what in steps:
            if isinstance(what, list):
                made.turn(how, what)
            else:
                assert isinstance(what, int)
                made.move(how, what)
