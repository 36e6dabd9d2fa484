"""A model client without a network: it plays answers that a test wrote, and keeps the requests."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from smith_core.errors import AgentError, AgentFailure
from smith_core.llm.protocol import (
    AnyStreamPart,
    Completion,
    Endpoint,
    ModelInfo,
    ModelRequest,
    StreamDone,
    StreamReasoning,
    StreamText,
    Timeouts,
)
from smith_core.messages import ToolCall, Usage

Answer = str | Completion | AgentError | Sequence[AnyStreamPart | AgentError | asyncio.Event]


class ScriptedClient:
    """Plays one answer a request; after the last it repeats it. A callable makes the answer of the request.

    A sequence is played part by part: an error breaks off there, an event is waited for.
    """

    def __init__(self, *answers: Answer | Callable[[ModelRequest], Answer], models: tuple[ModelInfo, ...] = ()) -> None:
        self._answers = list(answers)
        self.requests: list[ModelRequest] = []
        self.models = models
        self.closed_streams = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[AnyStreamPart]:
        """Play the next answer."""
        self.requests.append(request)
        answer = self._answers[min(len(self.requests), len(self._answers)) - 1]
        if callable(answer):
            answer = answer(request)
        try:
            async for part in _play(answer):
                yield part
        finally:
            self.closed_streams += 1

    async def list_models(self, endpoint: Endpoint, timeouts: Timeouts) -> tuple[ModelInfo, ...]:
        """Return the models that the test gave."""
        return self.models

    async def model_limits(self, model: str) -> ModelInfo:
        """Return the sizes of a model that the test gave."""
        return next((info for info in self.models if info.id == model), ModelInfo(id=model))

    async def aclose(self) -> None:
        """Nothing to end."""


async def _play(answer: Answer) -> AsyncIterator[AnyStreamPart]:
    if isinstance(answer, str):
        answer = Completion(text=answer, finish_reason="stop")
    if isinstance(answer, AgentError):
        raise AgentFailure(answer)
    if isinstance(answer, Completion):
        if answer.reasoning:
            yield StreamReasoning(text=answer.reasoning)
        if answer.text:
            yield StreamText(text=answer.text)
        yield StreamDone(completion=answer)
        return
    for part in answer:
        if isinstance(part, AgentError):
            raise AgentFailure(part)
        if isinstance(part, asyncio.Event):
            await part.wait()
        else:
            yield part


def calls(*wanted: tuple[str, Any], text: str = "", first_id: int = 1) -> Completion:
    """Return an answer that calls tools: pairs of a name and arguments (an object, or literal text)."""
    return Completion(
        text=text,
        tool_calls=tuple(
            ToolCall(f"c{number}", name, arguments if isinstance(arguments, str) else json.dumps(arguments))
            for number, (name, arguments) in enumerate(wanted, first_id)
        ),
        finish_reason="tool_calls",
        usage=Usage(input_tokens=10, output_tokens=5, requests=1),
    )
