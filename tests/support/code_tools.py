"""Calls the code tools as the executor does, in folders made of a few lines."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from smith_core.cancel import CancelToken
from smith_core.project import Project
from smith_core.tools.base import ToolOutcome, ToolSpec
from smith_core.tools.code.tools import code_tools
from tests.support.file_tools import make_context

TOOLS: dict[str, ToolSpec] = {tool.name: tool for tool in code_tools()}


async def explore(
    tool: str,
    cwd: Path,
    *,
    token: CancelToken | None = None,
    env: Mapping[str, str] | None = None,
    is_git: bool = False,
    tools: Mapping[str, ToolSpec] = TOOLS,
    **arguments: Any,
) -> ToolOutcome:
    """Run a code tool in `cwd`; scratch files are made above it, so that they are never found."""
    spec = tools[tool]
    context = msgspec.structs.replace(
        make_context(cwd, token),
        child_env=env or {},
        spill_dir=cwd.parent,
        project=Project(root=str(cwd), is_git=is_git),
    )
    outcome: ToolOutcome = await spec.handler(msgspec.convert(arguments, spec.arguments, strict=False), context)
    msgspec.json.encode(outcome.content)
    return outcome


def make_files(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files, their folders included, and return the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def fake_program(folder: Path, name: str, script: str) -> dict[str, str]:
    """Put a shell script of that name first on a PATH, and return an environment with it."""
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin"}
