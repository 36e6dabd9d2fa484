"""A project as a tree of folders, of which those are opened that hold the most, as far as there is room."""

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence

from smith_core.tools.code.budget import counted, in_bytes
from smith_core.tools.code.languages import language_of
from smith_core.tools.code.place import visible
from smith_core.tools.code.relevance import FOREIGN, path_class

_LANGUAGES_NAMED = 2
_FILES_NAMED = 12
_INDENT = "  "


class Folder:
    """A folder: its own files with their sizes, the folders in it, and what all of them hold together."""

    def __init__(self, path: str = "") -> None:
        self.path = path
        self.files: list[tuple[str, int]] = []
        self.folders: dict[str, Folder] = {}
        self.count = self.size = 0
        self.languages: Counter[str] = Counter()
        self.is_open = False

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rstrip("/").rpartition("/")[2]

    def add(self, parts: Sequence[str], size: int, language: str) -> None:
        """Add a file by the parts of its path."""
        self.count += 1
        self.size += size
        self.languages[language] += 1
        if len(parts) == 1:
            self.files.append((parts[0], size))
            return
        below = self.folders.get(parts[0])
        if below is None:
            below = self.folders[parts[0]] = Folder(f"{self.path}{parts[0]}/")
        below.add(parts[1:], size, language)

    @property
    def in_words(self) -> str:
        """How many files of which languages and what size it holds."""
        named = [name for name, _ in self.languages.most_common(_LANGUAGES_NAMED) if name != "other"]
        return ", ".join([counted(self.count, "file"), *named, in_bytes(self.size)])


def build_tree(files: Iterable[tuple[str, int]]) -> Folder:
    """Return the tree of paths with sizes in bytes."""
    root = Folder()
    for path, size in files:
        language = language_of(path)
        root.add(path.split("/"), size, language.name if language else "other")
    return root


def tree_lines(root: Folder, most_lines: int, most_chars: int) -> list[str]:
    """Return the tree as lines, those folders opened first that hold the most of what is written here."""
    lines = 0
    waiting = [_entry(root)]
    while waiting:
        folder = heapq.heappop(waiting)[-1]
        cost = len(folder.folders) + min(len(folder.files), _FILES_NAMED + 1)
        if lines + cost > most_lines and folder is not root:
            continue
        folder.is_open = True
        lines += cost
        for below in folder.folders.values():
            heapq.heappush(waiting, _entry(below))
    text: list[str] = []
    _write(root, 0, text)
    kept = 0
    for number, line in enumerate(text):
        kept += len(line) + 1
        if kept > most_chars or number >= 3 * most_lines:
            return [*text[:number], f"[{counted(len(text) - number, 'more line')}: give a path to see a part]"]
    return text


def _entry(folder: Folder) -> tuple[int, int, str, Folder]:
    depth = folder.path.count("/")
    weight = folder.count if path_class(folder.path) != FOREIGN else 0
    return depth > 1 and weight == 0, depth * 1_000 - min(weight, 999), folder.path, folder


def _write(folder: Folder, depth: int, text: list[str]) -> None:
    indent = _INDENT * depth
    for below in sorted(folder.folders.values(), key=lambda item: item.path):
        # A folder that holds nothing but one folder is written together with it.
        label = below.name
        while below.is_open and not below.files and len(below.folders) == 1:
            (below,) = below.folders.values()
            label += f"/{below.name}"
        text.append(f"{indent}{visible(label)}/  {below.in_words}")
        if below.is_open:
            _write(below, depth + 1, text)
    by_size = sorted(folder.files, key=lambda file: (-file[1], file[0]))
    for name, size in sorted(by_size[:_FILES_NAMED]):
        text.append(f"{indent}{visible(name)}  {in_bytes(size)}")
    more = len(by_size) - _FILES_NAMED
    if more > 0:
        text.append(f"{indent}[{counted(more, 'smaller file')}]")
