"""What is counted of each part of the program, in a scripted scenario each; names stand for counts in the baseline."""

import asyncio
import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from smith_core.fuzzy import PathIndex
from smith_core.llm.coalescer import merge
from smith_core.llm.deltas import DeltaAssembler
from smith_core.llm.frames import Parts, encode_frame
from smith_core.llm.sse import BodyReader, decode_json
from smith_core.llm.wire import MessageEncoder, request_body
from smith_core.messages import Message, ToolCall, TurnRecord, TurnResult
from smith_core.window import WindowLimits, fit
from smith_tui.widgets.line_store import LineStore
from tests.bench.counting import CountingDisk, calls_in, memory_in
from tests.support.engine import open_engine, run_turn
from tests.support.model_steps import chunk
from tests.support.scripted_client import ScriptedClient, calls
from tests.support.store_disks import open_store

Counts = Mapping[str, int]
_CHUNKS = 1_000
_STEPS = 10


def stream_of_the_host() -> Counts:
    """A thousand chunks of an endpoint: from bytes to parts, and from parts to the frames that go to the app."""
    body = b"".join(b"data: " + json.dumps(chunk({"content": f"tok{n} "})).encode() + b"\n\n" for n in range(_CHUNKS))
    reader, assembler = BodyReader(), DeltaAssembler()
    parts = []

    def read() -> None:
        for start in range(0, len(body), 4096):
            for event in reader.feed(body[start : start + 4096]):
                parts.extend(assembler.feed(decode_json(event.data)))

    reading = calls_in(read)
    # At 200 tokens a second three of them go into a frame.
    frames = [encode_frame(Parts(1, merge(parts[start : start + 3]))) for start in range(0, len(parts), 3)]
    return {
        "host: calls for 1,000 chunks": reading,
        "host: frames for 1,000 chunks": len(frames),
        "host: bytes of those frames": sum(map(len, frames)),
    }


def turns_on_disk(turns: int = 20) -> Counts:
    """Turns of ten messages that are saved one by one."""
    disk = CountingDisk()

    async def save(folder: Path) -> None:
        store = open_store(folder, disk)
        for number in range(turns):
            await store.persist_turn(_turn(number))
        await store.aclose()

    with tempfile.TemporaryDirectory() as name:
        asyncio.run(save(Path(name)))
    return {
        "store: syncs for 20 turns": disk.syncs,
        "store: syncs of folders for 20 turns": disk.folder_syncs,
        "store: writes for 20 turns": disk.writes,
        "store: bytes for 20 turns": disk.written,
    }


def _turn(number: int) -> TurnRecord:
    messages = [Message(role="user", content=f"prompt {number}", created_at=1e9)]
    for step in range(4):
        call = ToolCall(f"{number}-{step}", "bash", '{"command": "true"}')
        messages.append(Message(role="assistant", tool_calls=(call,), created_at=1e9))
        messages.append(Message(role="tool", tool_call_id=call.id, name="bash", content="x" * 500, created_at=1e9))
    messages.append(Message(role="assistant", content="done " * 50, created_at=1e9))
    result = TurnResult(turn_id=f"t{number}", conversation_id="counted", role="direct", stop_reason="completed")
    return TurnRecord(
        turn_id=result.turn_id,
        conversation_id="counted",
        project_id="p" * 16,
        cwd="/work",
        started_at=1e9,
        messages=tuple(messages),
        result=result,
    )


def steps_of_a_task() -> Counts:
    """A turn of ten calls of a tool: requests, events, and the size of the last request."""

    async def work(folder: Path) -> Counts:
        (folder / "a.txt").write_text("one line\n")
        client = ScriptedClient(*(calls(("read", {"path": "a.txt"})) for _ in range(_STEPS)), "done")
        runtime = open_engine(folder, client)
        events: list[object] = []
        await run_turn(runtime, "go", events)  # type: ignore[arg-type]
        last = msgspec.json.encode(request_body(MessageEncoder().encode(client.requests[-1])))
        return {
            "task: requests for 10 steps": len(client.requests),
            "task: events for 10 steps": len(events),
            "task: bytes of the last request": len(last),
        }

    with tempfile.TemporaryDirectory() as name:
        return asyncio.run(work(Path(name)))


def window_of_a_conversation() -> Counts:
    """The window policy over 4,000 messages."""
    messages = [Message(role="system", content="You are a test. ")]
    for number in range(1_000):
        call = ToolCall(f"c{number}", "bash", '{"command":"ls"}')
        messages.append(Message(role="user", content=f"prompt {number}"))
        messages.append(Message(role="assistant", tool_calls=(call,)))
        messages.append(Message(role="tool", tool_call_id=call.id, content=f"{number} " + "word " * 190))
        messages.append(Message(role="assistant", content=f"{number} " + "word " * 50))
    limits = WindowLimits(context_window=128_000)
    fit(messages, limits)
    return {"window: calls for 4,000 messages": calls_in(lambda: fit(messages, limits))}


def paths_of_a_project() -> Counts:
    """A name looked for among 10,000 paths, letter by letter."""
    paths = [f"src/part{number % 40}/module_{number % 700}/file_{number}.py" for number in range(10_000)]
    index = PathIndex(paths)
    index.prepare()

    def type_name() -> None:
        for end in range(1, 8):
            index.search("file_77"[:end], 20)

    return {"paths: calls for 7 letters among 10,000": calls_in(type_name)}


def output_of_a_command() -> Counts:
    """A megabyte of plain lines: calls and memory."""
    data = b"".join(b"%07d a line of plain output\n" % number for number in range(30_000))

    def feed() -> LineStore:
        store = LineStore()
        for start in range(0, len(data), 16_384):
            store.feed(data[start : start + 16_384])
        return store

    kept, _ = memory_in(feed)
    return {"output: calls for 1 MB": calls_in(feed), "output: kilobytes kept of 1 MB": kept}


SCENARIOS: tuple[Callable[[], Counts], ...] = (
    stream_of_the_host,
    turns_on_disk,
    steps_of_a_task,
    window_of_a_conversation,
    paths_of_a_project,
    output_of_a_command,
)
"""Those without a screen; `counted_screen.py` has the others."""
