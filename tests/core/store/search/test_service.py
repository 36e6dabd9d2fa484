"""The service finds what was said, follows edits, survives damage, and never stands in the way."""

import asyncio
import os
import stat
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from smith_core.errors import AgentFailure
from smith_core.store.search.folder import find_damage
from smith_core.store.search.index import SearchIndex
from smith_core.store.search.results import SearchHit, SearchOrder
from smith_core.store.search.service import SearchService, rebuild
from smith_core.store.search.source import Journal, JournalEntry
from tests.support.search_journals import MemoryJournals


@pytest.fixture
def journals() -> MemoryJournals:
    return MemoryJournals()


@pytest.fixture
async def service(tmp_path: Path, journals: MemoryJournals) -> AsyncIterator[SearchService]:
    opened = SearchService(tmp_path, journals)
    yield opened
    await opened.aclose()


async def caught_up(service: SearchService) -> None:
    """Wake the service and wait until it has read all journals."""
    async with asyncio.timeout(20):
        service.wake()
        while (status := await service.status()).lag_bytes or status.is_working:
            await asyncio.sleep(0.01)


async def find(service: SearchService, query: str, order: SearchOrder = "best") -> tuple[SearchHit, ...]:
    page = await service.search(query, order)
    assert page.notice is None
    assert page.total == len(page.hits)
    return page.hits


def sequences(hits: tuple[SearchHit, ...]) -> list[int]:
    return [hit.sequence for hit in hits]


async def test_everything_said_is_found(service: SearchService, journals: MemoryJournals) -> None:
    journals.projects["c1"] = ("0123456789abcdef", "smith-tui")
    journals.say("c1", 1, "look at parseHTTPRequest in café.py")
    journals.say("c1", 2, "東京都の検索エンジン", role="assistant")
    journals.say("c1", 3, "exit 0\n  foo.bar.baz", role="tool", name="bash")
    journals.put("c1", "conversation_note", "c1:scratchpad:plan", {"text": "ship on friday", "updated_at": 5.0})
    journals.put("global", "project_memory", "0123456789abcdef:style", {"text": "tabs never"})
    await caught_up(service)
    for query, expected in {
        "http": [1],
        "parse_http": [1],
        "PARSEHTTPREQUEST": [1],
        "cafe": [1],
        "pars": [1],
        "京都": [2],
        "検索": [2],
        '"foo bar"': [3],
        "foo.ba": [3],
        '"bar foo"': [],
        "tool:bash": [3],
        "tool:ba exit": [3],
        "-tool:bash role:tool": [],
        "role:user role:assistant after:2023-11-14": [1, 2],
        "-cafe project:smith-tui role:user": [],
        "project:0123 kind:message": [1, 2],
        "before:2001-01-01 kind:note": [-1],
        "((((": [],
        "->": [],
        "x" * 70_000: [],
    }.items():
        assert sorted(sequences(await find(service, query))) == expected, query
    (note,) = await find(service, "friday")
    assert (note.kind, note.conversation_id, note.note_id, note.time) == ("note", "c1", "scratchpad:plan", 5.0)
    (memory,) = await find(service, "tabs")
    assert (memory.kind, memory.conversation_id, memory.project_id) == ("project_memory", "", "0123456789abcdef")
    (result,) = await find(service, "baz")
    assert (result.kind, result.role, result.tool, result.excerpt) == (
        "tool_result",
        "tool",
        "bash",
        "exit 0 foo.bar.baz",
    )
    assert [result.excerpt[start:end] for start, end in result.highlights] == ["baz"]


async def test_edits_deletions_and_lost_conversations_are_followed(
    service: SearchService, journals: MemoryJournals
) -> None:
    journals.say("c1", 1, "apple")
    journals.say("c1", 2, "banana")
    journals.say("c2", 1, "banana")
    await caught_up(service)
    journals.say("c1", 1, "cherry")
    journals.unsay("c1", 2)
    await caught_up(service)
    assert sequences(await find(service, "apple ")) == []
    assert [hit.conversation_id for hit in await find(service, "banana ")] == ["c2"]
    assert sequences(await find(service, "cherry ")) == [1]
    del journals.logs["c2"]
    await caught_up(service)
    assert (await service.status()).indexed == 1


async def test_several_versions_in_one_pass_leave_the_last(service: SearchService, journals: MemoryJournals) -> None:
    journals.say("c1", 1, "draft one")
    journals.say("c1", 1, "draft two")
    journals.unsay("c1", 1)
    journals.say("c1", 1, "draft three")
    await caught_up(service)
    (hit,) = await find(service, "draft")
    assert hit.excerpt == "draft three"


