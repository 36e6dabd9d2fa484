"""The roles and both policy tables, as the decisions list them."""

import pytest

from smith_core.roles import check_dispatch, check_tool, list_roles, resolve_role

MATRIX = """
bash         allow deny  allow allow
read         allow allow allow allow
edit         allow deny  allow deny
write        allow deny  allow deny
code_map     allow allow allow allow
code_grep    allow allow allow allow
code_files   allow allow allow allow
code_symbols allow allow allow allow
code_outline allow allow allow allow
git          deny  allow deny  deny
web_search   allow deny  allow allow
web_fetch    allow deny  allow allow
report       deny  deny  allow allow
record       allow allow deny  deny
recall       allow allow deny  deny
note         allow allow deny  deny
dispatch     allow allow deny  deny
rm_rf        deny  deny  deny  deny
"""
ROWS = [line.split() for line in MATRIX.strip().splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_tool_matrix(row: list[str]) -> None:
    tool, *expected = row
    assert [check_tool(role, tool) for role in ("direct", "orchestrator", "worker", "explorer")] == expected


def test_an_unknown_role_may_nothing() -> None:
    assert check_tool("root", "read") == "deny"
    assert check_dispatch("root", "worker") == "deny"
    assert resolve_role("root") is None


@pytest.mark.parametrize("role", ["direct", "orchestrator", "worker", "explorer"])
@pytest.mark.parametrize("target", ["direct", "orchestrator", "worker", "explorer"])
def test_only_roles_that_face_the_user_dispatch_and_only_to_children(role: str, target: str) -> None:
    expected = role in ("direct", "orchestrator") and target in ("worker", "explorer")
    assert check_dispatch(role, target) == ("allow" if expected else "deny")


def test_the_catalogue_names_the_four_roles() -> None:
    assert [(spec.name, spec.alias, spec.user_facing, spec.can_dispatch, spec.palette) for spec in list_roles()] == [
        ("direct", "Smith", True, True, "green"),
        ("orchestrator", "Tank", True, True, "amber"),
        ("worker", "Niobe", False, False, "cyan"),
        ("explorer", "Link", False, False, "violet"),
    ]
    assert all(spec.default_model_key == "default" for spec in list_roles())
