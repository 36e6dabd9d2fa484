"""The tool code_outline: the symbols of one file, with their lines and what is inside of what."""

from collections import Counter
from typing import Annotated

import msgspec

from smith_core.tools.base import ToolContext, ToolOutcome, ToolSpec, failed, succeeded
from smith_core.tools.code.budget import Page, counted
from smith_core.tools.code.children import Children
from smith_core.tools.code.languages import language_of
from smith_core.tools.code.place import Place
from smith_core.tools.code.searching import search_place
from smith_core.tools.code.symbol_search import symbol_line
from smith_core.tools.code.symbol_store import SymbolStore
from smith_core.tools.code.symbols import FileSymbols, Symbol

PAGE_CHARS = 20_000
PARSING_S = 10.0
"""Seconds for one file, as many as a machine under load may need to start the process."""

_MOST_DEPTH = 8


class OutlineArguments(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of code_outline."""

    path: Annotated[str, msgspec.Meta(description="The file.")]


def outline_tool(store: SymbolStore) -> ToolSpec:
    """Return the tool; it remembers in `store` what it parsed."""

    async def outline(arguments: OutlineArguments, ctx: ToolContext) -> ToolOutcome:
        if not arguments.path.strip():
            return failed("Cannot outline it: the path is empty; name a file", code="bad_path")

        def work(place: Place, children: Children) -> ToolOutcome:
            if not place.name:
                return failed(f"{place.title} is a folder; use code_map for it, or name a file", code="not_a_file")
            found = store.symbols_of(place.folder, [place.name], children, PARSING_S).get(place.name)
            if found is None:
                return failed(f"{place.title} could not be parsed in time; read it instead", code="too_slow")
            return _outcome(found, place)

        return await search_place(work, "outline", arguments.path, ctx)

    return ToolSpec(
        name="code_outline",
        description="List the symbols of one file (classes, functions, methods, …), nested, with their line ranges.",
        arguments=OutlineArguments,
        handler=outline,
    )


def _outcome(found: FileSymbols, place: Place) -> ToolOutcome:
    language = language_of(found.path)
    if not found.symbols:
        reason = found.problem or "nothing in it is a function, a class or another symbol"
        return succeeded(f"{place.title}: no symbols, because {reason}; read shows its text")
    facts = [language.name if language else "", counted(found.lines, "line"), counted(len(found.symbols), "symbol")]
    page = Page(PAGE_CHARS - 400)
    page.add(f"{place.title}: {', '.join(filter(None, facts))}", "")
    depth = _deepest_that_fits(found.symbols, page.room)
    left_out = Counter(symbol.kind for symbol in found.symbols)
    for symbol in found.symbols:
        if symbol.depth <= depth:
            if not page.add(symbol_line(symbol, indent=min(symbol.depth, _MOST_DEPTH))):
                break
            left_out[symbol.kind] -= 1
    if +left_out:
        kinds = ", ".join(f"{count:,} × {kind}" for kind, count in (+left_out).most_common())
        page.force(f"[left out: {kinds}; read shows them]")
    if found.problem:
        page.force(f"[{found.problem}]")
    return succeeded(page.text, lines=found.lines)


def _deepest_that_fits(symbols: tuple[Symbol, ...], room: int) -> int:
    depth = max(symbol.depth for symbol in symbols)
    while depth > 0 and sum(len(s.signature) + 30 + 2 * s.depth for s in symbols if s.depth <= depth) > room:
        depth -= 1
    return depth
