"""The tools record, recall and note, over a store in memory and, for looking back, over one on disk."""

from pathlib import Path
from typing import Any

import pytest

from smith_core.cancel import new_root
from smith_core.errors import failure
from smith_core.messages import ToolCall, ToolResult
from smith_core.project import Project
from smith_core.runtime import compose_services, open_store
from smith_core.store.interface import Note
from smith_core.store.memory import MemoryPersistence
from smith_core.tools.base import ToolContext
from smith_core.tools.builtin import BUILTIN_TOOLS
from smith_core.tools.executor import execute
from smith_core.tools.registry import ToolRegistry
from tests.support.engine import command, open_stored_engine, run_turn
from tests.support.scripted_client import ScriptedClient, calls

PROJECT = "p" * 16


class Caller:
    """Calls tools as a model does, in the role direct."""

    def __init__(self, folder: Path, store: MemoryPersistence | None = None) -> None:
        self.store = store or MemoryPersistence()
        services = compose_services({}, {"persistence": self.store})
        self.context = ToolContext(
            call_id="c1",
            role="direct",
            turn_id="turn-1",
            cancel_token=new_root(),
            cwd=folder,
            project=Project(root=str(folder), project_id=PROJECT),
            emit_output=lambda chunk: None,
            child_env={},
            spill_dir=folder,
            services=services,
            conversation_id="conv",
        )

    async def __call__(self, name: str, arguments: str = "{}", role: str = "direct") -> ToolResult:
        return await execute(ToolCall("c1", name, arguments), role, ToolRegistry(BUILTIN_TOOLS), lambda _: self.context)


@pytest.fixture
def call(tmp_path: Path) -> Caller:
    return Caller(tmp_path)


async def test_what_was_recorded_is_recalled_whole(call: Caller) -> None:
    text = "line one\n" * 500
    assert (await call("record", f'{{"key": " plan ", "value": {text!r}}}'.replace("'", '"'))).ok
    assert (await call("recall", '{"key": "plan"}')).content == text
    await call("record", '{"key": "plan", "value": "shorter"}')
    assert (await call("recall", '{"key": "plan"}')).content == "shorter"
    note = await call.store.get_note("conv", "plan")
    assert isinstance(note, Note)


@pytest.mark.parametrize(
    ("value", "kept"), [('{"a": [1]}', '"a"'), ("7", "7"), ("null", "null"), ("true", "true"), ('""', "[no output]")]
)
async def test_a_value_that_is_no_text_is_kept_as_json(call: Caller, value: str, kept: str) -> None:
    assert (await call("record", f'{{"key": "k", "value": {value}}}')).ok
    assert kept in (await call("recall", '{"key": "k"}')).content


@pytest.mark.parametrize(
    "arguments",
    ['{"prefix": "dispatch/"}', '{"key": "dispatch/", "prefix": true}', '{"key": "dispatch/", "prefix": "true"}'],
)
async def test_notes_are_listed_by_prefix_in_every_form_that_models_use(call: Caller, arguments: str) -> None:
    for key in ("dispatch/1", "dispatch/2", "plan"):
        await call("record", f'{{"key": "{key}", "value": "text of {key}"}}')
    listed = (await call("recall", arguments)).content
    assert "dispatch/1 (18 characters): text of dispatch/1" in listed
    assert "dispatch/2" in listed and "plan" not in listed
    everything = (await call("recall")).content
    assert "plan" in everything and "dispatch/1" in everything


async def test_a_key_that_is_not_there_says_which_are(call: Caller) -> None:
    assert "none at all" in (await call("recall", '{"key": "plan"}')).content
    assert "empty" in (await call("recall")).content
    await call("record", '{"key": "findings", "value": "x"}')
    missing = await call("recall", '{"key": "finding"}')
    assert not missing.ok and "there is: findings" in missing.content
    assert "no note has a key" in (await call("recall", '{"prefix": "zzz"}')).content


@pytest.mark.parametrize("key", ["", " ", "two\\nlines", "x" * 600])
async def test_keys_that_are_no_keys_are_refused_in_words(tmp_path: Path, key: str) -> None:
    runtime = open_stored_engine(
        tmp_path, ScriptedClient(calls(("record", {"key": key.replace("\\n", "\n"), "value": "v"})), "x")
    )
    await run_turn(runtime, "go")
    (result,) = [message for message in runtime.services.conversation.messages if message.role == "tool"]
    assert not result.ok and "one printable line" in result.content
    await runtime.stop_session("done")


async def test_project_notes(call: Caller) -> None:
    assert "no notes yet" in (await call("note")).content
    assert (await call("note", '{"action": "upsert", "id": "build", "text": "make test"}')).ok
    assert "build (9 characters): make test" in (await call("note", '{"action": "list"}')).content
    assert (await call("note", '{"action": "get", "id": "build"}')).content == "make test"
    assert [note.text for note in await call.store.list_project_notes(PROJECT)] == ["make test"]
    assert (await call("note", '{"action": "delete", "id": "build"}')).ok
    assert not (await call("note", '{"action": "delete", "id": "build"}')).ok
    assert not (await call("note", '{"action": "get", "id": "build"}')).ok


