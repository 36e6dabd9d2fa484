"""Makes changes on record of the differences between two looks at a project."""

import contextlib
import hashlib
import stat
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from smith_core.tools.changes.contents import Contents, Known
from smith_core.tools.changes.folders import parents_of
from smith_core.tools.changes.git_files import GitFiles
from smith_core.tools.changes.recorder import TurnRecorder
from smith_core.tools.changes.states import ABSENT, FileChange, FileState, has_same_mode, is_same
from smith_core.turn_files import count_in_words

MAX_CHANGES = 5_000
"""Files that are kept of what one command changed."""

_AT_ONCE = 1_000
_BYTES_AT_ONCE = 64 * 1024 * 1024


class Difference(NamedTuple):
    """A path below the root, with None where there was nothing; `doubt` says why it is not known what there was."""

    path: str
    before: Known | None
    after: Known | None
    doubt: str = ""


class Sides(NamedTuple):
    """The root, and the folders below it that there were at the first look and at the second."""

    root: str
    folders_before: set[str]
    folders_after: set[str]


def record_differences(
    recorder: TurnRecorder, differences: Sequence[Difference], sides: Sides, contents: Contents, git: GitFiles | None
) -> None:
    """Put differences on record, with the contents that there were; raises OSError and AgentFailure.

    contents: copies of what was there. git: has what was there and was not copied.
    """
    for part in _parts(differences[:MAX_CHANGES]):
        from_git = _from_git(part, git)
        changes: list[FileChange] = []
        kept: list[bytes] = []
        for item in part:
            before, data = _before(item, contents, from_git)
            after = ABSENT if item.after is None else item.after.state or FileState("other")
            if is_same(before, after) and has_same_mode(before, after):
                continue
            if data is not None:
                kept.append(data)
            changes.append(_change(item.path, before, after, sides))
        recorder.keep(changes, kept)
    if len(differences) > MAX_CHANGES:
        rest = count_in_words(len(differences) - MAX_CHANGES)
        recorder.keep((), limits=[f"a command changed {rest} more, of which no copies were kept"])


def _change(path: str, before: FileState, after: FileState, sides: Sides) -> FileChange:
    missing: tuple[str, ...] = ()
    if "absent" in (before.kind, after.kind):
        # Those on the side on which the file is not.
        there = sides.folders_before if before.kind == "absent" else sides.folders_after
        above = sorted(parents_of((path,)) - there, key=len)
        missing = tuple(f"{sides.root}/{folder}" for folder in above if folder)
    return FileChange(path=f"{sides.root}/{path}", before=before, after=after, folders=missing)


def _from_git(part: Sequence[Difference], git: GitFiles | None) -> Mapping[str, bytes]:
    wanted = [item.before.identity for item in part if item.before is not None and item.before.identity]
    if wanted and git is not None:
        with contextlib.suppress(OSError):
            return git.contents(wanted)
    return {}


def _before(item: Difference, contents: Contents, from_git: Mapping[str, bytes]) -> tuple[FileState, bytes | None]:
    """Return what was there before, and its content where that is known."""
    if item.before is None:
        return (FileState("file", lost=item.doubt) if item.doubt else ABSENT), None
    if item.before.state is not None:
        return item.before.state, contents.read(item.before)
    mode, size = stat.S_IMODE(item.before.stamp[4]), item.before.stamp[2]
    data = from_git.get(item.before.identity)
    if data is None or len(data) != size:
        # A filter of git, or another line ending, makes the file differ from what git has.
        return FileState("file", mode=mode, lost="git has it in another form than the folder"), None
    return FileState("file", hashlib.sha256(data).hexdigest(), mode), data


def _parts(differences: Sequence[Difference]) -> Iterator[list[Difference]]:
    """Yield the differences in parts whose contents can be held in memory."""
    part: list[Difference] = []
    size = 0
    for item in differences:
        size += 0 if item.before is None else item.before.stamp[2]
        if part and (len(part) == _AT_ONCE or size > _BYTES_AT_ONCE):
            yield part
            part, size = [], 0
        part.append(item)
    if part:
        yield part
