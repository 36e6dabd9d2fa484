"""Commands about whole turns and files, through a whole engine."""

import json
from pathlib import Path

import pytest

from smith_core.events import AnyEvent, HistoryEdited, PromptReturned, TurnEnded
from tests.support.engine import command, open_engine, open_stored_engine, run_turn, said
from tests.support.scripted_client import ScriptedClient


def contents(runtime_messages: tuple[object, ...]) -> list[str]:
    return [message.content for message in runtime_messages]  # type: ignore[attr-defined]


async def test_undo_takes_the_turn_out_here_in_the_store_and_after_a_restart(tmp_path: Path) -> None:
    runtime = open_stored_engine(tmp_path, ScriptedClient("one", "two", "three"))
    for prompt in ("first", "second", "third"):
        await run_turn(runtime, prompt)
    seen: list[AnyEvent] = []
    runtime.services.ui.on_event(seen.append)
    events = await command(runtime, "/undo 2")
    assert [event.text for event in events if isinstance(event, PromptReturned)] == ["second"]
    assert contents(runtime.services.conversation.messages) == ["first", "one"]
    assert any(isinstance(event, HistoryEdited) and len(event.messages) == 2 for event in seen)
    identity = runtime.services.conversation.conversation_id
    await runtime.stop_session("test")

    again = open_stored_engine(tmp_path, ScriptedClient("four"))
    await command(again, f"/load {identity}")
    assert contents(again.services.conversation.messages) == ["first", "one"]
    await again.stop_session("test")


async def test_retry_asks_the_same_without_the_first_answer(tmp_path: Path) -> None:
    client = ScriptedClient("one", "bad", "good")
    runtime = open_engine(tmp_path, client)
    await run_turn(runtime, "first")
    await run_turn(runtime, "second")
    events = await command(runtime, "/retry")
    assert [event.result.text for event in events if isinstance(event, TurnEnded)] == ["good"]
    assert contents(client.requests[-1].messages[1:]) == ["first", "one", "second"]
    assert contents(runtime.services.conversation.messages) == ["first", "one", "second", "good"]


async def test_without_a_turn_both_say_so(tmp_path: Path) -> None:
    client = ScriptedClient("one")
    runtime = open_engine(tmp_path, client)
    for line in ("/undo", "/retry", "/undo 3"):
        assert "there is no such turn" in said(await command(runtime, line))
    assert "usage: /undo" in said(await command(runtime, "/undo -1"))
    assert not client.requests


@pytest.mark.parametrize("form", ["markdown", "html", "json"])
async def test_an_export_is_private_and_replaces_nothing(tmp_path: Path, form: str) -> None:
    runtime = open_engine(tmp_path, ScriptedClient("the answer"))
    assert "nothing to export" in said(await command(runtime, "/export"))
    await run_turn(runtime, "the prompt")
    assert "written" in said(await command(runtime, f"/export {form} talk.out"))
    text = (tmp_path / "talk.out").read_text()
    assert "the prompt" in text
    assert "the answer" in text
    assert (tmp_path / "talk.out").stat().st_mode & 0o777 == 0o600
    (tmp_path / "talk.out").write_text("mine")
    assert "there already" in said(await command(runtime, f"/export {form} talk.out"))
    assert (tmp_path / "talk.out").read_text() == "mine"


async def test_an_export_without_a_name_finds_one_each_time(tmp_path: Path) -> None:
    runtime = open_engine(tmp_path, ScriptedClient("x"))
    await run_turn(runtime, "Prices / sums")
    for _ in range(2):
        assert "written" in said(await command(runtime, "/export json"))
    files = sorted(tmp_path.glob("smith-prices-sums-*.json"))
    assert len(files) == 2
    assert json.loads(files[0].read_text())["title"] == "Prices / sums"


async def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    runtime = open_engine(tmp_path, ScriptedClient("x"))
    await run_turn(runtime, "go")
    assert "cannot write" in said(await command(runtime, "/export html no/such/folder/x.html"))
    assert "cannot write" in said(await command(runtime, "/export html ~nobody-of-that-name/x.html"))


async def test_a_command_file_is_found_when_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    client = ScriptedClient("looked")
    runtime = open_engine(tmp_path, client)
    assert "unknown command /review" in said(await command(runtime, "/review x"))
    folder = tmp_path / "config" / "smith" / "commands"
    folder.mkdir(parents=True)
    (folder / "review.md").write_text("---\ndescription: Look at a file\n---\nReview $1 closely.")
    (folder / "quit.md").write_text("not this one")
    events = await command(runtime, "/review a.py")
    assert client.requests[-1].messages[-1].content == "Review a.py closely."
    assert [event.result.text for event in events if isinstance(event, TurnEnded)] == ["looked"]
    assert "/quit is a command of Smith" in said(events)
    assert "/review" in said(await command(runtime, "/help"))
