"""The index survives damage, crashes, foreign folders and other processes, and stays private."""

import asyncio
import os
import stat
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from smith_core.errors import AgentFailure
from smith_core.store.search.folder import find_damage
from smith_core.store.search.index import SearchIndex
from smith_core.store.search.service import SearchService, rebuild
from tests.support.search_journals import ENTRY_BYTES, HEADER_BYTES, MemoryJournals, caught_up, find, sequences


@pytest.fixture
def journals() -> MemoryJournals:
    return MemoryJournals()


@pytest.fixture
async def service(tmp_path: Path, journals: MemoryJournals) -> AsyncIterator[SearchService]:
    opened = SearchService(tmp_path, journals)
    yield opened
    await opened.aclose()


DAMAGE = {
    "meta": lambda folder: (folder / "meta.json").write_text("{"),
    "no meta": lambda folder: (folder / "meta.json").unlink(),
    "other meta": lambda folder: (folder / "meta.json").write_text('{"segments": [[]]}'),
    "empty": lambda folder: [path.write_bytes(b"") for path in folder.glob("*.*")],
    "cut": lambda folder: [path.write_bytes(path.read_bytes()[:-20]) for path in folder.glob("*.idx")],
    "changed": lambda folder: [path.write_bytes(b"\xff" * 9 + path.read_bytes()[9:]) for path in folder.glob("*.term")],
    "store": lambda folder: [path.write_bytes(b"\xff" * 9 + path.read_bytes()[9:]) for path in folder.glob("*.store")],
    "gone": lambda folder: [path.unlink() for path in folder.glob("*.fast")],
    "foreign": lambda folder: [path.write_bytes(os.urandom(300)) for path in folder.glob("*.*")],
}


@pytest.mark.parametrize("kind", DAMAGE)
async def test_b13_a_damaged_index_is_rebuilt(tmp_path: Path, journals: MemoryJournals, kind: str) -> None:
    for number in range(1, 20):
        journals.say("c1", number, f"needle{number} hay")
    rebuild(tmp_path, journals)
    DAMAGE[kind](tmp_path / "index")
    service = SearchService(tmp_path, journals)
    await caught_up(service)
    assert sequences(await find(service, "needle7 ")) == [7]
    assert (await service.status()).indexed == 19
    await service.aclose()
    assert find_damage(tmp_path / "index") == ""


async def test_an_index_of_another_schema_is_rebuilt(tmp_path: Path, journals: MemoryJournals) -> None:
    import tantivy

    (tmp_path / "index").mkdir()
    tantivy.Index(tantivy.SchemaBuilder().add_text_field("other").build(), str(tmp_path / "index"))
    journals.say("c1", 1, "needle")
    service = SearchService(tmp_path, journals)
    await caught_up(service)
    assert sequences(await find(service, "needle")) == [1]
    await service.aclose()


async def test_an_index_deleted_under_a_running_service_comes_back(
    tmp_path: Path, service: SearchService, journals: MemoryJournals
) -> None:
    import shutil

    journals.say("c1", 1, "needle")
    await caught_up(service)
    shutil.rmtree(tmp_path / "index")
    page = await service.search("needle")
    assert page.hits or page.notice is not None
    await caught_up(service)
    assert sequences(await find(service, "needle")) == [1]


@pytest.mark.parametrize("place", ["file", "no such place"])
async def test_a_folder_that_cannot_be_used_gives_one_notice(
    tmp_path: Path, journals: MemoryJournals, place: str
) -> None:
    (tmp_path / "index").touch()
    journals.say("c1", 1, "needle")
    service = SearchService(tmp_path if place == "file" else Path("/proc/smith"), journals)
    page = await service.search("needle")
    assert page.hits == () and page.notice is not None
    assert page.notice.kind == "persistence"
    assert "\n" not in page.notice.message and "Traceback" not in page.notice.message
    status = await service.status()
    assert status.notice == page.notice
    await service.aclose()


async def test_b28_modes_changed_by_hand_are_set_right(tmp_path: Path, journals: MemoryJournals) -> None:
    journals.say("c1", 1, "needle")
    rebuild(tmp_path, journals)
    journals.say("c1", 2, "needle")
    index = tmp_path / "index"
    for path in index.iterdir():
        path.chmod(0o444)
    index.chmod(0o555)
    service = SearchService(tmp_path, journals)
    await caught_up(service)
    assert sequences(await find(service, "needle", "newest")) == [2, 1]
    await service.aclose()
    assert stat.S_IMODE(index.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in index.iterdir()} == {0o600}


async def test_a_journal_that_cannot_be_read_leaves_the_others(
    service: SearchService, journals: MemoryJournals
) -> None:
    journals.say("c1", 1, "needle")
    journals.say("c2", 2, "needle")
    journals.unreadable.add("c1")
    service.wake()
    async with asyncio.timeout(10):
        while (status := await service.status()).is_working:
            await asyncio.sleep(0.01)
    assert sequences((await service.search("needle")).hits) == [2]
    assert status.notice is not None and status.notice.code == "journal_unreadable"
    journals.unreadable.clear()
    await caught_up(service)
    assert sequences(await find(service, "needle", "newest")) == [2, 1]


