"""The floors of the engine, as the import rules in pyproject.toml have them, with what each module says of itself."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from docs.generate.tables import table

_ROOT = Path(__file__).parents[2]
_ENGINE = _ROOT / "smith_core"


def layers() -> list[list[str]]:
    """Return the floors from the top, each with its modules."""
    rules = tomllib.loads((_ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    (contract,) = (rule for rule in rules if rule["type"] == "layers")
    # Parentheses tell the linter that a module may be missing.
    return [[name.strip(" ()") for name in floor.split("|")] for floor in contract["layers"]]


def floors() -> str:
    """Return the floors as a table."""
    rows = (
        (str(number), f"`{name}`", _summary(name))
        for number, names in zip(range(len(layers()), 0, -1), layers(), strict=True)
        for name in names
    )
    return table(("floor", "module", "what it is"), rows)


def imports(name: str) -> Iterator[str]:
    """Yield the modules of the engine that a module of it, or the app, imports; each as often as it does."""
    folder = _ROOT / name if name == "smith_tui" else _ENGINE / name
    for file in folder.rglob("*.py") if folder.is_dir() else [folder.with_suffix(".py")]:
        yield from re.findall(r"^\s*from smith_core\.(\w+)", file.read_text("utf-8"), re.MULTILINE)


def _summary(name: str) -> str:
    path = _ENGINE / name
    source = (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text("utf-8")
    words = ast.get_docstring(ast.parse(source)) or ""
    return words.split("\n\n")[0].replace("\n", " ")
