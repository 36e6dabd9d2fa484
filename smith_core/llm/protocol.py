"""What the engine asks of a model and what comes back: the seam that every model client keeps."""

from collections.abc import AsyncIterator
from typing import Any, Protocol

import msgspec

from smith_core.messages import Message, ToolCall, Usage


class Timeouts(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of one call in seconds (decisions, section 5)."""

    timeout: float = 600.0
    connect_timeout: float = 10.0
    send_timeout: float = 60.0
    recv_timeout: float = 120.0
    stream_stall_timeout: float = 60.0


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Where requests go; an empty `api_url` means the provider that the model id names. `api_key` may be empty.

    api_key_env: the name of the variable that holds the key, for messages only.
    """

    api_url: str = ""
    api_key: str = ""
    api_key_env: str = ""

    def __repr__(self) -> str:
        """Leave the key out, for this may end up in a log or a crash report."""
        return f"Endpoint(api_url={self.api_url!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Leave the key out of rich tracebacks too."""
        return [("api_url", self.api_url)]


class ToolDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as it is offered to the model; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One streamed chat completion."""

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolDefinition, ...] = ()
    endpoint: Endpoint = Endpoint()
    timeouts: Timeouts = Timeouts()
    max_output_tokens: int | None = None


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """A whole answer, assembled; `finish_reason` is the provider's word, never empty for a complete stream."""

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = ""
    usage: Usage = Usage()


class StreamPart(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """Base of what a stream yields."""


class StreamText(StreamPart, frozen=True, kw_only=True, tag="text"):
    """More of the answer."""

    text: str


class StreamReasoning(StreamPart, frozen=True, kw_only=True, tag="reasoning"):
    """More of the reasoning."""

    text: str


class StreamToolProgress(StreamPart, frozen=True, kw_only=True, tag="tool"):
    """A call is being written; `argument_chars` have come so far."""

    index: int
    name: str
    argument_chars: int


class StreamDone(StreamPart, frozen=True, kw_only=True, tag="done"):
    """The answer is complete; always the last part."""

    completion: Completion


AnyStreamPart = StreamText | StreamReasoning | StreamToolProgress | StreamDone


class ModelInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A model that an endpoint lists; sizes in tokens, None when it does not say."""

    id: str
    context_window: int | None = None
    max_output_tokens: int | None = None


class ModelClient(Protocol):
    """The seam to the models. Failures are AgentFailure of kind transport, protocol, policy or cancelled."""

    def stream(self, request: ModelRequest) -> AsyncIterator[AnyStreamPart]:
        """Yield the parts of one answer; closing the iterator closes the connection."""
        ...

    async def list_models(self, endpoint: Endpoint, timeouts: Timeouts) -> tuple[ModelInfo, ...]:
        """Return what the endpoint lists at `/models`; AgentFailure when it cannot be asked."""
        ...

    async def model_limits(self, model: str) -> ModelInfo:
        """Return the sizes of a model from the offline table; unknown ones come back as None."""
        ...

    async def aclose(self) -> None:
        """End every stream and whatever process stands behind them."""
        ...
