"""What is at a path before and after a change, and how two changes of one path become one."""

import hashlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec

from smith_core.plainfile import NotRegularFileError, open_regular
from smith_core.turn_files import ChangeKind

MAX_KEPT_BYTES = 64 * 1024 * 1024
"""Largest file of which a copy is kept."""

UMASK_MODE = -1
"""Stands for the mode that a new file gets from the umask."""

Kind = Literal["absent", "file", "link", "other"]


class FileState(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is at a path; `mode` are the permission bits of a file, `target` is what a symbolic link holds.

    digest: SHA-256 of a file's content in hex, "" when it is not known. lost: why no copy of the content is kept, ""
    when there is one, or will be as soon as it is needed. other: a folder, a pipe, whatever nobody copies.
    """

    kind: Kind = "absent"
    digest: str = ""
    mode: int = UMASK_MODE
    target: str = ""
    lost: str = ""


ABSENT = FileState()


class FileChange(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One path before and after; absolute, with no symbolic link in the folders above.

    folders: those above that were there on one side alone, the outermost first.
    """

    path: str
    before: FileState = ABSENT
    after: FileState = ABSENT
    folders: tuple[str, ...] = ()

    @property
    def kind(self) -> ChangeKind:
        """What a person calls it."""
        if self.before.kind == "absent":
            return "created"
        return "deleted" if self.after.kind == "absent" else "changed"


def is_same(one: FileState, other: FileState) -> bool:
    """Say whether two states are known to be the same, the mode left aside."""
    if one.kind != other.kind or one.kind == "other":
        return False
    if one.kind == "file":
        return bool(one.digest) and one.digest == other.digest
    return one.target == other.target


def has_same_mode(one: FileState, other: FileState) -> bool:
    """Say whether the modes are the same, or one of them is not known."""
    return one.mode == other.mode or UMASK_MODE in (one.mode, other.mode)


def merged(changes: Iterable[FileChange]) -> tuple[FileChange, ...]:
    """Return one change for each path, from its first state to its last; those that end as they began are left out."""
    by_path: dict[str, FileChange] = {}
    for change in changes:
        first = by_path.get(change.path)
        if first is not None:
            folders = tuple(sorted({*first.folders, *change.folders}, key=len))
            change = msgspec.structs.replace(change, before=first.before, folders=folders)
        by_path[change.path] = change
    return tuple(
        change
        for _, change in sorted(by_path.items())
        if not (is_same(change.before, change.after) and has_same_mode(change.before, change.after))
    )


class Seen(msgspec.Struct, frozen=True):
    """What was found at a path, and the content of a file, None when it is none or too large."""

    state: FileState
    data: bytes | None = None


def look_at(path: Path, limit: int = MAX_KEPT_BYTES) -> Seen:
    """Return what is at a path now, a link at its end not followed; raises OSError when that cannot be found out."""
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return Seen(ABSENT)
    if stat.S_ISLNK(status.st_mode):
        return Seen(FileState("link", target=str(path.readlink())))
    if not stat.S_ISREG(status.st_mode):
        return Seen(FileState("other"))
    mode = stat.S_IMODE(status.st_mode)
    if status.st_size > limit:
        return Seen(FileState("file", mode=mode, lost="it is too large"))
    try:
        descriptor = open_regular(path, follow_symlink=False)
    except NotRegularFileError:
        return Seen(FileState("other"))
    with os.fdopen(descriptor, "rb") as stream:
        data = stream.read(limit + 1)
    if len(data) > limit:
        return Seen(FileState("file", mode=mode, lost="it is too large"))
    return Seen(FileState("file", hashlib.sha256(data).hexdigest(), mode), data)


def missing_folders(path: Path) -> tuple[str, ...]:
    """Return the folders above a path that are not there, the outermost first."""
    missing: list[str] = []
    for folder in path.parents:
        if os.path.lexists(folder):
            break
        missing.append(str(folder))
    return tuple(reversed(missing))
