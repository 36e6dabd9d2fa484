"""Notices what commands change in the project: what was there before, and what is there when they have ended."""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from smith_core.errors import AgentFailure
from smith_core.log import LOGGER
from smith_core.tools.changes.contents import Contents, Known, stamp_of
from smith_core.tools.changes.differences import Difference, Sides, record_differences
from smith_core.tools.changes.folders import VERSION_CONTROL, find_folders, holds_only_folders, parents_of
from smith_core.tools.changes.git_files import GitFiles
from smith_core.tools.changes.notifier import Notifier, Touched
from smith_core.tools.changes.recorder import TurnRecorder

MAX_FILES = 200_000
"""Files of a project that is watched."""

FIRST_LOOK_S = 3.0
"""How long the first command may wait until files that git does not have are copied."""

_IGNORE_FILES = frozenset((".gitignore", ".ignore", ".rgignore"))

ListFiles = Callable[[], Iterable[str]]
"""Returns the files of the project that ignore rules leave, by their paths below its root; may raise AgentFailure."""


class FolderWatch:
    """One project; used by the threads of all commands, which take turns here.

    A change that is found when no command runs was made by somebody else, and is not put on record. apart: absolute
    paths of folders that are not looked into, where we keep things ourselves. notifier: makes what says which files
    have changed; raises OSError where the system does not.
    """

    def __init__(
        self,
        root: str,
        scratch: Path,
        git: GitFiles | None,
        list_files: ListFiles,
        apart: Iterable[str] = (),
        notifier: Callable[[str], Notifier] = Notifier,
    ) -> None:
        self.root = root
        self._git = git
        self._list_files = list_files
        self._contents = Contents(scratch)
        self._lock = threading.Lock()
        self._known: dict[str, Known] | None = None
        self._folders: set[str] = set()
        self._notifier: Notifier | None = None
        self._make_notifier = notifier
        self._running = 0
        self._since_ns = 0
        self._links: set[str] = set()
        self._apart = tuple(f"{folder.removeprefix(f'{root}/')}/" for folder in apart if folder.startswith(f"{root}/"))
        self.problem = ""
        """Why nothing is noticed here, in words; "" as long as it is."""

    def enter(self, recorder: TurnRecorder) -> None:
        """Look at everything before a command runs; raises nothing."""
        with self._lock:
            self._look(recorder if self._running else None)
            if not self._running and self._notifier is None and not self.problem:
                self._since_ns = self._contents.next_tick()
            self._running += 1

    def leave(self, recorder: TurnRecorder) -> None:
        """Put on record what has changed since, when a command has ended; raises nothing."""
        with self._lock:
            self._running -= 1
            self._look(recorder)

    def close(self) -> None:
        """Watch no longer."""
        with self._lock:
            self._contents.close()
            if self._notifier is not None:
                self._notifier.close()
                self._notifier = None
            self.problem = "the session is over"

    def _look(self, recorder: TurnRecorder | None) -> None:
        if self.problem:
            return
        try:
            folders = set(self._folders)
            differences = self._first_look() if self._known is None else self._differences()
            if recorder is not None:
                sides = Sides(self.root, folders, self._folders)
                record_differences(recorder, differences, sides, self._contents, self._git)
        except (OSError, AgentFailure) as error:
            LOGGER.warning("what commands change is not noticed: %s", error)
            self.problem = "the files of the project could not be looked through"

    # Looking

    def _first_look(self) -> list[Difference]:
        unchanged: dict[str, str] = {}
        links: list[str] = []
        if self._git is not None:
            with contextlib.suppress(OSError):
                unchanged, links = self._git.tracked()
        paths = self._listed() | {*links, *unchanged}
        self._known = {}
        if len(paths) > MAX_FILES:
            self.problem = f"the project has more than {MAX_FILES:,} files"
            return []
        with contextlib.suppress(OSError):
            self._notifier = self._make_notifier(self.root)
        self._watch_folders(paths)
        deadline = time.monotonic() + FIRST_LOOK_S
        for path in paths | self._links:
            status = self._status(path)
            if status is None:
                continue
            identity = unchanged.get(path)
            if identity is not None:
                self._known[path] = Known(stamp_of(status), None, identity=identity)
                continue
            refusal = "" if time.monotonic() < deadline else "there are too many files that git does not have"
            known = self._contents.know(self._absolute(path), status, refusal)
            if known is not None:
                self._known[path] = known
        return []

    def _differences(self) -> list[Difference]:
        """Return what has changed since the last look, and know it from now on."""
        assert self._known is not None
        touched = self._notifier.touched() if self._notifier is not None else None
        if touched is None:
            return self._look_everywhere()
        names = {path for path in touched.files if path in self._known}
        if touched.lost_folders:
            gone = tuple(f"{folder}/" for folder in touched.lost_folders)
            names |= {path for path in self._known if path.startswith(gone)}
            self._folders -= {folder for folder in self._folders if f"{folder}/".startswith(gone)}
        return [*self._compare(names), *self._compare(self._new_paths(touched))]

    def _look_everywhere(self) -> list[Difference]:
        assert self._known is not None
        paths = self._listed()
        self._folders = set()
        self._watch_folders(paths)
        differences = self._compare(tuple(self._known))
        has_other_rules = any(item.path.rpartition("/")[2] in _IGNORE_FILES for item in differences)
        doubt = "the rules of what is ignored have changed with it" if has_other_rules else ""
        moved = {item.before.stamp[3] for item in differences if item.before is not None and item.after is None}
        new = (paths | self._links) - self._known.keys()
        return [*differences, *(self._doubted(item, doubt, moved) for item in self._compare(new))]

    def _doubted(self, item: Difference, doubt: str, moved: set[int]) -> Difference:
        """Return a file that has come with why it may have been there before; moved: inodes of those that have gone."""
        if item.after is None or item.after.stamp[3] in moved:
            return item
        is_older = item.after.stamp[1] <= self._since_ns
        return item._replace(doubt="it was ignored before" if is_older else doubt)

    def _new_paths(self, touched: Touched) -> set[str]:
        """Return the files that have come and are not ignored, those in new folders included."""
        assert self._known is not None
        unknown = {path for path in touched.files - self._known.keys() if self._status(path) is not None}
        folders = {folder for folder in touched.new_folders if folder.rpartition("/")[2] not in VERSION_CONTROL}
        unknown, folders = self._ours(unknown), self._ours(folders - self._folders)
        if not unknown and not folders:
            return set()
        for folder in folders - self._ignored(folders):
            unknown |= self._inside(folder)
        return unknown - self._ignored(unknown) - self._known.keys()

    def _listed(self) -> set[str]:
        return self._ours(self._list_files())

    def _ours(self, paths: Iterable[str]) -> set[str]:
        return {path for path in paths if not f"{path}/".startswith(self._apart)} if self._apart else set(paths)

    def _ignored(self, paths: set[str]) -> set[str]:
        """Return those of some files and folders that the ignore rules leave out."""
        if not paths:
            return set()
        if self._git is not None:
            with contextlib.suppress(OSError):  # it refuses what lies in another repository
                return self._git.ignored(paths)
        listed = self._listed()
        shown = listed | parents_of(listed)
        # A list of files says nothing about links, and nothing about folders without any.
        return {
            path for path in paths - shown if not self._is_link(path) and not holds_only_folders(self._absolute(path))
        }

    def _inside(self, top: str) -> set[str]:
        """Watch a new folder and those in it, and return the files that are there by now."""
        found: set[str] = set()
        for folder, names, files in os.walk(self._absolute(top)):
            below = folder.removeprefix(f"{self.root}/")
            self._watch_folder(below)
            inner = {f"{below}/{name}" for name in names if name not in VERSION_CONTROL}
            links = {path for path in inner if self._is_link(path)}
            taken = inner - links
            names[:] = [path.rpartition("/")[2] for path in taken - self._ignored(taken)]
            found |= {f"{below}/{name}" for name in files} | links
            if len(found) > MAX_FILES:
                break
        return found

    def _compare(self, paths: Iterable[str]) -> list[Difference]:
        assert self._known is not None
        found: list[Difference] = []
        for path in paths:
            before, status = self._known.get(path), self._status(path)
            if status is not None and before is not None and before.stamp == stamp_of(status):
                continue
            after = None if status is None else self._contents.know(self._absolute(path), status)
            if after is not None:
                self._known[path] = after
            else:
                self._known.pop(path, None)
            if before is not None or after is not None:
                found.append(Difference(path, before, after))
        return found

    def _watch_folders(self, paths: Iterable[str]) -> None:
        """Find the folders that hold these paths, and let the system say what happens in them."""
        folders, links = find_folders(self.root, parents_of(paths))
        folders, self._links = self._ours(folders), self._ours(links)
        for folder in folders:
            self._watch_folder(folder)

    def _watch_folder(self, folder: str) -> None:
        self._folders.add(folder)
        if self._notifier is None:
            return
        try:
            self._notifier.watch(folder)
        except OSError as error:
            LOGGER.info("the system does not say which files change, so all are looked at: %s", error)
            self._notifier.close()
            self._notifier = None

    def _absolute(self, path: str) -> str:
        return f"{self.root}/{path}"

    def _status(self, path: str) -> os.stat_result | None:
        with contextlib.suppress(OSError, ValueError):
            return os.lstat(self._absolute(path))
        return None

    def _is_link(self, path: str) -> bool:
        return os.path.islink(self._absolute(path))  # noqa: PTH114
