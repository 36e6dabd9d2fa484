"""How large a model's context is: its endpoint's own word first, then litellm's offline table, then a default."""

import asyncio
import time

from smith_core.errors import AgentFailure
from smith_core.llm.model_table import entries
from smith_core.llm.protocol import Endpoint, ModelClient, ModelInfo, Timeouts

DEFAULT_CONTEXT_WINDOW = 128_000
"""Tokens assumed where nobody knows (decisions, section 4)."""

_LISTING_LIMITS = Timeouts(timeout=10.0, connect_timeout=5.0, send_timeout=5.0, recv_timeout=10.0)
_FAILURE_KEPT_S = 60.0


class ModelCatalog:
    """Looks sizes up once and remembers them; an endpoint that could not be asked is asked again after a minute."""

    def __init__(self, client: ModelClient) -> None:
        self._client = client
        self._listings: dict[Endpoint, asyncio.Future[tuple[ModelInfo, ...]]] = {}
        self._failed_at: dict[Endpoint, float] = {}

    async def models(self, endpoint: Endpoint, timeouts: Timeouts = _LISTING_LIMITS) -> tuple[ModelInfo, ...]:
        """Return what an endpoint lists, from memory after the first time; AgentFailure when it cannot be asked."""
        listing = self._listings.get(endpoint)
        if listing is None or self._is_stale(endpoint):
            listing = asyncio.ensure_future(self._client.list_models(endpoint, timeouts))
            listing.add_done_callback(lambda done: self._note(endpoint, done))
            self._listings[endpoint] = listing
        return await asyncio.shield(listing)

    async def sizes(self, model: str, endpoint: Endpoint, timeouts: Timeouts | None = None) -> ModelInfo:
        """Return the sizes of a model in tokens; `context_window` is never None, failures only mean the next source.

        timeouts: the person's own limits; a look-up never takes longer than ten seconds, whatever they are.
        """
        listed = await self._listed(model, endpoint, timeouts) if endpoint.api_url else None
        known = listed if listed and listed.context_window else await self._client.model_limits(model)
        return ModelInfo(
            id=model,
            context_window=known.context_window or DEFAULT_CONTEXT_WINDOW,
            max_output_tokens=(listed.max_output_tokens if listed else None) or known.max_output_tokens,
        )

    async def _listed(self, model: str, endpoint: Endpoint, timeouts: Timeouts | None) -> ModelInfo | None:
        try:
            models = await self.models(endpoint, _shorter(timeouts or _LISTING_LIMITS))
        except AgentFailure:
            return None
        return next((info for info in models if info.id == model), None)

    def _note(self, endpoint: Endpoint, listing: asyncio.Future[tuple[ModelInfo, ...]]) -> None:
        if listing.cancelled() or listing.exception() is not None:
            self._failed_at[endpoint] = time.monotonic()
        else:
            self._failed_at.pop(endpoint, None)

    def _is_stale(self, endpoint: Endpoint) -> bool:
        failed_at = self._failed_at.get(endpoint)
        return failed_at is not None and time.monotonic() - failed_at > _FAILURE_KEPT_S


def _shorter(timeouts: Timeouts) -> Timeouts:
    values = {name: min(getattr(timeouts, name), getattr(_LISTING_LIMITS, name)) for name in timeouts.__struct_fields__}
    return Timeouts(**values)


async def offline_limits(model: str) -> ModelInfo:
    """Return the sizes of a model from litellm's bundled table, looked up in a thread; None where unknown."""
    return await asyncio.to_thread(_look_up, model)


def _look_up(model: str) -> ModelInfo:
    for entry in entries(model):
        if entry.context_window is not None:
            return ModelInfo(id=model, context_window=entry.context_window, max_output_tokens=entry.max_output_tokens)
    return ModelInfo(id=model)
