"""The session: composing services, states, turns that exclude each other, commands and frozen contexts."""

import asyncio
import re
from pathlib import Path

import pytest

from smith_core.config.schema import Config
from smith_core.errors import AgentFailure, failure
from smith_core.events import AnyEvent, CommandOutput, Notice, QuitRequested, SessionChanged, TurnEnded
from smith_core.llm.protocol import Endpoint, ModelInfo, Timeouts
from smith_core.messages import Message, TurnRecord
from smith_core.model import ModelChoice, choose
from smith_core.roles import ROLES
from smith_core.runtime import Runtime, compose_services
from smith_core.services import SERVICE_NAMES
from smith_core.session.values import TurnRequest
from smith_core.store.memory import MemoryPersistence
from tests.support.engine import open_engine, run_turn
from tests.support.scripted_client import ScriptedClient


async def command(runtime: Runtime, line: str) -> list[AnyEvent]:
    return [event async for event in runtime.process_raw_input(line)]


def said(events: list[AnyEvent]) -> str:
    return "\n".join(event.text for event in events if isinstance(event, CommandOutput | Notice))


def test_there_are_ten_services() -> None:
    services = compose_services(Config())
    assert set(SERVICE_NAMES) == {
        "role", "model", "tool", "dispatch", "conversation", "persistence", "config", "ui", "prompt", "command",
    }  # fmt: skip
    assert all(getattr(services, name) is not None for name in SERVICE_NAMES)


def test_both_override_hooks() -> None:
    store = MemoryPersistence()
    services = compose_services(
        {"service_handles": {"persistence": store}, "services": {"conversation": {"conversation_id": "abc"}}}
    )
    assert services.persistence is store
    assert services.conversation.conversation_id == "abc"
    with pytest.raises(AgentFailure, match="no such service: persitence"):
        compose_services(Config(), {"persitence": store})


async def test_the_execution_context_cannot_be_written(tmp_path: Path) -> None:
    runtime = open_engine(tmp_path, ScriptedClient("hi"), {"models": {"a": "b"}})
    turn = runtime.session.begin_turn(TurnRequest(text="x"))
    for write in (
        lambda: setattr(turn.context, "active_role", "worker"),
        lambda: setattr(turn.context.config_snapshot, "index_file", "x"),
        lambda: turn.context.config_snapshot.models.update(a="c"),
        lambda: setattr(turn.context.service_handles, "tool", None),
    ):
        with pytest.raises((AttributeError, TypeError)):
            write()


async def test_one_turn_at_a_time(tmp_path: Path) -> None:
    gate = asyncio.Event()
    client = ScriptedClient([gate], "hi")
    runtime = open_engine(tmp_path, client)
    first = asyncio.create_task(run_turn(runtime, "one"))
    while not client.requests:
        await asyncio.sleep(0)
    assert "a turn is running" in said(await command(runtime, "two"))
    assert "/new is not possible while a turn runs; Ctrl+C stops it" in said(await command(runtime, "/new"))
    assert "list the commands" in said(await command(runtime, "/help"))
    await command(runtime, "/cancel")
    assert (await first).stop_reason == "cancelled"
    assert (await run_turn(runtime, "three")).turn_id.startswith("turn-2-")


async def test_a_turn_can_be_cancelled_while_its_model_is_still_looked_up(tmp_path: Path) -> None:
    asked = asyncio.Event()

    class Silent(ScriptedClient):
        async def list_models(self, endpoint: Endpoint, timeouts: Timeouts) -> tuple[ModelInfo, ...]:
            asked.set()
            await asyncio.Event().wait()
            return ()

    settings = {"default_model": "scripted", "llm_config": {"api_url": "http://127.0.0.1:1/v1"}}
    runtime = open_engine(tmp_path, Silent("never"), settings)
    turn = asyncio.ensure_future(run_turn(runtime, "go"))
    await asked.wait()
    runtime.cancel()
    assert (await asyncio.wait_for(turn, 5)).stop_reason == "cancelled"


async def test_closing_the_events_cancels_the_turn(tmp_path: Path) -> None:
    client = ScriptedClient([asyncio.Event()])
    runtime = open_engine(tmp_path, client)
    events = runtime.process_raw_input("go")
    await anext(events)
    await events.aclose()
    assert runtime.session.current_turn is None


async def test_session_states(tmp_path: Path) -> None:
    runtime = open_engine(tmp_path, ScriptedClient("hi"))
    assert runtime.session.state.status == "running"
    runtime.session.fail_session("disk on fire")
    state = runtime.session.state
    assert (state.status, state.stop_reason) == ("failed", "internal")
    assert state.error is not None
    assert "the session is failed" in said(await command(runtime, "hello"))
    runtime.session.stop_session("late")
    assert runtime.session.state.status == "failed"


