"""JSON schemas of actions: an object that names its tool and carries that tool's arguments."""

from collections.abc import Mapping
from typing import Any

WORDS: Mapping[str, Any] = {"type": "string", "minLength": 1}
LINES: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 60}
"""Text of a file, line by line: a small model gets line breaks right in this form."""


def object_action(tool: str, **properties: Any) -> dict[str, Any]:
    """Return the action of a tool whose arguments are these, all of them required."""
    return action_of(tool, {"type": "object", "properties": properties, "required": list(properties)})


def action_of(tool: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the action of a tool whose arguments have the schema `parameters`."""
    return {
        "type": "object",
        "properties": {"tool": {"const": tool}, **(parameters.get("properties") or {})},
        "required": ["tool", *(parameters.get("required") or ())],
        "additionalProperties": False,
    }


def plain_schema(schema: Any) -> Any:
    """Return a schema without the words that are meant for a reader."""
    if isinstance(schema, Mapping):
        kept = {key: value for key, value in schema.items() if key not in ("description", "title", "default")}
        properties = {name: plain_schema(item) for name, item in schema.get("properties", {}).items()}
        plain = {key: plain_schema(value) for key, value in kept.items() if key != "properties"}
        return {**plain, "properties": properties} if properties else plain
    if isinstance(schema, list | tuple):
        return [plain_schema(item) for item in schema]
    return schema
