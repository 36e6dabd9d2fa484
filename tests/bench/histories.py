"""Long conversations for the app to go on with, each made once and copied into the home of every start."""

import asyncio
import atexit
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from smith_core.messages import Message, ToolCall, ToolMetadata, TurnRecord, TurnResult
from smith_core.store.persistence import open_disk_persistence
from tests.bench.programs import Prepare
from tests.support.children import PROSE

LAST_WORDS = "these-were-the-last-words"
_CONVERSATION = "long"
_TURNS = 100


def plain(count: int) -> Prepare:
    """Return what makes a conversation of so many messages of one line; it ends with LAST_WORDS."""
    return lambda home: _copy("plain", count, home)


def answers(count: int) -> Prepare:
    """Return the same with prompts of one line and answers of prose, lists and code."""
    return lambda home: _copy("answers", count, home)


def with_tools(count: int) -> Prepare:
    """Return the same where half the messages are calls of a tool and results of thirty lines."""
    return lambda home: _copy("tools", count, home)


def _copy(kind: str, count: int, home: Path) -> None:
    shutil.copytree(_made(kind, count), home, dirs_exist_ok=True)


@cache
def _made(kind: str, count: int) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="smith-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    messages = list(_tool_messages(count) if kind == "tools" else _text_messages(kind, count))
    asyncio.run(_write(folder, messages))
    return folder


def _text_messages(kind: str, count: int) -> Iterator[Message]:
    for number in range(count):
        text = f"message {number // 200}-{number % 200} " + "word " * 20
        if kind == "answers" and number % 2:
            text = PROSE
        yield Message(
            role="assistant" if number % 2 else "user",
            content=LAST_WORDS if number == count - 1 else text,
            created_at=1e9 + number,
        )


def _tool_messages(count: int) -> Iterator[Message]:
    for number in range(count // 4):
        at, call = 1e9 + number, f"c{number}"
        lines = "\n".join(f"{line}: line {line} of file {number}" for line in range(30))
        result = ToolMetadata(lines=30)
        yield Message(role="user", content=f"prompt {number} about the parser", created_at=at)
        yield Message(role="assistant", tool_calls=(ToolCall(call, "read", '{"path": "a.py"}'),), created_at=at)
        yield Message(role="tool", tool_call_id=call, name="read", content=lines, metadata=result, created_at=at)
        text = LAST_WORDS if number == count // 4 - 1 else f"This is **answer {number}**:\n\n- one\n- two"
        yield Message(role="assistant", content=text, created_at=at)


async def _write(home: Path, messages: list[Message]) -> None:
    store = open_disk_persistence(home / "d" / "smith")
    size = max(4, len(messages) // _TURNS)
    for number, start in enumerate(range(0, len(messages), size)):
        result = TurnResult(turn_id=f"t{number}", conversation_id=_CONVERSATION, role="direct", stop_reason="completed")
        await store.persist_turn(
            TurnRecord(
                turn_id=result.turn_id,
                conversation_id=_CONVERSATION,
                project_id="p",
                cwd="/work",
                started_at=1e9 + number,
                messages=tuple(messages[start : start + size]),
                result=result,
            )
        )
    await store.set_active_conversation_id(_CONVERSATION)
    await store.aclose()
