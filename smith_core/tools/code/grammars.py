"""Symbols from syntax trees: tree-sitter with the grammar of each language. Imported in the parsing process alone."""

import importlib
from functools import cache
from operator import itemgetter
from typing import Any

import tree_sitter

from smith_core.tools.code.queries import QUERIES
from smith_core.tools.code.symbols import Symbol, signature

_MODULES = {"typescript": ("typescript", "language_typescript"), "tsx": ("typescript", "language_tsx")}
_CONTAINERS = frozenset({"class", "struct", "enum", "union", "interface", "trait", "module", "inside"})
_TYPES = _CONTAINERS - {"module"}
_BODY_FIELDS = ("body", "consequence")
_SIGNATURE_BYTES = 400


class _Raw:
    """A symbol before its place among the others is known."""

    __slots__ = ("end", "kind", "name", "node", "receiver", "span", "start")

    def __init__(self, name: str, kind: str, node: "tree_sitter.Node", receiver: str) -> None:
        self.name, self.kind, self.node, self.receiver = name, kind, node, receiver
        self.start, self.end = self.span = node.start_byte, node.end_byte


def parse_symbols(data: bytes, grammar: str) -> tuple[tuple[Symbol, ...], bool]:
    """Return the symbols of a source text in the order of lines, and whether all of it could be parsed."""
    language, query = _tools(grammar)
    tree = tree_sitter.Parser(language).parse(data)
    found: dict[int, _Raw] = {}
    # Of several patterns that fit one name, the first in the query tells the most.
    for _, captures in sorted(tree_sitter.QueryCursor(query).matches(tree.root_node), key=itemgetter(0)):
        raw = _raw(captures)
        if raw is not None:
            found.setdefault(captures["name"][0].start_byte, raw)
    ordered = sorted(found.values(), key=lambda raw: (raw.start, -raw.end))
    return tuple(_nested(ordered, data, grammar)), not tree.root_node.has_error


@cache
def _tools(grammar: str) -> tuple[Any, Any]:
    name, function = _MODULES.get(grammar, (grammar, "language"))
    module = importlib.import_module(f"tree_sitter_{name}")
    language = tree_sitter.Language(getattr(module, function)())
    return language, tree_sitter.Query(language, QUERIES[grammar])


def _raw(captures: dict[str, list["tree_sitter.Node"]]) -> _Raw | None:
    names = captures.get("name")
    kind = next((key for key in captures if key not in ("name", "receiver") and key[0] != "_"), None)
    if not names or kind is None:
        return None
    receiver = captures.get("receiver")
    return _Raw(_text(names[0]), kind, captures[kind][0], _text(receiver[0]) if receiver else "")


def _nested(ordered: list[_Raw], data: bytes, grammar: str) -> list[Symbol]:
    """Return the symbols with what each is inside of; what stands in the body of a function is left out."""
    symbols: list[Symbol] = []
    open_ones: list[_Raw] = []
    for raw in ordered:
        # Two names in one declaration (var a, b int) stand beside each other.
        while open_ones and (open_ones[-1].end <= raw.start or open_ones[-1].span == raw.span):
            open_ones.pop()
        inside_function = any(outer.kind in ("function", "method") for outer in open_ones)
        if not (inside_function and raw.kind not in _CONTAINERS) and raw.kind != "inside":
            symbols.append(_symbol(raw, open_ones, data, grammar))
        open_ones.append(raw)
    return symbols


def _symbol(raw: _Raw, open_ones: list[_Raw], data: bytes, grammar: str) -> Symbol:
    kind = raw.kind
    if kind == "function" and open_ones and open_ones[-1].kind in _TYPES:
        kind = "method"
    if kind == "method" and not open_ones and not raw.receiver:
        kind = "function"
    if grammar == "python" and kind == "constant" and not raw.name.isupper():
        kind = "variable"
    outer = [other.name for other in open_ones] + ([raw.receiver] if raw.receiver else [])
    return Symbol(
        raw.name,
        kind,
        raw.node.start_point[0] + 1,
        raw.node.end_point[0] + (raw.node.end_point[1] > 0),
        ".".join(outer),
        signature(_before_name(raw, grammar) + _declaration(raw.node, data)),
        sum(other.kind != "inside" for other in open_ones),
    )


def _before_name(raw: _Raw, grammar: str) -> str:
    """Return the word of a declaration that stands outside of the node because several may share it."""
    return "type " if grammar == "go" and raw.kind in ("struct", "interface", "type") else ""


def _declaration(node: "tree_sitter.Node", data: bytes) -> str:
    end = min(node.end_byte, node.start_byte + _SIGNATURE_BYTES)
    for field in _BODY_FIELDS:
        body = node.child_by_field_name(field)
        if body is not None and body.start_byte > node.start_byte:
            return data[node.start_byte : min(end, body.start_byte)].decode("utf-8", "replace")
    return data[node.start_byte : end].partition(b"\n")[0].decode("utf-8", "replace")


def _text(node: "tree_sitter.Node") -> str:
    return (node.text or b"").decode("utf-8", "replace")