async def test_only_what_is_new_is_read(service: SearchService, journals: MemoryJournals) -> None:
    for number in range(1, 51):
        journals.say("c1", number, f"word{number}")
    await caught_up(service)
    journals.say("c1", 51, "late")
    await caught_up(service)
    assert journals.entries_read == 51
    journals.torn_bytes["c1"] = 30
    await caught_up(service)
    assert journals.entries_read == 51
    assert (await service.status()).lag_bytes == 0


async def test_a_rewritten_journal_is_read_anew(service: SearchService, journals: MemoryJournals) -> None:
    journals.say("c1", 1, "old")
    journals.say("c1", 1, "new")
    journals.say("c1", 2, "other")
    await caught_up(service)
    journals.compact("c1")
    journals.say("c1", 3, "after")
    await caught_up(service)
    assert (await service.status()).indexed == 3
    assert sequences(await find(service, "after ")) == [3]
    assert await find(service, "old ") == ()


async def test_a_journal_rewritten_while_it_is_read_is_read_again(tmp_path: Path) -> None:
    class RewrittenOnce(MemoryJournals):
        def entries(self, journal: Journal, offset: int) -> Iterator[JournalEntry]:
            for number, entry in enumerate(super().entries(journal, offset)):
                if number == 2 and self.generations["c1"] == 1:
                    self.compact("c1")
                yield entry

    rewritten = RewrittenOnce()
    for number in range(1, 6):
        rewritten.say("c1", 1 + number % 3, f"needle{number}")
    service = SearchService(tmp_path, rewritten)
    await caught_up(service)
    assert (await service.status()).indexed == 3
    assert rewritten.generations["c1"] == 2
    await service.aclose()


async def test_the_event_loop_and_searches_go_on_while_much_is_indexed(
    tmp_path: Path, journals: MemoryJournals
) -> None:
    for number in range(1, 6_001):
        journals.say("c1", number, f"needle{number} " + "parseHTTPRequest some more words " * 12)
    service = SearchService(tmp_path, journals)
    service.wake()
    delays = []
    while journals.entries_read < 6_000:
        begin = time.perf_counter()
        await asyncio.sleep(0.001)
        delays.append(time.perf_counter() - begin)
    await service.aclose()
    # The median, because the machine may be busy with something else at any single moment.
    assert statistics.median(delays) < 0.015


async def test_pages_and_orders(service: SearchService, journals: MemoryJournals) -> None:
    for number in range(1, 31):
        journals.say("c1", number, "needle " * (1 + number % 3) + "hay " * number)
    await caught_up(service)
    newest = await service.search("needle", "newest", limit=10, offset=5)
    assert (newest.total, sequences(newest.hits)) == (30, list(range(25, 15, -1)))
    best = [hit.score for hit in await find(service, "needle")] if newest.total <= 20 else []
    page = await service.search("needle", limit=200)
    best = [hit.score for hit in page.hits]
    assert best == sorted(best, reverse=True) and best[0] > best[-1]
    assert (await service.search("needle", limit=0)).total == 30
    assert (await service.search("needle", limit=-5, offset=-5)).hits
    assert (await service.search("needle", offset=10**9)).hits == ()


async def test_a_clock_that_runs_backwards_keeps_the_order(service: SearchService, journals: MemoryJournals) -> None:
    for sequence, created_at in ((1, 5_000.0), (2, 1_000.0), (3, -7.0), (4, float("nan")), (5, 1e300), (6, 6_000.0)):
        journals.say("c1", sequence, "tick", created_at=created_at)
    await caught_up(service)
    hits = await find(service, "tick", "newest")
    assert sequences(hits) == [6, 5, 4, 3, 2, 1]
    assert [hit.time for hit in hits[3:]] == [0.0, 1_000.0, 5_000.0]


async def test_b04_hostile_text_is_indexed(service: SearchService, journals: MemoryJournals) -> None:
    journals.say("c1", 1, "nul \0 lone \ud83d half \udfff end")
    journals.say("c1", 2, "x" * 70_000 + " behind")
    journals.say("c1", 3, "<html>" * 100_000)
    journals.say("c\ud800", 4, "conversation")
    journals.put("c1", "conversation_note", "c1:" + "k" * 100_000, {"text": "longkey"})
    await caught_up(service)
    assert sequences(await find(service, "half ")) == [1]
    assert sequences(await find(service, "html ")) == [3]
    assert sequences(await find(service, "longkey ")) == [-1]


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
    assert done < 5_000 and index.watermarks()["c1"].offset == (40 + 100 * done if done else 0)
    index.close()
    again = SearchService(tmp_path, journals)
    await caught_up(again)
    assert (await again.status()).indexed == 5_000
    assert (await again.search("needle5000 ")).total == 1
    await again.aclose()


async def test_a_closed_service_says_so(service: SearchService) -> None:
    await service.aclose()
    page = await service.search("needle")
    assert page.notice is not None and page.notice.code == "search_closed"
    service.wake()
    await service.aclose()
