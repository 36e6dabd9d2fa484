"""The list of a project's files: when it is made anew."""

import asyncio
from pathlib import Path

from smith_core.completion.files import ProjectFiles
from tests.support.engine import open_engine
from tests.support.scripted_client import ScriptedClient


async def test_a_list_is_made_anew_in_a_pause_between_looks(tmp_path: Path) -> None:
    (tmp_path / "one.py").touch()
    files = ProjectFiles(open_engine(tmp_path, ScriptedClient("x")).session, refresh_s=0.0, pause_s=0.4)
    assert await files.search("one") == ["one.py"]
    files._fresh_until = 0.0
    (tmp_path / "another one.py").touch()
    until = asyncio.get_running_loop().time() + 1.0
    while asyncio.get_running_loop().time() < until:
        assert files.search_at_once("one") == ["one.py"], "made anew while keys came"
        await asyncio.sleep(0.02)
    assert files._listing is not None
    await asyncio.wait_for(files._listing, 10.0)
    assert set(files.search_at_once("one")) == {"one.py", "another one.py"}
    await files.aclose()


async def test_an_end_does_not_wait_for_the_pause(tmp_path: Path) -> None:
    (tmp_path / "one.py").touch()
    files = ProjectFiles(open_engine(tmp_path, ScriptedClient("x")).session, refresh_s=0.0, pause_s=60.0)
    assert await files.search("one") == ["one.py"]
    files._fresh_until = 0.0
    files.search_at_once("one")
    await asyncio.wait_for(files.aclose(), 5.0)
    assert files._listing is None
