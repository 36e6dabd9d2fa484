"""Symbols of languages without a grammar here: line patterns, with braces or indentation for where they end."""

import re
from collections.abc import Mapping

from smith_core.tools.code.symbols import Symbol, signature

_MODIFIERS = (
    r"(?:(?:public|private|protected|internal|static|final|abstract|sealed|partial|open|override|virtual|async"
    + (
        r"|readonly|unsafe|extern|new|inline|suspend|data|lazy|implicit|case|fileprivate|mutating|actual|expect|operator"
        r"|external|required|convenience|const|tailrec|infix|annotation|inner|value|export)\s+)*"
    )
)
_C_LIKE_WORDS = r"(?!(?:if|for|while|switch|return|else|catch|using|lock|throw|new|await|yield|do|try)\b)"

_Rules = tuple[tuple[str, str], ...]

_RULES: Mapping[str, _Rules] = {
    "shell": (
        ("function", r"\s*function\s+(?P<n>[\w:.-]+)"),
        ("function", r"\s*(?P<n>[\w:.-]+)\s*\(\)"),
        ("constant", r"(?:readonly|export|declare\s+-\w+)\s+(?P<n>[A-Z_][A-Z0-9_]*)="),
        ("variable", r"(?P<n>[A-Za-z_]\w*)="),
    ),
    "php": (
        ("class", rf"\s*{_MODIFIERS}class\s+(?P<n>\w+)"),
        ("interface", r"\s*interface\s+(?P<n>\w+)"),
        ("trait", r"\s*trait\s+(?P<n>\w+)"),
        ("enum", r"\s*enum\s+(?P<n>\w+)"),
        ("function", rf"\s*{_MODIFIERS}function\s+&?(?P<n>\w+)\s*\("),
        ("constant", rf"\s*{_MODIFIERS}const\s+(?:\w+\s+)?(?P<n>\w+)\s*="),
        ("constant", r"\s*define\(\s*['\"](?P<n>\w+)"),
        ("module", r"namespace\s+(?P<n>[\w\\]+)"),
    ),
    "csharp": (
        ("module", r"\s*namespace\s+(?P<n>[\w.]+)"),
        ("class", rf"\s*{_MODIFIERS}(?:class|record(?:\s+class)?|mixin|extension)\s+(?P<n>\w+)"),
        ("struct", rf"\s*{_MODIFIERS}(?:record\s+)?struct\s+(?P<n>\w+)"),
        ("interface", rf"\s*{_MODIFIERS}interface\s+(?P<n>\w+)"),
        ("enum", rf"\s*{_MODIFIERS}enum\s+(?P<n>\w+)"),
        ("constant", rf"\s*{_MODIFIERS}const\s+[\w<>\[\]?,.]+\s+(?P<n>\w+)\s*="),
        (
            "function",
            rf"\s*{_C_LIKE_WORDS}{_MODIFIERS}{_C_LIKE_WORDS}[\w<>\[\]?,.]+\s+(?P<n>\w+)\s*(?:<[^>]*>)?\([^;]*$",
        ),
        ("function", rf"\s*(?:public|private|protected|internal)\s+{_MODIFIERS}(?P<n>\w+)\s*\([^;]*$"),
        ("function", rf"\s*{_C_LIKE_WORDS}{_MODIFIERS}[\w<>\[\]?,.]+\s+(?P<n>\w+)\s*\([^;]*\)\s*(?:=>|;)"),
    ),
    "kotlin": (
        ("class", rf"\s*{_MODIFIERS}(?:enum\s+)?(?:class|object)\s+(?P<n>\w+)"),
        ("interface", rf"\s*{_MODIFIERS}(?:fun\s+)?interface\s+(?P<n>\w+)"),
        ("function", rf"\s*{_MODIFIERS}fun\s+(?:<[^>]*>\s*)?(?:[\w<>?]+\.)?(?P<n>\w+)\s*\("),
        ("type", r"\s*typealias\s+(?P<n>\w+)"),
        ("constant", rf"{_MODIFIERS}val\s+(?P<n>\w+)"),
    ),
    "swift": (
        ("class", rf"\s*{_MODIFIERS}(?:class|actor|extension)\s+(?!func\b|var\b)(?P<n>[\w.]+)"),
        ("struct", rf"\s*{_MODIFIERS}struct\s+(?P<n>\w+)"),
        ("enum", rf"\s*{_MODIFIERS}(?:indirect\s+)?enum\s+(?P<n>\w+)"),
        ("interface", rf"\s*{_MODIFIERS}protocol\s+(?P<n>\w+)"),
        ("function", rf"\s*(?:@\w+\s+)*{_MODIFIERS}(?:class\s+)?func\s+(?P<n>[\w+\-*/=<>]+)"),
        ("function", rf"\s*{_MODIFIERS}(?P<n>init)[?!]?\s*\("),
        ("type", rf"\s*{_MODIFIERS}typealias\s+(?P<n>\w+)"),
        ("constant", rf"{_MODIFIERS}let\s+(?P<n>\w+)"),
    ),
    "scala": (
        ("class", rf"\s*{_MODIFIERS}(?:class|object)\s+(?P<n>\w+)"),
        ("trait", rf"\s*{_MODIFIERS}trait\s+(?P<n>\w+)"),
        ("enum", r"\s*enum\s+(?P<n>\w+)"),
        ("function", rf"\s*{_MODIFIERS}def\s+(?P<n>[\w+\-*/=<>!]+)"),
        ("type", rf"\s*{_MODIFIERS}type\s+(?P<n>\w+)"),
        ("constant", rf"\s*{_MODIFIERS}val\s+(?P<n>[A-Z]\w*)"),
    ),
    "perl": (
        ("module", r"\s*package\s+(?P<n>[\w:]+)"),
        ("function", r"\s*sub\s+(?P<n>\w+)"),
        ("constant", r"\s*use\s+constant\s+(?P<n>\w+)"),
    ),
    "sql": (
        (
            "type",
            r"(?i)\s*create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+)?(?:unlogged\s+)?(?:materialized\s+)?"
            r"(?:table|view|type|domain)\s+(?:if\s+not\s+exists\s+)?(?P<n>[\w.\"`\[\]]+)",
        ),
        (
            "function",
            r"(?i)\s*create\s+(?:or\s+replace\s+)?(?:function|procedure|trigger)\s+(?:if\s+not\s+exists\s+)?"
            r"(?P<n>[\w.\"`\[\]]+)",
        ),
        (
            "constant",
            r"(?i)\s*create\s+(?:unique\s+)?index\s+(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?"
            r"(?P<n>[\w.\"`\[\]]+)",
        ),
    ),
    "make": (
        ("variable", r"(?:export\s+|override\s+)?(?P<n>[\w.-]+)\s*(?:\?|:{1,3}|\+|!)?="),
        ("macro", r"define\s+(?P<n>[\w.-]+)"),
        ("target", r"(?P<n>[^\s#:=$.][^#:=]*?)\s*::?(?!=)"),
    ),
    "markdown": (("heading", r" {0,3}(?P<level>#{1,6})\s+(?P<n>.+?)\s*#*\s*$"),),
    "elixir": (
        ("module", r"\s*def(?:module|protocol|impl)\s+(?P<n>[\w.]+)"),
        ("macro", r"\s*defmacrop?\s+(?P<n>\w+[?!]?)"),
        ("function", r"\s*defp?\s+(?P<n>\w+[?!]?)"),
    ),
    "zig": (
        ("function", r"\s*(?:pub\s+|export\s+|inline\s+|extern\s+)*fn\s+(?P<n>\w+)"),
        ("struct", r"\s*(?:pub\s+)?const\s+(?P<n>\w+)\s*=\s*(?:packed\s+|extern\s+)?(?:struct|enum|union)\b"),
        ("constant", r"(?:pub\s+)?const\s+(?P<n>\w+)"),
    ),
    "r": (("function", r"\s*(?P<n>[\w.]+)\s*(?:<-|=)\s*function\b"),),
    "vim": (("function", r"\s*fu(?:n(?:ction)?)?!?\s+(?P<n>[\w:#.]+)"),),
    "haskell": (
        ("class", r"class\s+(?:.*=>\s*)?(?P<n>\w+)"),
        ("type", r"(?:data|newtype|type)\s+(?:[a-z' ]*\s)?(?P<n>\w+)"),
        ("module", r"module\s+(?P<n>[\w.]+)"),
        ("function", r"let\s+(?:rec\s+)?(?P<n>[a-z_][\w']*)"),
        ("function", r"(?P<n>[a-z_][\w']*)\s*::"),
    ),
    "proto": (
        ("struct", r"\s*message\s+(?P<n>\w+)"),
        ("enum", r"\s*enum\s+(?P<n>\w+)"),
        ("interface", r"\s*service\s+(?P<n>\w+)"),
        ("method", r"\s*rpc\s+(?P<n>\w+)"),
    ),
    "terraform": (
        ("struct", r"(?:resource|data)\s+\"[^\"]*\"\s+\"(?P<n>[^\"]+)\""),
        ("variable", r"(?:variable|output)\s+\"(?P<n>[^\"]+)\""),
        ("module", r"module\s+\"(?P<n>[^\"]+)\""),
    ),
    "objc": (
        ("class", r"@(?:interface|implementation)\s+(?P<n>\w+)"),
        ("interface", r"@protocol\s+(?P<n>\w+)"),
        ("method", r"[-+]\s*\([^)]*\)\s*(?P<n>\w+)"),
        ("function", r"(?:static\s+)?\w[\w *]*?\s\*?(?P<n>\w+)\s*\([^;]*$"),
        ("constant", r"#define\s+(?P<n>\w+)"),
    ),
}
_COMPILED = {name: [(kind, re.compile(rule)) for kind, rule in rules] for name, rules in _RULES.items()}
_COMMENT = re.compile(r"\s*(?://|#(?!\s*define)|--|\*|/\*|;)")
_ENDS_BY_BRACES = frozenset(
    {"shell", "php", "csharp", "kotlin", "swift", "scala", "perl", "zig", "r", "proto", "terraform"}
)
_TYPES = frozenset({"class", "struct", "interface", "trait", "enum"})
_MAX_LINE_CHARS = 1_000


