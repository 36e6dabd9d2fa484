"""Figures of the inspect view and the conversation view over a long conversation, in a real pseudo terminal."""

import asyncio
import statistics
from pathlib import Path

from smith_core.messages import Message, ToolCall, ToolMetadata, TurnRecord, TurnResult
from smith_core.store.persistence import open_disk_persistence
from tests.bench.figures import READY, Figure, smith
from tests.bench.probe import Probe

MESSAGES = 20_000
NOWHERE = "http://127.0.0.1:9/v1"
_CONVERSATION = "inspected"
_ALT_I, _ALT_H, _ESCAPE = b"\x1bi", b"\x1bh", b"\x1b"
_KEYS = {"up": b"\x1b[A", "page up": b"\x1b[5~"}


def inspect_long(rounds: int = 7, presses: int = 40) -> Figure:
    """Alt+I → table painted, and a key that moves → the first change on the screen; 20,000 messages."""
    opened: list[float] = []
    moved: dict[str, list[float]] = {name: [] for name in _KEYS}
    with smith(NOWHERE, _write_conversation) as probe:
        _wait_for_conversation(probe)
        for _ in range(rounds):
            opened.append(_time(probe, _ALT_I, b"first line"))
            probe.quiet(1.0)
            probe.send(_ESCAPE)
            probe.quiet(0.5)
        _time(probe, _ALT_I, b"first line")
        probe.quiet(1.0)
        for name, key in _KEYS.items():
            for _ in range(presses):
                moved[name].append(_time(probe, key, b""))
                probe.quiet(0.1)
    worst = max(statistics.quantiles(delays, n=20)[-1] for delays in moved.values())
    up, page = (statistics.median(delays) for delays in moved.values())
    median = statistics.median(opened)
    return Figure(
        name="inspect 20,000 messages: open, a key's p95 (up, page up)",
        value=f"{median * 1000:.0f} ms, {worst * 1000:.0f} ms ({up * 1000:.0f}, {page * 1000:.0f})",
        goal="≤ 150 ms, ≤ 16 ms",
        good=median <= 0.15 and worst <= 0.016,
    )


def page_long(rounds: int = 5) -> Figure:
    """Alt+H → the end of 20,000 messages painted."""
    with smith(NOWHERE, _write_conversation) as probe:
        _wait_for_conversation(probe)
        opened = []
        for _ in range(rounds):
            opened.append(_time(probe, _ALT_H, b"20,000 messages"))
            probe.quiet(0.5)
            probe.send(_ESCAPE)
            probe.quiet(0.5)
    median = statistics.median(opened)
    return Figure(
        name="conversation view of 20,000 messages: open",
        value=f"{median * 1000:.0f} ms",
        goal="≤ 500 ms",
        good=median <= 0.5,
    )


def _time(probe: Probe, key: bytes, wanted: bytes) -> float:
    """Return the seconds from a key to what it puts on the screen, to anything at all for b""."""
    mark = probe.mark()
    pressed = probe.send(key)
    if wanted:
        return probe.wait_for(wanted, mark) - pressed
    return probe.wait_for(b"\x1b[", mark) - pressed


def _wait_for_conversation(probe: Probe) -> None:
    probe.wait_for(READY)
    probe.wait_for(b"answer 4999")
    probe.quiet(3.0)


def _write_conversation(home: Path) -> None:
    messages: list[Message] = []
    for number in range(MESSAGES // 4):
        at, call = 1e9 + number, f"c{number}"
        lines = "\n".join(f"{line}: line {line} of file {number}" for line in range(30))
        messages += [
            Message(role="user", content=f"prompt {number} about the parser", created_at=at),
            Message(role="assistant", tool_calls=(ToolCall(call, "read", '{"path": "a.py"}'),), created_at=at),
            Message(
                role="tool",
                tool_call_id=call,
                name="read",
                content=lines,
                metadata=ToolMetadata(lines=30),
                created_at=at,
            ),
            Message(role="assistant", content=f"This is **answer {number}**:\n\n- one\n- two", created_at=at),
        ]
    result = TurnResult(turn_id="t", conversation_id=_CONVERSATION, role="direct", stop_reason="completed")
    record = TurnRecord(
        turn_id="t",
        conversation_id=_CONVERSATION,
        project_id="p",
        cwd="/work",
        started_at=1e9,
        messages=tuple(messages),
        result=result,
    )

    async def write() -> None:
        store = open_disk_persistence(home / "d" / "smith")
        await store.persist_turn(record)
        await store.set_active_conversation_id(_CONVERSATION)
        await store.aclose()

    asyncio.run(write())


INSPECT_FIGURES = (inspect_long, page_long)
