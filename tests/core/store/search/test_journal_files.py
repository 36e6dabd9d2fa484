"""The search index reads the store's own files."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from smith_core.store.journal.line import DELETED, encode_batch, encode_header
from smith_core.store.search.folder import META
from smith_core.store.search.helper import IndexHelper
from smith_core.store.search.index import SearchIndex
from smith_core.store.search.journal_files import JournalFiles
from smith_core.store.search.service import SearchService, rebuild
from smith_core.store.search.source import GenerationChangedError, Journal
from smith_core.store.version import SCHEMA_VERSION
from tests.support.search_journals import caught_up

Record = tuple[str, str, dict[str, Any] | None]


def write_journal(path: Path, *batches: list[Record], generation: int = 1) -> None:
    """Make a journal as the store writes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = [encode_header(SCHEMA_VERSION, generation)]
    for number, batch in enumerate(batches, 1):
        lines = [(table, key, DELETED if doc is None else json.dumps(doc).encode()) for table, key, doc in batch]
        data += encode_batch(number, lines)
    path.write_bytes(b"".join(data))


def message(conversation: str, sequence: int, content: str) -> Record:
    record = {"role": "user", "content": content, "created_at": 1.7e9 + sequence}
    return "conversation", f"{conversation}:{sequence:08d}", record


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    meta = {"conversation_id": "c1", "project_id": "0123456789abcdef", "cwd": "/home/me/Smith-TUI"}
    memory = {"text": "tabs never", "updated_at": 5.0}
    write_journal(
        tmp_path / "global.jrnl",
        [("conversation_meta", "c1", meta)],
        [("project_memory", "0123456789abcdef:style", memory)],
    )
    write_journal(tmp_path / "conv" / "a1" / "c1.jrnl", [message("c1", 1, "first"), message("c1", 2, "second")])
    write_journal(tmp_path / "conv" / "b2" / "c2.jrnl", [message("c2", 1, "first")])
    return tmp_path


async def test_the_stores_own_files_are_searched(data_dir: Path) -> None:
    files = JournalFiles(data_dir)
    assert rebuild(data_dir, files) == 4
    service = SearchService(data_dir, files)
    assert (await service.search("first ")).total == 2
    (hit,) = (await service.search("first project:smith-tui")).hits
    assert (hit.conversation_id, hit.sequence, hit.project_id) == ("c1", 1, "0123456789abcdef")
    assert (await service.search("tabs kind:project_memory")).total == 1
    assert (await service.status()).lag_bytes == 0
    await service.aclose()


async def test_a_process_of_its_own_indexes_until_somebody_searches(data_dir: Path) -> None:
    helper = IndexHelper(data_dir, first_delay_s=0, next_delay_s=0)
    service = SearchService(data_dir, JournalFiles(data_dir), helper)
    service.wake()
    index = SearchIndex(data_dir)
    async with asyncio.timeout(20):
        while await asyncio.to_thread(_count, index) < 4:
            await asyncio.sleep(0.05)
    write_journal(data_dir / "conv" / "b2" / "c3.jrnl", [message("c3", 1, "first of the third")])
    await caught_up(service)
    assert (await service.search("first")).total == 3
    await service.aclose()


def _count(index: SearchIndex) -> int:
    if not (index.folder / META).exists():
        return 0
    index.open()
    return index.count()


def test_reading_goes_on_behind_the_last_whole_batch(data_dir: Path) -> None:
    path = data_dir / "conv" / "a1" / "c1.jrnl"
    files = JournalFiles(data_dir)
    journal = named(files, "c1")
    *_, last = files.entries(journal, 0)
    assert last.offset_after == journal.size == path.stat().st_size
    whole = path.read_bytes()
    table, key, record = message("c1", 3, "third")
    (line,) = encode_batch(2, [(table, key, json.dumps(record).encode())])
    path.write_bytes(whole + line[:-9])
    assert list(files.entries(named(files, "c1"), last.offset_after)) == []
    path.write_bytes(whole + line)
    (third,) = files.entries(named(files, "c1"), last.offset_after)
    assert (third.key, third.record) == (key, record)


def test_a_rewritten_file_is_noticed(data_dir: Path) -> None:
    files = JournalFiles(data_dir)
    before = named(files, "c1")
    write_journal(data_dir / "conv" / "a1" / "c1.jrnl", [message("c1", 1, "rewritten")], generation=2)
    with pytest.raises(GenerationChangedError):
        list(files.entries(before, 0))
    assert named(files, "c1").generation == "2"


def test_a_conversation_says_itself_where_it_belongs_until_the_catalogue_does(data_dir: Path) -> None:
    meta = {"conversation_id": "c2", "project_id": "fedcba9876543210", "cwd": "/work/other"}
    write_journal(data_dir / "conv" / "b2" / "c2.jrnl", [message("c2", 1, "first"), ("conversation_meta", "c2", meta)])
    assert named(JournalFiles(data_dir), "c2").projects == ("fedcba9876543210", "other")


async def test_a_deleted_conversation_is_not_found_until_it_is_restored(data_dir: Path) -> None:
    files = JournalFiles(data_dir)
    global_journal = data_dir / "global.jrnl"
    before = global_journal.read_bytes()
    (line,) = encode_batch(3, [("conversation_meta", "c2", b'{"conversation_id":"c2","deleted_at":1.7e9}')])
    for is_deleted in (False, True, False):
        lines = [line] if is_deleted else [line, *encode_batch(4, [("conversation_meta", "c2", b'{"cwd":"/x"}')])]
        global_journal.write_bytes(b"".join((before, *lines)))
        service = SearchService(data_dir, files)
        while (await service.status()).is_working:
            await asyncio.sleep(0.01)
        assert (await service.search("first ")).total == (1 if is_deleted else 2)
        await service.aclose()


def test_a_folder_that_cannot_be_listed_is_an_error(tmp_path: Path) -> None:
    """An empty answer would take all its conversations out of the index."""
    (tmp_path / "conv").touch()
    with pytest.raises(OSError, match="Not a directory"):
        JournalFiles(tmp_path).journals()


def test_foreign_and_missing_files_are_passed_over(tmp_path: Path) -> None:
    assert JournalFiles(tmp_path / "nowhere").journals() == []
    (tmp_path / "conv" / "x").mkdir(parents=True)
    (tmp_path / "conv" / "x" / "y.jrnl").write_bytes(b"hello")
    (tmp_path / "global.jrnl").write_bytes(b"")
    assert JournalFiles(tmp_path).journals() == []


def named(files: JournalFiles, name: str) -> Journal:
    return next(journal for journal in files.journals() if journal.name == name)
