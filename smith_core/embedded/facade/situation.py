"""Where a conversation stands, read out of a chat-completions request: the task, the steps so far, what was seen."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from smith_core.embedded.facade.fileview import FileView, after_edit, list_files, parse_read, written_view

_FOLDER_LINE = re.compile(r"^- (CWD|Repository root): (.+)$", re.MULTILINE)
_FAILED_COMMAND = re.compile(r"^\[(?:exit code [1-9]|timed out|killed)", re.MULTILINE)


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One call of this turn and its result; `before` is the view of the file that an edit changed."""

    tool: str
    arguments: Mapping[str, Any]
    result: str
    ok: bool
    before: FileView | None = None

    @property
    def call(self) -> tuple[str, str]:
        """The call alone, for comparing it with others."""
        return self.tool, msgspec.json.encode(self.arguments, order="sorted").decode()


class Exchange(msgspec.Struct, frozen=True):
    """An earlier turn, in two texts."""

    task: str
    answer: str


class Situation(msgspec.Struct, frozen=True, kw_only=True):
    """All that the next action depends on; `views` are the files read in this turn, as they are now.

    listing: files of the working folder, those left out that this turn has made.
    """

    task: str
    folder: str = ""
    listing: tuple[str, ...] = ()
    earlier: tuple[Exchange, ...] = ()
    steps: tuple[Step, ...] = ()
    views: Mapping[str, FileView] = {}

    @property
    def changed_since(self) -> int:
        """The index of the first step behind the last change; calls before it may be worth repeating."""
        changes = [index for index, step in enumerate(self.steps) if step.tool in CHANGING_TOOLS and step.ok]
        return changes[-1] + 1 if changes else 0


CHANGING_TOOLS = frozenset({"edit", "write", "bash"})


def read_situation(request: Mapping[str, Any]) -> Situation:
    """Return where the conversation of a request stands; messages of unknown form are passed over."""
    messages = [message for message in request.get("messages") or [] if isinstance(message, Mapping)]
    folder = _working_folder(messages)
    last_user = max((index for index, message in enumerate(messages) if message.get("role") == "user"), default=-1)
    steps, views = _steps(messages[last_user + 1 :])
    made = {str(step.arguments.get("path")) for step in steps if step.tool == "write" and "created" in step.result}
    return Situation(
        task=text_of(messages[last_user]) if last_user >= 0 else "",
        folder=folder,
        listing=tuple(path for path in list_files(folder) if path not in made) if folder else (),
        earlier=_exchanges(messages[:last_user]),
        steps=steps,
        views=views,
    )


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message, whose content may come in parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _working_folder(messages: list[Mapping[str, Any]]) -> str:
    facts: dict[str, str] = {}
    for message in messages:
        if message.get("role") in ("system", "developer"):
            for name, value in _FOLDER_LINE.findall(text_of(message)):
                facts.setdefault(name, value.strip())
    return facts.get("CWD") or facts.get("Repository root") or ""


def _exchanges(messages: list[Mapping[str, Any]]) -> tuple[Exchange, ...]:
    exchanges: list[Exchange] = []
    task = ""
    for message in messages:
        if message.get("role") == "user":
            task = text_of(message)
        elif message.get("role") == "assistant" and not message.get("tool_calls") and task:
            exchanges.append(Exchange(task, text_of(message)))
            task = ""
    return tuple(exchanges)


def _steps(messages: list[Mapping[str, Any]]) -> tuple[tuple[Step, ...], dict[str, FileView]]:
    calls: dict[str, tuple[str, dict[str, Any]]] = {}
    steps: list[Step] = []
    views: dict[str, FileView] = {}
    for message in messages:
        for call in message.get("tool_calls") or []:
            function = call.get("function") or {}
            calls[str(call.get("id"))] = str(function.get("name")), _decoded(function.get("arguments"))
        if message.get("role") == "tool" and str(message.get("tool_call_id")) in calls:
            tool, arguments = calls[str(message.get("tool_call_id"))]
            steps.append(_take_step(tool, arguments, text_of(message), views))
    return tuple(steps), views


def _take_step(tool: str, arguments: dict[str, Any], result: str, views: dict[str, FileView]) -> Step:
    """Return the step, and bring `views` up to date with it."""
    path = str(arguments.get("path") or "")
    before = views.get(path)
    ok = not _FAILED_COMMAND.search(result)
    if tool == "read":
        after = parse_read(path, result)
        ok = after is not None or ": binary file, " in result
    elif tool == "edit":
        after = after_edit(before, arguments, result) if before else None
        ok = after is not None
    elif tool == "write":
        after = written_view(path, str(arguments.get("content") or ""), result)
        ok = after is not None
    else:
        after = None
        if tool == "bash" and not _only_looks(str(arguments.get("command") or "")):
            # A command may have changed any file, so that nothing seen before may be edited unseen.
            views.clear()
    if after is not None:
        views[path] = after
    elif tool in ("edit", "write"):
        views.pop(path, None)
    return Step(tool=tool, arguments=arguments, result=result, ok=ok, before=before)


_LOOKING = re.compile(r"^\s*(ls|cat|head|tail|wc|grep|rg|find|pwd|echo|git (status|log|diff|show))\b[^>|;&]*$")


def _only_looks(command: str) -> bool:
    return bool(_LOOKING.match(command))


def _decoded(arguments: Any) -> dict[str, Any]:
    if isinstance(arguments, Mapping):
        return dict(arguments)
    try:
        value = msgspec.json.decode(str(arguments or "{}"))
    except (msgspec.DecodeError, UnicodeError):
        return {}
    return value if isinstance(value, dict) else {}
