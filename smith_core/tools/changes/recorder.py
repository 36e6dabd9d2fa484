"""Keeps what one turn changes, before it is changed: for the tools of the turn and of all its children."""

import contextlib
import fcntl
import hashlib
import os
import stat
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from smith_core.atomic import PartialWriteError
from smith_core.errors import AgentFailure
from smith_core.log import LOGGER
from smith_core.paths import ensure_private_dir
from smith_core.tools.changes.blobs import BlobStore
from smith_core.tools.changes.records import TurnRecord, TurnRecords
from smith_core.tools.changes.states import MAX_KEPT_BYTES, UMASK_MODE, FileChange, FileState, look_at, missing_folders

if TYPE_CHECKING:
    from smith_core.tools.base import ToolContext
    from smith_core.tools.changes.watch import FolderWatch

_FAILURES = (OSError, AgentFailure)

WatchFinder = Callable[[str, Callable[[], "FolderWatch | None"]], "FolderWatch | None"]


class ChangeStore:
    """The folder of all copies and records, and the lock that keeps the removal of old ones away from new ones."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.blobs = BlobStore(folder / "blobs")
        self.records = TurnRecords(folder / "turns")

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Let nothing be removed inside the block; raises OSError and AgentFailure."""
        with self._locked(fcntl.LOCK_SH):
            yield

    @contextlib.contextmanager
    def removing(self) -> Iterator[None]:
        """Let nothing be written inside the block; raises BlockingIOError when somebody writes at this moment."""
        with self._locked(fcntl.LOCK_EX | fcntl.LOCK_NB):
            yield

    @contextlib.contextmanager
    def _locked(self, kind: int) -> Iterator[None]:
        ensure_private_dir(self.folder)
        descriptor = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, kind)
            yield
        finally:
            os.close(descriptor)


class TurnRecorder:
    """Used by the threads of all tools of one turn; what cannot be kept never stops a change.

    find_watch: gives what notices the changes that commands make in a project, made if need be.
    """

    def __init__(
        self,
        store: ChangeStore,
        conversation_id: str,
        turn_id: str,
        root: str,
        started_at: float,
        find_watch: WatchFinder = lambda root, make: None,
    ) -> None:
        self._store = store
        self._begin = (conversation_id, turn_id, root, started_at)
        self._lock = threading.Lock()
        self._path: Path | None = None
        self.find_watch = find_watch
        self.apart = (os.path.realpath(store.folder.parent),)
        """Folders in which nothing is watched, for the store is there."""

    def keep(self, changes: Sequence[FileChange], contents: Sequence[bytes] = (), limits: Sequence[str] = ()) -> None:
        """Put changes on record, after the contents that were there before; raises OSError and AgentFailure."""
        if not (changes or limits):
            return
        with self._lock, self._store.writing():
            self._store.blobs.put(contents)
            if self._path is None:
                self._path = self._store.records.begin(*self._begin)
            self._store.records.add(self._path, changes, limits=limits)

    def record(self) -> TurnRecord | None:
        """Return all that the turn has changed so far, None when it was nothing."""
        with self._lock:
            found = self._store.records.read(self._path) if self._path is not None else None
        return found if found is not None and (found.changes or found.limits) else None

    @contextlib.contextmanager
    def changing(self, target: Path, data: bytes) -> Iterator[None]:
        """Keep what `target` (links already followed) is before the block makes `data` its content."""
        change = self._keep_before(target, data)
        try:
            yield
        except PartialWriteError:
            raise
        except BaseException:
            if change is not None:
                self._take_out(change)
            raise
        if change is not None and change.after.mode == UMASK_MODE:
            self._note_mode(change)

    def _keep_before(self, target: Path, data: bytes) -> FileChange | None:
        try:
            seen = look_at(target)
            lost = "" if len(data) <= MAX_KEPT_BYTES else "it is too large"
            digest = hashlib.sha256(data).hexdigest()
            change = FileChange(
                path=str(target),
                before=seen.state,
                after=FileState("file", digest, seen.state.mode, lost=lost),
                folders=missing_folders(target),
            )
            self.keep([change], [] if seen.data is None else [seen.data])
        except _FAILURES as error:
            LOGGER.warning("no copy of %s was kept: %s", target, error)
            return None
        return change

    def _note_mode(self, change: FileChange) -> None:
        """Put on record which mode a new file has got."""
        with contextlib.suppress(*_FAILURES):
            mode = stat.S_IMODE(os.lstat(change.path).st_mode)
            after = msgspec.structs.replace(change.after, mode=mode)
            self.keep([FileChange(path=change.path, before=change.after, after=after)])

    def _take_out(self, change: FileChange) -> None:
        """Put on record that a change was not made after all."""
        with contextlib.suppress(*_FAILURES):
            self.keep([FileChange(path=change.path, before=change.after, after=change.before)])


@contextlib.contextmanager
def kept_before(ctx: "ToolContext", target: Path, data: bytes) -> Iterator[None]:
    """Let a tool replace the content of `target` by `data` inside the block, so that it can be taken back."""
    if ctx.changes is None:
        yield
        return
    with ctx.changes.changing(target, data):
        yield
