"""The model's own language for the tool edit: five actions, turned into calls with hash and line numbers.

They name their path only when several files are in view, and name lines by copying them:

    {"tool":"replace","old":"return x","new":"return y"}
    {"tool":"append","text":["x = 1"]}
    {"tool":"rewrite","from":"2|    return x","to":2,"text":["    return y"]}
    {"tool":"insert","after":"2|    return x","text":["x = 1"]}
    {"tool":"delete","from":"2|    return x","to":2}
"""

import keyword
import re
from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Any

from smith_core.embedded.facade.excerpt import number_of, numbered, shown_numbers
from smith_core.embedded.facade.fileview import FileView
from smith_core.embedded.facade.schema import LINES, WORDS, object_action
from smith_core.embedded.facade.situation import Situation, Step

EDIT_ACTIONS = ("replace", "append", "rewrite", "insert", "delete")
Replaceable = tuple[Mapping[str, Any], Mapping[str, Any]]
_QUOTED = re.compile(r"\"([^\"\n]+)\"|`([^`\n]+)`|(?<!\w)'([^'\n]+)'(?!\w)")
_NAME = re.compile(r"[A-Za-z_]\w*")
_NO_NAMES = frozenset({*keyword.kwlist, "the", "a", "an", "to", "of", "function", "method", "variable", "file"})
_NAMING_WORDS = re.compile(r"\b(re)?nam(e|ed|ing)\b", re.IGNORECASE)
_NUMBER_PREFIX = re.compile(r"^\d+\|")
_SAME_LINE_LIKENESS = 0.7
_OPERATIONS = {"append": "insert", "rewrite": "replace", "insert": "insert", "delete": "delete"}
_ACTION_OF = {"insert": "insert", "replace": "rewrite", "delete": "delete"}


class UnusableActionError(Exception):
    """The action fits the grammar but not the file; the text is for the model."""


def edit_actions(situation: Situation) -> list[dict[str, Any]]:
    """Return the schemas of the edits that are possible on the files in view."""
    actions = []
    for path, view in situation.views.items():
        # With one file in view there is nothing to choose, and every word costs time.
        where = {"path": {"const": path}} if len(situation.views) > 1 else {}
        numbers = shown_numbers(view, situation.task)
        lines = [numbered(number, view.line(number)) for number in numbers]
        actions += [
            object_action("replace", **where, old=old, new=new) for old, new in replaceable(view, situation.task)
        ]
        actions.append(object_action("append", **where, text=LINES))
        if lines:
            span = {"from": {"enum": lines}, "to": {"enum": numbers}}
            actions.append(object_action("rewrite", **where, **span, text=LINES))
            actions.append(object_action("delete", **where, **span))
        actions.append(object_action("insert", **where, after={"enum": ["0|", *lines]}, text=LINES))
    return actions


def edit_call(action: str, arguments: Mapping[str, Any], situation: Situation) -> dict[str, Any]:
    """Return the arguments of edit that an action stands for; UnusableActionError when the file has no such words."""
    view = situation.views[str(arguments.get("path") or next(iter(situation.views)))]
    return _replacement(arguments, view) if action == "replace" else _line_edit(action, arguments, view)


def edit_action(step: Step) -> dict[str, Any]:
    """Return an action that stands for an edit made before; a replacement comes back as a rewrite."""
    assert step.before is not None
    operation = str(step.arguments.get("operation"))
    return {"tool": _ACTION_OF.get(operation, "rewrite"), **_wire_edit(operation, step.arguments, step.before)}


def replaceable(view: FileView, task: str) -> list[Replaceable]:
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
    pairs: list[Replaceable] = [({"enum": present}, WORDS)] if present else []
    shown = [view.line(number) for number in shown_numbers(view, task)]
    lines = [line for line in dict.fromkeys(shown) if line.strip() and not line.rstrip().endswith((":", "{"))]
    if lines:
        pairs.append(({"enum": lines}, WORDS))
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
