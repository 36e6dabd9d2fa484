"""The setup screen driven by keys: every way through it, every way that fails, and what is written at the end."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from smith_core.cancel import CancelToken
from smith_core.config.schema import Config
from smith_core.config.user_file import UserFile
from smith_core.embedded.catalog import MODELS, EmbeddedModel
from smith_core.embedded.local_models import LocalModels
from smith_core.embedded.progress import BytesMoved, ReportProgress
from smith_core.embedded.runtime.machine import machine_problem
from smith_core.embedded.weights import InstalledModel
from smith_core.endpoints import PRESETS, LocalEndpoint
from smith_core.errors import AgentError, AgentFailure
from smith_core.llm.protocol import Endpoint, ModelInfo
from smith_core.model import ModelService
from smith_tui.app import SmithApp, app_around
from smith_tui.first_start import is_first_start, note_answered
from smith_tui.screens.first_start import FirstStartScreen, SetupResult
from smith_tui.setup import Setup, address_problem, completed_address, looks_like_key, variable_problem
from tests.support.engine import open_engine
from tests.support.scripted_client import ScriptedClient

LISTED = (ModelInfo(id="alpha"), ModelInfo(id="beta-coder"), ModelInfo(id="beta-coder-mini"))
REFUSED = AgentError(kind="protocol", code="unauthorized", message="401: the key was refused; set a valid key")
OLLAMA = LocalEndpoint(program="Ollama", api_url="http://127.0.0.1:11434/v1", models=("qwen3:8b", "[red]x"))
SIZES = [(60, 15), (80, 24), (160, 50)]


class FakeServer:
    async def start(self, weights: Path, model: str) -> Endpoint:
        return Endpoint(api_url="http://127.0.0.1:1/v1")

    async def aclose(self) -> None:
        pass


class Place:
    """One screen with everything around it that a test may look at."""

    def __init__(self, folder: Path, client: ScriptedClient, **options: Any) -> None:
        self.file = UserFile(path=folder / "config" / "config.json")
        self.client = client
        options = {"environ": {"OPENAI_API_KEY": "sk-real"}, "detect": lambda: (), "install": self.install, **options}
        installed = InstalledModel(model=MODELS[0], path=folder / "w.gguf")
        local = LocalModels(FakeServer, lambda name: installed)
        self.setup = Setup(ModelService(client, local, options["environ"]), self.file, **options)
        self.screen = FirstStartScreen(self.setup)
        self.results: list[SetupResult | None] = []
        self.installs: list[str] = []
        self.was_stopped = False

    async def install(self, model: EmbeddedModel, progress: ReportProgress, token: CancelToken) -> None:
        self.installs.append(model.name)
        progress(BytesMoved(phase="fetching", done=50, total=100, bytes_per_s=5, seconds_left=10))
        if len(self.installs) == 1:
            try:
                await token.sleep(60)
            except (AgentFailure, asyncio.CancelledError):
                # Token and task are cancelled together; which one is seen depends on the version of Python.
                self.was_stopped = True
                raise

    @property
    def written(self) -> Mapping[str, Any]:
        return dict(json.loads(self.file.path.read_text()))

    @asynccontextmanager
    async def shown(self, size: tuple[int, int] = (80, 24)) -> AsyncIterator[Pilot[None]]:
        app = app_around(open_engine(self.file.path.parent.parent, ScriptedClient("x")))
        async with app.run_test(size=size) as pilot:
            await app.push_screen(self.screen, self.results.append)
            await until(pilot, lambda: "Looking" not in self.text("hint") and self.rows() != [])
            yield pilot

    def text(self, part: str) -> str:
        widget = self.screen.query_one(f"#question-{part}", Static)
        return str(widget.content) if widget.display else ""

    def rows(self) -> list[str]:
        options = self.screen.query_one(OptionList)
        return [str(option.prompt) for option in options.options] if options.display else []


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    for _ in range(300):
        if condition():
            return
        await pilot.pause(0.01)
    raise AssertionError("never came true")


async def choose(pilot: Pilot[None], place: Place, name: str) -> None:
    """Go to a row by the arrow keys and press Enter."""
    number = next(number for number, row in enumerate(place.rows()) if row.startswith(name))
    options = place.screen.query_one(OptionList)
    while options.highlighted != number:
        await pilot.press("down")
    await pilot.press("enter")


async def type_in(pilot: Pilot[None], text: str) -> None:
    """Put text in place of what stands in the field, and press Enter."""
    await pilot.press("ctrl+u", *text)
    await pilot.press("enter")


async def ends(pilot: Pilot[None], place: Place) -> SetupResult:
    await until(pilot, lambda: bool(place.results))
    (result,) = place.results
    assert result is not None
    return result


@pytest.mark.parametrize("size", SIZES)
async def test_a_provider_key_model_test_and_the_file_holds_no_key(tmp_path: Path, size: tuple[int, int]) -> None:
    place = Place(tmp_path, ScriptedClient("ready", models=LISTED))
    async with place.shown(size) as pilot:
        await choose(pilot, place, "OpenAI")
        assert "variable" in place.text("title")
        assert place.screen.query_one(Input).value == "OPENAI_API_KEY"
        await pilot.press("enter")
        await until(pilot, lambda: len(place.rows()) == len(LISTED))
        assert "OPENAI_API_KEY is set" in place.text("hint")
        await pilot.press(*"beta", "down", "enter")
        result = await ends(pilot, place)
    assert (result.kind, result.model) == ("saved", "beta-coder-mini")
    assert str(place.file.path) in result.message
    settings = {"api_url": "https://api.openai.com/v1", "api_key_env": "OPENAI_API_KEY"}
    assert place.written == {"default_model": "beta-coder-mini", "llm_config": settings}
    (request,) = place.client.requests
    assert (request.model, request.endpoint.api_url) == ("beta-coder-mini", settings["api_url"])
    assert request.endpoint.api_key == "sk-real"
    assert "sk-real" not in place.file.path.read_text()
    assert place.client.closed_streams == 1


async def test_a_provider_that_the_model_id_names_takes_an_older_address_away(tmp_path: Path) -> None:
    place = Place(tmp_path, ScriptedClient("ready"), environ={"ANTHROPIC_API_KEY": "k"})
    place.file.path.parent.mkdir()
    place.file.path.write_text('{"llm_config": {"api_url": "http://old/v1"}, "mine": 1}')
    async with place.shown() as pilot:
        await choose(pilot, place, "Anthropic")
        await pilot.press("enter")
        await pilot.press("enter")
        result = await ends(pilot, place)
    assert result.model == next(preset for preset in PRESETS if preset.label == "Anthropic").models[0]
    assert place.written == {
        "default_model": result.model,
        "mine": 1,
        "llm_config": {"api_key_env": "ANTHROPIC_API_KEY"},
    }


async def test_what_listens_on_this_machine_is_offered_first_and_used_only_when_chosen(tmp_path: Path) -> None:
    models = tuple(ModelInfo(id=model) for model in OLLAMA.models)
    place = Place(tmp_path, ScriptedClient("ready", models=models), detect=lambda: (OLLAMA,))
    async with place.shown((100, 30)) as pilot:
        assert place.rows()[0].split() == ["Ollama", *["answers", "at", "127.0.0.1:11434:", "qwen3:8b,", "[red]x"]]
        assert place.client.requests == []
        await pilot.press("enter")
        assert "model" in place.text("title"), "no key is asked for"
        await choose(pilot, place, "[red]x")
        result = await ends(pilot, place)
    assert place.written == {"default_model": "[red]x", "llm_config": {"api_url": OLLAMA.api_url}}
    assert result.model == "[red]x"


async def test_a_local_server_that_wants_a_key_asks_for_its_variable(tmp_path: Path) -> None:
    locked = LocalEndpoint(program="vLLM", api_url="http://127.0.0.1:8000/v1", needs_key=True)
    place = Place(tmp_path, ScriptedClient("ready", models=LISTED), detect=lambda: (locked,), environ={"V": "k"})
    async with place.shown() as pilot:
        await choose(pilot, place, "vLLM")
        await type_in(pilot, "")
        assert "Type the name of an environment variable" in place.text("note")
        await type_in(pilot, "V")
        await until(pilot, lambda: "alpha" in "".join(place.rows()))
        await pilot.press("enter")
        await ends(pilot, place)
    assert place.written["llm_config"] == {"api_url": locked.api_url, "api_key_env": "V"}


async def test_a_custom_address_without_a_key_and_a_model_that_is_not_listed(tmp_path: Path) -> None:
    place = Place(tmp_path, ScriptedClient("ready", models=LISTED))
    async with place.shown() as pilot:
        await choose(pilot, place, "Another endpoint")
        for wrong in ("", "ftp://h/v1", "http://", "http://h h/v1"):
            await type_in(pilot, wrong)
            assert "http" in place.text("note"), wrong
        await type_in(pilot, "http://box:9000/v1")
        assert "no key" in place.text("hint")
        await pilot.press("escape")
        assert pilot.app.screen.query_one("#question-entry", Input).value == "http://box:9000/v1", "it is not lost"
        await pilot.press("enter")
        await type_in(pilot, "")
        await until(pilot, lambda: len(place.rows()) == len(LISTED))
        await pilot.press(*"beta", "up", "enter")
        result = await ends(pilot, place)
    assert result.model == "beta", "the last row is what was typed"
    assert place.written == {"default_model": "beta", "llm_config": {"api_url": "http://box:9000/v1"}}


@pytest.mark.parametrize(
    "key", ["sk-proj-abcdef0123456789", "gsk_1234567890abcdefABCD", "0123456789abcdef0123456789abcdef"]
)
async def test_a_key_typed_in_place_of_its_name_is_refused_and_forgotten(tmp_path: Path, key: str) -> None:
    place = Place(tmp_path, ScriptedClient("ready"))
    async with place.shown() as pilot:
        await choose(pilot, place, "Groq")
        await type_in(pilot, key)
        assert "looks like a key" in place.text("note")
        assert key not in place.text("note")
        assert place.screen.query_one(Input).value == ""
        assert "variable" in place.text("title")
    assert not place.file.path.exists()


async def test_without_the_key_the_list_is_not_asked_for_and_the_choice_can_be_kept(tmp_path: Path) -> None:
    place = Place(tmp_path, ScriptedClient("ready", models=LISTED), environ={})
    async with place.shown((100, 30)) as pilot:
        await choose(pilot, place, "xAI")
        await pilot.press("enter")
        assert "export XAI_API_KEY" in place.text("hint")
        assert all("alpha" not in row for row in place.rows())
        await pilot.press("enter")
        result = await ends(pilot, place)
    assert not place.client.requests and "XAI_API_KEY is not set" in result.message
    assert place.written["llm_config"]["api_key_env"] == "XAI_API_KEY"


async def test_a_test_that_fails_shows_its_sentence_and_can_be_made_again_or_changed(tmp_path: Path) -> None:
    place = Place(tmp_path, ScriptedClient(REFUSED, REFUSED, "ready", models=LISTED))
    async with place.shown() as pilot:
        await choose(pilot, place, "OpenAI")
        await pilot.press("enter")
        await until(pilot, lambda: len(place.rows()) == len(LISTED))
        await pilot.press("enter")
        await until(pilot, lambda: REFUSED.message in place.text("note"))
        assert not place.file.path.exists()
        await choose(pilot, place, "Try again")
        await until(pilot, lambda: len(place.client.requests) == 2 and REFUSED.message in place.text("note"))
        await choose(pilot, place, "Choose another model")
        await until(pilot, lambda: len(place.rows()) == len(LISTED) and "Asking" not in place.text("note"))
        await choose(pilot, place, "beta-coder")
        result = await ends(pilot, place)
    assert result.model == "beta-coder"


async def test_an_endpoint_that_does_not_list_leaves_the_examples_and_typing(tmp_path: Path) -> None:
    class Silent(ScriptedClient):
        async def list_models(self, *_: Any) -> tuple[ModelInfo, ...]:
            raise AgentFailure(REFUSED)

    place = Place(tmp_path, Silent("ready"))
    async with place.shown() as pilot:
        await choose(pilot, place, "OpenAI")
        await pilot.press("enter")
        await until(pilot, lambda: REFUSED.message in place.text("note"))
        assert place.rows() == list(PRESETS[0].models)


async def test_escape_goes_back_step_by_step_and_out(tmp_path: Path) -> None:
    place = Place(tmp_path, ScriptedClient([asyncio.Event()], models=LISTED))
    async with place.shown() as pilot:
        await choose(pilot, place, "OpenAI")
        await pilot.press("enter")
        await until(pilot, lambda: len(place.rows()) == len(LISTED))
        await pilot.press("enter")
        await until(pilot, lambda: len(place.client.requests) == 1)
        titles = [place.text("title")]
        for _ in range(3):
            await pilot.press("escape")
            titles.append(place.text("title"))
        assert [title.split()[0] for title in titles] == ["Asking", "Which", "Which", "Which"]
        assert "shall work for you" in titles[-1]
        await until(pilot, lambda: place.client.closed_streams == 1)
        await pilot.press("escape")
        assert (await ends(pilot, place)).kind == "skipped"
    assert not place.file.path.exists()


async def test_a_broken_settings_file_is_left_alone_and_the_lines_to_write_are_shown(tmp_path: Path) -> None:
    place = Place(tmp_path, ScriptedClient("ready", models=LISTED))
    place.file.path.parent.mkdir()
    place.file.path.write_text("{broken")
    async with place.shown() as pilot:
        await choose(pilot, place, "OpenAI")
        await pilot.press("enter")
        await until(pilot, lambda: len(place.rows()) == len(LISTED))
        await pilot.press("enter")
        await until(pilot, lambda: "by hand" in place.text("note"))
        assert '"default_model": "alpha"' in place.text("note")
        place.file.path.write_text("{}")
        await choose(pilot, place, "Try again")
        await ends(pilot, place)
    assert place.written["default_model"] == "alpha"


@pytest.mark.skipif(machine_problem() is not None, reason="no local model can run here")
async def test_the_embedded_model_is_fetched_with_a_bar_and_can_be_given_up(tmp_path: Path) -> None:
    place = Place(tmp_path, ScriptedClient("ready"))
    async with place.shown((100, 30)) as pilot:
        await choose(pilot, place, "On this machine")
        assert any("1.12 GB" in row and "not a capable coder" in row for row in place.rows())
        await pilot.press("enter")
        await until(pilot, lambda: "50 % [##########" in place.text("note"))
        await pilot.press("escape")
        await until(pilot, lambda: place.was_stopped)
        assert "on this machine" in place.text("title")
        await pilot.press("enter")
        result = await ends(pilot, place)
    assert place.installs == [MODELS[0].name] * 2
    assert place.written == {"default_model": f"embedded:{MODELS[0].name}"}
    assert result.kind == "saved"


async def test_a_file_of_the_persons_is_tried_and_kept(tmp_path: Path) -> None:
    place = Place(tmp_path, ScriptedClient("ready"))
    async with place.shown() as pilot:
        await choose(pilot, place, "A GGUF file")
        await type_in(pilot, "")
        assert "Type the path" in place.text("note")
        await type_in(pilot, "/m/x.gguf")
        await ends(pilot, place)
    assert place.written == {"default_model": "file:/m/x.gguf"}


async def test_the_tour_can_be_chosen(tmp_path: Path) -> None:
    place = Place(tmp_path, ScriptedClient("ready"))
    async with place.shown() as pilot:
        await choose(pilot, place, "Only look around")
        assert (await ends(pilot, place)).kind == "tour"


async def test_the_terminals_cursor_stands_in_the_field_before_the_first_key(tmp_path: Path) -> None:
    place = Place(tmp_path, ScriptedClient("ok", models=LISTED))
    async with place.shown() as pilot:
        field = place.screen.query_one(Input)

        def is_there() -> bool:
            return field.region.height > 0 and field.region.contains_point(pilot.app.cursor_position)

        await choose(pilot, place, "OpenAI")
        await until(pilot, is_there)
        await pilot.press("enter")
        # The list of models comes later, and moves the field.
        await until(pilot, lambda: "beta-coder" in str(place.rows()) and is_there())


@pytest.mark.parametrize("size", SIZES)
async def test_every_page_fits_the_screen(tmp_path: Path, size: tuple[int, int]) -> None:
    place = Place(tmp_path, ScriptedClient(REFUSED, models=LISTED))
    async with place.shown(size) as pilot:
        await choose(pilot, place, "OpenAI")
        await pilot.press("enter")
        await until(pilot, lambda: len(place.rows()) == len(LISTED))
        await pilot.press("enter")
        await until(pilot, lambda: REFUSED.message in place.text("note"))
        box = place.screen.query_one("#question")
        assert box.region.width <= size[0] and box.region.height <= size[1]
        for part in ("title", "note", "rows"):
            region = place.screen.query_one(f"#question-{part}").region
            assert region.height > 0 and box.region.contains_region(region), part


# In the app


def app_that_asks(tmp_path: Path, client: ScriptedClient) -> SmithApp:
    runtime = open_engine(tmp_path, client, {"default_model": None})
    app = app_around(runtime)
    import msgspec

    app.start = msgspec.structs.replace(app.start, asks_first=True, user_file=UserFile(path=tmp_path / "c.json"))
    app.chat._start_with = app.start
    return app


def shown(app: SmithApp) -> str:
    app.chat.transcript.flush()
    return "\n".join(row.line.text for row in app.chat.transcript.shown_rows)


async def test_the_app_asks_first_and_skipping_says_how_to_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "state"))
    app = app_that_asks(tmp_path, ScriptedClient("x"))
    assert is_first_start(Config(), None)
    async with app.run_test(size=(90, 30)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, FirstStartScreen))
        await pilot.press("escape")
        await until(pilot, lambda: "/setup, or smith-tui setup" in shown(app))
        assert "no model is configured" in shown(app)
        assert app.chat.prompt.has_focus
        await pilot.press(*"/setup", "enter")
        await until(pilot, lambda: isinstance(app.screen, FirstStartScreen))
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, FirstStartScreen))
    assert not is_first_start(Config(), None), "it was answered"


@pytest.mark.parametrize(
    ("config", "model"),
    [
        (Config(default_model="m"), None),
        (Config(models={"direct": "m"}), None),
        (Config(), "m"),
    ],
)
def test_whoever_has_named_a_model_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: Config, model: str | None
) -> None:
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    assert is_first_start(Config(), None)
    assert not is_first_start(config, model)


def test_where_nothing_can_be_remembered_the_start_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    note_answered()
    assert is_first_start(Config(), None) in (True, False)


# What is typed


@pytest.mark.parametrize(
    "name", ["LLM_API_KEY", "OPENAI_API_KEY", "my_key", "K", "COMPANY_LLM_GATEWAY_TOKEN_PRODUCTION", "KEY2", "_x"]
)
def test_names_of_variables_are_taken(name: str) -> None:
    assert variable_problem(name, {}) == ""


@pytest.mark.parametrize(
    "text",
    [
        "sk-ant-api03-abc",
        "sk-or-v1-0123456789abcdef",
        "AIzaSyA1234567890abcdefg",
        "xai-abcdefghijklmnop",
        "gsk_abcdEFGH1234",
        "ABCDEF0123456789ABCDEF0123456789",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIi",
        "AbCdEfGhIjKlMnOpQrSt",
        "550e8400-e29b-41d4-a716-446655440000",
    ],
)
def test_keys_are_recognized(text: str) -> None:
    assert looks_like_key(text, {})
    assert text not in variable_problem(text, {})


def test_a_variable_that_is_set_is_one_whatever_it_looks_like() -> None:
    assert not looks_like_key("ABCDEF0123456789ABCDEF", {"ABCDEF0123456789ABCDEF": "k"})


@pytest.mark.parametrize("name", ["", "a b", "1A", "A-B", "Ä", "$KEY", "KEY=1"])
def test_what_is_no_name_of_a_variable_is_explained(name: str) -> None:
    assert "LLM_API_KEY" in variable_problem(name, {})


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("localhost:8080/v1", "http://localhost:8080/v1"),
        ("192.168.0.7:1234", "http://192.168.0.7:1234"),
        ("gpubox:8000/v1", "http://gpubox:8000/v1"),
        ("api.openai.com/v1", "https://api.openai.com/v1"),
        ("http://api.openai.com", "http://api.openai.com"),
        ("", ""),
    ],
)
def test_an_address_without_a_scheme_is_completed(typed: str, meant: str) -> None:
    assert completed_address(typed) == meant


def test_an_address_is_checked_by_the_settings_own_rule() -> None:
    assert address_problem("http://127.0.0.1:8080/v1") == ""
    assert address_problem("nonsense")
