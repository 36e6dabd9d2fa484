"""Which model answers a turn: eight steps in fixed order, the first value wins."""

import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

import msgspec

from smith_core.config.schema import Config
from smith_core.embedded.local_models import LocalModels, is_local
from smith_core.errors import AgentError, AgentFailure, failure
from smith_core.llm.protocol import Endpoint, ModelClient, ModelInfo, Timeouts
from smith_core.roles import RoleSpec

if TYPE_CHECKING:
    from smith_core.llm.catalog import ModelCatalog

ModelSource = Literal[
    "request", "request_key", "role", "role_default_key", "default_model", "parent", "endpoint", "embedded"
]
DEFAULT_CONTEXT_WINDOW = 128_000


class ModelChoice(msgspec.Struct, frozen=True, kw_only=True):
    """What a turn request says of its model; `parent` is the parent turn's model, inside a dispatched child."""

    model: str | None = None
    model_key: str | None = None
    parent: str | None = None


class SelectedModel(msgspec.Struct, frozen=True, kw_only=True):
    """The model of a turn, which step gave it, and its sizes in tokens.

    most_tokens: what messages may take at most, where the endpoint has refused more.
    """

    model: str
    source: ModelSource
    key: str | None = None
    context_window: int = DEFAULT_CONTEXT_WINDOW
    max_output_tokens: int | None = None
    most_tokens: int | None = None


class ModelLookup(msgspec.Struct, frozen=True, kw_only=True):
    """How the last two steps and the sizes are looked up; each is asked only when it is needed."""

    first_of_endpoint: Callable[[], Awaitable[str | None]]
    embedded: Callable[[], Awaitable[str | None]]
    limits: Callable[[str], Awaitable[ModelInfo]]


async def select_model(choice: ModelChoice, role: RoleSpec, config: Config, lookup: ModelLookup) -> SelectedModel:
    """Walk the eight steps; AgentFailure of kind policy when nothing is left."""
    model, source, key = choose(choice, role, config)
    if not model:
        model, source = await lookup.first_of_endpoint(), "endpoint"
    if not model:
        model, source = await lookup.embedded(), "embedded"
    if not model:
        raise failure(
            "policy",
            "no_model",
            "no model is configured: choose one with smith-tui setup (/setup in the app), or set default_model, and "
            "llm_config.api_url for your own endpoint",
            origin="model",
        )
    limits = await lookup.limits(model)
    return SelectedModel(
        model=model,
        source=source,
        key=key,
        context_window=limits.context_window or DEFAULT_CONTEXT_WINDOW,
        max_output_tokens=limits.max_output_tokens,
    )


def choose(choice: ModelChoice, role: RoleSpec, config: Config) -> tuple[str | None, ModelSource, str | None]:
    """Walk the six steps that need no look-up: (model, source, key), the model None when none of them has one."""
    models = config.models
    steps: tuple[tuple[ModelSource, str | None, str | None], ...] = (
        ("request", choice.model, None),
        ("request_key", models.get(choice.model_key or ""), choice.model_key),
        ("role", models.get(role.name), role.name),
        ("role_default_key", models.get(role.default_model_key), role.default_model_key),
        ("default_model", config.default_model, None),
        ("parent", choice.parent, None),
    )
    for source, model, key in steps:
        if model:
            return model, source, key
    return None, "endpoint", None


KEYLESS_PROVIDERS = frozenset({"ollama", "ollama_chat", "lm_studio", "llamafile", "hosted_vllm", "vllm", "bedrock"})
"""Providers of model ids that work without a key of ours: local servers, and clouds with credentials of their own."""


_NOT_LISTED_CODES = frozenset({"not_found", "bad_answer", "bad_request", "forbidden"})
_NOT_IMPLEMENTED = 501


def has_no_listing(error: AgentError) -> bool:
    """Say whether an endpoint that answered so may work for all that: it only keeps no list of its models."""
    return error.code in _NOT_LISTED_CODES or error.data.get("status") == _NOT_IMPLEMENTED


