"""What a turn has seen of files: parsed from results of read, kept up to date with its own edits."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

MAX_LISTED_FILES = 400
_MAX_VISITED_FOLDERS = 400
_MAX_DEPTH = 5
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv", "build", "dist", "target"})

_HASH = re.compile(r"^(?:new_)?hash: ([0-9a-f]{64})$", re.MULTILINE)
_NUMBERED_LINE = re.compile(r"^ *(\d+)\t(.*)$")
_LINE_COUNT = re.compile(r" of (\d+), \d+ bytes")


class FileView(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of a file as they were last seen: `lines[0]` is line number `first`, `hash` the whole file's.

    total: lines that the file has.
    """

    path: str
    hash: str
    lines: tuple[str, ...] = ()
    first: int = 1
    total: int = 0

    def line(self, number: int) -> str:
        """Return the text of a line that is in view, by its number in the file."""
        return self.lines[number - self.first]

    @property
    def last(self) -> int:
        """The number of the last line in view; below `first` when there is none."""
        return self.first + len(self.lines) - 1

    @property
    def is_whole(self) -> bool:
        """Whether every line of the file is in view."""
        return self.first == 1 and len(self.lines) >= self.total


def parse_read(path: str, result: str) -> FileView | None:
    """Return what a result of the tool read shows, or None when it shows no text file."""
    found = _HASH.search(result)
    if found is None or ": binary file, " in result[: found.start()]:
        return None
    numbered = [match.groups() for line in result.split("\n") if (match := _NUMBERED_LINE.match(line))]
    lines = tuple(text for _, text in numbered)
    counted = _LINE_COUNT.search(result[: found.start()])
    return FileView(
        path=path,
        hash=found[1],
        lines=lines,
        first=int(numbered[0][0]) if numbered else 1,
        total=int(counted[1]) if counted else len(lines),
    )


def after_edit(view: FileView, arguments: Mapping[str, Any], result: str) -> FileView | None:
    """Return the view as an edit left it, or None when the result is no success."""
    found = _HASH.search(result)
    if found is None or not result[: found.start()].strip() or "new_hash: " not in result:
        return None
    lines = changed_lines(view, arguments)
    return FileView(
        path=view.path,
        hash=found[1],
        lines=lines,
        first=view.first,
        total=view.total + len(lines) - len(view.lines),
    )


def changed_lines(view: FileView, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the lines in view as an edit with these arguments (operation, start_line, end_line, text) makes them."""
    start = int(arguments.get("start_line") or 0) - view.first
    end = int(arguments.get("end_line") or arguments.get("start_line") or 0) - view.first
    text = str(arguments.get("text") or "")
    new = tuple(text.removesuffix("\n").split("\n")) if text else ()
    if arguments.get("operation") == "insert":
        return (*view.lines[: start + 1], *new, *view.lines[start + 1 :])
    return (*view.lines[:start], *new, *view.lines[end + 1 :])


def written_view(path: str, content: str, result: str) -> FileView | None:
    """Return the view of a file that was just written, or None when the result is no success."""
    found = _HASH.search(result)
    if found is None:
        return None
    lines = tuple(content.removesuffix("\n").split("\n"))
    return FileView(path=path, hash=found[1], lines=lines, total=len(lines))


def list_files(folder: str) -> tuple[str, ...]:
    """Return relative paths of the files below a folder, upper ones first, at most 400; hidden ones are left out."""
    found: list[str] = []
    try:
        for visited, (parent, folders, names) in enumerate(os.walk(folder)):
            relative = Path(parent).relative_to(folder)
            folders[:] = sorted(name for name in folders if not _is_skipped(name))
            if len(relative.parts) >= _MAX_DEPTH or visited >= _MAX_VISITED_FOLDERS:
                folders.clear()
            found += [str(relative / name) for name in sorted(names) if not name.startswith(".")]
            if len(found) >= MAX_LISTED_FILES:
                break
    except (OSError, ValueError):
        return ()
    return tuple(sorted(found[:MAX_LISTED_FILES], key=lambda path: (path.count(os.sep), path)))


def mentioned(paths: Sequence[str], text: str) -> tuple[str, ...]:
    """Return the paths whose name, or whole path, stands in a text as a word of its own."""
    return tuple(
        path
        for path in paths
        if re.search(rf"(?<![\w/.-]){re.escape(path)}(?![\w/-])", text)
        or re.search(rf"(?<![\w.-]){re.escape(path.rpartition('/')[2])}(?![\w/-])", text)
    )


def _is_skipped(name: str) -> bool:
    return name.startswith(".") or name in _SKIPPED_FOLDERS
