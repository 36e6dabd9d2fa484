"""The README's promises that a machine can check."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_it_opens_with_the_two_commands_and_a_picture() -> None:
    assert re.match(r"# .+\n\n```\nmake run .*\nmake test .*\n```\n\n!\[", README)


def test_ci_calls_the_test_command() -> None:
    assert "make test" in (ROOT / ".ci" / "run").read_text()


def test_every_link_and_picture_is_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_every_decision_page_is_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = set(re.findall(r"\]\(([^)]+\.md)\)", (folder / "README.md").read_text()))
    assert listed == {page.name for page in folder.glob("*.md")} - {"README.md"}
