"""The tool code_map: a project at a glance: languages, where to begin, its folders, and the names used the most."""

import math
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec

from smith_core.patterns import later
from smith_core.tools.base import ToolContext, ToolOutcome, ToolSpec, failed, succeeded
from smith_core.tools.code.budget import Page, counted, in_bytes
from smith_core.tools.code.children import Children
from smith_core.tools.code.languages import language_of, symbol_globs
from smith_core.tools.code.place import Place
from smith_core.tools.code.relevance import SOURCE, path_class
from smith_core.tools.code.repo_tree import build_tree, tree_lines
from smith_core.tools.code.ripgrep import list_files, ripgrep_command
from smith_core.tools.code.searching import search_place
from smith_core.tools.code.symbol_search import symbol_line
from smith_core.tools.code.symbol_store import SymbolStore
from smith_core.tools.code.symbols import FileSymbols, Symbol

PAGE_CHARS = 14_000
PARSING_S = 1.5
_TREE_LINES, _TREE_CHARS = 90, 6_500
_PARSED_FILES, _PARSED_BYTES = 120, 3_000_000
_NAMES_COUNTED, _NAMES_SHOWN = 150, 30
_COUNTED_BYTES = 4_000_000
_LANGUAGES_SHOWN = 8
_DEEPEST_BEGINNING = 3
_BEGINNINGS_SHOWN = 24
_MAJOR_KINDS = frozenset(
    {"class", "struct", "interface", "trait", "enum", "type", "function", "union", "module", "macro"}
)

_BEGINNINGS: Sequence[tuple[str, re.Pattern[str]]] = (
    ("read first", later(r"(readme|contributing|architecture|agents|claude|index)(\.(md|rst|txt|adoc))?$", re.I)),
    (
        "built by",
        later(
            r"(pyproject\.toml|setup\.(py|cfg)|requirements[\w.-]*\.txt|package\.json|deno\.jsonc?|tsconfig\.json|cargo\.toml"
            r"|go\.mod|pom\.xml|build\.(gradle|sbt|zig)(\.kts)?|settings\.gradle(\.kts)?|cmakelists\.txt|(gnu)?makefile"
            r"|meson\.build|gemfile|rakefile|.*\.gemspec|composer\.json|mix\.exs|package\.swift|.*\.(csproj|sln|rockspec)"
            r"|dockerfile|(docker-)?compose\.ya?ml|justfile|taskfile\.ya?ml|tox\.ini|noxfile\.py|flake\.nix|\.gitlab-ci\.yml)$",
            re.I,
        ),
    ),
    (
        "starts in",
        later(
            r"(__main__\.py|main\.\w{1,4}|(app|cli|server|manage|wsgi|asgi)\.(py|js|ts|rb|go|tsx)|index\.(js|ts|jsx|tsx|php)"
            r"|program\.cs|application\.java|lib\.rs|mod\.rs|init\.lua)$",
            re.I,
        ),
    ),
)


