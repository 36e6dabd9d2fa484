"""Sizes of models: the endpoint's word, then the offline table, then a default; each looked up once."""

import subprocess
import sys
from typing import Any

import pytest

from smith_core.errors import AgentFailure
from smith_core.llm.catalog import DEFAULT_CONTEXT_WINDOW, ModelCatalog, offline_limits
from smith_core.llm.listing import fetch_models, read_models
from smith_core.llm.protocol import Endpoint, ModelInfo, Timeouts
from tests.support.model_server import ModelServer
from tests.support.model_steps import Stall, Status, http_error
from tests.support.scripted_client import ScriptedClient

QUICK = Timeouts(timeout=0.5, connect_timeout=0.5, send_timeout=0.5, recv_timeout=0.2)


@pytest.mark.parametrize(
    ("entry", "context_window", "max_output_tokens"),
    [
        ({"id": "m", "context_length": 8192}, 8192, None),
        ({"id": "m", "max_model_len": 4096}, 4096, None),
        ({"id": "m", "context_window": 131072, "max_completion_tokens": 32768}, 131072, 32768),
        ({"id": "m", "max_context_length": "32768"}, 32768, None),
        ({"id": "m", "top_provider": {"context_length": 1000, "max_completion_tokens": 10}}, 1000, 10),
        ({"id": "m", "context_length": None, "top_provider": {"context_length": 7}}, 7, None),
        ({"id": "m", "meta": {"n_ctx_train": 131072}}, 131072, None),
        ({"id": "m", "meta": {"n_ctx_train": 131072, "n_ctx": 4096}}, 4096, None),
        ({"name": "m", "inputTokenLimit": 5, "outputTokenLimit": 6}, 5, 6),
        ({"id": "m", "context_length": True, "max_model_len": -1}, None, None),
        ({"id": "m", "meta": None, "top_provider": []}, None, None),
        ("m", None, None),
    ],
)
def test_sizes_under_whatever_name(entry: Any, context_window: int | None, max_output_tokens: int | None) -> None:
    expected = (ModelInfo(id="m", context_window=context_window, max_output_tokens=max_output_tokens),)
    assert read_models({"data": [entry]}) == expected
    assert read_models([entry, entry, None, {}, 5]) == expected


@pytest.mark.parametrize("value", [None, 5, {}, {"data": None}, {"error": "x"}, "x"])
def test_what_is_no_listing(value: Any) -> None:
    assert read_models(value) is None


async def test_an_endpoint_is_asked_with_its_key() -> None:
    async with ModelServer(models=["b", "a"]) as server:
        models = await fetch_models(Endpoint(api_url=server.url + "/", api_key="k-123456789"), QUICK)
        assert [model.id for model in models] == ["b", "a"]
        assert server.all_requests[0].path == "/v1/models" and server.all_requests[0].key == "k-123456789"


@pytest.mark.parametrize(
    ("models", "code"),
    [
        (http_error(401, "no: k-123456789", echo_key=True), "unauthorized"),
        (http_error(404, "no"), "not_found"),
        (http_error(500, "no"), "server_error"),
        (Status(status=200, body="<html>", content_type="text/html"), "bad_answer"),
        (Status(status=200, body="nothing"), "bad_answer"),
        (Status(status=200, body={"a": 1}), "bad_answer"),
    ],
)
async def test_an_endpoint_without_a_list_is_an_error(models: Status, code: str) -> None:
    async with ModelServer(models=models) as server:
        with pytest.raises(AgentFailure) as caught:
            await fetch_models(Endpoint(api_url=server.url, api_key="k-123456789"), QUICK)
    assert caught.value.error.code == code
    assert "k-123" not in repr(caught.value.error)


@pytest.mark.parametrize(
    ("address", "code"),
    [("http://127.0.0.1:9/v1", "connect_failed"), ("ftp://x/v1", "bad_address"), ("x", "bad_address")],
)
async def test_an_endpoint_that_cannot_be_reached(address: str, code: str) -> None:
    with pytest.raises(AgentFailure) as caught:
        await fetch_models(Endpoint(api_url=address), QUICK)
    assert caught.value.error.code == code


