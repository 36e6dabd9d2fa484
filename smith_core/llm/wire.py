"""A request as chat-completions JSON: messages, tools and parameters as every endpoint takes them."""

import json
import re
from typing import Any

from smith_core.frozen import thaw
from smith_core.llm.protocol import ModelRequest, ToolDefinition
from smith_core.llm.tool_calls import NO_ARGUMENTS, is_json_object
from smith_core.messages import Message, ToolCall
from smith_core.text import clean_text

NEEDS_REASONING_BACK = ("deepseek", "kimi")
"""Models that refuse a history whose calls lack the reasoning before them.

Source: https://api-docs.deepseek.com/guides/thinking_mode; others may refuse the field, so they do not get it.
"""

_BAD_NAME_CHARACTERS = re.compile(r"[^a-zA-Z0-9_-]+")
_LONGEST_NAME = 64


def request_body(request: ModelRequest) -> dict[str, Any]:
    """Return the parameters of a streamed chat completion, without the model."""
    echo = sends_reasoning(request.model)
    body: dict[str, Any] = {
        "messages": [message_json(message, echo_reasoning=echo) for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = [tool_json(tool) for tool in request.tools]
    if request.max_output_tokens is not None:
        body["max_tokens"] = request.max_output_tokens
    return body


def sends_reasoning(model: str) -> bool:
    """Say whether a model gets the reasoning before its tool calls back."""
    return any(name in model.lower() for name in NEEDS_REASONING_BACK)


def message_json(message: Message, *, echo_reasoning: bool = False) -> dict[str, Any]:
    """Return one message; content is always a string, for templates of local servers fail on null."""
    entry: dict[str, Any] = {"role": message.role, "content": clean_text(message.content)}
    if message.role == "assistant" and message.tool_calls:
        entry["tool_calls"] = [call_json(call) for call in message.tool_calls]
        if echo_reasoning and message.reasoning:
            entry["reasoning_content"] = clean_text(message.reasoning)
    if message.role == "tool":
        entry["tool_call_id"] = message.tool_call_id
    return entry


def call_json(call: ToolCall) -> dict[str, Any]:
    """Return one call; a name or arguments that an endpoint would refuse are made acceptable.

    The model made them and reads in the result what was wrong; the transcript keeps them as they were.
    """
    name = _BAD_NAME_CHARACTERS.sub("_", call.name)[:_LONGEST_NAME] or "unnamed"
    arguments = clean_text(call.arguments)
    if not is_json_object(arguments):
        arguments = json.dumps({"invalid_json": arguments}) if arguments.strip() else NO_ARGUMENTS
    return {"id": call.id, "type": "function", "function": {"name": name, "arguments": arguments}}


def tool_json(tool: ToolDefinition) -> dict[str, Any]:
    """Return one tool as a function with its JSON schema."""
    function = {"name": tool.name, "description": tool.description, "parameters": thaw(tool.parameters)}
    return {"type": "function", "function": function}


def request_chars(request: ModelRequest) -> int:
    """Return the length of what the model reads, in characters, for estimates."""
    messages = sum(
        len(message.content)
        + len(message.reasoning)
        + sum(len(call.name) + len(call.arguments) for call in message.tool_calls)
        for message in request.messages
    )
    return messages + sum(len(tool.description) + len(str(tool.parameters)) for tool in request.tools)
