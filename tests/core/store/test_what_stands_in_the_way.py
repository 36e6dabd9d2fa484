"""Pipes and folders where the store has its files: nothing waits for them, and the person is told which it is."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from smith_core.commands.opening import ResumeWish
from smith_core.maintenance import check_store
from smith_core.runtime import Runtime
from smith_core.store.layout import StoreLayout
from smith_core.store.peek import read_stored_overrides
from tests.support.engine import open_stored_engine, run_turn, said
from tests.support.scripted_client import ScriptedClient

THINGS: tuple[Callable[[Path], None], ...] = (os.mkfifo, Path.mkdir)


def opened(folder: Path, wish: ResumeWish) -> Runtime:
    return open_stored_engine(folder, ScriptedClient("fine"), wish, is_searched=True)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("put", THINGS)
@pytest.mark.parametrize("which", ["global", "conversation", "side file", "lock"])
async def test_b13_a_start_waits_for_nothing_that_is_no_file(
    tmp_path: Path, which: str, put: Callable[[Path], None]
) -> None:
    first = opened(tmp_path, ResumeWish("last"))
    await run_turn(first, "hello")
    conversation_id = first.services.conversation.conversation_id
    await first.stop_session("end")
    layout = StoreLayout(tmp_path / "data")
    journal = layout.conversation(conversation_id)
    path = {
        "global": layout.global_journal,
        "conversation": journal,
        "side file": journal.with_name(f"{journal.name}.idx"),
        "lock": layout.lock_of(journal),
    }[which]
    path.unlink(missing_ok=True)
    put(path)

    assert read_stored_overrides(layout.folder) == {}
    again = opened(tmp_path, ResumeWish("last"))
    words = said([event async for event in again.open()])
    assert (await run_turn(again, "go on")).text == "fine"
    if which in ("global", "conversation"):
        assert f"{path} cannot be used (it is a" in words
        assert "move away what stands there" in words
        assert [report.path for report in check_store(layout.folder).journals if report.problems] == [path]
    await again.stop_session("end")
    assert not path.is_file()
