"""Figures of the store, each against sqlite or plain JSON lines in the same run, on the disk of the working folder."""

import gc
import json
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from smith_core.messages import Message, ToolCall, TurnRecord, TurnResult, Usage
from smith_core.store.codec import encode_record
from smith_core.store.conversation_file import ConversationFile
from smith_core.store.journal.lock import FileLock
from smith_core.store.journal.options import JournalOptions
from smith_core.store.journal.storage import JournalStorage
from tests.bench.reading import Reading
from tests.bench.timing import median, p99, timed

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


def append_message(appends: int = 2_000) -> tuple[Reading, ...]:
    """Appending 1 KB behind 20,000 of them, one durable batch each, in turn with sqlite."""
    ours, theirs = [], []
    with _folder() as folder:
        storage = JournalStorage(folder / "a.jrnl")
        database = _sqlite(folder / "a.db")
        rows = [(f"{_CONVERSATION}:{number:08d}", encode_record(_message(number))) for number in range(MESSAGES)]
        with storage.batch():
            for key, value in rows:
                storage.put("conversation", key, value)
        _write(database, rows)
        for number in range(MESSAGES, MESSAGES + appends):
            key, value = f"{_CONVERSATION}:{number:08d}", encode_record(_message(number))

            def append(key: str = key, value: bytes = value) -> None:
                with storage.batch():
                    storage.put("conversation", key, value)

            ours.append(timed(append))
            theirs.append(timed(lambda key=key, value=value: _write(database, [(key, value)])))
        storage.close()
        database.close()
    told = f"{median(ours) * 1000:.2f} ms against {median(theirs) * 1000:.2f} ms"
    return Reading(median(ours) / median(theirs), told), Reading(p99(ours) / p99(theirs))


def save_turn(turns: int = 400) -> tuple[Reading, ...]:
    """Saving a turn of 10 messages with usage, turn record and description, in turn with sqlite."""
    ours, theirs = [], []
    with _folder() as folder:
        file = _open(folder)
        database = _sqlite(folder / "a.db")
        for number in range(turns):
            record = _turn(number)
            ours.append(timed(lambda record=record: file.write_turns([record])))
            rows = [(f"{number}:{position}", message) for position, message in enumerate(record.messages)]

            def write(rows: list[tuple[str, Message]] = rows, record: TurnRecord = record) -> None:
                names = (f"{record.turn_id}:{name}" for name in ("usage", "turn", "meta"))
                extra = [(name, encode_record(record.result)) for name in names]
                _write(database, [(key, encode_record(message)) for key, message in rows] + extra)

            theirs.append(timed(write))
        file.close()
        database.close()
    told = f"{median(ours) * 1000:.2f} ms against {median(theirs) * 1000:.2f} ms"
    return (Reading(median(ours) / median(theirs), told),)


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


def open_conversation(rounds: int = 11) -> tuple[Reading, ...]:
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
            times["ours"].append(timed(ours))
            times["sqlite"].append(timed(theirs))
            times["lines"].append(timed(lines))
    mine = median(times["ours"])
    told = f"{mine * 1000:.1f} ms"
    return Reading(mine / median(times["sqlite"]), told), Reading(mine / median(times["lines"]))


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
