import os
from pathlib import Path

import pytest

from smith_core.messages import ToolCall
from smith_core.tools.builtin import BUILTIN_TOOLS
from smith_core.tools.code.files import PAGE_CHARS as FILES_CHARS
from smith_core.tools.code.repo_map import PAGE_CHARS as MAP_CHARS
from smith_core.tools.executor import execute
from smith_core.tools.registry import ToolRegistry
from tests.support.code_tools import explore, make_files
from tests.support.file_tools import make_context


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_files(
        tmp_path / "project",
        {
            "README.md": "# Hello\n",
            "pyproject.toml": "[project]\n",
            "src/app/__main__.py": "from app.user_control import UserControl\nUserControl().run_all()\n",
            "src/app/user_control.py": "class UserControl:\n    def run_all(self):\n        pass\n",
            "src/app/control.py": "from app.user_control import UserControl\n",
            "tests/test_control.py": "def test_it():\n    pass\n",
            "vendor/control.js": "1\n",
            "web/[id].tsx": "",
            "ignored/control.py": "",
            ".gitignore": "ignored/\n",
            ".github/workflows/ci.yml": "on: push\n",
        },
    )


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("control.py", ["src/app/control.py", "src/app/user_control.py", "tests/test_control.py"]),
        ("usrctl", ["src/app/user_control.py"]),
        ("app/con", ["src/app/control.py"]),
        ("./src/app/control.py", ["src/app/control.py"]),
        ("*.yml", [".github/workflows/ci.yml"]),
        ("control.js", ["vendor/control.js"]),
        ("[id].tsx", ["web/[id].tsx"]),
    ],
)
async def test_files_are_found_the_best_first(folder: Path, query: str, expected: list[str]) -> None:
    outcome = await explore("code_files", folder, query=query)
    assert outcome.ok
    assert outcome.content.split("\n")[2 : 2 + len(expected)] == expected
    assert "ignored" not in outcome.content


async def test_a_folder_to_look_in_and_a_query_with_it_mean_the_same(folder: Path) -> None:
    for query in ("control.py", "src/app/control.py"):
        outcome = await explore("code_files", folder, query=query, path="src")
        assert outcome.content.split("\n")[2] == "src/app/control.py"


@pytest.mark.parametrize("query", ["--help", "-x", "", "*", "[", "a\0b", "../..", "!*.py"])
async def test_no_query_is_an_option_or_an_accident(folder: Path, query: str) -> None:
    assert (await explore("code_files", folder, query=query)).content


async def test_a_wrong_letter_brings_a_proposal(folder: Path) -> None:
    outcome = await explore("code_files", folder, query="user_contrlo.py")
    assert "; did you mean src/app/user_control.py" in outcome.content


async def test_long_lists_are_bounded(tmp_path: Path) -> None:
    folder = make_files(tmp_path / "p", {f"{'long' * 30}/{'name' * 30}{n}.txt": "" for n in range(100)})
    outcome = await explore("code_files", folder, query="name")
    assert len(outcome.content) <= FILES_CHARS and "more files fit" in outcome.content


@pytest.mark.parametrize("arguments", ["", "null", "   ", "{}", '{"path": null}', '{"path": ""}', '{"path": "."}'])
async def test_a_map_needs_no_arguments(folder: Path, arguments: str) -> None:
    call = ToolCall(id="c1", name="code_map", arguments=arguments)
    result = await execute(call, "explorer", ToolRegistry(BUILTIN_TOOLS), lambda _: make_context(folder))
    assert result.ok and result.content.startswith(f"{folder}: 10 files, ")


async def test_a_map_tells_where_to_begin_and_what_is_where(folder: Path) -> None:
    lines = (await explore("code_map", folder)).content.split("\n")
    assert "read first: README.md" in lines
    assert "built by: pyproject.toml" in lines
    assert "starts in: src/app/__main__.py" in lines
    assert any(line.startswith("languages: Python (4), ") for line in lines)
    assert any(line.startswith("src/app/  3 files, Python, ") for line in lines)
    assert any(line.startswith("  control.py  ") for line in lines)
    assert any(line.endswith("class UserControl  (4)  src/app/user_control.py") for line in lines)
    assert not any("ignored" in line for line in lines)


async def test_a_map_of_a_part_and_of_nothing(folder: Path) -> None:
    assert (await explore("code_map", folder, path="src")).content.startswith("src/: 3 files")
    (folder / "bare").mkdir()
    assert "holds no files" in (await explore("code_map", folder, path="bare")).content
    assert not (await explore("code_map", folder, path="README.md")).ok


async def test_a_map_of_many_folders_is_bounded(tmp_path: Path) -> None:
    folder = make_files(
        tmp_path / "p", {f"{'d' * 90}{n}/{'e' * 90}{k}/f.py": "x = 1\n" for n in range(40) for k in range(9)}
    )
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe")
    outcome = await explore("code_map", folder)
    assert outcome.content.startswith(f"{folder}: 360 files") and len(outcome.content) <= MAP_CHARS
