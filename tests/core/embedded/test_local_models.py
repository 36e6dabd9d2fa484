"""Local models by id: which file is served, under which name, and what is said when there is none."""

from pathlib import Path

import pytest

from smith_core.config.schema import Config
from smith_core.embedded.catalog import SMALL_MODEL
from smith_core.embedded.local_models import LocalModels, is_local
from smith_core.embedded.weights import InstalledModel
from smith_core.errors import AgentFailure
from smith_core.llm.protocol import Endpoint
from smith_core.model import ModelChoice, ModelService
from smith_core.roles import ROLES
from tests.support.scripted_client import ScriptedClient

HERE = Endpoint(api_url="http://127.0.0.1:1/v1", api_key="token")
SMALL_ID = f"embedded:{SMALL_MODEL.name}"


class FakeServer:
    def __init__(self) -> None:
        self.started: list[tuple[Path, str]] = []
        self.is_closed = False

    async def start(self, weights: Path, model: str) -> Endpoint:
        self.started.append((weights, model))
        return HERE

    async def aclose(self) -> None:
        self.is_closed = True


def local_models(server: FakeServer, *, installed: bool = True) -> LocalModels:
    found = InstalledModel(model=SMALL_MODEL, path=Path("/weights/small.gguf")) if installed else None
    return LocalModels(lambda: server, lambda name: found)


async def select(service: ModelService, choice: ModelChoice, config: Config | None = None) -> tuple[str, str]:
    selected = await service.select(choice, ROLES["direct"], config or Config())
    return selected.model, selected.source


async def test_a_file_of_the_persons_is_served_under_its_id(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    server = FakeServer()
    service = ModelService(ScriptedClient(), local_models(server))
    model = "file:~/m.gguf"
    assert await select(service, ModelChoice(model=model)) == (model, "request")
    assert server.started == [(tmp_path / "m.gguf", model)]
    assert service.endpoint(Config(), model) == HERE
    await service.aclose()
    assert server.is_closed
    with pytest.raises(AgentFailure, match="session has ended"):
        await select(service, ModelChoice(model=model))
    assert len(server.started) == 1


async def test_a_file_works_from_every_step_and_wins_over_a_configured_endpoint(tmp_path: Path) -> None:
    server = FakeServer()
    service = ModelService(ScriptedClient(), local_models(server))
    config = Config(default_model=f"file:{tmp_path}/m.gguf")
    assert (await select(service, ModelChoice(), config))[1] == "default_model"
    assert service.endpoint(config, config.default_model or "") == HERE


async def test_the_last_step_is_the_embedded_model_that_is_installed() -> None:
    server = FakeServer()
    service = ModelService(ScriptedClient(), local_models(server))
    assert await select(service, ModelChoice()) == (SMALL_ID, "embedded")
    assert server.started == [(Path("/weights/small.gguf"), SMALL_ID)]


async def test_nothing_is_started_while_anything_else_is_configured() -> None:
    server = FakeServer()
    service = ModelService(ScriptedClient(), local_models(server))
    await select(service, ModelChoice(), Config(default_model="m"))
    assert server.started == []


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (SMALL_ID, "smith-tui model install"),
        ("file:", "needs the path of a GGUF file"),
        ("file:~nobody-of-that-name/m.gguf", "write the whole path"),
    ],
)
async def test_what_cannot_be_opened_is_said_in_a_sentence(model: str, words: str) -> None:
    service = ModelService(ScriptedClient(), local_models(FakeServer(), installed=False))
    with pytest.raises(AgentFailure, match=words):
        await select(service, ModelChoice(model=model))


async def test_without_local_models_a_file_is_refused_and_no_model_names_the_way_to_one() -> None:
    service = ModelService(ScriptedClient())
    with pytest.raises(AgentFailure, match="switched off"):
        await select(service, ModelChoice(model="file:/m.gguf"))
    with pytest.raises(AgentFailure, match="smith-tui setup"):
        await select(service, ModelChoice())


def test_only_the_two_prefixes_are_local() -> None:
    assert is_local("file:/a.gguf")
    assert is_local("embedded:x")
    assert not any(map(is_local, ("", "gpt", "openrouter/file:x", "filename", "embedded", "qwen2.5-coder:1.5b")))
