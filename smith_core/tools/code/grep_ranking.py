"""Puts found lines in order: the files that matter most first, in them the definitions, equal files once."""

import re
from collections import defaultdict
from collections.abc import Iterable

import msgspec

from smith_core.patterns import later
from smith_core.tools.code.records import FoundLine
from smith_core.tools.code.relevance import FOREIGN, SOURCE, path_class

_BEFORE_NAME = later(
    r"(?:^|[\s(])(?:def|class|func|fun|function|fn|struct|enum|union|trait|interface|type|typedef|module|namespace|package"
    r"|impl|const|let|var|val|static|macro_rules!|sub|procedure|object|protocol|record|#\s*define|create\s+\w+)\s+"
    r"(?:\([^)]*\)\s*)?[\w.:*&<>$]*$",
    re.IGNORECASE,
)
_FUNCTION_HEAD = later(r"[A-Za-z_][\w\s*&<>:,]*$")


class FileMatches(msgspec.Struct, frozen=True, kw_only=True):
    """What was found in a file: `lines` with their context, in order; `matches` of them are matches.

    definitions: numbers of the lines that seem to define what is looked for. same_in: files with the same matches.
    """

    path: str
    lines: tuple[FoundLine, ...]
    matches: int
    definitions: frozenset[int]
    same_in: tuple[str, ...] = ()


def rank(lines: Iterable[FoundLine]) -> list[FileMatches]:
    """Return the files in the order of their weight, those merged whose matching lines are the same."""
    by_path: dict[str, list[FoundLine]] = defaultdict(list)
    for line in lines:
        by_path[line.path].append(line)
    files = [_file(path, found) for path, found in by_path.items()]
    files.sort(key=lambda file: (-_weight(file), -min(file.matches, 5), file.path))
    return _without_copies(files)


def looks_like_definition(line: FoundLine) -> bool:
    """Whether the first match in the line is, or begins in, the name that the line defines."""
    if line.is_cut or not line.column:
        return False
    raw = line.text.encode("utf-8", "surrogateescape")
    before = raw[: line.column - 1].decode("utf-8", "replace")
    if before.lstrip().startswith(("from ", "import ", "use ", "#include")):
        return False
    if _BEFORE_NAME.search(before):
        return True
    rest = raw[line.column - 1 :].decode("utf-8", "replace")
    if not before:
        return bool(re.match(r"[\w.]*\s*(?::=|=(?!=)|\(\)\s*\{)", rest)) or bool(
            _BEFORE_NAME.match(f"{rest.split(' ')[0]} ")
        )
    # `static int name(…)` of C, at the begin of a line and no declaration.
    is_head = not before[0].isspace() and bool(_FUNCTION_HEAD.fullmatch(before))
    return is_head and bool(re.match(r"\w*\s*\([^;]*$", rest)) and not before.lstrip().startswith("return")


def _file(path: str, found: list[FoundLine]) -> FileMatches:
    found.sort(key=lambda line: (line.number, line.column == 0))
    return FileMatches(
        path=path,
        lines=tuple(found),
        matches=sum(line.column > 0 for line in found),
        definitions=frozenset(line.number for line in found if looks_like_definition(line)),
    )


def _weight(file: FileMatches) -> int:
    of_path = path_class(file.path)
    return 4 * bool(file.definitions) + 3 * (of_path == SOURCE) - 6 * (of_path == FOREIGN) - of_path


def _without_copies(files: list[FileMatches]) -> list[FileMatches]:
    by_content: dict[tuple[str, ...], list[FileMatches]] = {}
    for file in files:
        key = tuple(line.text for line in file.lines if line.column)
        by_content.setdefault(key, []).append(file)
    return [
        msgspec.structs.replace(same[0], same_in=tuple(file.path for file in same[1:])) if len(same) > 1 else same[0]
        for same in by_content.values()
    ]
