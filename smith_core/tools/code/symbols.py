"""What a symbol is: a named piece of code, its kind, and the lines it stands on."""

from collections.abc import Mapping

import msgspec

from smith_core.patterns import later

KINDS = (
    *("function", "method", "class", "struct", "enum", "union", "interface", "trait", "type"),
    *("constant", "variable", "module", "macro", "heading", "target"),
)
"""All kinds of symbols."""

_TYPES = frozenset({"class", "struct", "enum", "union", "interface", "trait", "type"})
_FAMILIES: Mapping[str, frozenset[str]] = {
    "function": frozenset({"function", "method", "macro"}),
    "type": _TYPES,
    "class": frozenset({"class", "struct"}),
    "struct": frozenset({"struct", "class"}),
    "interface": frozenset({"interface", "trait"}),
    "trait": frozenset({"trait", "interface"}),
    "constant": frozenset({"constant", "variable"}),
    "variable": frozenset({"variable", "constant"}),
}
_OTHER_NAMES: Mapping[str, str] = {
    **{name: "function" for name in ("func", "fn", "fun", "def", "procedure", "subroutine", "callable")},
    **{name: "constant" for name in ("const", "define", "value")},
    **{name: "variable" for name in ("var", "field", "property", "let")},
    **{name: "module" for name in ("namespace", "package", "mod")},
    **{name: "type" for name in ("typedef", "alias", "types", "record", "table")},
    **{"protocol": "interface", "constructor": "method", "enumeration": "enum", "section": "heading", "impl": "class"},
}
MAX_SIGNATURE_CHARS = 160
_BODY = later(r"\s*(?:=>\s*)?\{.*$|\s*=>\s*\(?<?$|\bdo$")


class Symbol(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A symbol on the lines `line` to `end_line`; `container` is the dotted name of what it is inside of."""

    name: str
    kind: str
    line: int
    end_line: int
    container: str = ""
    signature: str = ""
    depth: int = 0


class FileSymbols(msgspec.Struct, frozen=True, array_like=True):
    """The symbols of a file in the order of its lines; `problem` says why there are none, or not all."""

    path: str
    symbols: tuple[Symbol, ...] = ()
    problem: str = ""
    lines: int = 0


def kinds_meant(word: str) -> frozenset[str] | None:
    """Return the kinds that a filter lets through, a family of them for a general word; None if it is unknown."""
    kind = word.strip().lower()
    if kind not in KINDS:
        singular = kind[:-2] if kind.endswith("sses") else kind.removesuffix("s")
        kind = _OTHER_NAMES.get(kind) or _OTHER_NAMES.get(singular) or singular
    if kind not in KINDS:
        return None
    return _FAMILIES.get(kind, frozenset({kind}))


def signature(line: str) -> str:
    """Return a declaration's text as one short line, without its body."""
    text = _BODY.sub("", " ".join(line.split())).rstrip(" :;").replace("( ", "(").replace(" )", ")").replace(",)", ")")
    return text if len(text) <= MAX_SIGNATURE_CHARS else text[: MAX_SIGNATURE_CHARS - 1] + "…"
