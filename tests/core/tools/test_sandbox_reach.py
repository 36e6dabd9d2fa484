"""What read, edit, write and the code tools may reach while commands run in a sandbox."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.tools.base import ToolOutcome, ToolSpec
from smith_core.tools.code.tools import code_tools
from smith_core.tools.edit import EDIT
from smith_core.tools.read import READ
from smith_core.tools.sandbox.hidden import is_below
from smith_core.tools.sandbox.layout import Layout
from smith_core.tools.sandbox.reach import OutOfReachError, reached
from smith_core.tools.sandbox.sandboxes import Sandbox
from smith_core.tools.write import WRITE
from tests.support.file_tools import make_context

CODE = {spec.name: spec for spec in code_tools()}


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    for name in ("project", "home/.ssh", "shared", "own-tmp"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("project/a.txt", "home/.ssh/id", "home/plain", "shared/x", "own-tmp/x"):
        (tmp_path / name).write_text(f"in {name}\n")
    (tmp_path / "project/link").symlink_to(tmp_path / "home/.ssh/id")
    return Layout(
        writable=(str(tmp_path / "project"),),
        hidden=(str(tmp_path / "home/.ssh"),),
        kept=(),
        temporary=str(tmp_path / "own-tmp"),
        replaced=(str(tmp_path / "shared"),),
    )


async def call(spec: ToolSpec, layout: Layout, **arguments: object) -> ToolOutcome:
    async def sandbox() -> Sandbox:
        return Sandbox(program="/b", layout=layout)

    context = msgspec.structs.replace(make_context(Path(layout.writable[0])), sandbox=sandbox)
    outcome: ToolOutcome = await spec.handler(msgspec.convert(arguments, spec.arguments), context)
    return outcome


@pytest.mark.parametrize("path", ["../home/.ssh/id", "link", "../home/.ssh/new"])
async def test_what_is_hidden_is_neither_read_nor_written(layout: Layout, path: str) -> None:
    for spec, more in ((READ, {}), (WRITE, {"content": "x"})):
        outcome = await call(spec, layout, path=path, **more)
        assert (outcome.ok, outcome.error and outcome.error.kind, outcome.mutation_state) == (False, "policy", "none")
        assert "the sandbox hides it" in outcome.content
    for tool in ("code_grep", "code_files", "code_outline"):
        query = {"code_grep": {"pattern": "in"}, "code_files": {"query": "i"}}.get(tool, {})
        outcome = await call(CODE[tool], layout, path="../home/.ssh" if tool != "code_outline" else path, **query)
        assert "in home/.ssh" not in outcome.content
        assert not outcome.ok


async def test_only_the_project_and_the_temporary_folder_are_written(layout: Layout) -> None:
    outcome = await call(WRITE, layout, path="../home/plain", content="x")
    assert "the sandbox lets only" in outcome.content
    assert (await call(READ, layout, path="../home/plain")).ok
    assert (await call(WRITE, layout, path="new.txt", content="x")).ok
    refused = await call(EDIT, layout, path="../home/plain", operation="delete", start_line=1, hash="0" * 64)
    assert refused.error is not None
    assert refused.error.code == "out_of_reach"


async def test_the_temporary_folder_is_the_one_that_commands_see(layout: Layout, tmp_path: Path) -> None:
    assert "in own-tmp/x" in (await call(READ, layout, path=str(tmp_path / "shared/x"))).content
    assert (await call(WRITE, layout, path=str(tmp_path / "shared/made"), content="y")).ok
    assert (tmp_path / "own-tmp/made").read_text() == "y"
    assert not (tmp_path / "shared/made").exists()


names = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(lambda parts: "/nowhere/" + "/".join(parts))


@given(st.sets(names), st.sets(names), names, st.booleans())
def test_no_path_below_a_hidden_place_is_reached(hidden: set[str], writable: set[str], path: str, writes: bool) -> None:
    hidden -= writable
    layout = Layout(writable=tuple(writable), hidden=tuple(hidden), kept=(), temporary="/t", replaced=())
    around = sorted((place for place in hidden | writable if place == path or is_below(path, place)), key=len)
    may = around[-1] in writable if around else not writes
    try:
        assert reached(layout, Path(path), writes=writes) == Path(path)
        assert may
    except OutOfReachError:
        assert not may
