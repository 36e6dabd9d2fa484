"""The tool code_files: files whose names or paths fit a few letters, the best first."""

import re
from typing import Annotated

import msgspec

from smith_core.fuzzy import PathIndex, quality
from smith_core.tools.base import ToolContext, ToolOutcome, ToolSpec, failed, succeeded
from smith_core.tools.code.budget import Page, counted
from smith_core.tools.code.children import Children
from smith_core.tools.code.globs import GlobError, PathGlob
from smith_core.tools.code.place import Place, visible
from smith_core.tools.code.relevance import FOREIGN, path_class
from smith_core.tools.code.ripgrep import list_files
from smith_core.tools.code.searching import search_place

PAGE_CHARS = 6_000
MAX_FILES = 60
MAX_QUERY_CHARS = 500
_NEAR_NAMES = 3
_LOOKS_LIKE_GLOB = re.compile(r"[*{]")


class FilesArguments(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of code_files."""

    query: Annotated[
        str,
        msgspec.Meta(description="Part of a name or path, letters in order (usrctl finds user_control.py), or a glob."),
    ]
    path: Annotated[str | None, msgspec.Meta(description="Folder to look in. Default: all.")] = None


async def find_files(arguments: FilesArguments, ctx: ToolContext) -> ToolOutcome:
    """List the files that fit, ignored ones left out; an empty query lists the files nearest to the folder."""
    query = arguments.query.strip().strip("'\"`")
    if len(query) > MAX_QUERY_CHARS:
        return failed(f"query has {len(query)} characters; give a part of a name", code="bad_arguments", kind="schema")

    def work(place: Place, children: Children) -> ToolOutcome:
        if place.name:
            return failed(f"{place.title} is a file; name a folder, or read it", code="not_a_folder")
        paths = list_files(place, ctx, children)
        try:
            found = _matching(query, paths, place)
        except GlobError as error:
            return failed(f"Cannot search: {error}", code="bad_glob", kind="schema")
        children.check()
        if not found:
            return succeeded(_nothing(query, paths, place))
        return succeeded(_text(query, found, len(paths), place))

    return await search_place(work, "search", arguments.path, ctx)


def _matching(query: str, paths: list[str], place: Place) -> list[str]:
    if _LOOKS_LIKE_GLOB.search(query):
        glob = PathGlob(query)
        found = [path for path in paths if glob.lets_through(path, place.prefix)]
        return sorted(found, key=lambda path: (path.count("/"), path))
    wanted = query.removeprefix("./")
    if place.prefix and wanted.startswith(place.prefix):
        wanted = wanted.removeprefix(place.prefix)
    found = PathIndex(paths).search(wanted, MAX_FILES + 1)
    return sorted(found, key=lambda path: _order(wanted, path))


def _order(wanted: str, path: str) -> tuple[bool, int, int]:
    """Put what is not written here last, and of files that fit in the same way the code before its tests."""
    of_path = path_class(path)
    return of_path == FOREIGN, -(quality(wanted, path.rpartition("/")[2]) // 100), of_path


def _text(query: str, found: list[str], count: int, place: Place) -> str:
    page = Page(PAGE_CHARS - 200)
    many = len(found) > MAX_FILES
    words = f"the best of {count:,} files for" if many else f"{len(found):,} of {counted(count, 'file')} for"
    page.add(f"{words} {visible(query)!r}" if query else f"{counted(count, 'file')}, the nearest first", "")
    shown = 0
    for path in found[:MAX_FILES]:
        if not page.add(place.shown(path)):
            break
        shown += 1
    if shown < len(found):
        page.force("[more files fit: give a longer query, or a path to look in]")
    return page.text


def _nothing(query: str, paths: list[str], place: Place) -> str:
    import difflib

    if not paths:
        return f"there are no files in {place.title}; those that .gitignore names do not count"
    words = f"none of {counted(len(paths), 'file')} in {place.title} fits {visible(query)!r}"
    by_name: dict[str, str] = {}
    for path in paths:
        by_name.setdefault(path.rpartition("/")[2].lower(), path)
    wanted = query.rpartition("/")[2].lower()
    near = difflib.get_close_matches(wanted, list(by_name)[:20_000], n=_NEAR_NAMES, cutoff=0.7)
    if near:
        return f"{words}; did you mean {' or '.join(place.shown(by_name[name]) for name in near)}?"
    return f"{words}; give fewer letters. Files that .gitignore names are not listed"


CODE_FILES = ToolSpec(
    name="code_files",
    description="Find files by name: fuzzy, the best first, ignored files (.gitignore) left out. A glob works too.",
    arguments=FilesArguments,
    handler=find_files,
)
