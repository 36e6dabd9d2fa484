"""What is wrong with an action before it is carried out, and when there is no sense in going on."""

import ast
import tomllib
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from smith_core.embedded.facade.fileview import FileView, changed_lines
from smith_core.embedded.facade.situation import Situation, Step
from smith_core.text import shorten

MAX_STEPS = 16
MAX_FAILURES_IN_A_ROW = 3

Verdict = Literal["repeated", "mistaken", "unread"]


class Objection(msgspec.Struct, frozen=True):
    """Why a call is not made; `words` are for the model.

    repeated: it was made before and nothing changed. mistaken: it would break the file. unread: the file is there,
    and has to be read before it is replaced.
    """

    verdict: Verdict
    words: str


def objection_to(tool: str, arguments: Mapping[str, Any], situation: Situation) -> Objection | None:
    """Return what speaks against a call, or None."""
    call = Step(tool=tool, arguments=arguments, result="", ok=True).call
    earlier = [index for index, step in enumerate(situation.steps) if step.call == call]
    if earlier and not any(step.tool in ("edit", "write") and step.ok for step in situation.steps[earlier[-1] + 1 :]):
        return Objection("repeated", "That was done already.")
    path = str(arguments.get("path") or "")
    if tool == "write" and (path in situation.views or _is_listed(path, situation)):
        if path not in situation.views:
            return Objection("unread", f"{path} exists already.")
        return Objection("mistaken", f"{path} exists already. Change it with replace, append or rewrite.")
    before, after = _contents(tool, arguments, situation)
    if after is None:
        return None
    if before == after:
        return Objection("mistaken", "That changes nothing. Write the changed lines.")
    if any("\n".join(view.lines) + "\n" == after for view in _earlier_states(path, situation)):
        return Objection("repeated", "That would undo a change.")
    mistake = syntax_mistake(path, after)
    if mistake and not (before is not None and syntax_mistake(path, before)):
        return Objection("mistaken", f"Not done: {path} would not be valid then ({mistake}). Try again.")
    return None


def syntax_mistake(path: str, content: str) -> str:
    """Return why a Python, JSON or TOML file could not be read by its language, "" if it could, or for other files."""
    try:
        if path.endswith(".py"):
            ast.parse(content)
        elif path.endswith(".json"):
            msgspec.json.decode(content)
        elif path.endswith(".toml"):
            tomllib.loads(content)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return shorten(str(error), 80)
    return ""


def reason_to_stop(situation: Situation) -> str:
    """Return why the model will not get any further, in words for the person, or "" while it may."""
    steps = situation.steps
    failures = 0
    while failures < len(steps) and not steps[-1 - failures].ok:
        failures += 1
    if failures >= 2 and steps[-1].call == steps[-2].call:
        return "the same call failed twice"
    if failures >= MAX_FAILURES_IN_A_ROW:
        return f"{failures} calls in a row failed"
    if len(steps) >= MAX_STEPS:
        return f"{len(steps)} steps did not bring it to an end"
    return ""


def honest_ending(situation: Situation, reason: str) -> str:
    """Return the text that ends a turn which the model could not bring to an end."""
    changed = dict.fromkeys(
        str(step.arguments.get("path")) for step in situation.steps if step.ok and step.tool in ("edit", "write")
    )
    parts = [f"I could not finish this: {reason}."]
    if situation.steps and not situation.steps[-1].ok:
        lines = [line for line in situation.steps[-1].result.splitlines() if line.strip()]
        parts.append(f"The last result was: {shorten(lines[-1] if lines else 'nothing', 200)}")
    parts.append(f"Changed so far: {', '.join(changed)}." if changed else "I changed no file.")
    return " ".join(parts)


def _contents(tool: str, arguments: Mapping[str, Any], situation: Situation) -> tuple[str | None, str | None]:
    """Return what a file holds before and after a call; None where it is not known, or not all of it."""
    view = situation.views.get(str(arguments.get("path") or ""))
    before = "\n".join(view.lines) + "\n" if view is not None and view.is_whole else None
    if tool == "write":
        return before, str(arguments.get("content") or "")
    if tool == "edit" and view is not None and before is not None:
        return before, "\n".join(changed_lines(view, arguments)) + "\n"
    return before, None


def _earlier_states(path: str, situation: Situation) -> list[FileView]:
    return [step.before for step in situation.steps if step.before is not None and step.before.path == path]


def _is_listed(path: str, situation: Situation) -> bool:
    relative = path.removeprefix("./").removeprefix(f"{situation.folder}/")
    return relative in situation.listing
