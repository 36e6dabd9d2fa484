"""Settings of the app that `/config` changes: what cannot be is refused, and what counts later says so."""

import asyncio
from pathlib import Path

import pytest

from smith_tui.app import app_around
from smith_tui.keys import key_objection
from tests.support.engine import open_engine, open_stored_engine
from tests.support.scripted_client import ScriptedClient
from tests.support.store_disks import open_store
from tests.tui.test_queueing import FIRST, begin, send, shown, until

LATER = "that counts from the next start on"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("keys.toool_output f4", "there is no such action; did you mean tool_output?"),
        ("keys.xyzzy f4", "there is no such action; Tab after /config set keys. lists them"),
        ("keys.find banana", "write it like ctrl+o, alt+1 or f2"),
        ("keys.send a", "A is needed for typing; add ctrl, alt or take a function key"),
        ("keys.find ctrl+o", "Ctrl+O already belongs to tool_output; take a free key, or change that one first"),
    ],
)
async def test_a_key_that_cannot_be_is_refused_in_words_and_not_stored(tmp_path: Path, change: str, words: str) -> None:
    runtime = open_stored_engine(tmp_path, ScriptedClient())
    app = app_around(runtime)
    async with app.run_test(size=(150, 24)) as pilot:
        await send(pilot, f"/config set {change}")
        await until(pilot, lambda: "not changed: keys." in shown(app))
        assert words.casefold() in shown(app).casefold()
        assert runtime.services.config.effective.keys == {}
        assert await runtime.services.persistence.read_overrides() == {}
    await runtime.stop_session("quit")


async def test_bad_keys_that_are_stored_already_stop_no_other_and_can_be_taken_out(tmp_path: Path) -> None:
    store = open_store(tmp_path / "data")
    await store.write_overrides({"keys": {"toool_output": "f4", "send": "a", "find": 5}})
    await store.aclose()
    runtime = open_stored_engine(tmp_path, ScriptedClient())
    app = app_around(runtime)
    async with app.run_test(size=(150, 24)) as pilot:
        await send(pilot, "/config set keys.tool_output f4")
        await until(pilot, lambda: f'keys.tool_output is now "f4", kept for later starts; {LATER}' in shown(app))
        for name in ("toool_output", "send", "find"):
            await send(pilot, f"/config unset keys.{name}")
            await until(pilot, lambda name=name: f"keys.{name} is not set any more; {LATER}" in shown(app))  # type: ignore[misc]
        assert await runtime.services.persistence.read_overrides() == {"keys": {"tool_output": "f4"}}
        await send(pilot, "/config set ui.output stock")
        await until(pilot, lambda: f'ui.output is now "stock", kept for later starts; {LATER}' in shown(app))
        await send(pilot, "/config set ui.theme light")
        await until(pilot, lambda: 'ui.theme is now "light", kept for later starts' in shown(app))
        assert shown(app).count(LATER) == 5
    await runtime.stop_session("quit")


async def test_less_motion_counts_at_once(tmp_path: Path) -> None:
    app = app_around(open_engine(tmp_path, ScriptedClient([FIRST, asyncio.Event()])))
    async with app.run_test(size=(100, 24)) as pilot:
        await begin(pilot)
        bar = app.chat.status
        assert bar._spins
        await send(pilot, "/config set ui.motion reduced")
        await until(pilot, lambda: not bar._spins)
        assert bar._ticker_period == 1.0
        await send(pilot, "/config set ui.motion full")
        await until(pilot, lambda: bar._spins)
        await pilot.press("ctrl+c")
        await until(pilot, lambda: not app.chat.turns.is_running)


def test_the_last_of_two_overrides_that_clash_is_the_one_that_cannot_be() -> None:
    assert "already belongs to find" in key_objection({"help": "f4", "find": "f4"}, "help")
    assert key_objection({"tool_output": "f4", "send": "a", "find": "ctrl+o"}, "find") == ""
