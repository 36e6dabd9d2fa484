"""What the model may do next: every action as a JSON schema in which only what exists can be said.

`wire_call` translates an action into a call of the tools that the request offered, `wire_step` goes the other way.
"""

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import msgspec

from smith_core.embedded.facade.edits import EDIT_ACTIONS, edit_action, edit_actions, edit_call
from smith_core.embedded.facade.fileview import mentioned
from smith_core.embedded.facade.schema import LINES, action_of, object_action, plain_schema
from smith_core.embedded.facade.situation import Situation, Step

ANSWER = "answer"
REPORT = "report"
ALWAYS_OFFERED = frozenset({"bash", "read", "edit", "write", REPORT})
"""Tools that every task may need; the others are offered when the task names them, or when there is no bash."""

_FOR_LARGE_PROJECTS = frozenset({"code_map", "code_symbols", "code_outline"})

_EDIT_ARGUMENTS = frozenset({"path", "operation", "start_line", "end_line", "text", "hash"})
_PLACE_WORDS = re.compile(r"\b(folder|directory|files|repo|repository|project|script|run)\b", re.IGNORECASE)
_MAKING_WORDS = re.compile(r"\b(creat|mak|writ|generat|add|new|sav|stor)(e|es|ing)?\b", re.IGNORECASE)
_RUN_ORDER = re.compile(r"(please\s+)?(run|execute|start|launch)\b", re.I)
_QUESTION = re.compile(
    r"(what|which|who|where|when|why|how|does|do|is|are|was|can|show|list|explain|describe|tell|read|find|look)\b", re.I
)
_CHANGING_WORDS = re.compile(
    r"\b(add|chang|creat|delet|edit|fix|insert|mak|mend|modif|mov|put|remov|renam|replac|rewrit|set|swap|updat|writ)",
    re.I,
)
_PATH_WORD = re.compile(r"(?<![\w@:])~?[\w./-]*[\w-](?:\.[A-Za-z0-9]{1,8}|/[\w.-]+)(?![\w/])")


class ToolOffer(msgspec.Struct, frozen=True):
    """A tool of the request; `parameters` is the JSON schema of its arguments."""

    name: str
    parameters: Mapping[str, Any]


def offered_tools(request: Mapping[str, Any]) -> dict[str, ToolOffer]:
    """Return the tools of a request by name; none when its tool_choice is "none"."""
    if request.get("tool_choice") == "none":
        return {}
    functions = [tool.get("function") or {} for tool in request.get("tools") or [] if isinstance(tool, Mapping)]
    return {
        str(function["name"]): ToolOffer(str(function["name"]), function.get("parameters") or {"type": "object"})
        for function in functions
        if function.get("name")
    }


def common_tools(tools: Collection[str]) -> list[str]:
    """Return the tools that are offered whatever the task is, in an order that is always the same."""
    return sorted(ALWAYS_OFFERED.intersection(tools) if "bash" in tools else set(tools) - _FOR_LARGE_PROJECTS)


def needed_tools(tools: Mapping[str, ToolOffer], task: str) -> dict[str, ToolOffer]:
    """Return the tools worth offering: a small model among sixteen tools takes any of them."""
    words = set(re.findall(r"[a-z]+", task.lower()))
    common = common_tools(tools)
    return {name: tool for name, tool in tools.items() if name in common or _is_named(name, words, task)}


def _is_named(tool: str, words: Collection[str], task: str) -> bool:
    # Nearly every task speaks of code or files, and means none of the code tools with it.
    return tool in task if tool.startswith("code_") else not set(tool.split("_")).isdisjoint(words)


