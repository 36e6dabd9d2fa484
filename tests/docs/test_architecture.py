"""The page on the architecture against the tree: its arrows are imports, its paths are there, its floors are all."""

import re
from pathlib import Path

import pytest

from docs.generate.floors import imports, layers
from docs.generate.pages import GUIDE, ROOT

PAGE = (GUIDE / "architecture.md").read_text("utf-8")
ARROWS = re.findall(r"^ +(\w+) --> (\w+)$", PAGE, re.MULTILINE)


def test_every_arrow_is_an_import_that_leads_down() -> None:
    floor = {name: number for number, names in enumerate(layers(), 1) for name in names} | {"smith_tui": 0}
    assert len(ARROWS) > 15
    imported = {name: {*imports(name)} for name, _ in ARROWS}
    for user, used in ARROWS:
        assert used in imported[user], f"{user} does not import {used}"
        assert floor[user] < floor[used], f"{user} does not stand above {used}"


def test_every_module_of_the_engine_stands_on_a_floor() -> None:
    here = {path.stem for path in Path(ROOT, "smith_core").iterdir() if path.suffix == ".py" or path.is_dir()}
    assert here - {"__init__", "__pycache__", "prompts"} == {name for names in layers() for name in names}


@pytest.mark.parametrize("page", sorted(Path(ROOT, "docs").rglob("*.md")), ids=lambda page: page.name)
def test_every_path_of_ours_that_is_named_is_there(page: Path) -> None:
    for path in re.findall(r"`((?:smith_core|smith_tui|tests|docs)/[\w./]+)`", page.read_text("utf-8")):
        assert Path(ROOT, path).exists(), path
