"""The steps that a scripted answer is made of, and how each becomes chat-completion chunks."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec


class Step(msgspec.Struct, frozen=True, kw_only=True, tag_field="step", tag=str.lower):
    """Base of all steps; in JSON scripts the field `step` holds the class name in lower case."""


class Text(Step, frozen=True):
    """Text in deltas of `size` characters (0: one delta), `rate` deltas a second (0: as fast as possible)."""

    text: str
    size: int = 0
    rate: float = 0.0


class Reasoning(Step, frozen=True):
    """Reasoning, in the field that the imitated gateway uses for it."""

    text: str
    size: int = 0
    rate: float = 0.0
    field: str = "reasoning_content"


class Call(Step, frozen=True):
    """One tool call; `arguments` is an object or the literal text to send; fragments of `split` characters."""

    name: str
    arguments: Any = msgspec.field(default_factory=dict)
    id: str | None = None
    split: int = 0
    rate: float = 0.0


class Calls(Step, frozen=True):
    """Several tool calls of one answer.

    order: one after the other, or fragment by fragment in turns. index: counted, missing, or 0 for all.
    ids: on the first fragment, on every fragment, missing, empty, or one and the same for all calls.
    """

    calls: tuple[Call, ...]
    order: Literal["sequential", "interleaved"] = "sequential"
    index: Literal["counted", "missing", "zero"] = "counted"
    ids: Literal["first", "every", "missing", "empty", "same"] = "first"
    rate: float = 0.0


class Delta(Step, frozen=True):
    """A literal delta object."""

    delta: dict[str, Any]


class Chunk(Step, frozen=True):
    """A literal chunk object."""

    chunk: dict[str, Any]


class Raw(Step, frozen=True):
    """Literal bytes of the body; text is sent as UTF-8."""

    data: Any


class Finish(Step, frozen=True):
    """The finish marker."""

    reason: str = "stop"


class Usage(Step, frozen=True):
    """The usage chunk, with `choices == []`."""

    prompt_tokens: int = 100
    completion_tokens: int = 10
    cached_tokens: int = 0
    reasoning_tokens: int = 0


class Wait(Step, frozen=True):
    """Silence for some seconds; before the headers when it is the first step."""

    seconds: float


class Stall(Step, frozen=True):
    """Silence until the client goes away; before the headers when it is the first step."""


class Headers(Step, frozen=True):
    """Send the headers of the answer now, so that what follows counts as inside the stream."""


class Ping(Step, frozen=True):
    """SSE comments that keep the connection alive and say nothing."""

    count: int = 1
    every: float = 0.0


class StreamError(Step, frozen=True):
    """An error object inside the stream."""

    error: dict[str, Any]


class Cut(Step, frozen=True):
    """The connection breaks: an early orderly end (fin), a reset (rst), or half a line and then the end (half)."""

    how: Literal["fin", "rst", "half"] = "fin"


class End(Step, frozen=True):
    """The body ends here, complete as HTTP, without `[DONE]`."""


class Status(Step, frozen=True):
    """A plain HTTP answer instead of a stream; `echo_key` puts the request's key into the body."""

    status: int
    body: Any = None
    headers: dict[str, str] = msgspec.field(default_factory=dict)
    content_type: str = ""
    echo_key: bool = False


AnyStep = (
    Text
    | Reasoning
    | Call
    | Calls
    | Delta
    | Chunk
    | Raw
    | Finish
    | Usage
    | Wait
    | Stall
    | Headers
    | Ping
    | StreamError
    | Cut
    | End
    | Status
)
Answer = str | Sequence[AnyStep | dict[str, Any]] | AnyStep


def steps_of(answer: Answer) -> list[AnyStep]:
    """Return the steps of an answer; a bare string is text with a finish marker and usage."""
    if isinstance(answer, str):
        return say(answer)
    if isinstance(answer, Step):
        return [answer]
    return [step if isinstance(step, Step) else msgspec.convert(step, AnyStep) for step in answer]


def say(text: str, *, size: int = 0, rate: float = 0.0) -> list[AnyStep]:
    """Return a complete answer of text."""
    return [Text(text=text, size=size, rate=rate), Finish(), Usage()]


def call_tools(*calls: tuple[str, Any] | Call, text: str = "", **how: Any) -> list[AnyStep]:
    """Return a complete answer that calls tools, each given as a name and arguments; `how` are fields of Calls."""
    made = tuple(call if isinstance(call, Call) else Call(name=call[0], arguments=call[1]) for call in calls)
    before: list[AnyStep] = [Text(text=text)] if text else []
    return [*before, Calls(calls=made, **how), Finish(reason="tool_calls"), Usage()]


def http_error(status: int, message: str, code: str | None = None, **fields: Any) -> Status:
    """Return an HTTP error with the usual body; `fields` are those of Status."""
    body = {"error": {"message": message, "type": "error", "param": None, "code": code}}
    return Status(status=status, body=body, **fields)


def chunk(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    """Return one chunk in the shape that OpenAI sends."""
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "scripted",
        "choices": [choice],
    }


def usage_chunk(step: Usage) -> dict[str, Any]:
    """Return the last chunk, which has usage and no choices."""
    usage = {
        "prompt_tokens": step.prompt_tokens,
        "completion_tokens": step.completion_tokens,
        "total_tokens": step.prompt_tokens + step.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": step.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": step.reasoning_tokens},
    }
    return {**chunk({}), "choices": [], "usage": usage}


def pieces(text: str, size: int) -> Iterator[str]:
    """Cut text into pieces of `size` characters; 0 leaves it whole."""
    if size <= 0 or not text:
        yield text
        return
    for start in range(0, len(text), size):
        yield text[start : start + size]


def call_deltas(step: Calls) -> list[dict[str, Any]]:
    """Return the deltas of some calls in the order in which they are sent."""
    written = [_fragments(step, position, call) for position, call in enumerate(step.calls)]
    if step.order == "sequential":
        return [{"tool_calls": [fragment]} for fragments in written for fragment in fragments]
    longest = max(len(fragments) for fragments in written)
    return [
        {"tool_calls": [fragments[turn]]} for turn in range(longest) for fragments in written if turn < len(fragments)
    ]


def _fragments(step: Calls, position: int, call: Call) -> list[dict[str, Any]]:
    text = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments, ensure_ascii=False)
    fragments = []
    for number, piece in enumerate(pieces(text, call.split)):
        fragment: dict[str, Any] = {"function": {"arguments": piece}}
        if number == 0:
            fragment = {"type": "function", "function": {"name": call.name, "arguments": piece}}
        if step.ids != "missing" and (number == 0 or step.ids == "every"):
            fragment["id"] = _call_id(step, position, call)
        if step.index != "missing":
            fragment["index"] = position if step.index == "counted" else 0
        fragments.append(fragment)
    return fragments


def _call_id(step: Calls, position: int, call: Call) -> str:
    if step.ids == "empty":
        return ""
    return "call_same" if step.ids == "same" else call.id or f"call_{position}"
