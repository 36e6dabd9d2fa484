"""The short prompt that takes the place of ours: a small model reads a few hundred tokens, not thousands."""

import re
from collections.abc import Collection, Mapping

from smith_core.embedded.facade.actions import common_tools, wire_step
from smith_core.embedded.facade.edits import EDIT_ACTIONS
from smith_core.embedded.facade.examples import examples_for
from smith_core.embedded.facade.excerpt import file_text, result_text
from smith_core.embedded.facade.fileview import FileView, after_edit, mentioned, parse_read
from smith_core.embedded.facade.situation import Situation, Step
from smith_core.text import shorten

_HAS_PARTS = re.compile(r"\b(and|then|also)\b", re.IGNORECASE)
MAX_NAMED_FILES = 16
MAX_TASK_CHARS = 4_000
MAX_RESULTS_CHARS = 14_000
"""Of all results together: some 5,000 tokens of the 8,192 that the model can hold."""
REMINDER_CHARS = 300
_EARLIER_TURNS = 2
_EARLIER_CHARS = 300


def build_messages(
    situation: Situation, tools: Collection[str], written: Mapping[tuple[str, str], str]
) -> list[dict[str, str]]:
    """Return the messages for the model; what comes first changes least, so that its work on it can be kept.

    written: what the model wrote for a call, where that is known.
    """
    messages = opening(tools)
    for exchange in situation.earlier[-_EARLIER_TURNS:]:
        messages.append({"role": "user", "content": f"Task: {shorten(exchange.task, _EARLIER_CHARS)}"})
        messages.append({"role": "assistant", "content": shorten(exchange.answer, _EARLIER_CHARS)})
    messages.append({"role": "user", "content": _task_text(situation)})
    for step, result in zip(situation.steps, _results(situation), strict=True):
        messages.append({"role": "assistant", "content": written.get(step.call) or wire_step(step)})
        messages.append({"role": "user", "content": result})
    if situation.steps and situation.steps[-1].tool != "bash" and _HAS_PARTS.search(situation.task):
        # A small model forgets the half of a task that stands far above; told again after a command, it runs it again.
        messages[-1]["content"] += f"\n\nTask: {shorten(situation.task, REMINDER_CHARS)}"
    return messages


def opening(tools: Collection[str]) -> list[dict[str, str]]:
    """Return the messages that every conversation with these tools begins with."""
    common = common_tools(tools)
    names = [name for tool in common for name in (EDIT_ACTIONS if tool == "edit" else (tool,))]
    text = (
        "You are smith, a small local coding model. Reply with one JSON action. "
        f"Tools: {', '.join([*names, 'answer'] if 'report' not in common else names)}. "
        "Read a file before you talk about it or change it. Do all that the task asks, then end."
    )
    return [{"role": "system", "content": text}, *examples_for(common)]


def _task_text(situation: Situation) -> str:
    task = situation.task.strip()
    if len(task) > MAX_TASK_CHARS:
        task = f"{task[:MAX_TASK_CHARS]}..."
    named = dict.fromkeys([*mentioned(situation.listing, task), *situation.listing])
    names = list(named)[:MAX_NAMED_FILES]
    more = ", ..." if len(named) > len(names) else ""
    return f"Files: {', '.join(sorted(names))}{more}\nTask: {task}" if names else f"Task: {task}"


def _results(situation: Situation) -> list[str]:
    """Return what the model is told of each step; of a long turn, the oldest results are left out."""
    results: list[str] = []
    room = MAX_RESULTS_CHARS
    for step in reversed(situation.steps):
        text = _result(step, situation.task)
        room -= len(text)
        results.append(text if room >= 0 or not results else "(seen)")
    return results[::-1]


def _result(step: Step, task: str) -> str:
    path = str(step.arguments.get("path") or "")
    if step.tool == "read" and step.ok:
        view = parse_read(path, step.result)
        if isinstance(view, FileView):
            return f"{path}:\n{file_text(view, task)}"
    if step.tool == "edit" and step.ok and step.before is not None:
        view = after_edit(step.before, step.arguments, step.result)
        if view is not None:
            return "done"
    if step.tool == "write" and step.ok:
        return "done"
    return result_text(step.result) or "(no output)"
