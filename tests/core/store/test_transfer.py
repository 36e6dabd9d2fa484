"""Check, export and import: what is said about a store, and moving it to another machine."""

import json
import stat
from pathlib import Path

import pytest

from smith_core.errors import AgentFailure
from smith_core.maintenance import check_store, export_store, import_store
from smith_core.store.layout import StoreLayout
from tests.core.store.test_persistence import turn
from tests.support.store_disks import open_store


async def fill(folder: Path, *conversations: str, turns: int = 2) -> None:
    store = open_store(folder)
    for conversation in conversations:
        for number in range(1, turns + 1):
            await store.persist_turn(turn(conversation, number))
        await store.put_note(conversation, "k", f"note of {conversation}")
    await store.put_project_note("project", "style", "tabs")
    await store.write_overrides({"tool_step_budget": 7})
    await store.aclose()


async def test_an_export_makes_the_same_store_elsewhere(tmp_path: Path) -> None:
    here, there, export = tmp_path / "here", tmp_path / "there", tmp_path / "export.jsonl"
    await fill(here, "one", "two")
    out = export_store(here, export)
    assert out.conversations == 2
    assert stat.S_IMODE(export.stat().st_mode) == 0o600
    assert all(isinstance(json.loads(line), dict) for line in export.read_bytes().splitlines())
    came_in = import_store(there, export, with_settings=True)
    assert (came_in.conversations, came_in.copies, came_in.settings_left) == (2, (), ())
    before, after = open_store(here), open_store(there)
    assert await after.load_messages("one") == await before.load_messages("one")
    assert await after.list_notes("two") == await before.list_notes("two")
    assert await after.read_overrides() == {"tool_step_budget": 7}
    assert [note.text for note in await after.list_project_notes("project")] == ["tabs"]
    described = [(meta.conversation_id, meta.title, meta.message_count) for meta in await after.list_conversations()]
    assert sorted(described) == [("one", "prompt 1", 8), ("two", "prompt 1", 8)]
    await before.aclose()
    await after.aclose()
    assert check_store(there).is_healthy


async def test_a_second_import_changes_nothing(tmp_path: Path) -> None:
    here, there, export = tmp_path / "here", tmp_path / "there", tmp_path / "export.jsonl"
    await fill(here, "one")
    export_store(here, export)
    import_store(there, export)
    contents = {path: path.read_bytes() for path in StoreLayout(there).journals()}
    again = import_store(there, export)
    assert (again.conversations, again.records) == (0, 0)
    assert {path: path.read_bytes() for path in StoreLayout(there).journals()} == contents


async def test_settings_of_a_file_come_in_only_when_they_are_wanted_and_replace_none(tmp_path: Path) -> None:
    here, there, export = tmp_path / "here", tmp_path / "there", tmp_path / "export.jsonl"
    foreign = {"llm_config": {"api_url": "http://evil.example/v1", "api_key_env": "HOME"}, "tool_step_budget": 1}
    store = open_store(here)
    await store.write_overrides(foreign)
    await store.aclose()
    export_store(here, export)
    left = ("llm_config.api_key_env", "llm_config.api_url", "tool_step_budget")
    assert import_store(there, export).settings_left == left
    store = open_store(there)
    assert await store.read_overrides() == {}
    await store.write_overrides({"tool_step_budget": 7})
    await store.aclose()
    assert import_store(there, export, with_settings=True).settings_left == left
    store = open_store(there)
    assert await store.read_overrides() == {"tool_step_budget": 7}
    await store.aclose()


async def test_a_conversation_that_went_on_is_completed(tmp_path: Path) -> None:
    here, there, export = tmp_path / "here", tmp_path / "there", tmp_path / "export.jsonl"
    await fill(here, "one", turns=1)
    export_store(here, export)
    import_store(there, export)
    store = open_store(here)
    await store.persist_turn(turn("one", 2))
    await store.aclose()
    export_store(here, export)
    assert import_store(there, export).copies == ()
    after = open_store(there)
    assert len(await after.load_messages("one")) == 8
    await after.aclose()


async def test_a_conversation_that_went_on_on_both_sides_is_kept_twice(tmp_path: Path) -> None:
    here, there, export = tmp_path / "here", tmp_path / "there", tmp_path / "export.jsonl"
    await fill(here, "one", turns=2)
    await fill(there, "one", turns=1)
    store = open_store(there)
    await store.persist_turn(turn("one", 3))
    await store.aclose()
    export_store(here, export)
    came_in = import_store(there, export)
    (copy,) = came_in.copies
    assert import_store(there, export).records == 0
    after = open_store(there)
    prompts = {
        name: [message.content for message in await after.load_messages(name) if message.role == "user"]
        for name in ("one", copy)
    }
    assert prompts == {"one": ["prompt 1", "prompt 3"], copy: ["prompt 1", "prompt 2"]}
    assert (await after.get_note(copy, "k")) is not None
    await after.aclose()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda lines: [], "no export"),
        (lambda lines: ["[]\n"], "no export"),
        (lambda lines: lines[:-1], "its end is missing"),
        (lambda lines: [*lines[:2], *lines[3:]], "were written"),
        (lambda lines: [lines[0].replace('"schema":2', '"schema":3'), *lines[1:]], "its form is 3"),
        (lambda lines: [*lines[:2], lines[2][: len(lines[2]) // 2] + "\n", *lines[3:]], "line 3"),
        (lambda lines: [line.replace('"one', '"../one') for line in lines], "line"),
        (lambda lines: [line.replace('"role":"user"', '"role":"robot"') for line in lines], "cannot be read"),
    ],
)
async def test_a_file_that_is_no_whole_export_changes_nothing(tmp_path: Path, change: object, words: str) -> None:
    here, there, export = tmp_path / "here", tmp_path / "there", tmp_path / "export.jsonl"
    await fill(here, "one")
    export_store(here, export)
    assert callable(change)
    export.write_text("".join(change(export.read_text().splitlines(keepends=True))))
    with pytest.raises(AgentFailure, match=words):
        import_store(there, export)
    assert not there.exists()


def test_a_missing_export_is_named(tmp_path: Path) -> None:
    with pytest.raises(AgentFailure, match="no file"):
        import_store(tmp_path / "data", tmp_path / "none")


async def test_a_check_names_what_is_wrong_and_changes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    await fill(folder, "one")
    assert check_store(folder).is_healthy
    path = StoreLayout(folder).conversation("one")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    report = check_store(folder)
    (damaged,) = [journal for journal in report.journals if journal.problems]
    assert damaged.path == path and "belong to no whole batch" in damaged.problems[0]
    assert path.read_bytes() == data


def test_a_store_that_is_not_there_is_healthy(tmp_path: Path) -> None:
    report = check_store(tmp_path / "none")
    assert report.is_healthy and report.journals == ()