class MapArguments(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of code_map."""

    path: Annotated[str | None, msgspec.Meta(description="Folder to map. Default: the whole project.")] = None


def map_tool(store: SymbolStore, parsing_s: float = PARSING_S) -> ToolSpec:
    """Return the tool; it remembers in `store` what it parsed."""

    async def map_project(arguments: MapArguments, ctx: ToolContext) -> ToolOutcome:
        def work(place: Place, children: Children) -> ToolOutcome:
            if place.name:
                return failed(f"{place.title} is a file; use code_outline for it", code="not_a_folder")
            return _Map(place, ctx, children, store, parsing_s).outcome()

        return await search_place(work, "map", arguments.path, ctx)

    return ToolSpec(
        name="code_map",
        description=(
            "Overview of the project or a folder: languages, where to begin, folders with file counts and sizes, "
            "most used symbols. Ignored files (.gitignore) are left out."
        ),
        arguments=MapArguments,
        handler=map_project,
    )


class _Map:
    def __init__(
        self, place: Place, ctx: ToolContext, children: Children, store: SymbolStore, parsing_s: float
    ) -> None:
        self._place, self._ctx, self._children, self._store, self._parsing_s = place, ctx, children, store, parsing_s

    def outcome(self) -> ToolOutcome:
        """Return the overview."""
        files = self._sized(list_files(self._place, self._ctx, self._children))
        if not files:
            return succeeded(f"{self._place.title} holds no files; those that .gitignore names do not count")
        root = build_tree(files)
        page = Page(PAGE_CHARS)
        page.add(f"{self._title()}: {counted(root.count, 'file')}, {in_bytes(root.size)}")
        page.add(f"languages: {_languages(root.languages)}")
        for title, paths in _beginnings([path for path, _ in files]):
            page.add(f"{title}: {', '.join(self._place.shown(path) for path in paths)}")
        page.add("")
        for line in tree_lines(root, _TREE_LINES, _TREE_CHARS):
            page.add(line)
        used = self._most_used(files)
        if used:
            page.add("", "names used the most (times used):")
            for path, symbol, uses in used:
                page.add(f"{symbol_line(symbol)}  ({uses:,})  {self._place.shown(path)}")
        return succeeded(page.text)

    def _title(self) -> str:
        project = self._ctx.project
        if self._place.folder != self._ctx.cwd:
            return self._place.title
        git = f" (git, branch {project.branch})" if project.is_git and project.branch else ""
        return f"{self._place.shown('') or str(self._ctx.cwd)}{git}"

    def _sized(self, paths: list[str]) -> list[tuple[str, int]]:
        found = []
        for path in sorted(paths):
            try:
                found.append((path, os.lstat(os.path.join(self._place.folder, path)).st_size))  # noqa: PTH118
            except OSError:
                continue
        self._children.check()
        return found

    def _most_used(self, files: list[tuple[str, int]]) -> list[tuple[str, Symbol, int]]:
        """Return the names defined in the code that occur the most in it, in the largest files of each folder."""
        parsed = self._store.symbols_of(self._place.folder, _to_parse(files), self._children, self._parsing_s)
        major = _major_symbols(parsed)
        uses = self._count([symbol.name for _, symbol in major])
        weighed = [
            (path, symbol, uses[symbol.name])
            for path, symbol in major
            if uses[symbol.name] > 1  # the first one is the definition
        ]
        weighed.sort(
            key=lambda item: (-item[2] * math.log2(2 + item[1].end_line - item[1].line), item[0], item[1].line)
        )
        return weighed[:_NAMES_SHOWN]

    def _count(self, names: list[str]) -> Counter[str]:
        words = sorted({re.escape(name) for name in names if name.isidentifier() and name.isascii()})
        counts: Counter[str] = Counter()
        if not words:
            return counts
        options = ["--only-matching", "--no-filename", "--no-line-number", "--word-regexp"]
        options += [*(f"--type-add=ours:{glob}" for glob in symbol_globs(with_documents=False)), "--type=ours"]
        command = ripgrep_command([*options, "-e", "|".join(words)], self._place, self._ctx)
        seen, rest = 0, b""
        with self._children.run(command, self._place.folder) as child:
            for chunk in child.chunks():
                self._children.check()
                *whole, rest = (rest + chunk).split(b"\n")
                counts.update(word.decode("utf-8", "replace") for word in whole)
                seen += len(chunk)
                if seen > _COUNTED_BYTES:
                    break
        return counts


def _languages(counts: Counter[str]) -> str:
    known = [(name, count) for name, count in counts.most_common() if name != "other"]
    named = [f"{name} ({count:,})" for name, count in known[:_LANGUAGES_SHOWN]]
    rest = counts.total() - sum(count for _, count in known[:_LANGUAGES_SHOWN])
    return ", ".join([*named, *([f"other ({rest:,})"] if rest else [])])


def _beginnings(paths: list[str]) -> list[tuple[str, list[str]]]:
    """Return the files that one reads first, by what they are for; those nearest to the root."""
    found: list[tuple[str, list[str]]] = []
    nearest = sorted((path for path in paths if path_class(path) <= 1), key=lambda path: (path.count("/"), path))
    for title, pattern in _BEGINNINGS:
        named = [
            path
            for path in nearest
            if path.count("/") <= _DEEPEST_BEGINNING
            and pattern.match(path.rpartition("/")[2])
            and not path.endswith("/setup.py")
        ]
        if named:
            found.append((title, named[: _BEGINNINGS_SHOWN // 3]))
    return found


def _to_parse(files: list[tuple[str, int]]) -> list[str]:
    """Return source files to look into: from each folder the largest first, as far as time allows."""
    by_folder: dict[str, list[tuple[int, str]]] = {}
    for path, size in files:
        language = language_of(path)
        fits = language is not None and language.has_symbols and language.rules not in ("markdown", "make")
        if fits and size and path_class(path) == SOURCE:
            by_folder.setdefault(path.rpartition("/")[0], []).append((size, path))
    ranked = sorted(
        (place, -size, path)
        for group in by_folder.values()
        for place, (size, path) in enumerate(sorted(group, key=lambda item: (-item[0], item[1])))
    )
    chosen: list[str] = []
    total = 0
    for _, negative_size, path in ranked[: 4 * _PARSED_FILES]:
        if total - negative_size <= _PARSED_BYTES and len(chosen) < _PARSED_FILES:
            total -= negative_size
            chosen.append(path)
    return chosen


def _major_symbols(parsed: Mapping[str, FileSymbols]) -> list[tuple[str, Symbol]]:
    """Return the outer symbols whose names mean one thing, the longest pieces of code first."""
    symbols = [
        (path, symbol)
        for path, file in parsed.items()
        for symbol in file.symbols
        if symbol.kind in _MAJOR_KINDS and symbol.depth == 0 and len(symbol.name) > 2 and symbol.name[0] != "_"
    ]
    names = Counter(symbol.name for _, symbol in symbols)
    # A name that is a plain word occurs everywhere, whatever it names.
    unique = [
        (path, symbol)
        for path, symbol in symbols
        if names[symbol.name] == 1 and not (symbol.name.isalpha() and symbol.name.islower())
    ]
    unique.sort(key=lambda item: (item[1].line - item[1].end_line, item[0]))
    return unique[:_NAMES_COUNTED]
