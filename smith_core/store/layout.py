"""Where the files of the store are, and that nobody but their owner can read them."""

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from smith_core.paths import ensure_private_dir
from smith_core.store.journal.disk import Disk
from smith_core.store.schema import check_id
from smith_core.store.version import GLOBAL_JOURNAL

_SUFFIX = ".jrnl"
_LOCK = ".lock"
_KEPT_PRIVATE = "undo"
"""Holds the many copies of changed files, which are made private by those who make them."""


class StoreLayout:
    """The paths below the data folder.

    global.jrnl holds the catalogue, settings and project memory; conv/<xx>/<conversation>.jrnl holds one conversation,
    where xx are the first two digits of the SHA-256 of its id; index/ holds the derived search index.
    undo/ is not ours: copies of changed files are there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.global_journal = folder / GLOBAL_JOURNAL
        self.conversations_folder = folder / "conv"
        self.index_folder = folder / "index"

    def conversation(self, conversation_id: str) -> Path:
        """Return the journal of a conversation; AgentFailure of kind persistence for what is no id."""
        digits = hashlib.sha256(check_id(conversation_id).encode()).hexdigest()[:2]
        return self.conversations_folder / digits / f"{conversation_id}{_SUFFIX}"

    def lock_of(self, journal: Path) -> Path:
        """Return the side file that is locked for a journal."""
        return journal.with_suffix(_LOCK)

    def sizes(self) -> dict[str, int]:
        """Return the size in bytes of the journal of every conversation."""
        return {path.name.removesuffix(_SUFFIX): size for path, size in self._journals()}

    def journals(self) -> list[Path]:
        """Return all journals that exist, the global one first."""
        found = sorted(path for path, _ in self._journals())
        return [self.global_journal, *found] if self.global_journal.exists() else found

    def locks(self) -> list[Path]:
        """Return the lock files of all conversations."""
        folders = _entries(self.conversations_folder)
        return [
            Path(entry.path)
            for folder in folders
            for entry in _entries(Path(folder.path))
            if entry.name.endswith(_LOCK)
        ]

    def _journals(self) -> Iterator[tuple[Path, int]]:
        for folder in _entries(self.conversations_folder):
            for entry in _entries(Path(folder.path)):
                if entry.name.endswith(_SUFFIX):
                    with contextlib.suppress(OSError):
                        yield Path(entry.path), entry.stat().st_size

    def make_folder_of(self, journal: Path, disk: Disk) -> None:
        """Make the folder of a journal, so that it outlasts a power cut; raises OSError and AgentFailure."""
        ensure_private_dir(self.folder)
        for folder in (journal.parent.parent, journal.parent):
            if not folder.is_dir():
                folder.mkdir(mode=0o700, exist_ok=True)
                disk.sync_folder(folder.parent)

    def make_private(self) -> list[Path]:
        """Make the folder, and take every right of group and others off all that is in it.

        Returns what could not be changed. Raises AgentFailure of kind persistence when the folder cannot be made.
        """
        ensure_private_dir(self.folder)
        stubborn = []
        for folder, folders, names in os.walk(self.folder):
            if folder == str(self.folder) and _KEPT_PRIVATE in folders:
                folders.remove(_KEPT_PRIVATE)
            for path in (Path(folder), *(Path(folder, name) for name in names)):
                if not _tighten(path):
                    stubborn.append(path)
        return stubborn


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _tighten(path: Path) -> bool:
    try:
        mode = path.lstat().st_mode
        if stat.S_IMODE(mode) & 0o077 and not stat.S_ISLNK(mode):
            path.chmod(stat.S_IMODE(mode) & ~0o077)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