async def test_b28_the_index_is_private(tmp_path: Path, service: SearchService, journals: MemoryJournals) -> None:
    old_mask = os.umask(0o022)
    try:
        for number in range(1, 20):
            journals.say("c1", number, "secret")
            await caught_up(service)
    finally:
        os.umask(old_mask)
    folder = tmp_path / "index"
    (folder / "meta.json").chmod(0o644)
    folder.chmod(0o755)
    await service.aclose()
    again = SearchService(tmp_path, journals)
    await caught_up(again)
    await again.aclose()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


async def test_two_services_share_one_index(tmp_path: Path, journals: MemoryJournals) -> None:
    services = [SearchService(tmp_path, journals) for _ in range(2)]
    for number in range(1, 31):
        journals.say(f"c{number % 3}", number, f"needle word{number}")
        services[number % 2].wake()
        await asyncio.sleep(0)
    for one in services:
        await caught_up(one)
        page = await one.search("needle", "newest", limit=100)
        assert sequences(page.hits) == list(range(30, 0, -1))
        assert (await one.status()).notice is None
    for one in services:
        await one.aclose()


OTHER_PROCESS = """
import sys, pathlib
from smith_core.store.search.index import SearchIndex
index = SearchIndex(pathlib.Path(sys.argv[1])); index.open()
with index.writer() as writer:
    print("holding" if writer else "busy", flush=True)
    sys.stdin.readline()
"""


async def test_another_process_that_writes_is_waited_for(tmp_path: Path, journals: MemoryJournals) -> None:
    journals.say("c1", 1, "needle")
    rebuild(tmp_path, journals)
    command = [sys.executable, "-c", OTHER_PROCESS, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:  # noqa: ASYNC220
        assert other.stdout is not None and other.stdin is not None
        assert await asyncio.to_thread(other.stdout.readline) == "holding\n"
        journals.say("c1", 2, "needle")
        service = SearchService(tmp_path, journals)
        page = await service.search("needle")
        assert (sequences(page.hits), page.notice) == ([1], None)
        with pytest.raises(AgentFailure) as busy:
            rebuild(tmp_path, journals)
        assert busy.value.error.code == "index_busy"
        (tmp_path / "index" / "meta.json").write_text("{")
        damaged = SearchService(tmp_path, journals)
        notice = (await damaged.search("needle")).notice
        assert notice is not None and notice.code == "index_busy"
        await damaged.aclose()
        other.kill()
    rebuild(tmp_path, journals)
    await caught_up(service)
    assert sequences(await find(service, "needle", "newest")) == [2, 1]
    await service.aclose()


async def test_an_interrupted_pass_goes_on_where_it_stopped(tmp_path: Path, journals: MemoryJournals) -> None:
    for number in range(1, 5_001):
        journals.say("c1", number, f"needle{number}")
    service = SearchService(tmp_path, journals)
    service.wake()
    while journals.entries_read < 2_500:
        await asyncio.sleep(0.001)
    begin = time.perf_counter()
    await service.aclose()
    assert time.perf_counter() - begin < 1.0
    index = SearchIndex(tmp_path)
    index.open()
    done = index.count()
    assert done < 5_000 and index.watermarks()["c1"].offset == HEADER_BYTES + ENTRY_BYTES * done
    index.close()
    again = SearchService(tmp_path, journals)
    await caught_up(again)
    assert (await again.status()).indexed == 5_000
    assert (await again.search("needle5000 ")).total == 1
    await again.aclose()


KILLED_PROCESS = """
import pathlib, sys
from smith_core.store.search.index import SearchIndex
from smith_core.store.search.indexer import Indexer
from tests.support.search_journals import MemoryJournals
journals = MemoryJournals()
for number in range(1, 6_001):
    journals.say("c1", number, f"needle word{number} " + "some more words " * 20)
index = SearchIndex(pathlib.Path(sys.argv[1]))
index.open()
print("begun", flush=True)
Indexer(index, journals, lambda: False).sync(lambda read, total: print(read, flush=True))
"""


async def test_a_killed_process_leaves_whole_batches_and_no_lock(tmp_path: Path, journals: MemoryJournals) -> None:
    for number in range(1, 6_001):
        journals.say("c1", number, f"needle word{number} " + "some more words " * 20)
    command = [sys.executable, "-c", KILLED_PROCESS, str(tmp_path)]
    for lines in (1, 2):
        with subprocess.Popen(command, stdout=subprocess.PIPE) as other:  # noqa: ASYNC220
            assert other.stdout is not None
            for _ in range(lines):
                assert await asyncio.to_thread(other.stdout.readline)
            other.kill()
        index = SearchIndex(tmp_path)
        index.open()
        marks = index.watermarks()
        assert index.count() == ((marks["c1"].offset - HEADER_BYTES) // ENTRY_BYTES if marks else 0)
        index.close()
    service = SearchService(tmp_path, journals)
    await caught_up(service)
    assert (await service.search("needle")).total == 6_000
    assert (await service.status()).notice is None
    await service.aclose()
