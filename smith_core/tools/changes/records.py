"""What each turn has changed, on disk: one file a turn that only grows, readable line by line."""

import errno
import os
import time
import urllib.parse
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from smith_core.errors import failure
from smith_core.paths import ensure_private_dir
from smith_core.patterns import later
from smith_core.regular_file import read_regular_file
from smith_core.tools.changes.states import FileChange, FileState, merged

_SUFFIX = ".turn"
_MAX_RECORD_BYTES = 256 * 1024 * 1024
_NAME = later(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,119}")
_READABLE = "/ !#$&'()*+,:;=?@[]^{}~"
"""What stays as it is in a path; the rest is written as %XX, for a path need not be text."""


class _Header(msgspec.Struct, frozen=True):
    turn_id: str
    root: str
    started_at: float


class _Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step; `is_undone` is None for a change that the turn itself made."""

    header: _Header | None = None
    changes: tuple[FileChange, ...] = ()
    is_undone: bool | None = None
    limits: tuple[str, ...] = ()
    moved_at: float = 0.0


class TurnRecord(msgspec.Struct, frozen=True, kw_only=True):
    """All that a turn has changed; root: of its project. started_at, moved_at: in seconds since the epoch.

    moved_at: when the changes were taken back or put again last, 0 if never.
    """

    path: Path
    turn_id: str
    root: str
    started_at: float
    changes: tuple[FileChange, ...]
    is_undone: bool = False
    limits: tuple[str, ...] = ()
    moved_at: float = 0.0


class TurnRecords:
    """The folder `turns`: <conversation>/<milliseconds>-<turn>.turn, of which one process writes each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def begin(self, conversation_id: str, turn_id: str, root: str, started_at: float) -> Path:
        """Make the file of a turn and return its path; raises OSError and AgentFailure."""
        folder = self._folder_of(conversation_id)
        if not _NAME.fullmatch(turn_id):
            raise _bad_id(turn_id)
        is_new = not folder.is_dir()
        ensure_private_dir(folder)
        path = folder / f"{round(started_at * 1000):014d}-{turn_id}{_SUFFIX}"
        _append(path, _Line(header=_Header(turn_id, _quoted(root), started_at)))
        for changed in (folder, self.folder) if is_new else (folder,):
            _sync(changed)
        return path

    def add(
        self,
        path: Path,
        changes: Sequence[FileChange] = (),
        *,
        is_undone: bool | None = None,
        limits: Sequence[str] = (),
    ) -> None:
        """Add a step to the file of a turn; it is on the medium when this returns. Raises OSError."""
        moved_at = 0.0 if is_undone is None else time.time()
        written = tuple(map(_written, changes))
        _append(path, _Line(changes=written, is_undone=is_undone, limits=tuple(limits), moved_at=moved_at))

    def of_conversation(self, conversation_id: str) -> list[TurnRecord]:
        """Return the turns of a conversation that have changed something, the oldest first; raises nothing."""
        if not _NAME.fullmatch(conversation_id):
            return []
        records = [self.read(path) for path in self._files(self.folder / conversation_id)]
        return [record for record in records if record is not None and (record.changes or record.limits)]

    def read(self, path: Path) -> TurnRecord | None:
        """Return what a file says, lines that are not whole left out; None when it says nothing."""
        header: _Header | None = None
        changes: tuple[FileChange, ...] = ()
        limits: dict[str, None] = {}
        is_undone, moved_at = False, 0.0
        for line in _lines(path):
            header = line.header or header
            limits.update(dict.fromkeys(line.limits))
            found = tuple(map(_read, line.changes))
            if line.is_undone is None:
                changes = merged((*changes, *found))
            else:
                # What was there instead is what comes back the next time.
                replaced = {change.path: change for change in found}
                changes = tuple(replaced.get(change.path, change) for change in changes)
                is_undone, moved_at = line.is_undone, line.moved_at
        if header is None:
            return None
        return TurnRecord(
            path=path,
            turn_id=header.turn_id,
            root=_unquoted(header.root),
            started_at=header.started_at,
            changes=changes,
            is_undone=is_undone,
            limits=tuple(limits),
            moved_at=moved_at,
        )

    def files(self) -> list[Path]:
        """Return the files of all turns of all conversations, the oldest first."""
        try:
            folders = [folder for folder in self.folder.iterdir() if folder.is_dir()]
        except OSError:
            return []
        return sorted((path for folder in folders for path in self._files(folder)), key=lambda path: path.name)

    def _folder_of(self, conversation_id: str) -> Path:
        if not _NAME.fullmatch(conversation_id):
            raise _bad_id(conversation_id)
        return self.folder / conversation_id

    @staticmethod
    def _files(folder: Path) -> list[Path]:
        try:
            return sorted(path for path in folder.iterdir() if path.suffix == _SUFFIX)
        except OSError:
            return []


def _bad_id(value: str) -> Exception:
    return failure("persistence", "bad_id", f"{value[:80]!r} cannot be the name of a file", origin="changes")


def _append(path: Path, line: _Line) -> None:
    data = msgspec.json.encode(line)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "r+b", buffering=0) as stream:
        size = stream.seek(0, os.SEEK_END)
        # A line that a kill has cut off must not swallow the one behind it.
        is_open = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        whole = (b"\n" if is_open else b"") + b"%08x " % zlib.crc32(data) + data + b"\n"
        if stream.write(whole) != len(whole):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(descriptor)


def _lines(path: Path) -> list[_Line]:
    data = read_regular_file(path, _MAX_RECORD_BYTES, follow_symlink=False).data
    lines: list[_Line] = []
    for raw in data.split(b"\n"):
        crc, _, body = raw.partition(b" ")
        if crc != b"%08x" % zlib.crc32(body):
            continue
        try:
            lines.append(msgspec.json.decode(body, type=_Line))
        except (msgspec.DecodeError, UnicodeError):
            continue  # written by a later version
    return lines


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _quoted(path: str) -> str:
    return urllib.parse.quote_from_bytes(os.fsencode(path), safe=_READABLE)


def _unquoted(text: str) -> str:
    return os.fsdecode(urllib.parse.unquote_to_bytes(text))


def _written(change: FileChange) -> FileChange:
    return _with_paths(change, _quoted)


def _read(change: FileChange) -> FileChange:
    return _with_paths(change, _unquoted)


def _with_paths(change: FileChange, form: Callable[[str], str]) -> FileChange:
    def of_state(state: FileState) -> FileState:
        return msgspec.structs.replace(state, target=form(state.target)) if state.target else state

    return FileChange(
        path=form(change.path),
        before=of_state(change.before),
        after=of_state(change.after),
        folders=tuple(map(form, change.folders)),
    )