async def test_a_session_that_a_crash_ends_has_failed(tmp_path: Path) -> None:
    runtime = open_engine(tmp_path, ScriptedClient("hi"))
    await runtime.stop_session("quit", ValueError("a bug"))
    state = runtime.session.state
    assert state.status == "failed"
    assert state.error is not None and state.error.kind == "internal"


async def test_a_turn_that_cannot_be_saved_says_so_and_goes_on(tmp_path: Path) -> None:
    class FullDisk(MemoryPersistence):
        async def persist_turn(self, record: TurnRecord) -> None:
            raise failure("persistence", "no_space", "the disk is full; free some space")

        async def save_prompt(self, conversation_id: str, turn_id: str, message: Message) -> None:
            raise failure("persistence", "no_space", "the disk is full; free some space")

    runtime = open_engine(tmp_path, ScriptedClient("hi"), handles={"persistence": FullDisk()})
    events: list[AnyEvent] = []
    assert (await run_turn(runtime, "go", events)).text == "hi"
    assert "not saved: the disk is full" in said(events)


async def test_the_prompt_is_kept_before_the_first_request(tmp_path: Path) -> None:
    store = MemoryPersistence()
    gate = asyncio.Event()
    client = ScriptedClient([gate])
    runtime = open_engine(tmp_path, client, handles={"persistence": store})
    turn = asyncio.create_task(run_turn(runtime, "precious words"))
    while not client.requests:
        await asyncio.sleep(0)
    kept = await store.load_messages(runtime.services.conversation.conversation_id)
    assert [message.content for message in kept] == ["precious words"]
    runtime.cancel()
    await turn
    kept = await store.load_messages(runtime.services.conversation.conversation_id)
    assert [message.content for message in kept] == ["precious words"]


async def test_without_a_model_the_error_says_which_setting_to_write(tmp_path: Path) -> None:
    runtime = open_engine(tmp_path, ScriptedClient("hi"), {"default_model": None})
    events: list[AnyEvent] = []
    result = await run_turn(runtime, "go", events)
    assert result.error is not None
    assert (result.error.kind, "default_model" in result.error.message) == ("policy", True)
    assert [message.content for message in runtime.services.conversation.messages] == ["go"]


async def test_a_turn_that_asks_no_model_is_not_put_down_to_the_model_of_the_one_before(tmp_path: Path) -> None:
    store = MemoryPersistence()
    settings = {"default_model": None, "models": {"orchestrator": "scripted"}}
    runtime = open_engine(tmp_path, ScriptedClient("hi"), settings, {"persistence": store})
    await command(runtime, "/role orchestrator")
    assert (await run_turn(runtime, "go")).model == "scripted"
    assert (await run_turn(runtime, "!true")).model == ""
    await command(runtime, "/role direct")
    result = await run_turn(runtime, "go")
    assert (result.stop_reason, result.model) == ("error", "")
    kept = await store.usage_of(runtime.services.conversation.conversation_id)
    assert [turn.model for turn in kept] == ["scripted", "", ""]


async def test_a_remote_model_without_a_key_names_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LLM_API_KEY", raising=False)
    runtime = open_engine(tmp_path, ScriptedClient("hi"), {"default_model": "openai/gpt", "llm_config": {}})
    result = await run_turn(runtime, "go")
    assert result.error is not None
    assert "LLM_API_KEY" in result.error.message


def test_six_steps_of_the_model_resolution_in_order() -> None:
    role = ROLES["direct"]
    everything = Config(default_model="m5", models={"k": "m2", "direct": "m3", "default": "m4"})
    choice = ModelChoice(model="m1", model_key="k", parent="m6")
    assert choose(choice, role, everything)[:2] == ("m1", "request")
    assert choose(ModelChoice(model_key="k", parent="m6"), role, everything) == ("m2", "request_key", "k")
    assert choose(ModelChoice(parent="m6"), role, everything) == ("m3", "role", "direct")
    assert choose(ModelChoice(), ROLES["worker"], everything)[:2] == ("m4", "role_default_key")
    assert choose(ModelChoice(parent="m6"), role, Config(default_model="m5"))[:2] == ("m5", "default_model")
    assert choose(ModelChoice(parent="m6"), role, Config())[:2] == ("m6", "parent")
    assert choose(ModelChoice(), role, Config())[0] is None


async def test_an_unknown_command_suggests_the_nearest(tmp_path: Path) -> None:
    runtime = open_engine(tmp_path, ScriptedClient("hi"))
    assert "did you mean /config?" in said(await command(runtime, "/confg show"))
    assert "/help" in said(await command(runtime, "/xyzzy"))
    assert "put a blank first" in said(await command(runtime, "/"))


async def test_new_starts_an_empty_conversation(tmp_path: Path) -> None:
    runtime = open_engine(tmp_path, ScriptedClient("hi"))
    await run_turn(runtime, "go")
    before = runtime.services.conversation.conversation_id
    events = await command(runtime, "/new fresh start")
    changed = next(event for event in events if isinstance(event, SessionChanged))
    assert changed.cleared
    assert changed.conversation_id != before
    assert runtime.services.conversation.messages == ()


