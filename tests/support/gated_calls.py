"""Single tool calls through the executor, with tools made for the test."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from smith_core.cancel import CancelToken, new_root
from smith_core.messages import ToolCall
from smith_core.project import Project
from smith_core.tools.base import ToolContext, ToolOutcome, ToolSpec, succeeded
from smith_core.tools.executor import execute
from smith_core.tools.registry import ToolRegistry


class ReadArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: str
    start_line: int | None = None


class NoArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: str = "."


async def echo(arguments: Any, context: ToolContext) -> ToolOutcome:
    return succeeded(f"path={arguments.path}")


def spec(name: str = "read", arguments: type[msgspec.Struct] = ReadArguments, **fields: Any) -> ToolSpec:
    fields.setdefault("handler", echo)
    return ToolSpec(name=name, description="a tool", arguments=arguments, **fields)


def context_for(token: CancelToken, folder: Path) -> Callable[[str], ToolContext]:
    return lambda call_id: ToolContext(
        call_id=call_id,
        role="direct",
        turn_id="t",
        cancel_token=token,
        cwd=folder,
        project=Project(root=str(folder)),
        emit_output=lambda chunk: None,
        child_env={},
        spill_dir=folder,
    )


async def run(call: ToolCall, *specs: ToolSpec, role: str = "direct", token: CancelToken | None = None) -> Any:
    return await execute(call, role, ToolRegistry(specs), context_for(token or new_root(), Path("/tmp")))
