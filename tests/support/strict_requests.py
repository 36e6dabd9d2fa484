"""What a strict endpoint refuses: every way in which a chat-completions request can be wrong, named."""

import json
import re
from typing import Any

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ROLES = ("system", "user", "assistant", "tool")


def request_violations(body: bytes, headers: dict[str, str]) -> list[str]:
    """Return what is wrong with a request body, in words; an empty list means that it is accepted."""
    try:
        request = json.loads(body.decode("utf-8"))
    except (UnicodeDecodeError, ValueError) as error:
        return [f"the body is not JSON in UTF-8: {error}"]
    if not isinstance(request, dict):
        return ["the body is not an object"]
    problems = [] if headers.get("content-type") == "application/json" else ["content-type is not application/json"]
    if request.get("stream") is not True:
        problems.append("`stream` is not true")
    if (
        not isinstance(request.get("stream_options"), dict)
        or request["stream_options"].get("include_usage") is not True
    ):
        problems.append("usage is not requested")
    if not isinstance(request.get("model"), str) or not request["model"].strip():
        problems.append("`model` is empty")
    problems += _text_problems(request)
    problems += _tool_problems(request.get("tools"))
    problems += message_violations(request.get("messages"))
    return problems


def message_violations(messages: Any) -> list[str]:
    """Return what is wrong with the order, the pairs and the content of messages."""
    if not isinstance(messages, list) or not messages:
        return ["`messages` is empty"]
    problems: list[str] = []
    seen_ids: set[str] = set()
    awaited: list[str] = []
    for position, message in enumerate(messages):
        where = f"messages[{position}]"
        role = message.get("role") if isinstance(message, dict) else None
        if role not in _ROLES:
            problems.append(f"{where}: unknown role {role!r}")
            continue
        if awaited and role != "tool":
            problems.append(f"{where}: no tool message right behind the call ids {awaited}")
            awaited = []
        if role == "system" and position > 0:
            problems.append(f"{where}: system message behind others")
        problems += [f"{where}: {problem}" for problem in _content_problems(message)]
        if role == "assistant":
            awaited, bad = _call_problems(message.get("tool_calls"), seen_ids)
            problems += [f"{where}: {problem}" for problem in bad]
        if role == "tool":
            if message.get("tool_call_id") in awaited:
                awaited.remove(message["tool_call_id"])
            else:
                problems.append(f"{where}: no call before it with the id {message.get('tool_call_id')!r}")
    if awaited:
        problems.append(f"no tool message right behind the call ids {awaited}")
    if isinstance(messages[-1], dict) and messages[-1].get("role") in ("assistant", "system"):
        problems.append(f"the last message is of role {messages[-1]['role']}")
    return problems


def _content_problems(message: dict[str, Any]) -> list[str]:
    content = message.get("content")
    if message["role"] == "assistant" and not message.get("tool_calls"):
        return [] if isinstance(content, str) and content.strip() else ["empty assistant message"]
    if message["role"] == "assistant" and content is None:
        return []
    return [] if isinstance(content, str) else ["content is not a string"]


def _call_problems(calls: Any, seen_ids: set[str]) -> tuple[list[str], list[str]]:
    if calls is None:
        return [], []
    if not isinstance(calls, list) or not calls:
        return [], ["`tool_calls` is empty"]
    ids, problems = [], []
    for call in calls:
        function = call.get("function") or {}
        call_id = call.get("id")
        if not isinstance(call_id, str) or not call_id.strip():
            problems.append("a call without an id")
        elif call_id in seen_ids:
            problems.append(f"the call id {call_id!r} is doubled")
        else:
            seen_ids.add(call_id)
            ids.append(call_id)
        if call.get("type") != "function" or not _TOOL_NAME.fullmatch(str(function.get("name") or "")):
            problems.append(f"the call {call_id!r} has no function name")
        if not _is_object(function.get("arguments")):
            problems.append(f"the arguments of {call_id!r} are not a JSON object")
    return ids, problems


def _is_object(arguments: Any) -> bool:
    try:
        return isinstance(arguments, str) and isinstance(json.loads(arguments), dict)
    except ValueError:
        return False


def _tool_problems(tools: Any) -> list[str]:
    if tools is None:
        return []
    if not isinstance(tools, list) or not tools:
        return ["`tools` is empty"]
    problems, names = [], set()
    for tool in tools:
        function = tool.get("function") if isinstance(tool, dict) and tool.get("type") == "function" else None
        if not isinstance(function, dict):
            problems.append("a tool that is no function")
            continue
        name = str(function.get("name") or "")
        if not _TOOL_NAME.fullmatch(name) or name in names:
            problems.append(f"the tool name {name!r} is invalid or doubled")
        names.add(name)
        problems += [f"tool {name}: {problem}" for problem in _schema_problems(function.get("parameters"), root=True)]
    return problems


def _schema_problems(schema: Any, *, root: bool = False) -> list[str]:
    if not isinstance(schema, dict):
        return ["the schema is not an object"]
    problems = []
    if root and schema.get("type") != "object":
        problems.append("the schema's type is not object")
    if "$ref" in schema:
        problems.append("the schema has a reference")
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        return [*problems, "`properties` is not an object"]
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) and name in properties for name in required):
        problems.append("`required` names what is not a property")
    for name, child in properties.items():
        problems += [f"{name}: {problem}" for problem in _schema_problems(child)]
    if "items" in schema:
        problems += _schema_problems(schema["items"])
    return problems


def _text_problems(value: Any) -> list[str]:
    """Lone surrogates and NUL can be written as JSON escapes, and poison whatever stores the text."""
    text = json.dumps(value, ensure_ascii=False)
    # The escape itself may be quoted, as text that somebody has written.
    problems = ["U+0000 in the request"] if re.search(r"(?<!\\)(?:\\\\)*\\u0000", text) else []
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        problems.append("a lone surrogate in the request")
    return problems
