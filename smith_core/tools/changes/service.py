"""What a session does with changes of files: it records them turn by turn, takes them back, and lets old ones go."""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from smith_core.errors import AgentFailure, failure
from smith_core.log import LOGGER
from smith_core.text import clean_text
from smith_core.tools.changes.pruning import Limits, prune
from smith_core.tools.changes.recorder import ChangeStore, TurnRecorder
from smith_core.tools.changes.records import TurnRecord
from smith_core.tools.changes.restore import Moved, Reach, move
from smith_core.tools.changes.states import FileChange
from smith_core.turn_files import ChangedFile, Direction, TurnFiles

if TYPE_CHECKING:
    from smith_core.tools.changes.watch import FolderWatch

TIDY_EVERY_S = 3_600.0
"""Looking for what may go takes its time when there is much."""

_SHOWN_FILES = 1_000


class FileChanges:
    """The changes below one folder; every method may block, so they are called in threads.

    limits: what is in force when it is asked.
    """

    def __init__(self, folder: Path, limits: Callable[[], Limits]) -> None:
        self._store = ChangeStore(folder)
        self._limits = limits
        self._watch: FolderWatch | None = None
        self._lock = threading.Lock()

    def begin_turn(self, conversation_id: str, turn_id: str, root: str, started_at: float) -> TurnRecorder | None:
        """Return what keeps the changes of a turn, None when nothing is to be kept."""
        if not self._limits().bytes:
            return None
        return TurnRecorder(self._store, conversation_id, turn_id, root, started_at, self._find_watch)

    def of_conversation(self, conversation_id: str) -> tuple[TurnFiles, ...]:
        """Return the turns of a conversation that have changed files, the oldest first."""
        return tuple(map(as_shown, self._store.records.of_conversation(conversation_id)))

    def move(
        self, conversation_id: str, turn_id: str, direction: Direction, reach: Reach, *, is_forced: bool = False
    ) -> TurnFiles:
        """Take the changes of a turn back, or put them again, as far as the files are as they were left.

        AgentFailure of kind policy for a turn that is not on record; of kind persistence when that cannot be noted.
        """
        records = self._store.records.of_conversation(conversation_id)
        record = next((record for record in records if record.turn_id == turn_id), None)
        if record is None:
            raise failure("policy", "no_such_turn", "the files of that turn are not on record any more")
        steps, path, was_undone = self._store.records, record.path, record.is_undone

        def note(change: FileChange) -> None:
            steps.add(path, [change], is_undone=was_undone)

        try:
            with self._store.writing():
                moved = move(record.changes, direction, self._store, reach, forcing=note if is_forced else None)
                is_undone = was_undone if all(item.note for item in moved) else direction == "undo"
                steps.add(path, is_undone=is_undone)
        except OSError as error:
            raise failure(
                "persistence", "not_noted", f"this could not be noted ({error.strerror}), do it again", origin="changes"
            ) from error
        changes = tuple(item.change for item in moved)
        return as_shown(msgspec.structs.replace(record, changes=changes, is_undone=is_undone), moved)

    def tidy(self) -> None:
        """Remove what is older or more than the limits allow, unless that was done a short time ago; raises nothing."""
        done = self._store.folder / "tidied"
        try:
            if not self._store.folder.is_dir() or _age_of(done) < TIDY_EVERY_S:
                return
            prune(self._store, self._limits(), time.time())
            done.touch(0o600)
        except BlockingIOError:
            pass  # another session is at it, or keeps something at this moment
        except (OSError, AgentFailure) as error:
            LOGGER.warning("old copies of files could not be removed: %s", error)

    def close(self) -> None:
        """Watch no longer."""
        with self._lock:
            if self._watch is not None:
                self._watch.close()
                self._watch = None

    def _find_watch(self, root: str, make: "Callable[[], FolderWatch | None]") -> "FolderWatch | None":
        with self._lock:
            if self._watch is None or self._watch.root != os.path.realpath(root):
                if self._watch is not None:
                    self._watch.close()
                self._watch = make()
            return self._watch


def as_shown(record: TurnRecord, moved: Sequence[Moved] = ()) -> TurnFiles:
    """Return a record as a person sees it; moved: what came of the last move."""
    notes = {item.change.path: item.note for item in moved}
    files = [
        ChangedFile(path=_shown(change.path, record.root), kind=change.kind, note=notes.get(change.path, ""))
        for change in record.changes[:_SHOWN_FILES]
    ]
    rest = len(record.changes) - len(files)
    return TurnFiles(
        turn_id=record.turn_id,
        started_at=record.started_at,
        files=tuple(files),
        is_undone=record.is_undone,
        moved_at=record.moved_at,
        limits=(*record.limits, *([f"{rest:,} more files are not listed here"] if rest > 0 else [])),
    )


def _shown(path: str, root: str) -> str:
    with contextlib.suppress(ValueError):
        path = str(Path(path).relative_to(root))
    return clean_text(path)


def _age_of(path: Path) -> float:
    """Return how many seconds ago a file was touched, infinity when it is not there."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return float("inf")
