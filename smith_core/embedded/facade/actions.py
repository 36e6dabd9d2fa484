"""What the model may do next: every action as a JSON schema in which only what exists can be said.

The model's own language has five actions for the tool edit, which name their path when several
files are in view. Lines are named by copying them:

    {"tool":"replace","old":"return x","new":"return y"}
    {"tool":"append","text":["x = 1"]}
    {"tool":"rewrite","from":"2|    return x","to":2,"text":["    return y"]}
    {"tool":"insert","after":"2|    return x","text":["x = 1"]}
    {"tool":"delete","from":"2|    return x","to":2}

`wire_call` translates an action into a call of the tools that the request offered, `wire_step` goes the other way.
"""

import keyword
import re
from collections.abc import Collection, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import msgspec

from smith_core.embedded.facade.excerpt import number_of, numbered, shown_numbers
from smith_core.embedded.facade.fileview import FileView, mentioned
from smith_core.embedded.facade.situation import Situation, Step

ANSWER = "answer"
REPORT = "report"
EDIT_ACTIONS = ("replace", "append", "rewrite", "insert", "delete")
ALWAYS_OFFERED = frozenset({"bash", "read", "edit", "write", REPORT, "code_grep"})
"""Tools that every task may need; the others are offered when the task names them, or when there is no bash."""

_EDIT_ARGUMENTS = frozenset({"path", "operation", "start_line", "end_line", "text", "hash"})
_PLACE_WORDS = re.compile(r"\b(folder|directory|files|repo|repository|project|script|run)\b", re.IGNORECASE)
_MAKING_WORDS = re.compile(r"\b(creat|mak|writ|generat|add|new|sav|stor)(e|es|ing)?\b", re.IGNORECASE)
_QUOTED = re.compile(r"\"([^\"\n]+)\"|`([^`\n]+)`|(?<!\w)'([^'\n]+)'(?!\w)")
_NAME = re.compile(r"[A-Za-z_]\w*")
_NO_NAMES = frozenset({*keyword.kwlist, "the", "a", "an", "to", "of", "function", "method", "variable", "file"})
_NAMING_WORDS = re.compile(r"\b(re)?nam(e|ed|ing)\b", re.IGNORECASE)
_PATH_WORD = re.compile(r"(?<![\w@:])~?[\w./-]*[\w-](?:\.[A-Za-z0-9]{1,8}|/[\w.-]+)(?![\w/])")
_NUMBER_PREFIX = re.compile(r"^\d+\|")
_SAME_LINE_LIKENESS = 0.7
_OPERATIONS = {"append": "insert", "rewrite": "replace", "insert": "insert", "delete": "delete"}
_ACTION_OF = {"insert": "insert", "replace": "rewrite", "delete": "delete"}
_WORDS = {"type": "string", "minLength": 1}
_LINES = {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 60}


class UnusableActionError(Exception):
    """The action fits the grammar but not the file; the text is for the model."""


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
    return sorted(ALWAYS_OFFERED.intersection(tools) if "bash" in tools else tools)


def needed_tools(tools: Mapping[str, ToolOffer], task: str) -> dict[str, ToolOffer]:
    """Return the tools worth offering: a small model among sixteen tools takes any of them."""
    words = set(re.findall(r"[a-z]+", task.lower()))
    common = common_tools(tools)
    return {name: tool for name, tool in tools.items() if name in common or words.intersection(name.split("_"))}


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
                actions.append(_action(REPORT, _plain(tool.parameters)))
        elif only_end:
            continue
        elif name == "read" and "path" in _properties(tool):
            actions += _read_actions(situation)
        elif name == "edit" and set(_properties(tool)) >= _EDIT_ARGUMENTS:
            actions += _edit_actions(situation)
        elif name == "write" and {"path", "content"} <= set(_properties(tool)):
            actions += _write_actions(situation)
        elif name == "bash" and "command" in _properties(tool):
            actions.append(_object(name, command={"type": "string"}))
        else:
            actions.append(_action(name, _plain(tool.parameters)))
    if REPORT not in tools and (not actions or only_end or (may_end and may_answer(situation))):
        actions.append(_object(ANSWER, text={"type": "string"}))
    return actions