async def test_role_switches_and_refuses(tmp_path: Path) -> None:
    runtime = open_engine(tmp_path, ScriptedClient("hi"))
    await command(runtime, "/role orchestrator")
    assert (await run_turn(runtime, "go")).role == "orchestrator"
    assert "there is no role 'worker' to talk to" in said(await command(runtime, "/role worker"))
    assert runtime.session.active_role == "orchestrator"


async def test_b26_config_set_validates_before_it_keeps(tmp_path: Path) -> None:
    store = MemoryPersistence()
    runtime = open_engine(tmp_path, ScriptedClient("hi"), handles={"persistence": store})
    runtime.services.config.keep_overrides_in(store)
    for bad in (
        "context_management.trim_threshold_pct 0", "context_management.trim_threshold_pct 100.1",
        "context_management.trim_threshold_pct NaN", "contxt.enabled false", "index_file ../x",
        "llm_config.retry_backoff_ms []", 'models.a ""', "default_model 42",
    ):  # fmt: skip
        assert "not changed" in said(await command(runtime, f"/config set {bad}")), bad
    assert await store.read_overrides() == {}
    await command(runtime, "/config set context_management.trim_threshold_pct 100")
    assert "is now 9, kept for later starts" in said(await command(runtime, "/config set tool_step_budget 9"))
    assert await store.read_overrides() == {"context_management": {"trim_threshold_pct": 100}, "tool_step_budget": 9}
    assert runtime.services.config.effective.tool_step_budget == 9
    assert "9  (set by /config)" in said(await command(runtime, "/config show tool_step_budget"))
    told = said(await command(runtime, "/config unset context_management.trim_threshold_pct"))
    assert re.search(r"is now [\d.]+ \(the default\)$", told)
    assert await store.read_overrides() == {"tool_step_budget": 9}
    runtime.services.config.keep_overrides_in(MemoryPersistence(), lasts=False)
    assert "is now 7; for this session only" in said(await command(runtime, "/config set tool_step_budget 7"))


async def test_what_another_window_sets_does_not_count_here_before_the_next_start(tmp_path: Path) -> None:
    store = MemoryPersistence()
    here, there = (open_engine(tmp_path, ScriptedClient("hi"), handles={"persistence": store}) for _ in range(2))
    for runtime in (here, there):
        runtime.services.config.keep_overrides_in(store)
    await command(here, "/config set tools.permission ask")
    await command(there, "/config set tools.permission auto")
    await command(here, "/config set ui.theme light")
    config = here.services.config.effective
    assert (config.tools.permission, config.ui.theme) == ("ask", "light")
    assert await store.read_overrides() == {"tools": {"permission": "auto"}, "ui": {"theme": "light"}}
    # What was set elsewhere can be taken back here, too.
    await command(there, "/config set tool_step_budget 5")
    await command(here, "/config unset tool_step_budget")
    assert "tool_step_budget" not in await store.read_overrides()


async def test_the_other_commands_answer(tmp_path: Path) -> None:
    runtime = open_engine(tmp_path, ScriptedClient("hi"))
    assert "bash" in said(await command(runtime, "/tools"))
    assert "## Project information" in said(await command(runtime, "/prompt"))
    assert "nothing was asked" in said(await command(runtime, "/usage"))
    assert "scripted" in said(await command(runtime, "/model"))
    assert "does not list" not in said(await command(runtime, "/model other")), "nobody can be asked"
    settings = {"default_model": "scripted", "llm_config": {"api_url": "http://127.0.0.1:1/v1"}}
    listing = open_engine(tmp_path, ScriptedClient(models=(ModelInfo(id="other"),)), settings)
    assert "does not list" in said(await command(listing, "/model nonsense"))
    assert "for this session; /config set default_model other keeps it" in said(await command(listing, "/model other"))
    await command(listing, "/config set models.default third")
    assert "for this session; /config set models.default other keeps it" in said(await command(listing, "/model other"))
    await command(listing, "/config set models.direct other")
    for line in ("/model other", "/model"):
        assert "for this session" not in said(await command(listing, line))
    assert "does not list" not in said(await command(listing, "/model other"))
    assert any(isinstance(event, QuitRequested) for event in await command(runtime, "/quit"))
    assert "no turn is running" in said(await command(runtime, "/cancel"))


async def test_subscribers_of_the_ui_service_see_every_event(tmp_path: Path) -> None:
    runtime = open_engine(tmp_path, ScriptedClient("hi"))
    seen: list[AnyEvent] = []
    unsubscribe = runtime.services.ui.on_event(seen.append)
    events: list[AnyEvent] = []
    await run_turn(runtime, "go", events)
    assert seen == events
    unsubscribe()
    await run_turn(runtime, "again")
    assert len([event for event in seen if isinstance(event, TurnEnded)]) == 1
