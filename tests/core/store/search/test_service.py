"""The service finds what was said, follows edits, and never stands in the way."""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from smith_core.store.search.service import SearchService
from smith_core.store.search.source import GLOBAL_JOURNAL, Journal, JournalEntry
from tests.support.search_journals import MemoryJournals, caught_up, find, sequences


@pytest.fixture
def journals() -> MemoryJournals:
    return MemoryJournals()


@pytest.fixture
async def service(tmp_path: Path, journals: MemoryJournals) -> AsyncIterator[SearchService]:
    opened = SearchService(tmp_path, journals)
    yield opened
    await opened.aclose()


async def test_everything_said_is_found(service: SearchService, journals: MemoryJournals) -> None:
    journals.projects["c1"] = ("0123456789abcdef", "smith-tui")
    journals.say("c1", 1, "look at parseHTTPRequest in café.py")
    journals.say("c1", 2, "東京都の検索エンジン", role="assistant")
    journals.say("c1", 3, "exit 0\n  foo.bar.baz", role="tool", name="bash")
    journals.put("c1", "conversation_note", "c1:scratchpad:plan", {"text": "ship on friday", "updated_at": 5.0})
    journals.put(GLOBAL_JOURNAL, "project_memory", "0123456789abcdef:style", {"text": "tabs never"})
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


async def test_words_without_spaces_are_found_by_one_two_and_three_characters(
    service: SearchService, journals: MemoryJournals
) -> None:
    texts = ["東京都の検索エンジン", "京都東京", "本語と日本", "日本語の文章", "上下文窗口", "한국어 검색"]
    texts += ["a 漢 b", "parse漢字", "本語文と日本語"]
    for number, text in enumerate(texts, 1):
        journals.say("c1", number, text)
    await caught_up(service)
    for query, expected in {
        "京": [1, 2],
        "漢": [7, 8],
        "語": [3, 4, 9],
        "어": [6],
        "東京": [1, 2],
        "都東": [2],
        "エン": [1],
        "東京都": [1],
        "日本語": [4, 9],
        "日本語文": [9],
        "上下文": [5],
        "下文窗口": [5],
        "한국어": [6],
        "文上下": [],
        "漢字": [8],
        "parse漢字": [8],
        "東京 -検索": [2],
        "-京 文": [4, 5, 9],
    }.items():
        # The triples of a longer word may stand apart from each other, as 本語文 and 日本語 do in the last text.
        assert sorted(sequences(await find(service, query))) == expected, query


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


async def test_a_closed_service_says_so(service: SearchService) -> None:
    await service.aclose()
    page = await service.search("needle")
    assert page.notice is not None and page.notice.code == "search_closed"
    service.wake()
    await service.aclose()
