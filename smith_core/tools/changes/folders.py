"""The folders of a project that are watched: those that hold its files, and empty ones beside them."""

import os
from collections.abc import Iterable

from smith_core.tools.code.ripgrep import VERSION_CONTROL

__all__ = ["VERSION_CONTROL", "find_folders", "holds_only_folders", "parents_of"]


def parents_of(paths: Iterable[str]) -> set[str]:
    """Return all folders above relative paths, "" for the outermost."""
    found = {""}
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def find_folders(root: str, holding: set[str]) -> tuple[set[str], set[str]]:
    """Return the folders below a root, and the symbolic links that lie in them.

    holding: those that hold files of the project. One that does not is taken if it has nothing but folders in it, for
    otherwise what is in it is ignored.
    """
    folders: set[str] = set()
    links: set[str] = set()
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(f"{root}/{folder}") as listed:
                entries = list(listed)
        except OSError:
            continue
        inner = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
        is_ours = folder in holding
        if not is_ours and len(inner) < len(entries):
            continue
        folders.add(folder)
        prefix = f"{folder}/" if folder else ""
        if is_ours:
            links.update(prefix + entry.name for entry in entries if entry.is_symlink())
        waiting += [prefix + entry.name for entry in inner if entry.name not in VERSION_CONTROL]
    return folders, links


def holds_only_folders(path: str) -> bool:
    """Whether a path is a folder with nothing but folders in it, or nothing at all."""
    try:
        with os.scandir(path) as entries:
            return all(entry.is_dir(follow_symlinks=False) for entry in entries)
    except OSError:
        return False