def may_answer(situation: Situation) -> bool:
    """Whether an answer can be more than a guess: something was looked at, or the task is about nothing here."""
    if situation.steps:
        return True
    return not mentioned(situation.listing, situation.task) and not _PLACE_WORDS.search(situation.task)


def wire_call(action: Mapping[str, Any], situation: Situation) -> tuple[str, dict[str, Any]]:
    """Return the tool and the arguments that an action of the model stands for; UnusableActionError if none."""
    name = str(action["tool"])
    arguments = {key: value for key, value in action.items() if key != "tool"}
    if name in EDIT_ACTIONS:
        view = situation.views[str(arguments.get("path") or next(iter(situation.views)))]
        return "edit", _replacement(arguments, view) if name == "replace" else _line_edit(name, arguments, view)
    if name == "write" and isinstance(arguments.get("content"), list):
        arguments["content"] = "\n".join(arguments["content"]).removesuffix("\n") + "\n"
    return name, arguments


def wire_step(step: Step) -> str:
    """Return a step as the model wrote it, so that what it has seen before stays the same to the letter."""
    arguments = dict(step.arguments)
    name = step.tool
    if name == "edit" and step.before is not None:
        name = _ACTION_OF[str(arguments.get("operation"))]
        arguments = _wire_edit(name, arguments, step.before)
    elif name == "write":
        content = str(arguments.get("content") or "")
        arguments["content"] = content.removesuffix("\n").split("\n")
    return encode({"tool": name, **arguments})


def encode(action: Mapping[str, Any]) -> str:
    """Return an action in the form that the grammar asks for: JSON without blanks."""
    return msgspec.json.encode(action).decode()


def _read_actions(situation: Situation) -> list[dict[str, Any]]:
    in_task = [path for path in _named_paths(situation) if _exists(path, situation)]
    fresh = {path for path, view in situation.views.items() if view.is_whole}
    known = dict.fromkeys([*mentioned(situation.listing, situation.task), *in_task, *situation.listing])
    paths = [path for path in known if path not in fresh]
    if paths:
        return [_object("read", path={"enum": paths})]
    return [] if situation.listing else [_object("read", path={"type": "string"})]


def _write_actions(situation: Situation) -> list[dict[str, Any]]:
    """Return the ways to make a file: those that the task names, or any if the task speaks of making something."""
    missing = [path for path in _named_paths(situation) if not _exists(path, situation)]
    if missing:
        return [_object("write", path={"enum": missing}, content=_LINES)]
    if _MAKING_WORDS.search(situation.task):
        return [_object("write", path={"type": "string"}, content=_LINES)]
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


def _edit_actions(situation: Situation) -> list[dict[str, Any]]:
    actions = []
    for path, view in situation.views.items():
        # With one file in view there is nothing to choose, and every word costs time.
        where = {"path": {"const": path}} if len(situation.views) > 1 else {}
        numbers = shown_numbers(view, situation.task)
        lines = [numbered(number, view.line(number)) for number in numbers]
        actions += [_object("replace", **where, old=old, new=new) for old, new in replaceable(view, situation.task)]
        actions.append(_object("append", **where, text=_LINES))
        if lines:
            span = {"from": {"enum": lines}, "to": {"enum": numbers}}
            actions.append(_object("rewrite", **where, **span, text=_LINES))
            actions.append(_object("delete", **where, **span))
        actions.append(_object("insert", **where, after={"enum": ["0|", *lines]}, text=_LINES))
    return actions