def find_symbols(text: str, rules: str) -> tuple[Symbol, ...]:
    """Return what looks like symbols, in the order of lines; `rules` is that of a Language."""
    lines = text.removesuffix("\n").split("\n")
    if rules == "markdown":
        return tuple(_headings(lines))
    found = [
        (number, kind, match)
        for number, line in enumerate(lines)
        if line and len(line) <= _MAX_LINE_CHARS and (rules in ("make", "objc") or not _COMMENT.match(line))
        for kind, match in [_first_match(line, rules)]
        if match is not None
    ]
    symbols: list[Symbol] = []
    open_ones: list[Symbol] = []
    for number, kind, match in found:
        while open_ones and open_ones[-1].end_line <= number:
            open_ones.pop()
        if kind in ("variable", "constant") and any(outer.kind in ("function", "method") for outer in open_ones):
            continue
        if kind == "function" and open_ones and open_ones[-1].kind in _TYPES:
            kind = "method"
        end = _end(lines, number, kind, rules)
        container = ".".join(outer.name for outer in open_ones)
        symbol = Symbol(
            match["n"].strip('"`[]'), kind, number + 1, end, container, signature(lines[number]), len(open_ones)
        )
        symbols.append(symbol)
        if end > number + 1:
            open_ones.append(symbol)
    return tuple(symbols)


