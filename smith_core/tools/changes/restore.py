"""Takes the changes of a turn back, or puts them again, file by file; what is no longer as it was left is not touched.

The state of each file decides what is done to it, never a note of how far this has come: after a kill in the middle,
doing it again does the rest.
"""

import contextlib
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from smith_core.atomic import write_atomically
from smith_core.errors import AgentFailure
from smith_core.plainfile import FileBusyError, NotRegularFileError, exclusively
from smith_core.tools.changes.recorder import ChangeStore
from smith_core.tools.changes.states import (
    UMASK_MODE,
    FileChange,
    FileState,
    Seen,
    has_same_mode,
    is_same,
    look_at,
)
from smith_core.turn_files import Direction

Reach = Callable[[Path], str]
"""Says in plain words why a path may not be written to, "" when it may."""


class Moved(msgspec.Struct, frozen=True):
    """What came of one file; `note` says why it was left alone, "" when it is as it should be.

    change: with what was there instead, if that gave way.
    """

    change: FileChange
    note: str = ""


class _LeftAloneError(Exception):
    """The file is not touched; the message says why."""


def move(
    changes: Iterable[FileChange],
    direction: Direction,
    store: ChangeStore,
    reach: Reach,
    *,
    forcing: Callable[[FileChange], None] | None = None,
) -> tuple[Moved, ...]:
    """Bring files to the state before their changes, or after.

    forcing: files that have changed since are moved as well, and this is told before what takes the place of the side
    that gives way. What gives way is copied first. Raises nothing: what cannot be done to a file is in its note.
    """
    ordered = sorted(changes, key=lambda change: change.path)
    goals = [change.before if direction == "undo" else change.after for change in ordered]
    pairs = list(zip(ordered, goals, strict=True))
    # What has to go makes room first, from the inside out: a file may stand where a folder was.
    going = [change for change, goal in reversed(pairs) if goal.kind == "absent"]
    coming = [change for change, goal in pairs if goal.kind != "absent"]
    mover = _Mover(direction, store, reach, forcing)
    return tuple(sorted(map(mover.move, [*going, *coming]), key=lambda moved: moved.change.path))


class _Mover:
    """Moves one file after the other in one direction."""

    def __init__(
        self,
        direction: Direction,
        store: ChangeStore,
        reach: Reach,
        forcing: Callable[[FileChange], None] | None,
    ) -> None:
        self._direction = direction
        self._store = store
        self._reach = reach
        self._forcing = forcing

    def move(self, change: FileChange) -> Moved:
        path = Path(change.path)
        try:
            refusal = self._reach(path)
            if refusal:
                raise _LeftAloneError(refusal)
            with exclusively(path):
                return Moved(self._move(path, change))
        except _LeftAloneError as error:
            return Moved(change, str(error))
        except FileBusyError:
            return Moved(change, "another program has locked it")
        except NotRegularFileError as error:
            return Moved(change, f"it is {error.what} now")
        except AgentFailure as caught:
            return Moved(change, caught.error.message)
        except OSError as error:
            return Moved(change, (error.strerror or type(error).__name__).lower())

    def _move(self, path: Path, change: FileChange) -> FileChange:
        source, goal = (change.after, change.before) if self._direction == "undo" else (change.before, change.after)
        _check_folders(path)
        seen = look_at(path)
        if is_same(seen.state, goal):
            if goal.kind == "file" and source.kind == "file" and has_same_mode(seen.state, source):
                _set_mode(path, goal.mode, seen.state.mode)
            elif goal.kind == "absent":
                _remove_folders(change.folders)
            return change
        if not (is_same(seen.state, source) and has_same_mode(seen.state, source)):
            if self._forcing is None:
                raise _LeftAloneError(_what_differs(seen.state, source))
            change = self._giving_way(change, seen.state)
        data = self._content(goal)
        self._keep(seen)
        if self._forcing is not None:
            self._forcing(change)
        _put(path, seen, goal, data)
        if goal.kind == "absent":
            _remove_folders(change.folders)
        return change

    def _giving_way(self, change: FileChange, found: FileState) -> FileChange:
        """Return the change with what is found in the place of what should be there."""
        if found.kind == "other":
            raise _LeftAloneError("something else is in its place now")
        if self._direction == "undo":
            return msgspec.structs.replace(change, after=found)
        return msgspec.structs.replace(change, before=found)

    def _content(self, goal: FileState) -> bytes | None:
        if goal.lost:
            raise _LeftAloneError(f"no copy of it was kept: {goal.lost}")
        if goal.kind == "other":
            raise _LeftAloneError("it was no file and no link")
        if goal.kind != "file":
            return None
        data = self._store.blobs.get(goal.digest)
        if data is None:
            raise _LeftAloneError("no copy of that is there")
        return data

    def _keep(self, seen: Seen) -> None:
        """Copy what is about to give way, so that it can come back."""
        if seen.data is not None:
            with self._store.writing():
                self._store.blobs.put([seen.data])
        elif seen.state.kind == "file" and self._forcing is None:
            raise _LeftAloneError("it is too large to be kept, and so could not come back")


def _check_folders(path: Path) -> None:
    """Refuse a path whose folders have become links since: it would lead to another place."""
    if os.path.realpath(path.parent) != str(path.parent):
        raise _LeftAloneError("a folder above it is a symbolic link now")


def _what_differs(found: FileState, expected: FileState) -> str:
    if found.lost:
        return f"it cannot be compared: {found.lost}"
    if found.kind == "absent":
        return "it is not there any more"
    if expected.kind == "absent":
        return "it is there again"
    if found.kind != expected.kind:
        return "something else is in its place now"
    return "its mode has changed since" if is_same(found, expected) else "it has changed since"


def _put(path: Path, seen: Seen, goal: FileState, data: bytes | None) -> None:
    def confirm() -> None:
        _check_folders(path)
        if look_at(path).state != seen.state:
            raise _LeftAloneError("it changed at this very moment")

    mode = None if goal.mode == UMASK_MODE else goal.mode
    if goal.kind == "absent":
        confirm()
        path.unlink()
    elif goal.kind == "file" and (seen.state.kind == "absent" or _is_writable(seen.state)):
        write_atomically(path, data or b"", confirm=confirm, mode=mode)
    else:
        # A link is replaced by itself, for nothing may be written through it, and so is a file that is read-only.
        temporary = path.with_name(f".smith-{os.urandom(8).hex()}.tmp")
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            if goal.kind == "link":
                temporary.symlink_to(goal.target)
            else:
                write_atomically(temporary, data or b"", mode=mode)
            confirm()
            temporary.replace(path)
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink()  # it is gone when it was put in place


def _is_writable(state: FileState) -> bool:
    return state.kind == "file" and bool(state.mode & stat.S_IWUSR)


def _set_mode(path: Path, wanted: int, found: int) -> None:
    if wanted not in (UMASK_MODE, found):
        path.chmod(wanted)


def _remove_folders(folders: Sequence[str]) -> None:
    """Remove those that hold nothing, from the inside out."""
    for folder in reversed(folders):
        if os.path.islink(folder):  # noqa: PTH114 - rmdir would refuse it, too, but not on every system
            return
        with contextlib.suppress(OSError):
            Path(folder).rmdir()
