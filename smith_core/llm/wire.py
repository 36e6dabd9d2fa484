"""A request as chat-completions JSON: messages, tools and parameters as every endpoint takes them."""

import json
from operator import itemgetter
from typing import Any

import msgspec

from smith_core.frozen import thaw
from smith_core.llm.protocol import Endpoint, ModelRequest, Timeouts, ToolDefinition
from smith_core.llm.tool_calls import NO_ARGUMENTS, is_json_object
from smith_core.messages import Message, ToolCall
from smith_core.patterns import later
from smith_core.text import clean_text

NEEDS_REASONING_BACK = ("deepseek", "kimi")
"""Models that refuse a history whose calls lack the reasoning before them.

Source: https://api-docs.deepseek.com/guides/thinking_mode; others may refuse the field, so they do not get it.
"""

_BAD_NAME_CHARACTERS = later(r"[^a-zA-Z0-9_-]+")
_LONGEST_NAME = 64
_SPARE_FACTOR = 2
_SPARE_BYTES = 256 * 1024
"""How much JSON is kept beside the last request, for the little that a request brings along again: what it has in
common with the one before it does not come here at all (`growing`)."""


class WireRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request whose messages are a JSON array already; `message_chars` is their length as the model reads them."""

    model: str
    messages: bytes
    message_chars: int
    tools: tuple[ToolDefinition, ...] = ()
    endpoint: Endpoint = Endpoint()
    timeouts: Timeouts = Timeouts()
    max_output_tokens: int | None = None


class MessageEncoder:
    """Encodes requests; each message only once, however many requests of a conversation bring it along again."""

    def __init__(self) -> None:
        self._plain, self._with_reasoning = _KnownMessages(), _KnownMessages()

    def encode(self, request: ModelRequest) -> WireRequest:
        """Return a request in the form that goes to an endpoint."""
        entries = self.entries(request.messages, request.model)
        data = b"[%b]" % b",".join(map(itemgetter(1), entries))
        return wire_request(request, data, sum(map(itemgetter(2), entries)))

    def entries(self, messages: tuple[Message, ...], model: str) -> list["Entry"]:
        """Return messages as they go to a model, each with its JSON and its length."""
        echo = sends_reasoning(model)
        known = self._with_reasoning if echo else self._plain
        return known.entries(messages, echo_reasoning=echo)


Entry = tuple[Message, bytes, int]
"""A message, its JSON, and its length as the model reads it."""


def wire_request(request: ModelRequest, messages: bytes, message_chars: int) -> WireRequest:
    """Return a request with its messages as JSON."""
    return WireRequest(
        model=request.model,
        messages=messages,
        message_chars=message_chars,
        tools=request.tools,
        endpoint=request.endpoint,
        timeouts=request.timeouts,
        max_output_tokens=request.max_output_tokens,
    )


class _KnownMessages:
    """Messages with their JSON and their length, found by identity, which costs less than looking at a message."""

    def __init__(self) -> None:
        # The message is kept beside its JSON, so that no other one gets its number.
        self._entries: dict[int, Entry] = {}
        self._bytes = 0

    def entries(self, messages: tuple[Message, ...], *, echo_reasoning: bool) -> list[Entry]:
        known = self._entries
        entries = [known.get(id(message)) or self._add(message, echo_reasoning) for message in messages]
        if self._bytes > _SPARE_BYTES:
            needed = sum(len(data) for _, data, _ in entries)
            if self._bytes > _SPARE_FACTOR * needed + _SPARE_BYTES:
                self._entries, self._bytes = {id(entry[0]): entry for entry in entries}, needed
        return entries

    def _add(self, message: Message, echo_reasoning: bool) -> Entry:
        data = msgspec.json.encode(message_json(message, echo_reasoning=echo_reasoning))
        self._entries[id(message)] = entry = (message, data, _message_chars(message))
        self._bytes += len(data)
        return entry


def request_body(request: WireRequest) -> dict[str, Any]:
    """Return the parameters of a streamed chat completion, without the model."""
    return {"messages": msgspec.json.decode(request.messages), **request_options(request)}


def request_options(request: WireRequest) -> dict[str, Any]:
    """Return the parameters of a streamed chat completion, without the model and the messages."""
    options: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
    if request.tools:
        options["tools"] = [tool_json(tool) for tool in request.tools]
    if request.max_output_tokens is not None:
        options["max_tokens"] = request.max_output_tokens
    return options


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
        entry["tool_call_id"] = clean_text(message.tool_call_id)
    return entry


def call_json(call: ToolCall) -> dict[str, Any]:
    """Return one call; a name or arguments that an endpoint would refuse are made acceptable.

    The model made them and reads in the result what was wrong; the transcript keeps them as they were.
    """
    name = _BAD_NAME_CHARACTERS.sub("_", call.name)[:_LONGEST_NAME] or "unnamed"
    arguments = clean_text(call.arguments)
    if not is_json_object(arguments):
        arguments = json.dumps({"invalid_json": arguments}) if arguments.strip() else NO_ARGUMENTS
    return {"id": clean_text(call.id), "type": "function", "function": {"name": name, "arguments": arguments}}


def tool_json(tool: ToolDefinition) -> dict[str, Any]:
    """Return one tool as a function with its JSON schema."""
    function = {"name": tool.name, "description": tool.description, "parameters": thaw(tool.parameters)}
    return {"type": "function", "function": function}


def request_chars(request: ModelRequest | WireRequest) -> int:
    """Return the length of what the model reads, in characters, for estimates."""
    tools = sum(len(tool.description) + len(str(tool.parameters)) for tool in request.tools)
    if isinstance(request, WireRequest):
        return request.message_chars + tools
    return sum(map(_message_chars, request.messages)) + tools


def _message_chars(message: Message) -> int:
    calls = sum(len(call.name) + len(call.arguments) for call in message.tool_calls)
    return len(message.content) + len(message.reasoning) + calls
