"""The house rules that a machine can check: sizes, docstrings, and which library may be imported where."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for folder in ("smith_core", "smith_tui") for path in (ROOT / folder).rglob("*.py"))
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_file_keeps_the_house_rules(path: Path) -> None:
    source = path.read_text()
    tree = ast.parse(source)
    assert source.count("\n") <= MAX_FILE_LINES, "split the file by what it knows"
    assert not source.strip() or ast.get_docstring(tree), "a module says in one sentence what it is for"
    too_long = [
        f"{node.name} ({node.end_lineno - node.lineno + 1} lines)"
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno + 1 > MAX_FUNCTION_LINES
    ]
    assert not too_long


def test_litellm_is_imported_in_one_file() -> None:
    importers = {
        str(path.relative_to(ROOT))
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if (isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "litellm" for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "litellm")
    }
    assert importers <= {"smith_core/llm/provider.py"}