@pytest.mark.parametrize("action", ["add", "SET", "create", "update", "save"])
async def test_other_words_for_upsert_do_and_a_missing_id_is_made(call: Caller, action: str) -> None:
    assert (await call("note", f'{{"action": "{action}", "text": "tabs"}}')).ok
    (note,) = await call.store.list_project_notes(PROJECT)
    assert note.key.startswith("note-")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ('{"action": "explode"}', "must be one of: list, get, upsert, delete"),
        ('{"action": "get"}', "needs the id"),
        ('{"action": "upsert", "id": "a"}', "needs text"),
        ('{"action": 7}', "must be one of"),
    ],
)
async def test_a_wrong_call_says_what_it_takes(call: Caller, arguments: str, words: str) -> None:
    result = await call("note", arguments)
    assert not result.ok
    assert words in result.content or "bad arguments" in result.content


async def test_roles_without_memory_are_denied(call: Caller) -> None:
    for role in ("worker", "explorer"):
        for name in ("record", "recall", "note"):
            assert "may not use" in (await call(name, role=role)).content


async def test_a_store_that_fails_is_an_expected_failure(tmp_path: Path) -> None:
    class Full(MemoryPersistence):
        async def put_note(self, conversation_id: str, key: str, text: str) -> Note:
            raise failure("persistence", "disk_full", "the disk is full; free some space")

    result = await Caller(tmp_path, Full())("record", '{"key": "k", "value": "v"}')
    assert not result.ok
    assert result.error is not None and result.error.kind == "persistence"
    assert result.content == "the disk is full; free some space"


def test_every_argument_says_its_type() -> None:
    schemas: dict[str, dict[str, Any]] = {
        spec.name: spec.schema["properties"] for spec in BUILTIN_TOOLS if spec.name in ("record", "recall", "note")
    }
    assert {name: set(properties) for name, properties in schemas.items()} == {
        "record": {"key", "value"},
        "recall": {"key", "offset", "prefix", "query"},
        "note": {"action", "id", "text"},
    }
    assert all(
        "type" in schema or "anyOf" in schema for properties in schemas.values() for schema in properties.values()
    )
    assert schemas["note"]["action"]["enum"] == ["list", "get", "upsert", "delete"]


async def test_a_model_finds_what_was_said_in_another_conversation_of_this_project_only(tmp_path: Path) -> None:
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    answers = ("The answer is in parseHTTPRequest.", "Nothing.", calls(("recall", {"query": "http"})), "ok")
    for folder in (here, elsewhere):
        folder.mkdir()
    (elsewhere / "data").symlink_to(tmp_path / "here" / "data")
    other = open_stored_engine(elsewhere, ScriptedClient("http is spoken elsewhere"))
    await run_turn(other, "secret http of another project")
    await other.stop_session("done")
    runtime = open_stored_engine(here, ScriptedClient(*answers), is_searched=True)
    await run_turn(runtime, "Where is the parser?")
    await command(runtime, "/new")
    await command(runtime, "/note upsert proto we speak http 1.1")
    await run_turn(runtime, "Something else")
    await run_turn(runtime, "look back")
    (found,) = [message for message in runtime.services.conversation.messages if message.role == "tool"]
    assert "in 'Where is the parser?', message 2\n   The answer is in parseHTTPRequest." in found.content
    assert "project note proto" in found.content
    assert "elsewhere" not in found.content and "secret" not in found.content
    await runtime.stop_session("done")


async def test_what_the_first_turn_of_a_conversation_notes_is_found_in_its_project_at_once_and_later(
    tmp_path: Path,
) -> None:
    look = calls(("recall", {"query": "zebra"}))
    client = ScriptedClient(calls(("record", {"key": "finding", "value": "a zebra"})), look, "ok", look, "ok")
    store = open_store(tmp_path / "data", tmp_path)
    runtime = open_stored_engine(tmp_path, client, persistence=store, is_searched=True)
    await run_turn(runtime, "look around")
    await run_turn(runtime, "look again")
    found = [message.content for message in runtime.services.conversation.messages if message.name == "recall"]
    assert len(found) == 2 and all("a zebra" in content for content in found), found
    await runtime.stop_session("done")


async def test_looking_back_without_an_index_says_so(call: Caller) -> None:
    assert "no search index" in (await call("recall", '{"query": "x"}')).content


async def test_a_long_note_is_recalled_page_by_page(call: Caller) -> None:
    text = "".join(f"{number:07d}\n" for number in range(30_000))
    await call.store.put_note("conv", "long", text)
    pages, offset = "", 0
    while offset < len(text):
        result = await call("recall", f'{{"key": "long", "offset": {offset}}}')
        assert result.ok and result.metadata.omitted_chars == 0
        page, _, place = result.content.rpartition("\n[")
        pages, offset = pages + page, offset + len(page)
        assert (f"offset {offset} goes on" in place) == (offset < len(text))
    assert pages == text
    assert not (await call("recall", f'{{"key": "long", "offset": {len(text)}}}')).ok
