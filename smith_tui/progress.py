"""An event as one plain line of progress, or as one line of JSON."""

from typing import Any

import msgspec

from smith_core.events import (
    AnyEvent,
    ChildEnded,
    ChildEvent,
    ChildStarted,
    Notice,
    RequestStarted,
    RetryWaiting,
    ToolEnded,
    ToolOutput,
    ToolStarted,
)
from smith_core.frozen import encode_hook
from smith_core.messages import ToolResult
from smith_core.roles import ROLES
from smith_core.text import shorten

SHOWN = 160
"""Most characters of arguments, a result or a task in one line."""

_SHOWN_OF_JOB = 4


def json_line(event: AnyEvent) -> bytes:
    """Return an event as JSON; live output, also that of a child, is text in it."""
    if isinstance(event, ToolOutput):
        return msgspec.json.encode(_output(event))
    if isinstance(event, ChildEvent) and isinstance(event.event, ToolOutput):
        wrapped = {"type": "child_event", "job_id": event.job_id, "role": event.role, "event": _output(event.event)}
        return msgspec.json.encode(wrapped)
    return msgspec.json.encode(event, enc_hook=encode_hook)


def _output(event: ToolOutput) -> dict[str, Any]:
    return {"type": "tool_output", "call_id": event.call_id, "text": event.chunk.decode("utf-8", "replace")}


def progress_text(event: AnyEvent) -> str:
    """Return what an event adds to the progress that a person follows, "" when that is nothing."""
    match event:
        case RequestStarted(model=model, attempt=attempt):
            return f"· asking {model}" + (f" (attempt {attempt})" if attempt > 1 else "")
        case RetryWaiting(attempt=attempt, max_attempts=most, wait_s=wait, error=error):
            return f"· {error.message}; attempt {attempt} of {most} in {wait:.1f} s"
        case ToolStarted(name=name, arguments=arguments):
            return f"▸ {name} {shorten(arguments, SHOWN)}"
        case ToolEnded(result=result):
            # What came of a child was said when the child ended.
            return "" if result.metadata.job_id else _result_text(result)
        case ChildStarted(job_id=job_id, role=role, task=task):
            return f"▸ {_who(role, job_id)} begins: {shorten(task, SHOWN)}"
        case ChildEvent(job_id=job_id, role=role, event=inner):
            text = progress_text(inner)
            return f"  [{_who(role, job_id)}] {text}" if text else ""
        case ChildEnded(result=result, duration_s=duration, tool_calls=calls):
            mark = "✗" if result.error is not None or result.cancelled else "✓"
            counted = f"{calls} tool {'call' if calls == 1 else 'calls'}"
            who = _who(result.role, result.job_id)
            return f"{mark} {who} {result.status} after {duration:.1f} s, {counted}: {shorten(result.summary, SHOWN)}"
        case Notice(text=text):
            return text
    return ""


def _result_text(result: ToolResult) -> str:
    lines = [line for line in result.content.splitlines() if line.strip()] or [""]
    # A command says at its end how it went; every other tool says it first.
    shown = lines[-1] if result.metadata.exit_code is not None else lines[0]
    return f"  {'✓' if result.ok else '✗'} {shorten(shown, SHOWN)}"


def _who(role: str, job_id: str) -> str:
    alias = ROLES[role].alias if role in ROLES else role
    return f"{alias} {job_id[:_SHOWN_OF_JOB]}"
