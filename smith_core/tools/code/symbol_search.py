"""The tool code_symbols: where a function, class or other name is defined, anywhere in the project."""

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Annotated

import msgspec

from smith_core.fuzzy import SCATTERED, quality
from smith_core.patterns import later
from smith_core.tools.base import ToolContext, ToolOutcome, ToolSpec, failed, succeeded
from smith_core.tools.code.budget import Page, counted
from smith_core.tools.code.children import Children
from smith_core.tools.code.languages import symbol_globs
from smith_core.tools.code.place import Place, visible
from smith_core.tools.code.relevance import FOREIGN, TEST, path_class
from smith_core.tools.code.ripgrep import files_with
from smith_core.tools.code.searching import search_place
from smith_core.tools.code.symbol_store import SymbolStore
from smith_core.tools.code.symbols import KINDS, FileSymbols, Symbol, kinds_meant

PAGE_CHARS = 12_000
MAX_SHOWN = 80
MAX_QUERY_CHARS = 300
PARSING_S = 2.0
"""Seconds for which files are parsed in one call; what was parsed is known to the next one."""

_LONGEST_SCATTERED = 40
_SEPARATORS = later(r"::|[.#/\\]|->")
_KEYWORDS = (
    "def|class|fn|func|fun|function|struct|enum|union|trait|interface|type|typedef|module|namespace|impl|const|let|var"
    "|val|local|sub|object|protocol|record|define|macro_rules!|create|package"
)
_MINOR_KINDS = frozenset({"variable", "constant", "heading", "target"})