def replaceable(view: FileView, task: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return pairs of schemas: what can be replaced in a file, and what by.

    A phrase that the task quotes by another that it quotes; a name by a name, when it speaks of naming; otherwise
    whole lines. The header of a block is left to "rewrite": what is wrong with a block mostly stands below it.
    """
    text = "\n".join(view.lines)
    quoted = list(dict.fromkeys(phrase for groups in _QUOTED.findall(task) for phrase in groups if phrase))
    present = [phrase for phrase in quoted if phrase in text]
    others = [phrase for phrase in quoted if phrase not in present]
    if present and others:
        return [({"enum": present}, {"enum": others})]
    words = [word for word in dict.fromkeys(_NAME.findall(task)) if word not in _NO_NAMES]
    names = [word for word in words if re.search(rf"\b{word}\b", text)]
    if names and _NAMING_WORDS.search(task):
        return [({"enum": names}, {"type": "string", "pattern": "^[A-Za-z_][A-Za-z_0-9]*$"})]
    pairs: list[tuple[dict[str, Any], dict[str, Any]]] = [({"enum": present}, _WORDS)] if present else []
    shown = [view.line(number) for number in shown_numbers(view, task)]
    lines = [line for line in dict.fromkeys(shown) if line.strip() and not line.rstrip().endswith((":", "{"))]
    if lines:
        pairs.append(({"enum": lines}, _WORDS))
    return pairs


def _replacement(arguments: Mapping[str, Any], view: FileView) -> dict[str, Any]:
    """Return the edit that puts new words in place of every occurrence of the old ones in view."""
    old, new = str(arguments["old"]), str(arguments["new"])
    if old in view.lines and not new[:1].isspace():
        new = old[: len(old) - len(old.lstrip())] + new
    pattern = re.escape(old)
    if re.fullmatch(r"\w+", old):
        # A name is meant, not a part of longer ones.
        pattern = rf"(?<!\w){pattern}(?!\w)"
    if old in view.lines:
        pattern = rf"(?m:^{pattern}$)"
    text = "\n".join(view.lines)
    hits = list(re.finditer(pattern, text))
    if not hits:
        raise UnusableActionError(f"{view.path} does not contain {old!r}. Copy it exactly.")
    first, last = text.count("\n", 0, hits[0].start()), text.count("\n", 0, hits[-1].end())
    replaced = re.sub(pattern, lambda _: new, "\n".join(view.lines[first : last + 1]))
    call = {
        "path": view.path,
        "operation": "replace",
        "start_line": view.first + first,
        "end_line": view.first + last,
        "text": replaced + "\n",
        "hash": view.hash,
    }
    return _widened(call, view) if len(hits) == 1 else call


def _line_edit(action: str, arguments: Mapping[str, Any], view: FileView) -> dict[str, Any]:
    """Return the edit that an action on whole lines stands for."""
    call: dict[str, Any] = {"path": view.path, "operation": _OPERATIONS[action]}
    if action == "append":
        call["start_line"] = view.total
    else:
        call["start_line"] = number_of(str(arguments["after" if action == "insert" else "from"]))
    if "to" in arguments:
        call["end_line"] = max(call["start_line"], int(arguments["to"]))
    if "text" in arguments:
        lines = [_NUMBER_PREFIX.sub("", line) for text in arguments["text"] for line in str(text).split("\n")]
        call["text"] = "\n".join(lines) + "\n"
    call["hash"] = view.hash
    return call if action != "rewrite" else _widened(call, view)


def _widened(call: dict[str, Any], view: FileView) -> dict[str, Any]:
    """Return a replacement that also covers the old lines right below it which its text writes anew.

    A small model names the first line of what it changes, and writes that line and the next ones.
    """
    new = call["text"].removesuffix("\n").split("\n")
    end = call["end_line"]
    for line in new[end - call["start_line"] + 1 :]:
        if end >= view.last or not line.strip() or _likeness(line, view.line(end + 1)) < _SAME_LINE_LIKENESS:
            break
        end += 1
    return {**call, "end_line": end}


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one.strip(), other.strip(), autojunk=False).ratio()


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