def _first_match(line: str, rules: str) -> tuple[str, re.Match[str] | None]:
    for kind, pattern in _COMPILED[rules]:
        match = pattern.match(line)
        if match is not None:
            return kind, match
    return "", None


def _headings(lines: list[str]) -> list[Symbol]:
    pattern = _COMPILED["markdown"][0][1]
    found: list[tuple[int, int, str]] = []
    fence = ""
    for number, line in enumerate(lines, 1):
        mark = line.lstrip()[:3]
        if mark in ("```", "~~~"):
            fence = "" if fence == mark else fence or mark
        elif not fence and (match := pattern.match(line[:_MAX_LINE_CHARS])):
            found.append((number, len(match["level"]), match["n"]))
    symbols = []
    for index, (number, level, name) in enumerate(found):
        end = next((later[0] - 1 for later in found[index + 1 :] if later[1] <= level), len(lines))
        symbols.append(Symbol(name, "heading", number, max(number, end), "", signature(lines[number - 1]), level - 1))
    return symbols


def _end(lines: list[str], start: int, kind: str, rules: str) -> int:
    """Return the last line of a symbol, from 1: by braces where the language has them, else by indentation."""
    if kind in ("constant", "variable", "target", "type") and rules != "make":
        return start + 1
    if rules in _ENDS_BY_BRACES:
        depth = 0
        follows = lines[start + 1].lstrip() if start + 1 < len(lines) else ""
        if "{" not in lines[start] and not follows.startswith("{") and not lines[start].rstrip().endswith(("(", ",")):
            return start + 1
        for number in range(start, min(len(lines), start + 5_000)):
            line = lines[number]
            depth += line.count("{") - line.count("}")
            if depth <= 0 and ("}" in line or number > start + 1):
                return number + 1 if "}" in line else start + 1
            if depth <= 0 and line.rstrip().endswith(";"):
                return number + 1
        return start + 1
    indent = len(lines[start]) - len(lines[start].lstrip())
    end = start + 1
    for number in range(start + 1, min(len(lines), start + 5_000)):
        line = lines[number]
        if line.strip():
            own = len(line) - len(line.lstrip())
            if own <= indent:
                return number + 1 if own == indent and line.strip() in ("end", "endef", "endfunction", "@end") else end
            end = number + 1
    return end
