"""Steps 7 and 8: what the endpoint lists, the embedded model, and what is said when there is neither."""

from pathlib import Path

import pytest

from smith_core.config.schema import Config, LlmConfig
from smith_core.embedded.catalog import SMALL_MODEL
from smith_core.embedded.local_models import LocalModels
from smith_core.embedded.weights import InstalledModel
from smith_core.errors import AgentError, AgentFailure
from smith_core.llm.faults import Target, fault
from smith_core.llm.protocol import Endpoint, ModelInfo, Timeouts
from smith_core.model import ModelChoice, ModelService, SelectedModel
from smith_core.roles import ROLES
from tests.support.engine import open_engine, run_turn
from tests.support.scripted_client import ScriptedClient

ADDRESS = "http://127.0.0.1:1/v1"
TARGET = Target(model="", endpoint=Endpoint(api_url=ADDRESS))
HERE = Config(llm_config=LlmConfig(api_url=ADDRESS))


class Listing(ScriptedClient):
    """An endpoint whose listing fails."""

    def __init__(self, error: AgentError) -> None:
        super().__init__()
        self._error = error

    async def list_models(self, endpoint: Endpoint, timeouts: Timeouts) -> tuple[ModelInfo, ...]:
        raise AgentFailure(self._error)


class NoServer:
    async def start(self, weights: Path, model: str) -> Endpoint:
        return Endpoint(api_url=ADDRESS)

    async def aclose(self) -> None:
        pass


def service(client: ScriptedClient) -> ModelService:
    """Return a service that has an embedded model to fall back on."""
    found = InstalledModel(model=SMALL_MODEL, path=Path("/weights/small.gguf"))
    return ModelService(client, LocalModels(NoServer, lambda name: found), environ={})


async def select(client: ScriptedClient, config: Config = HERE, choice: ModelChoice | None = None) -> SelectedModel:
    return await service(client).select(choice or ModelChoice(), ROLES["direct"], config)


async def test_the_first_model_of_the_listing_answers_and_without_one_the_embedded_model() -> None:
    listed = (ModelInfo(id="first"), ModelInfo(id="second"))
    assert (await select(ScriptedClient(models=listed))).model == "first"
    assert (await select(ScriptedClient())).source == "embedded"
    assert (await select(ScriptedClient(models=listed), Config())).source == "embedded"


@pytest.mark.parametrize("has_screen", [True, False])
async def test_only_who_has_an_input_line_is_told_to_type_there(tmp_path: Path, has_screen: bool) -> None:
    runtime = open_engine(tmp_path, ScriptedClient(fault("not_found", TARGET, status=404, detail="no such model")))
    runtime.session.has_screen = has_screen
    result = await run_turn(runtime, "go")
    assert result.error is not None and "the model's name (no such model)" in result.error.message
    assert result.error.message.endswith("; Tab after /model lists the models") == has_screen
    assert ("/model" in result.error.message) == has_screen


@pytest.mark.parametrize(
    "error",
    [
        fault("not_found", TARGET, status=404, detail="nothing here"),
        fault("not_found", TARGET, status=405, detail="nothing here"),
        fault("server_error", TARGET, status=501, detail="nothing here"),
        fault("bad_answer", TARGET, detail="nothing here"),
        fault("forbidden", TARGET, status=403, detail="nothing here"),
    ],
)
async def test_an_endpoint_without_a_list_wants_a_setting_and_no_small_model_takes_its_place(error: AgentError) -> None:
    with pytest.raises(AgentFailure) as caught:
        await select(Listing(error))
    said = caught.value.error
    assert (said.kind, said.code) == ("policy", "no_model")
    assert all(word in said.message for word in ("default_model", "/model or --model", ADDRESS, "nothing here"))
    assert (await select(Listing(error), HERE, ModelChoice(model="mine"))).model == "mine"


@pytest.mark.parametrize(
    "error",
    [
        fault("connect_failed", TARGET, detail="refused"),
        fault("server_error", TARGET, status=503),
        fault("unauthorized", TARGET, status=401),
    ],
)
async def test_an_endpoint_that_is_away_or_refuses_the_key_keeps_its_own_error(error: AgentError) -> None:
    with pytest.raises(AgentFailure) as caught:
        await select(Listing(error))
    assert caught.value.error == error