class ModelService:
    """The handle `model`: the client, the endpoint of a configuration, and the choice of a model."""

    def __init__(
        self,
        client: ModelClient | None = None,
        local: LocalModels | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._client = client
        self._local = local
        self._local_endpoints: dict[str, Endpoint] = {}
        self._environ = environ
        self._catalog: ModelCatalog | None = None
        self._most_tokens: dict[tuple[str, str | None], int] = {}

    @property
    def client(self) -> ModelClient:
        """The client; the model host behind it is started on first use, unless it was handed over."""
        if self._client is None:
            from smith_core.llm.client import HostClient, start_host_process

            self._client = HostClient(start_host_process())
        return self._client

    async def wait_for_host(self) -> None:
        """Return once the host behind the client takes requests, or cannot; at once where there is no host."""
        wait = getattr(self._client, "wait_until_ready", None)
        if wait is not None:
            with suppress(AgentFailure):
                await wait()

    def on_opening_local(self, tell: Callable[[str], None]) -> None:
        """Let `tell` know which local model is being started, which may take minutes, and "" once none is."""
        if self._local is not None:
            self._local.on_opening = tell

    @property
    def catalog(self) -> "ModelCatalog":
        """The sizes of models, looked up once each."""
        if self._catalog is None:
            from smith_core.llm.catalog import ModelCatalog

            self._catalog = ModelCatalog(self.client)
        return self._catalog

    def endpoint(self, config: Config, model: str) -> Endpoint:
        """Return where requests for a model go; AgentFailure when the key is unusable, or missing though needed.

        A local model answers only after `select` has started it.
        """
        from smith_core.llm.keys import clean_key

        if is_local(model):
            if model not in self._local_endpoints:
                raise failure("internal", "not_started", f"{model} was not started yet; try again", origin="model")
            return self._local_endpoints[model]
        variable = config.llm_config.api_key_env
        key = clean_key(self._environ.get(variable, ""))
        if isinstance(key, AgentError):
            raise AgentFailure(key)
        provider, slash, _ = model.partition("/")
        if not key and not config.llm_config.api_url and not (slash and provider in KEYLESS_PROVIDERS):
            raise failure(
                "policy",
                "missing_key",
                f"no key for {model}: set the environment variable {variable} and start again, or set "
                "llm_config.api_url to an endpoint that needs none",
                origin="model",
            )
        return Endpoint(api_url=config.llm_config.api_url or "", api_key=key, api_key_env=variable)

    async def select(self, choice: ModelChoice, role: RoleSpec, config: Config) -> SelectedModel:
        """Resolve the model of a turn, and start it if it is a local one; AgentFailure says why there is none."""

        async def first_of_endpoint() -> str | None:
            if not config.llm_config.api_url:
                return None
            try:
                listed = await self.list_models(config)
            except AgentFailure as caught:
                raise _unlisted(caught) from None
            return listed[0].id if listed else None

        async def embedded() -> str | None:
            return self._local.installed() if self._local else None

        async def sizes(model: str) -> ModelInfo:
            if is_local(model):
                endpoint = await self._open_local(model)
            else:
                endpoint = self.endpoint(config, "") if config.llm_config.api_url else Endpoint()
            return await self.catalog.sizes(model, endpoint, _listing_limits(config))

        lookup = ModelLookup(first_of_endpoint=first_of_endpoint, embedded=embedded, limits=sizes)
        selected = await select_model(choice, role, config, lookup)
        most_tokens = self._most_tokens.get((selected.model, config.llm_config.api_url))
        return msgspec.structs.replace(selected, most_tokens=most_tokens) if most_tokens else selected

    def note_limit(self, model: str, config: Config, most_tokens: int) -> None:
        """Remember what the messages of a request may take at most, for as long as the program runs."""
        self._most_tokens[model, config.llm_config.api_url] = most_tokens

    async def list_models(self, config: Config) -> tuple[ModelInfo, ...]:
        """Return what the configured endpoint lists; AgentFailure when it cannot be asked."""
        return await self.client.list_models(self.endpoint(config, ""), _listing_limits(config))

    async def listed_ids(self, config: Config) -> tuple[str, ...]:
        """Return the ids that the endpoint lists, from memory after the first time; none where it cannot be asked."""
        if not config.llm_config.api_url:
            return ()
        try:
            listed = await self.catalog.models(self.endpoint(config, ""))
        except AgentFailure:
            return ()
        return tuple(info.id for info in listed)

    async def _open_local(self, model: str) -> Endpoint:
        if self._local is None:
            raise failure(
                "policy", "no_local_models", f"{model} needs local models, which are switched off here", origin="model"
            )
        self._local_endpoints[model] = await self._local.open(model)
        return self._local_endpoints[model]

    async def aclose(self) -> None:
        """End the client and the host behind it, and the local model."""
        if self._client is not None:
            await self._client.aclose()
        if self._local is not None:
            await self._local.aclose()


def _unlisted(caught: AgentFailure) -> AgentFailure:
    """Return what to say of a listing that failed: which setting to write, where the endpoint may work without one."""
    if not has_no_listing(caught.error):
        return caught
    return failure(
        "policy",
        "no_model",
        "no model is named, and the endpoint does not list its own: set default_model, or name one with "
        f"/model or --model; it said: {caught.error.message}",
        origin="model",
    )


def _listing_limits(config: Config) -> Timeouts:
    return Timeouts(connect_timeout=config.llm_config.connect_timeout, recv_timeout=config.llm_config.recv_timeout)
