"""The journal as TinyDB storage: against a plain dict, through reopening, compaction, damage and full disks."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tinydb import where
from tinydb.table import Document

from smith_core.errors import AgentFailure
from smith_core.store.interface import StoreNotice
from smith_core.store.journal.database import JournalDatabase
from smith_core.store.journal.line import encode_header
from smith_core.store.journal.lock import FileLock, LockHeldError
from smith_core.store.journal.offsets import index_path
from smith_core.store.journal.options import JournalOptions
from smith_core.store.journal.storage import JournalStorage
from smith_core.store.journal.tail import read_entries, read_generation
from tests.support.store_disks import FullDisk, UnsyncedDisk

FAST = JournalOptions(disk=UnsyncedDisk())
Tables = dict[str, dict[str, bytes]]

keys = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12)
values = st.none() | st.binary(max_size=40).map(lambda data: b'{"x":"%s"}' % data.hex().encode())
changes = st.tuples(st.sampled_from(("conversation", "usage", "config")), keys, values)
steps = st.lists(st.lists(changes, max_size=5) | st.sampled_from(("reopen", "compact", "refresh")), max_size=12)


def contents(storage: JournalStorage) -> Tables:
    found: Tables = {}
    for table in storage.read():
        there = storage.keys(table)
        found[table] = dict(storage.items(table, there))
        assert found[table] == {key: storage.value(table, key) for key in there}
        assert storage.count(table) == len(there)
    return found


def apply(model: Tables, batch: list[tuple[str, str, bytes | None]]) -> Tables:
    changed = {table: dict(records) for table, records in model.items()}
    for table, key, value in batch:
        records = changed.setdefault(table, {})
        if value is None:
            records.pop(key, None)
        else:
            records[key] = value
    return {table: records for table, records in changed.items() if records}


def put_all(storage: JournalStorage, batch: list[tuple[str, str, bytes | None]]) -> None:
    with storage.batch():
        for table, key, value in batch:
            storage.put(table, key, value)


def sample(path: Path, batches: int = 6) -> list[Tables]:
    """Write some batches; return the contents after each of them, the empty ones first."""
    storage = JournalStorage(path, FAST)
    states: list[Tables] = [{}]
    for number in range(batches):
        batch: list[tuple[str, str, bytes | None]] = [
            ("conversation", f"c:{number:08d}", b'{"n":%d}' % number),
            ("usage", "c:t", b'{"total":%d}' % number),
        ]
        put_all(storage, batch)
        states.append(apply(states[-1], batch))
    storage.close()
    return states


def test_random_batches_survive_reopening_and_compaction(tmp_path_factory: pytest.TempPathFactory) -> None:
    @settings(max_examples=60, deadline=None)
    @given(steps, st.sampled_from((0, 1, 2000)))
    def run(plan: list[Any], index_lines: int) -> None:
        path = tmp_path_factory.mktemp("journal") / "a.jrnl"
        options = JournalOptions(disk=UnsyncedDisk(), garbage_bytes=200, index_lines=index_lines)
        storage = JournalStorage(path, options)
        reader = JournalStorage(path, options, read_only=True)
        model: Tables = {}
        for step in plan:
            if step == "reopen":
                storage.close()
                storage = JournalStorage(path, options)
            elif step == "compact":
                storage.compact()
            elif step == "refresh":
                reader.refresh()
            else:
                put_all(storage, step)
                model = apply(model, step)
            assert contents(storage) == model
        reader.refresh()
        assert contents(reader) == model
        tail: Tables = {}
        for entry in read_entries(path):
            tail = apply(tail, [(entry.table, entry.key, entry.value)])
        assert tail == model
        storage.close()
        reader.close()

    run()


def test_a_batch_that_raises_leaves_nothing(tmp_path: Path) -> None:
    storage = JournalStorage(tmp_path / "a.jrnl")
    put_all(storage, [("config", "a", b"{}")])
    size = (tmp_path / "a.jrnl").stat().st_size
    with pytest.raises(LookupError), storage.batch():
        storage.put("config", "a", None)
        storage.put("config", "b", b"{}")
        assert storage.keys("config") == ["b"]
        assert storage.value("config", "a") is None
        raise LookupError
    assert contents(storage) == {"config": {"a": b"{}"}}
    assert (tmp_path / "a.jrnl").stat().st_size == size


def test_many_records_are_one_batch_or_part_of_the_open_one(tmp_path: Path) -> None:
    storage = JournalStorage(tmp_path / "a.jrnl")
    before = storage.file.contents.sequence
    storage.set_all("config", {"a": b"{}", "b": b"{}"})
    assert storage.file.contents.sequence == before + 1
    with pytest.raises(LookupError), storage.batch():
        storage.set_all("config", {"a": None, "c": b"{}"})
        raise LookupError
    assert contents(storage) == {"config": {"a": b"{}", "b": b"{}"}}


def test_tinydb_works_on_it(tmp_path: Path) -> None:
    database = JournalDatabase(tmp_path / "a.jrnl")
    table = database.table("things")
    table.insert(Document({"colour": "red", "size": 1}, doc_id="one"))
    table.insert_multiple([{"colour": "blue", "size": 2}, {"colour": "red", "size": 3}])
    assert len(table.search(where("colour") == "red")) == 2
    table.update({"size": 9}, where("colour") == "blue")
    handed_out = table.get(doc_id="one")
    assert handed_out == {"colour": "red", "size": 1}
    handed_out["size"] = 100
    assert table.get(doc_id="one") == {"colour": "red", "size": 1}
    with pytest.raises(ZeroDivisionError):
        table.update(lambda document: document.update(size=1 // 0))
    table.upsert({"colour": "green"}, where("size") == 3)
    table.remove(where("size") == 9)
    database.close()
    again = JournalDatabase(tmp_path / "a.jrnl")
    assert sorted(document["colour"] for document in again.table("things")) == ["green", "red"]
    assert again.tables() == {"things"}
    again.drop_table("things")
    assert again.tables() == set()
    again.close()


def test_an_update_writes_only_what_it_touches(tmp_path: Path) -> None:
    database = JournalDatabase(tmp_path / "a.jrnl")
    table = database.table("things")
    table.insert_multiple(Document({"text": "x" * 1000, "n": n}, doc_id=f"k{n}") for n in range(100))
    size = (tmp_path / "a.jrnl").stat().st_size
    table.update({"n": -1}, doc_ids=["k50"])
    assert (tmp_path / "a.jrnl").stat().st_size - size < 1200
    database.close()


def test_b13_a_file_cut_at_any_byte_keeps_every_whole_batch(tmp_path: Path) -> None:
    original = tmp_path / "whole.jrnl"
    states = sample(original)
    data = original.read_bytes()
    ends = [0, *(entry.offset_after for entry in read_entries(original))]
    for size in range(0, len(data), 3):
        folder = tmp_path / f"cut{size}"
        folder.mkdir()
        path = folder / "a.jrnl"
        path.write_bytes(data[:size])
        notices: list[StoreNotice] = []
        storage = JournalStorage(path, JournalOptions(disk=UnsyncedDisk(), report=notices.append))
        whole = len({end for end in ends if 0 < end <= size and end > ends[1]})
        assert contents(storage) == states[whole], size
        put_all(storage, [("config", "new", b"{}")])
        storage.close()
        if size not in ends:
            assert notices and Path(notices[0].kept_copy).read_bytes() == data[:size]
            assert str(path) in notices[0].text
        again = JournalStorage(path, FAST)
        assert contents(again) == {**states[whole], "config": {"new": b"{}"}}
        again.close()


@pytest.mark.parametrize("junk", [b"", b"[]", b"\0" * 5000, b"SQLite format 3\0" + bytes(200), b"{}\n[1,2]\n"])
def test_b13_a_foreign_file_is_kept_and_a_new_one_begun(tmp_path: Path, junk: bytes) -> None:
    path = tmp_path / "a.jrnl"
    path.write_bytes(junk)
    notices: list[StoreNotice] = []
    storage = JournalStorage(path, JournalOptions(disk=UnsyncedDisk(), report=notices.append))
    put_all(storage, [("config", "new", b"{}")])
    storage.close()
    assert len(notices) == 1
    assert Path(notices[0].kept_copy).read_bytes() == junk
    assert contents(JournalStorage(path)) == {"config": {"new": b"{}"}}


@pytest.mark.parametrize("junk", [b"}", b"\n", b"\0" * 64, b"00000007 800000 0008 00000002 00000000 config a\t{}\n"])
def test_b13_junk_at_the_end_costs_nothing(tmp_path: Path, junk: bytes) -> None:
    path = tmp_path / "a.jrnl"
    states = sample(path)
    with path.open("ab") as stream:
        stream.write(junk)
    damaged = path.read_bytes()
    notices: list[StoreNotice] = []
    storage = JournalStorage(path, JournalOptions(disk=UnsyncedDisk(), report=notices.append))
    assert contents(storage) == states[-1]
    assert Path(notices[0].kept_copy).read_bytes() == damaged
    storage.close()


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_b13_one_damaged_place_costs_its_batch_and_no_other(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("damage")
    path = folder / "a.jrnl"
    storage = JournalStorage(path, FAST)
    for number in range(8):
        put_all(storage, [("conversation", f"c:{number}{part}", b'{"n":%d}' % number) for part in "ab"])
    storage.close()
    original = path.read_bytes()
    where_at = data.draw(st.integers(0, len(original) - 1))
    width = data.draw(st.sampled_from((1, 1, 1, 5, 40)))
    garbled = bytearray(original)
    for offset in range(where_at, min(where_at + width, len(garbled))):
        flipped = garbled[offset] ^ (1 << data.draw(st.integers(0, 7)))
        garbled[offset] = data.draw(st.integers(0, 255)) if width > 1 else flipped
    path.write_bytes(garbled)
    notices: list[StoreNotice] = []
    repaired = JournalStorage(path, JournalOptions(disk=UnsyncedDisk(), report=notices.append))
    found = contents(repaired).get("conversation", {})
    repaired.close()
    header_end = original.index(b"\n") + 1
    touched = set()
    offset = header_end
    for line in original[header_end:].splitlines(keepends=True):
        if offset < where_at + width and where_at < offset + len(line) and garbled[offset : offset + len(line)] != line:
            touched.add(line.split(b"c:")[1][:1].decode())
        offset += len(line)
    assert {key[2] for key in found} >= {str(number) for number in range(8)} - touched
    for number in range(8):
        assert len([key for key in found if key[2] == str(number)]) in (0, 2)
    if bytes(garbled) != original and notices:
        assert Path(notices[0].kept_copy).read_bytes() == bytes(garbled)
    assert contents(JournalStorage(path)).get("conversation", {}) == found


def test_damage_that_the_side_file_hides_is_found_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jrnl"
    options = JournalOptions(disk=UnsyncedDisk(), index_lines=1)
    storage = JournalStorage(path, options)
    for number in range(50):
        put_all(storage, [("conversation", f"c:{number:08d}", b'{"n":%d}' % number)])
    storage.close()
    assert index_path(path).exists()
    data = bytearray(path.read_bytes())
    place = data.index(b'{"n":20}')
    data[place : place + 8] = bytes(8)
    path.write_bytes(data)
    notices: list[StoreNotice] = []
    again = JournalStorage(path, JournalOptions(disk=UnsyncedDisk(), index_lines=1, report=notices.append))
    assert notices == []
    there = list(again.items("conversation", again.keys("conversation")))
    assert len(there) == 49
    assert len(notices) == 1
    assert Path(notices[0].kept_copy).read_bytes() == bytes(data)
    again.close()


@pytest.mark.parametrize("change", [b"", b"\0" * 100, b"x"])
def test_a_side_file_that_is_wrong_is_not_believed(tmp_path: Path, change: bytes) -> None:
    path = tmp_path / "a.jrnl"
    storage = JournalStorage(path, JournalOptions(index_lines=1))
    put_all(storage, [("config", "a", b"{}"), ("config", "b", b"{}")])
    storage.close()
    index = index_path(path)
    index.write_bytes(change or index.read_bytes()[:-1])
    assert contents(JournalStorage(path)) == {"config": {"a": b"{}", "b": b"{}"}}


def test_b13_a_newer_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.jrnl"
    path.write_bytes(encode_header(3, 7) + b"whatever comes\n")
    before = path.read_bytes()
    with pytest.raises(AgentFailure, match="newer smith-tui"):
        JournalStorage(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.jrnl"]


def test_an_older_file_is_migrated(tmp_path: Path) -> None:
    path = tmp_path / "a.jrnl"
    storage = JournalStorage(path, FAST)
    put_all(storage, [("usage", "usage:c:t", b'{"requests":1}'), ("usage", "c:other", b"{}")])
    storage.close()
    data = path.read_bytes()
    path.write_bytes(encode_header(1, 7) + data[data.index(b"\n") + 1 :])
    assert list(read_entries(path)) == []
    with pytest.raises(AgentFailure, match="older form"):
        JournalStorage(path, read_only=True)
    assert contents(JournalStorage(path)) == {"usage": {"c:t": b'{"requests":1}', "c:other": b"{}"}}
    assert read_generation(path) not in (None, 7)


def test_b13_a_full_disk_leaves_a_whole_file_at_every_moment(tmp_path: Path) -> None:
    path = tmp_path / "a.jrnl"
    disk = FullDisk(600)
    storage = JournalStorage(path, JournalOptions(disk=disk))
    saved: Tables = {}
    refused = 0
    for number in range(20):
        batch: list[tuple[str, str, bytes | None]] = [("config", f"k{number}", b'{"x":"%s"}' % (b"y" * 40))]
        try:
            put_all(storage, batch)
            saved = apply(saved, batch)
        except OSError:
            refused += 1
            if refused == 5:
                disk.room = 10_000
        assert contents(storage) == saved
        assert contents(JournalStorage(path, read_only=True)) == saved
    assert refused == 5


def test_a_failed_sync_takes_the_batch_back(tmp_path: Path) -> None:
    path = tmp_path / "a.jrnl"
    disk = FullDisk(1 << 20)
    storage = JournalStorage(path, JournalOptions(disk=disk))
    put_all(storage, [("config", "a", b"{}")])
    disk.sync_fails = True
    with pytest.raises(OSError, match="Input/output"):
        put_all(storage, [("config", "b", b"{}")])
    assert contents(JournalStorage(path, read_only=True)) == {"config": {"a": b"{}"}}
    put_all(storage, [("config", "c", b"{}")])
    assert contents(storage) == contents(JournalStorage(path)) == {"config": {"a": b"{}", "c": b"{}"}}


def test_compaction_that_finds_no_room_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.jrnl"
    disk = FullDisk(1 << 20)
    storage = JournalStorage(path, JournalOptions(disk=disk, garbage_bytes=500))
    disk.room = 3000
    for number in range(25):
        put_all(storage, [("config", "a", b'{"n":"%040d"}' % number)])
    disk.room = 0
    with pytest.raises(OSError, match="space"):
        storage.compact()
    assert contents(JournalStorage(path)) == contents(storage)
    assert not list(tmp_path.glob("*tmp*"))


def test_a_file_removed_under_a_running_program_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "store" / "a.jrnl"
    path.parent.mkdir()
    storage = JournalStorage(path, FAST)
    put_all(storage, [("config", "a", b"{}")])
    path.unlink()
    path.parent.rmdir()
    put_all(storage, [("config", "b", b"{}")])
    assert contents(JournalStorage(path)) == {"config": {"a": b"{}", "b": b"{}"}}


def test_two_writers_with_a_lock_see_each_other(tmp_path: Path) -> None:
    path = tmp_path / "a.jrnl"
    options = JournalOptions(disk=UnsyncedDisk(), garbage_bytes=300)
    one, two = (JournalStorage(path, options, FileLock(tmp_path / "a.lock")) for _ in range(2))
    for number in range(40):
        for name, storage in (("one", one), ("two", two)):
            with storage.batch():
                count = len(storage.value("config", "count") or b"")
                storage.put("config", "count", b"x" * (count + 1))
                storage.put("config", f"{name}{number % 3}", b'{"n":%d}' % number)
    one.refresh()
    two.refresh()
    assert contents(one) == contents(two)
    assert len(contents(one)["config"]["count"]) == 80


def test_a_lock_names_its_holder_and_is_free_when_he_lets_go(tmp_path: Path) -> None:
    import os

    first, second = FileLock(tmp_path / "a.lock"), FileLock(tmp_path / "a.lock", patience_s=0.01)
    first.acquire()
    with pytest.raises(LockHeldError) as caught, second:
        pass
    assert caught.value.pid == os.getpid()
    assert not second.is_held
    first.release()
    with second:
        assert second.is_held


def test_the_tail_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "a.jrnl"
    storage = JournalStorage(path, FAST)
    put_all(storage, [("config", "a", b"{}"), ("config", "b", b"{}")])
    first = list(read_entries(path))
    assert [entry.key for entry in first] == ["a", "b"]
    assert [entry.key for entry in read_entries(path, first[0].offset_after)] == ["a", "b"]
    put_all(storage, [("config", "a", None)])
    rest = list(read_entries(path, first[-1].offset_after))
    assert [(entry.key, entry.value) for entry in rest] == [("a", None)]
    with path.open("ab") as stream:
        stream.write(b"half a line of a batch that is being wri")
    assert list(read_entries(path, rest[-1].offset_after)) == []
    assert list(read_entries(tmp_path / "none.jrnl")) == []
    generation = read_generation(path)
    storage.compact()
    assert read_generation(path) != generation


@pytest.mark.parametrize(("key", "value"), [("a\nb", b"{}"), ("x" * 70_000, b"{}"), ("a", b"{\n}")])
def test_a_record_that_is_no_line_is_refused(tmp_path: Path, key: str, value: bytes) -> None:
    storage = JournalStorage(tmp_path / "a.jrnl")
    with pytest.raises(ValueError, match="not a record key"):
        put_all(storage, [("config", key, value)])
    assert contents(storage) == {}
