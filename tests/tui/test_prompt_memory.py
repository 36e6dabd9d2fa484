"""What was typed is there in the next session, in a file that nobody else can read and that holds no key."""

import asyncio
import os
from pathlib import Path

import pytest

from smith_tui import prompt_memory
from smith_tui.app import SmithApp, app_around
from smith_tui.prompt_memory import PromptMemory
from tests.support.engine import open_engine
from tests.support.scripted_client import ScriptedClient


async def kept(path: Path, folder: str, *texts: str, secrets: tuple[str, ...] = ()) -> list[str]:
    memory = PromptMemory(path, folder, secrets)
    for text in texts:
        memory.add(text)
    await settled(memory)
    return memory.read()


async def settled(memory: PromptMemory) -> None:
    assert memory._path is not None
    await asyncio.get_running_loop().run_in_executor(None, memory._write, memory._path)


async def test_the_prompts_of_this_folder_stand_behind_all_others(tmp_path: Path) -> None:
    path = tmp_path / "state" / "prompts.jsonl"
    await kept(path, "/a", "first of a", "two\nlines")
    await kept(path, "/b", "first of b")
    assert await kept(path, "/a", "last of a") == ["first of b", "first of a", "two\nlines", "last of a"]
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    path.chmod(0o644)
    await kept(path, "/a", "x" * prompt_memory.LONGEST_KEPT, "y" * (prompt_memory.LONGEST_KEPT + 1), "half \ud83d")
    assert path.stat().st_mode & 0o777 == 0o600
    assert [len(text) for text in PromptMemory(path, "/a").read()[-2:]] == [prompt_memory.LONGEST_KEPT, len("half �")]


async def test_keys_are_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "prompts.jsonl"
    texts = ("use sk-test-SECRET123 please", "the short one", "no key")
    assert await kept(path, "/", *texts, secrets=("sk-test-SECRET123", "short", "")) == ["the short one", "no key"]
    assert b"SECRET123" not in path.read_bytes()


@pytest.mark.parametrize("damage", [b'{"at":1,"fol', b"\xff\0\n[]\n", b""])
async def test_a_damaged_file_loses_no_more_than_its_damage(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "prompts.jsonl"
    await kept(path, "/", "before")
    with path.open("ab") as stream:
        stream.write(damage)
    assert await kept(path, "/", "after") == ["before", "after"]


async def test_what_is_no_file_is_left_alone(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "folder").mkdir()
    for path in (pipe, tmp_path / "folder", tmp_path / "pipe" / "below"):
        assert await kept(path, "/", "text") == []


async def test_a_file_that_has_grown_too_large_loses_its_older_half(tmp_path: Path) -> None:
    memory = PromptMemory(tmp_path / "prompts.jsonl", "/", max_bytes=1_000)
    for number in range(40):
        memory.add(f"prompt number {number}")
        await settled(memory)
    found = memory.read()
    assert found[-1] == "prompt number 39"
    assert 5 < len(found) <= 20
    assert (tmp_path / "prompts.jsonl").stat().st_mode & 0o777 == 0o600


async def test_the_next_session_knows_what_was_typed(tmp_path: Path) -> None:
    path = tmp_path / "prompts.jsonl"

    def session() -> SmithApp:
        return app_around(open_engine(tmp_path, ScriptedClient("fine")), PromptMemory(path, str(tmp_path)))

    first = session()
    async with first.run_test(size=(60, 15)) as pilot:
        await pilot.press(*"count the stars", "enter")
        await pilot.pause()
        await settled(first.start.prompts)
    second = session()
    async with second.run_test(size=(60, 15)) as pilot:
        while not second.chat.prompt.history:
            await pilot.pause(0.01)
        await pilot.press(*"cou", "right")
        assert second.chat.prompt.text == "count the stars"
