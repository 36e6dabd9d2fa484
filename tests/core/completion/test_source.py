"""Candidates of a whole session: commands, settings, models, notes, conversations and files."""

from pathlib import Path

import pytest

from smith_core.completion.files import entries_of
from smith_core.completion.slash import Candidate, wanted_at
from smith_core.runtime import Runtime
from smith_core.store.search.documents import TASK_ROLE
from tests.support.engine import command, open_engine, run_turn
from tests.support.scripted_client import ScriptedClient


async def offered(runtime: Runtime, text: str) -> dict[str, Candidate]:
    wanted = wanted_at(text, len(text))
    assert wanted is not None
    return {found.text: found for found in await runtime.completion.candidates(wanted)}


async def test_commands_settings_and_roles(tmp_path: Path) -> None:
    runtime = open_engine(tmp_path, ScriptedClient("x"), {"ui": {"theme": "light"}})
    runtime.entries = {"keys.find": "ctrl+f"}
    assert next(iter(await offered(runtime, "/mod"))) == "/model"
    assert list(await offered(runtime, "/config ")) == ["show", "set", "unset"]
    themes = await offered(runtime, "/config set ui.theme ")
    assert list(themes) == ["dark", "light", "contrast"]
    assert (themes["dark"].detail, themes["light"].detail) == ("default", "now")
    settings = await offered(runtime, "/config set them")
    assert settings["ui.theme"].detail == '"light"  dark, light or contrast'
    assert not any("services" in path or ">" in path for path in await offered(runtime, "/config set "))
    # Tables that take any name have those that mean something.
    assert (await offered(runtime, "/config set models.work"))["models.worker"].detail == "not set  non-empty text"
    assert "null" not in await offered(runtime, "/config set models.worker ")
    assert (await offered(runtime, "/config set keys.fi"))["keys.find"].detail.startswith("ctrl+f  a key such as")
    assert (await offered(runtime, "/config set keys.find "))["ctrl+f"].detail == "default"
    assert list(await offered(runtime, "/config set active_role ")) == ["direct", "orchestrator"]
    assert list(await offered(runtime, "/config unset ")) == []
    await command(runtime, "/config set tool_step_budget 9")
    assert list(await offered(runtime, "/config unset ")) == ["tool_step_budget"]
    assert (await offered(runtime, "/role "))["direct"].detail == "Smith, in use"
    assert list(await offered(runtime, "/export ")) == ["markdown", "html", "json"]
    assert list(await offered(runtime, "/title x")) == []
    assert list(await offered(runtime, "/search -ro")) == ["-role:"]
    assert list(await offered(runtime, "/search red role:u")) == ["role:user"]
    roles = {"user", "assistant", "tool", TASK_ROLE}
    assert set(await offered(runtime, "/search role:")) == {f"role:{role}" for role in roles}
    assert "tool:bash" in await offered(runtime, "/search tool:ba")
    assert list(await offered(runtime, "/nonsense x")) == []


async def test_models_notes_and_conversations(tmp_path: Path) -> None:
    runtime = open_engine(tmp_path, ScriptedClient("x", "y"), {"models": {"direct": "other"}})
    assert {"scripted", "other"} <= set(await offered(runtime, "/model "))
    await command(runtime, "/note upsert style Use [b]tabs[/b].\nAlways.")
    await command(runtime, "/record plan first\nsecond")
    assert (await offered(runtime, "/note get "))["style"].detail == "Use [b]tabs[/b]. Always."
    assert (await offered(runtime, "/recall p"))["plan"].detail == "first second"
    await run_turn(runtime, "count the stars")
    await command(runtime, "/new")
    await run_turn(runtime, "count the moons")
    assert list(await offered(runtime, "/load stars")) == ["count the stars"]
    assert "count the moons" not in await offered(runtime, "/load ")
    assert "count the moons" in await offered(runtime, "/delete ")
    listed = await offered(runtime, "/list ")
    assert (listed["count the stars"].detail, listed[str(tmp_path)].detail) == (
        "1 conversation",
        "2 conversations in this folder",
    )
    assert list(await offered(runtime, "/list the st")) == ["count the stars"]
    assert list(await offered(runtime, "/title ")) == ["count the moons"]
    assert (await offered(runtime, "/undo "))["1"].detail == "count the moons"
    assert (await offered(runtime, "/fork "))["2"].detail == "count the moons"
    gone = runtime.services.conversation.conversation_id
    await command(runtime, "/delete")
    assert (await offered(runtime, "/undelete "))[gone].label == "count the moons"


async def test_lines_for_a_shell_and_exports_offer_paths_and_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("bin/smithy", "bin/smith tool", "bin/notes", "docs/my file.md", "do it", "-rf", ".hidden"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
        path.chmod(0o644 if name == "bin/notes" else 0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:relative:{tmp_path}/nowhere")
    runtime = open_engine(tmp_path, ScriptedClient("x"))
    assert {text: found.detail for text, found in (await offered(runtime, "!smi")).items()} == {
        "smithy": f"{tmp_path}/bin",
        "smith\\ tool": f"{tmp_path}/bin",
    }
    assert list(await offered(runtime, "!no")) == []
    assert list(await offered(runtime, "!cat do")) == ["docs/", "do\\ it"]
    assert list(await offered(runtime, "!!cat docs/")) == ["docs/my\\ file.md"]
    assert list(await offered(runtime, "!cat 'docs/my f")) == ["docs/my\\ file.md"]
    assert [text for text in await offered(runtime, "!rm ") if "rf" in text or "hid" in text] == ["./-rf"]
    assert (await offered(runtime, "/export html do"))["do it"].detail == "is there already"
    assert list(await offered(runtime, "/export ./do")) == ["./docs/", "./do it"]
    assert list(await offered(runtime, "/export h")) == ["html"]


async def test_files_keep_to_ignore_rules_and_are_quoted(tmp_path: Path) -> None:
    for name in ("src/main.py", "src/ma in.py", "build/main.o", "[red]x.md", "wide 漢字.md", "line\nbreak.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    (tmp_path / ".gitignore").write_text("build/\n")
    runtime = open_engine(tmp_path, ScriptedClient("x"))
    assert list(await offered(runtime, "@main")) == ["@src/main.py"]
    assert '@"src/ma in.py"' in await offered(runtime, '@"ma in')
    everything = await offered(runtime, "@")
    assert {"@[red]x.md", '@"wide 漢字.md"', "@.gitignore"} <= set(everything)
    assert not any("line" in text or "build" in text for text in everything)
    await runtime.stop_session("quit")


def test_a_path_to_elsewhere_lists_that_folder(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "note.txt").write_text("x")
    assert entries_of("../be", tmp_path / "here") == ["../beside/"]
    assert entries_of("../beside/", tmp_path / "here") == ["../beside/note.txt"]
    assert entries_of(f"{tmp_path}/beside/no", tmp_path) == [f"{tmp_path}/beside/note.txt"]
    assert entries_of("..", tmp_path) == ["../"]
    assert entries_of("/nowhere/x", tmp_path) == []
    assert entries_of("/\0/x", tmp_path) == []