class SymbolsArguments(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of code_symbols."""

    query: Annotated[
        str, msgspec.Meta(description="A name, a part of it, or its initials; Class.method names one inside another.")
    ]
    kind: Annotated[str | None, msgspec.Meta(description=f"Only this kind: {', '.join(KINDS)}. Default: any.")] = None


class Query(msgspec.Struct, frozen=True):
    """What is looked for: a name, the names it has to be inside of, and kinds (None for any)."""

    name: str
    containers: tuple[str, ...] = ()
    kinds: frozenset[str] | None = None

    def quality(self, symbol: Symbol, path: str) -> int:
        """Return how well a symbol fits, 0 for not at all."""
        if self.kinds is not None and symbol.kind not in self.kinds:
            return 0
        if self.containers:
            around = f"{symbol.container}.{path}".lower()
            if not all(container.lower() in around for container in self.containers):
                return 0
        return quality(self.name, symbol.name) if self.name else 1

    def pattern(self, *, scattered: bool) -> str:
        """Return a regular expression that matches in every file with a symbol that fits."""
        letters = [re.escape(letter) for letter in self.name if letter.isalnum()]
        if not letters:
            return re.escape(self.name) or "."
        return (r"\w*?" if scattered else "[_ -]?").join(letters)


class _Hit(msgspec.Struct, frozen=True):
    path: str
    symbol: Symbol
    quality: int

    @property
    def order(self) -> tuple[int, int, int, int, bool, str, int]:
        """The best first: the kind of fit, code before tests, functions before values, bodies before declarations."""
        of_path = path_class(self.path)
        demotion = {FOREIGN: 2, TEST: 1}.get(of_path, 0)
        minor = self.symbol.kind in _MINOR_KINDS
        is_short = self.symbol.line == self.symbol.end_line
        return -(self.quality // 100), demotion, minor, -self.quality, is_short, self.path, self.symbol.line


class _Searched(msgspec.Struct, frozen=True):
    hits: list[_Hit]
    files: int
    missing: int


def parse_query(text: str, kind: str | None) -> Query | str:
    """Return the query that the arguments mean, or what is wrong with them."""
    kinds = kinds_meant(kind) if kind and kind.strip() else None
    if kind and kind.strip() and kinds is None:
        return f"there is no kind {visible(kind[:40])!r}; the kinds are {', '.join(KINDS)}"
    words = text.strip().strip("'\"`*").removesuffix("()")
    if len(words) > MAX_QUERY_CHARS or "\0" in words:
        return "query is no name; give the name of a symbol or a part of it"
    if words and kinds != frozenset({"heading"}):
        *containers, name = [part for part in _SEPARATORS.split(words) if part] or [words]
        return Query(name.strip(), tuple(part.strip() for part in containers), kinds)
    return Query(words, (), kinds)


def symbols_tool(store: SymbolStore, parsing_s: float = PARSING_S) -> ToolSpec:
    """Return the tool; it remembers in `store` what it parsed."""

    async def find(arguments: SymbolsArguments, ctx: ToolContext) -> ToolOutcome:
        query = parse_query(arguments.query, arguments.kind)
        if isinstance(query, str):
            return failed(query, code="bad_arguments", kind="schema")

        def work(place: Place, children: Children) -> ToolOutcome:
            searched = _search(query, place, ctx, children, store, parsing_s)
            return _outcome(arguments, searched, place)

        return await search_place(work, "search", None, ctx)

    return ToolSpec(
        name="code_symbols",
        description=(
            "Find where functions, classes, types and other symbols are defined in the whole project, "
            "by name, part of a name or initials; with line ranges."
        ),
        arguments=SymbolsArguments,
        handler=find,
    )


def _search(
    query: Query, place: Place, ctx: ToolContext, children: Children, store: SymbolStore, parsing_s: float
) -> _Searched:
    """Look into the files that hold the name; only if none defines it, into those with its letters in that order."""
    globs = symbol_globs(with_documents=query.kinds == frozenset({"heading"}))
    searched = _Searched([], 0, 0)
    for scattered in (False, True):
        pattern = query.pattern(scattered=scattered)
        paths = files_with(pattern, place, ctx, children, globs)
        paths.sort(key=lambda path: (path_class(path) in (TEST, FOREIGN), path.count("/"), path))
        defining = rf"\b(?:{_KEYWORDS})\b.{{0,80}}?{pattern}"
        choose_first = partial(files_with, defining, place, ctx, children, globs)
        known = store.symbols_of(place.folder, paths, children, parsing_s, choose_first)
        # Letters with anything between them would make Python's engine try for ever; `quality` does not.
        hits = _hits(query, re.compile("" if scattered else pattern, re.IGNORECASE), known.values())
        searched = _Searched(hits, len(paths), len(paths) - len(known))
        if searched.hits or searched.missing or not 2 <= len(query.name) <= _LONGEST_SCATTERED:
            break
    return searched


def _hits(query: Query, pattern: re.Pattern[str], files: Iterable[FileSymbols]) -> list[_Hit]:
    hits = [
        _Hit(file.path, symbol, fit)
        for file in files
        for symbol in file.symbols
        if pattern.search(symbol.name) and (fit := query.quality(symbol, file.path)) > 0
    ]
    if any(hit.quality > SCATTERED for hit in hits):
        hits = [hit for hit in hits if hit.quality > SCATTERED]
    return sorted(hits, key=lambda hit: hit.order)


def _outcome(arguments: SymbolsArguments, searched: _Searched, place: Place) -> ToolOutcome:
    query = visible(arguments.query.strip()[:100])
    kind = f" of kind {arguments.kind.strip()}" if arguments.kind and arguments.kind.strip() else ""
    notes = []
    if searched.missing:
        notes.append(
            f"[{searched.missing:,} of {counted(searched.files, 'file')} with such a name are not read yet: "
            "ask again to read more of them, or give a longer name]"
        )
    if not searched.hits:
        words = f"no symbol{kind} fits {query!r}; try a shorter name, or code_grep for what is not a definition"
        return succeeded("\n".join([words, *notes]))
    page = Page(PAGE_CHARS - 400)
    fits = "fits" if len(searched.hits) == 1 else "fit"
    page.add(f"{counted(len(searched.hits), 'symbol')}{kind} {fits} {query!r}, the best first")
    shown = _add_hits(page, searched.hits[:MAX_SHOWN], place)
    if shown < len(searched.hits):
        page.force(f"[{len(searched.hits) - shown:,} more: give a longer name or a kind]")
    for note in notes:
        page.force(note)
    return succeeded(page.text)


def _add_hits(page: Page, hits: Sequence[_Hit], place: Place) -> int:
    last_path = None
    for shown, hit in enumerate(hits):
        lines = [symbol_line(hit.symbol, with_container=True)]
        if hit.path != last_path:
            lines[:0] = ["", place.shown(hit.path)]
        if not page.add(*lines):
            return shown
        last_path = hit.path
    return len(hits)


def symbol_line(symbol: Symbol, *, with_container: bool = False, indent: int = 0) -> str:
    """Return a symbol as one line: where, what kind, and how it is declared."""
    where = f"{symbol.line}-{symbol.end_line}" if symbol.end_line > symbol.line else str(symbol.line)
    inside = f"  (in {symbol.container})" if with_container and symbol.container else ""
    text = symbol.signature if symbol.name in symbol.signature else f"{symbol.signature} … {symbol.name}".strip(" …")
    kind = "" if symbol.kind in text.split() else f"{symbol.kind} "
    return f"  {where:<11} {'  ' * indent}{kind}{text}{inside}"
