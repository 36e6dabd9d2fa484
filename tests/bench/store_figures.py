"""Figures of the store, each against sqlite or plain JSON lines in the same run, on the disk of the working folder."""

import gc
import json
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from smith_core.messages import Message, ToolCall, TurnRecord, TurnResult, Usage
from smith_core.store.codec import encode_record
from smith_core.store.conversation_file import ConversationFile
from smith_core.store.journal.lock import FileLock
from smith_core.store.journal.options import JournalOptions
from smith_core.store.journal.storage import JournalStorage
from tests.bench.figures import Figure

MESSAGES = 20_000
TAIL = 200
_CONVERSATION = "Vq3xJ0b7ZkT1mUo9cWy5e"


@contextmanager
def _folder() -> Iterator[Path]:
    # Not in /tmp, which is memory on some machines.
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as name:
        yield Path(name)


def _message(number: int) -> Message:
    return Message(role="assistant", content=f"{number} " + "word " * 190, created_at=1e9 + number)


def _sqlite(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("pragma journal_mode=wal")
    database.execute("pragma synchronous=full")
    database.execute("create table if not exists records (key text primary key, value blob)")
    return database


def _write(database: sqlite3.Connection, records: list[tuple[str, bytes]]) -> None:
    database.execute("begin")
    database.executemany("insert or replace into records values (?, ?)", records)
    database.execute("commit")


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _p99(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.99)]


def append_message() -> Figure:
    """Appending 1 KB, one durable batch each, 20,000 times, in turn with sqlite."""
    ours, theirs = [], []
    with _folder() as folder:
        storage = JournalStorage(folder / "a.jrnl")
        database = _sqlite(folder / "a.db")
        for number in range(MESSAGES):
            key, value = f"{_CONVERSATION}:{number:08d}", encode_record(_message(number))

            def append(key: str = key, value: bytes = value) -> None:
                with storage.batch():
                    storage.put("conversation", key, value)

            ours.append(_timed(append))
            theirs.append(_timed(lambda key=key, value=value: _write(database, [(key, value)])))
        storage.close()
        database.close()
    p50, p99 = statistics.median(ours) / statistics.median(theirs), _p99(ours) / _p99(theirs)
    return Figure(
        name="append 1 KB at 20,000, p50 / p99 against sqlite WAL FULL",
        value=f"{p50:.2f}× / {p99:.2f}× ({statistics.median(ours) * 1000:.2f} ms)",
        goal="≤ 1.25× / ≤ 1.5×",
        good=p50 <= 1.25 and p99 <= 1.5,
    )


def save_turn(turns: int = 400) -> Figure:
    """Saving a turn of 10 messages with usage, turn record and description, in turn with sqlite."""
    ours, theirs = [], []
    with _folder() as folder:
        file = _open(folder)
        database = _sqlite(folder / "a.db")
        for number in range(turns):
            record = _turn(number)
            ours.append(_timed(lambda record=record: file.write_turns([record])))
            rows = [(f"{number}:{position}", message) for position, message in enumerate(record.messages)]

            def write(rows: list[tuple[str, Message]] = rows, record: TurnRecord = record) -> None:
                names = (f"{record.turn_id}:{name}" for name in ("usage", "turn", "meta"))
                extra = [(name, encode_record(record.result)) for name in names]
                _write(database, [(key, encode_record(message)) for key, message in rows] + extra)

            theirs.append(_timed(write))
        file.close()
        database.close()
    ratio = statistics.median(ours) / statistics.median(theirs)
    return Figure(
        name="save a turn of 10 messages, p50 against sqlite WAL FULL",
        value=f"{ratio:.2f}× ({statistics.median(ours) * 1000:.2f} ms)",
        goal="≤ 1.3×",
        good=ratio <= 1.3,
    )


def _open(folder: Path) -> ConversationFile:
    lock = FileLock(folder / "a.lock")
    lock.acquire()
    return ConversationFile(_CONVERSATION, folder / "a.jrnl", JournalOptions(), lock)


def _turn(number: int) -> TurnRecord:
    calls = tuple(ToolCall(id=f"{number}-{call}", name="bash") for call in range(4))
    messages = (
        Message(role="user", content=f"prompt {number}"),
        *(Message(role="assistant", tool_calls=(call,)) for call in calls),
        *(Message(role="tool", tool_call_id=call.id, content="x" * 900) for call in calls),
        _message(number),
    )
    result = TurnResult(
        turn_id=f"t{number}", conversation_id=_CONVERSATION, role="direct", stop_reason="completed", usage=Usage()
    )
    return TurnRecord(
        turn_id=f"t{number}",
        conversation_id=_CONVERSATION,
        project_id="p",
        cwd="/",
        started_at=float(number),
        messages=messages,
        result=result,
    )


def open_conversation(rounds: int = 15) -> Figure:
    """Opening a conversation of 20,000 messages and reading the last 200, against sqlite and against JSON lines."""
    with _folder() as folder:
        _fill(folder)
        decode = msgspec.json.Decoder(Message).decode

        def ours() -> None:
            file = ConversationFile(_CONVERSATION, folder / "a.jrnl", JournalOptions())
            assert len(file.tail(TAIL)) == TAIL
            file.close()

        def theirs() -> None:
            database = sqlite3.connect(folder / "a.db")
            rows = database.execute("select value from records order by key desc limit ?", (TAIL,)).fetchall()
            assert len([decode(value) for (value,) in rows]) == TAIL
            database.close()

        def lines() -> None:
            with (folder / "a.jsonl").open("rb") as stream:
                assert len([json.loads(line) for line in stream][-TAIL:]) == TAIL

        times: dict[str, list[float]] = {"ours": [], "sqlite": [], "lines": []}
        for _ in range(rounds):
            gc.collect()
            times["ours"].append(_timed(ours))
            times["sqlite"].append(_timed(theirs))
            times["lines"].append(_timed(lines))
    mine = statistics.median(times["ours"])
    to_sqlite, to_lines = mine / statistics.median(times["sqlite"]), mine / statistics.median(times["lines"])
    return Figure(
        name="open 20,000 messages, read the last 200, sqlite / JSONL",
        value=f"{to_sqlite:.2f}× / {to_lines:.2f}× ({mine * 1000:.1f} ms)",
        goal="≤ 4× / ≤ 0.2×",
        good=to_sqlite <= 4 and to_lines <= 0.2,
    )


def _fill(folder: Path) -> None:
    file = _open(folder)
    database = _sqlite(folder / "a.db")
    with (folder / "a.jsonl").open("wb") as stream, file.adapter.batch():
        for number in range(1, MESSAGES + 1):
            message = _message(number)
            file.conversations.put(_CONVERSATION, number, message)
            stream.write(encode_record(message) + b"\n")
    file.change_meta(message_count=MESSAGES)
    rows = [(f"{_CONVERSATION}:{number:08d}", encode_record(_message(number))) for number in range(1, MESSAGES + 1)]
    _write(database, rows)
    file.close()
    database.close()


STORE_FIGURES = (append_message, save_turn, open_conversation)
