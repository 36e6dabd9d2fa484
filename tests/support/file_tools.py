"""Calls the file tools as the executor does: arguments from JSON, then the handler."""

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from smith_core.cancel import CancelToken, new_root
from smith_core.project import Project
from smith_core.tools.base import ToolContext, ToolOutcome, ToolSpec
from smith_core.tools.edit import EDIT
from smith_core.tools.read import READ
from smith_core.tools.write import WRITE

NOBODY = 65534


def make_context(cwd: Path, token: CancelToken | None = None) -> ToolContext:
    return ToolContext(
        call_id="call-1",
        role="direct",
        turn_id="turn-1",
        cancel_token=token or new_root(),
        cwd=cwd,
        project=Project(root=str(cwd)),
        emit_output=lambda data: None,
        child_env={},
        spill_dir=cwd,
    )


async def call(spec: ToolSpec, cwd: Path, *, token: CancelToken | None = None, **arguments: Any) -> ToolOutcome:
    decoded = msgspec.convert(arguments, spec.arguments, strict=False)
    outcome: ToolOutcome = await spec.handler(decoded, make_context(cwd, token))
    msgspec.json.encode(outcome.content)
    return outcome


async def read(cwd: Path, path: object, **arguments: Any) -> ToolOutcome:
    return await call(READ, cwd, path=str(path), **arguments)


async def write(cwd: Path, path: object, content: str, **arguments: Any) -> ToolOutcome:
    return await call(WRITE, cwd, path=str(path), content=content, **arguments)


async def edit(
    cwd: Path, path: object, operation: str, start_line: int, end_line: int | None = None, **arguments: Any
) -> ToolOutcome:
    """Edit with the file's present hash unless another one is given."""
    if "hash" not in arguments:
        arguments["hash"] = sha256(Path(cwd, str(path)))
    return await call(
        EDIT, cwd, path=str(path), operation=operation, start_line=start_line, end_line=end_line, **arguments
    )


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


@contextmanager
def ordinary_user_folder() -> Iterator[Path]:
    """Give up root inside the block, since root may read and write everything; yields an own folder."""
    folder = Path(tempfile.mkdtemp(prefix="smith-test-"))
    was_root = os.geteuid() == 0
    if was_root:
        os.chown(folder, NOBODY, NOBODY)
        os.setegid(NOBODY)
        os.seteuid(NOBODY)
    try:
        yield folder
    finally:
        if was_root:
            os.seteuid(0)
            os.setegid(0)
        for path in [folder, *folder.rglob("*")]:
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o700)
        shutil.rmtree(folder)


def apply_diff(old: list[str], diff: str) -> list[str]:
    """Apply a unified diff to lines as `diff_lines` makes them, checking every context and removed line."""
    marked = re.sub(r"\n\\ No newline at end of file\n", "\0", diff)
    result, position = [], 0
    for line in re.findall(r"[^\n\0]*[\n\0]", marked)[2:]:
        text = line[1:-1] + ("\n" if line.endswith("\n") else "")
        if hunk := re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@\n", line):
            start = int(hunk[1]) - (hunk[2] != "0")
            result += old[position:start]
            position = start
        elif line[0] == "+":
            result.append(text)
        else:
            assert old[position] == text, (old[position], line)
            position += 1
            if line[0] == " ":
                result.append(text)
    return result + old[position:]


def assert_refused(outcome: ToolOutcome, *words: str) -> None:
    """Check that a call was refused in these words and changed nothing."""
    assert not outcome.ok and outcome.error is not None
    assert outcome.mutation_state == "none"
    assert [word for word in words if word not in outcome.content] == []
    assert "Errno" not in outcome.content
