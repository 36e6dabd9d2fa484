"""Chat-completions requests as our engine makes them, for tests of the facade."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from smith_core.project import find_project
from smith_core.prompt import build_system_prompt
from smith_core.roles import ROLES
from smith_core.tools.builtin import BUILTIN_TOOLS
from smith_core.tools.registry import ToolRegistry

REPORT_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "report",
        "description": "End the work.",
        "parameters": {
            "type": "object",
            "properties": {"status": {"enum": ["ok", "partial", "blocked"]}, "summary": {"type": "string"}},
            "required": ["status", "summary"],
        },
    },
}


def our_tools() -> list[dict[str, Any]]:
    """Return the built-in tools as they are offered to a model in the role direct."""
    return [
        {
            "type": "function",
            "function": {"name": spec.name, "description": spec.description, "parameters": spec.schema},
        }
        for spec in ToolRegistry(BUILTIN_TOOLS).list("direct")
    ]


def request(
    folder: Path,
    task: str,
    *steps: tuple[str, Mapping[str, Any], str],
    tools: list[dict[str, Any]] | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """Return a request in the middle of a turn; steps: tool, arguments, result."""
    prompt = build_system_prompt(ROLES["direct"], str(folder), find_project(folder, ""))
    messages: list[dict[str, Any]] = [{"role": "system", "content": prompt}, {"role": "user", "content": task}]
    for number, (name, arguments, result) in enumerate(steps):
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": result})
    offered = our_tools() if tools is None else tools
    return {"model": "smith-local", "messages": messages, "tools": offered, "stream": True, **fields}


def read_result(path: str, text: str, hash_: str = "a" * 64) -> str:
    """Return a result of the tool read, in its form."""
    lines = text.removesuffix("\n").split("\n")
    shown = "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, 1))
    facts = f"lines 1-{len(lines)} of {len(lines)}, {len(text)} bytes, UTF-8, line endings: LF"
    return f"{path}: {facts}\nhash: {hash_}\n\n{shown}"


def edit_result(path: str, hash_: str = "b" * 64) -> str:
    """Return a result of the tool edit, in its form."""
    return f"{path}: replaced line 1 by line 1; line delta +0, the file now has 1 lines\nnew_hash: {hash_}\n     1\tx"
