"""A model client that calls through litellm in this process, where a test wants real HTTP without a model host."""

import asyncio
from collections.abc import AsyncIterator

from smith_core.llm import provider
from smith_core.llm.protocol import AnyStreamPart, Endpoint, ModelInfo, ModelRequest, StreamDone, Timeouts
from smith_core.llm.wire import MessageEncoder


class DirectClient:
    """A ModelClient; `context_window` is what it says of every model."""

    def __init__(self, context_window: int) -> None:
        self.context_window = context_window
        self._encoder = MessageEncoder()

    async def stream(self, request: ModelRequest) -> AsyncIterator[AnyStreamPart]:
        """Yield the parts of one answer."""
        parts: asyncio.Queue[AnyStreamPart] = asyncio.Queue()

        def keep(batch: list[AnyStreamPart]) -> None:
            for part in batch:
                parts.put_nowait(part)

        completion = await provider.complete(self._encoder.encode(request), keep)
        while not parts.empty():
            yield parts.get_nowait()
        yield StreamDone(completion=completion)

    async def list_models(self, endpoint: Endpoint, timeouts: Timeouts) -> tuple[ModelInfo, ...]:
        """List nothing."""
        return ()

    async def model_limits(self, model: str) -> ModelInfo:
        """Return the window that the test gave."""
        return ModelInfo(id=model, context_window=self.context_window)

    async def aclose(self) -> None:
        """Nothing to end."""