def next_actions(
    situation: Situation, tools: Mapping[str, ToolOffer], *, only_end: bool = False, may_end: bool = True
) -> list[dict[str, Any]]:
    """Return the schemas of the actions that make sense now; only_end: those alone that end the turn.

    may_end: whether those are among them, as long as there are others.
    """
    actions: list[dict[str, Any]] = []
    for name, tool in needed_tools(tools, situation.task).items():
        if name == REPORT:
            if only_end or (may_end and situation.steps):
                actions.append(action_of(REPORT, plain_schema(tool.parameters)))
        elif only_end:
            continue
        elif name == "read" and "path" in _properties(tool):
            actions += _read_actions(situation)
        elif name in ("edit", "write") and only_asks(situation.task):
            continue
        elif name == "edit" and set(_properties(tool)) >= _EDIT_ARGUMENTS:
            actions += edit_actions(situation)
        elif name == "write" and {"path", "content"} <= set(_properties(tool)):
            actions += _write_actions(situation)
        elif name == "bash" and "command" in _properties(tool):
            actions.append(object_action(name, command={"type": "string"}))
        else:
            actions.append(action_of(name, plain_schema(tool.parameters)))
    if REPORT not in tools and (not actions or only_end or (may_end and may_answer(situation, tools))):
        actions.append(object_action(ANSWER, text={"type": "string"}))
    return actions


def may_answer(situation: Situation, tools: Collection[str]) -> bool:
    """Whether an answer can be more than a guess: something was looked at, or the task is about nothing here.

    What is to be run has to run: reading a script does not tell what comes out of it.
    """
    if "bash" in tools and _RUN_ORDER.match(situation.task.strip()):
        return any(step.tool == "bash" for step in situation.steps)
    if situation.steps:
        return True
    return not mentioned(situation.listing, situation.task) and not _PLACE_WORDS.search(situation.task)


def only_asks(task: str) -> bool:
    """Whether a task is a question that speaks of no change; files are safe from a model that answers by editing."""
    return bool(_QUESTION.match(task.strip())) and not _CHANGING_WORDS.search(task)


def wire_call(action: Mapping[str, Any], situation: Situation) -> tuple[str, dict[str, Any]]:
    """Return the tool and the arguments that an action of the model stands for; UnusableActionError if none."""
    name = str(action["tool"])
    arguments = {key: value for key, value in action.items() if key != "tool"}
    if name in EDIT_ACTIONS:
        return "edit", edit_call(name, arguments, situation)
    if name == "write" and isinstance(arguments.get("content"), list):
        arguments["content"] = "\n".join(arguments["content"]).removesuffix("\n") + "\n"
    return name, arguments


def wire_step(step: Step) -> str:
    """Return a step as the model wrote it, so that what it has seen before stays the same to the letter."""
    if step.tool == "edit" and step.before is not None:
        return encode(edit_action(step))
    arguments = dict(step.arguments)
    if step.tool == "write":
        arguments["content"] = str(arguments.get("content") or "").removesuffix("\n").split("\n")
    return encode({"tool": step.tool, **arguments})


def encode(action: Mapping[str, Any]) -> str:
    """Return an action in the form that the grammar asks for: JSON without blanks."""
    return msgspec.json.encode(action).decode()


def _read_actions(situation: Situation) -> list[dict[str, Any]]:
    in_task = [path for path in _named_paths(situation) if _exists(path, situation)]
    fresh = {path for path, view in situation.views.items() if view.is_whole}
    known = dict.fromkeys([*mentioned(situation.listing, situation.task), *in_task, *situation.listing])
    paths = [path for path in known if path not in fresh]
    if paths:
        return [object_action("read", path={"enum": paths})]
    return [] if situation.listing else [object_action("read", path={"type": "string"})]


def _write_actions(situation: Situation) -> list[dict[str, Any]]:
    """Return the ways to make a file: those that the task names, or any if the task speaks of making something."""
    missing = [path for path in _named_paths(situation) if not _exists(path, situation)]
    if missing:
        return [object_action("write", path={"enum": missing}, content=LINES)]
    if _MAKING_WORDS.search(situation.task):
        return [object_action("write", path={"type": "string"}, content=LINES)]
    return []


def _named_paths(situation: Situation) -> list[str]:
    return [word for word in _PATH_WORD.findall(situation.task) if not word.startswith("//")]


def _exists(path: str, situation: Situation) -> bool:
    if path in situation.listing or path in situation.views:
        return True
    try:
        return (Path(situation.folder) / Path(path).expanduser()).is_file()
    except (OSError, RuntimeError, ValueError):
        return False


def _properties(tool: ToolOffer) -> Mapping[str, Any]:
    return tool.parameters.get("properties") or {}
