"""The suite itself: each of the thirty kinds has a test, and what a person would see is tried in a pseudo terminal."""

import ast
from pathlib import Path

KINDS = [f"b{number:02}" for number in range(1, 31)]
SEEN = {*KINDS} - {"b28"}
"""Modes of files are the one thing that no screen shows; a test of a killed app looks at them all the same."""
TERMINALS = {"seat", "place", "own_place", "rainy", "model_home", "terminal"}


def _tests() -> dict[str, set[str]]:
    """Return the names of all tests here with their fixtures."""
    found = {}
    for path in Path(__file__).parent.glob("test_*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                found[node.name] = {argument.arg for argument in node.args.args}
    return found


def test_each_kind_has_a_test() -> None:
    names = " ".join(_tests())
    assert [kind for kind in KINDS if f"{kind}_" not in names] == []


def test_what_a_person_would_see_is_tried_in_the_running_app() -> None:
    names = " ".join(name for name, fixtures in _tests().items() if fixtures & TERMINALS)
    assert [kind for kind in sorted(SEEN) if f"{kind}_" not in names] == []
