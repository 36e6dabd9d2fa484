"""What the model may do next: every action as a JSON schema in which only what exists can be said.

The model's own language has one action for each operation of the tool edit, and names lines by copying them:

    {"tool":"replace","path":"a.py","from":"2|    return x","to":2,"text":["    return y"]}

`wire_call` translates an action into a call of the tools that the request offered, `wire_step` goes the other way.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from smith_core.embedded.facade.excerpt import number_of, numbered, shown_numbers
from smith_core.embedded.facade.fileview import FileView, mentioned
from smith_core.embedded.facade.situation import Situation, Step

ANSWER = "answer"
REPORT = "report"
EDIT_OPERATIONS = ("replace", "insert", "delete")
ALWAYS_OFFERED = frozenset({"bash", "read", "edit", "write", REPORT, "code_grep"})
"""Tools that every task may need; the others are offered when the task names them, or when there is no bash."""

_EDIT_ARGUMENTS = frozenset({"path", "operation", "start_line", "end_line", "text", "hash"})
_PLACE_WORDS = re.compile(r"\b(folder|directory|files|repo|repository|project|script|run)\b", re.IGNORECASE)
_PATH_WORD = re.compile(r"(?<![\w@:])~?[\w./-]*[\w-](?:\.[A-Za-z0-9]{1,8}|/[\w.-]+)(?![\w/])")
_NUMBER_PREFIX = re.compile(r"^\d+\|")
_LINES = {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 60}


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


def needed_tools(tools: Mapping[str, ToolOffer], task: str) -> dict[str, ToolOffer]:
    """Return the tools worth offering: a small model among sixteen tools takes any of them."""
    if "bash" not in tools:
        return dict(tools)
    words = set(re.findall(r"[a-z]+", task.lower()))
    return {name: tool for name, tool in tools.items() if name in ALWAYS_OFFERED or words.intersection(name.split("_"))}


def next_actions(situation: Situation, tools: Mapping[str, ToolOffer], *, only_end: bool = False) -> list[dict[str, Any]]:
    """Return the schemas of the actions that make sense now; only_end: those alone that end the turn."""
    actions: list[dict[str, Any]] = []
    for name, tool in needed_tools(tools, situation.task).items():
        if name == REPORT:
            if situation.steps or only_end:
                actions.append(_action(REPORT, _plain(tool.parameters)))
        elif only_end:
            continue
        elif name == "read" and "path" in _properties(tool):
            actions += _read_actions(situation)
        elif name == "edit" and set(_properties(tool)) >= _EDIT_ARGUMENTS:
            actions += _edit_actions(situation)
        elif name == "write" and {"path", "content"} <= set(_properties(tool)):
            actions.append(_object(name, path={"type": "string"}, content=_LINES))
        elif name == "bash" and "command" in _properties(tool):
            actions.append(_object(name, command={"type": "string"}))
        else:
            actions.append(_action(name, _plain(tool.parameters)))
    if REPORT not in tools and (not actions or only_end or may_answer(situation)):
        actions.append(_object(ANSWER, text={"type": "string"}))
    return actions


def may_answer(situation: Situation) -> bool:
    """Whether an answer can be more than a guess: something was looked at, or the task is about nothing here."""
    if situation.steps:
        return True
    return not mentioned(situation.listing, situation.task) and not _PLACE_WORDS.search(situation.task)


def wire_call(action: Mapping[str, Any], situation: Situation) -> tuple[str, dict[str, Any]]:
    """Return the tool and the arguments that an action of the model stands for."""
    name = str(action["tool"])
    arguments = {key: value for key, value in action.items() if key != "tool"}
    if name in EDIT_OPERATIONS:
        return "edit", _edit_arguments(name, arguments, situation)
    if name == "write" and isinstance(arguments.get("content"), list):
        arguments["content"] = "\n".join(arguments["content"]).removesuffix("\n") + "\n"
    return name, arguments


def wire_step(step: Step) -> str:
    """Return a step as the model wrote it, so that what it has seen before stays the same to the letter."""
    arguments = dict(step.arguments)
    name = step.tool
    if name == "edit" and step.before is not None:
        name = str(arguments.get("operation"))
        arguments = _wire_edit(name, arguments, step.before)
    elif name == "write":
        content = str(arguments.get("content") or "")
        arguments["content"] = content.removesuffix("\n").split("\n")
    return encode({"tool": name, **arguments})


def encode(action: Mapping[str, Any]) -> str:
    """Return an action in the form that the grammar asks for: JSON without blanks."""
    return msgspec.json.encode(action).decode()


def _read_actions(situation: Situation) -> list[dict[str, Any]]:
    in_task = [word for word in _PATH_WORD.findall(situation.task) if not word.startswith("//")]
    fresh = {path for path, view in situation.views.items() if view.is_whole}
    known = dict.fromkeys([*mentioned(situation.listing, situation.task), *in_task, *situation.listing])
    paths = [path for path in known if path not in fresh]
    if paths:
        return [_object("read", path={"enum": paths})]
    return [] if situation.listing else [_object("read", path={"type": "string"})]


def _edit_actions(situation: Situation) -> list[dict[str, Any]]:
    actions = []
    for path, view in situation.views.items():
        numbers = shown_numbers(view, situation.task)
        lines = [numbered(number, view.line(number)) for number in numbers]
        where = {"const": path}
        if lines:
            span = {"path": where, "from": {"enum": lines}, "to": {"enum": numbers}}
            actions.append(_object("replace", **span, text=_LINES))
            actions.append(_object("delete", **span))
        actions.append(_object("insert", path=where, after={"enum": ["0|", *lines]}, text=_LINES))
    return actions


def _edit_arguments(operation: str, arguments: Mapping[str, Any], situation: Situation) -> dict[str, Any]:
    path = str(arguments.get("path"))
    view = situation.views[path]
    start = number_of(str(arguments["after" if operation == "insert" else "from"]))
    call: dict[str, Any] = {"path": path, "operation": operation, "start_line": start}
    if operation != "insert":
        call["end_line"] = max(start, int(arguments["to"]))
    if operation != "delete":
        lines = [_NUMBER_PREFIX.sub("", line) for text in arguments["text"] for line in str(text).split("\n")]
        call["text"] = "\n".join(lines) + "\n"
    call["hash"] = view.hash
    return call


def _wire_edit(operation: str, arguments: Mapping[str, Any], before: FileView) -> dict[str, Any]:
    start = int(arguments.get("start_line") or 0)
    line = numbered(start, before.line(start)) if before.first <= start <= before.last else f"{start}|"
    wire: dict[str, Any] = {"path": arguments.get("path")}
    if operation == "insert":
        wire["after"] = line
    else:
        wire |= {"from": line, "to": arguments.get("end_line") or start}
    if operation != "delete":
        wire["text"] = str(arguments.get("text") or "").removesuffix("\n").split("\n")
    return wire


def _object(tool: str, **properties: Any) -> dict[str, Any]:
    return _action(tool, {"type": "object", "properties": properties, "required": list(properties)})


def _action(tool: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"tool": {"const": tool}, **(parameters.get("properties") or {})},
        "required": ["tool", *(parameters.get("required") or ())],
        "additionalProperties": False,
    }


def _plain(schema: Any) -> Any:
    """Return a schema without the words that are meant for a reader."""
    if isinstance(schema, Mapping):
        return {
            key: {name: _plain(item) for name, item in value.items()} if key == "properties" else _plain(value)
            for key, value in schema.items()
            if key not in ("description", "title", "default")
        }
    return [_plain(item) for item in schema] if isinstance(schema, Sequence) and not isinstance(schema, str) else schema


def _properties(tool: ToolOffer) -> Mapping[str, Any]:
    return tool.parameters.get("properties") or {}