async def test_a_silent_endpoint_does_not_hold_us() -> None:
    async with ModelServer(models=Stall()) as server:
        with pytest.raises(AgentFailure) as caught:
            await fetch_models(Endpoint(api_url=server.url), QUICK)
    assert caught.value.error.code == "timeout_first_byte"


class CountingClient(ScriptedClient):
    """Counts how often it is asked; fails while `error` is set."""

    def __init__(self, *models: ModelInfo, limits: ModelInfo | None = None, fails: bool = False) -> None:
        super().__init__("", models=models)
        self.listings = 0
        self.limits = limits
        self.fails = fails

    async def list_models(self, endpoint: Endpoint, timeouts: Timeouts) -> tuple[ModelInfo, ...]:
        self.listings += 1
        if self.fails:
            raise AgentFailure(await _error())
        return await super().list_models(endpoint, timeouts)

    async def model_limits(self, model: str) -> ModelInfo:
        return self.limits or ModelInfo(id=model)


async def _error() -> Any:
    try:
        await fetch_models(Endpoint(api_url="http://127.0.0.1:9/v1"), QUICK)
    except AgentFailure as failure:
        return failure.error


ENDPOINT = Endpoint(api_url="http://127.0.0.1:1/v1")
OFFLINE = ModelInfo(id="m", context_window=99, max_output_tokens=5)


async def test_the_endpoint_knows_best() -> None:
    client = CountingClient(
        ModelInfo(id="m", context_window=4096), limits=ModelInfo(id="m", context_window=99, max_output_tokens=5)
    )
    catalog = ModelCatalog(client)
    assert await catalog.sizes("m", ENDPOINT) == ModelInfo(id="m", context_window=4096)
    await catalog.sizes("other", ENDPOINT)
    assert client.listings == 1


async def test_then_the_offline_table_then_the_default() -> None:
    client = CountingClient(ModelInfo(id="m"), limits=ModelInfo(id="m", context_window=99, max_output_tokens=5))
    assert await ModelCatalog(client).sizes("m", ENDPOINT) == ModelInfo(id="m", context_window=99, max_output_tokens=5)
    assert await ModelCatalog(CountingClient()).sizes("m", ENDPOINT) == ModelInfo(
        id="m", context_window=DEFAULT_CONTEXT_WINDOW
    )


async def test_without_an_address_nobody_is_asked() -> None:
    client = CountingClient(ModelInfo(id="m", context_window=4096))
    assert (await ModelCatalog(client).sizes("m", Endpoint())).context_window == DEFAULT_CONTEXT_WINDOW
    assert client.listings == 0


async def test_a_failing_endpoint_is_not_asked_at_every_turn() -> None:
    client = CountingClient(fails=True)
    catalog = ModelCatalog(client)
    for _ in range(3):
        assert (await catalog.sizes("m", ENDPOINT)).context_window == DEFAULT_CONTEXT_WINDOW
    assert client.listings == 1


@pytest.mark.parametrize("model", ["gpt-4o", "openai/gpt-4o", "somewhere/openai/gpt-4o", "gpt-4o:free"])
async def test_the_offline_table_knows_common_models(model: str) -> None:
    limits = await offline_limits(model)
    assert limits.context_window == 128_000 and limits.max_output_tokens == 16_384 and limits.id == model


async def test_the_offline_table_does_not_know_the_rest() -> None:
    assert await offline_limits("no/such-model") == ModelInfo(id="no/such-model")
    assert await offline_limits("sample_spec") == ModelInfo(id="sample_spec")


def test_the_table_is_read_without_importing_litellm() -> None:
    code = (
        "import asyncio, sys; from smith_core.llm.catalog import offline_limits; "
        "assert asyncio.run(offline_limits('gpt-4o')).context_window; "
        "sys.exit('litellm' in sys.modules or 'httpx' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
