"""An app around a conversation with prompts, calls, results and a failure, for views that look at messages."""

from pathlib import Path
from typing import Any

from smith_core.messages import Message, ToolCall, ToolMetadata, TurnRecord, TurnResult
from smith_core.runtime import Runtime
from tests.support.engine import open_engine
from tests.support.scripted_client import ScriptedClient

NOW = 1_800_000_000.0

ANSWER = (
    "I read **the parser**. It splits at the first colon:\n\n"
    "```python\ndef parse(text):\n    name, _, value = text.partition(':')\n    return name, value\n```\n\n"
    "- folded headers are joined\n- tests cover `[/foo]`"
)
DIFF = (
    "--- http/parser.py\n+++ http/parser.py\n@@ -1,3 +1,3 @@\n def parse(text):\n-    return name, value\n"
    "+    return name.strip(), value.strip()\n"
)
EDIT = '{"path": "http/parser.py", "operation": "replace", "start_line": 3, "text": "    return name.strip()\\n"}'


def messages() -> tuple[Message, ...]:
    """Return nine messages of two turns."""
    return (
        Message(role="user", content="Fix the parser of folded headers, please", created_at=NOW - 7200),
        Message(
            role="assistant",
            content="Let me look at it.",
            reasoning="The person wants folded headers to work. I should read the parser first.",
            tool_calls=(
                ToolCall("call_1", "read", '{"path": "http/parser.py"}'),
                ToolCall("call_2", "bash", '{"command": "pytest -q tests/test_parser.py", "timeout": 60}'),
            ),
            created_at=NOW - 7100,
            model="scripted",
        ),
        Message(
            role="tool",
            tool_call_id="call_1",
            name="read",
            content="http/parser.py: lines 1-59 of 59\n" + "\n".join(f"{n}: line {n} of it" for n in range(1, 60)),
            metadata=ToolMetadata(path="http/parser.py", lines=59),
            created_at=NOW - 7000,
        ),
        Message(
            role="tool",
            tool_call_id="call_2",
            name="bash",
            content="..F\n1 failed, 2 passed [100%]\n[exit code 1]",
            ok=False,
            metadata=ToolMetadata(exit_code=1, duration_s=1.25),
            created_at=NOW - 6900,
        ),
        Message(role="assistant", content=ANSWER, created_at=NOW - 6800, model="scripted"),
        Message(role="user", content="Why does the request [/] fail? 漢字", created_at=NOW - 600),
        Message(role="assistant", tool_calls=(ToolCall("call_3", "edit", EDIT),), created_at=NOW - 500),
        Message(
            role="tool",
            tool_call_id="call_3",
            name="edit",
            content="replaced line 3; new_hash cd34",
            metadata=ToolMetadata(path="http/parser.py", diff=DIFF, new_hash="cd34"),
            created_at=NOW - 480,
        ),
        Message(role="assistant", content="The blank behind the colon; **fixed** now.", created_at=NOW - 400),
    )


async def load(runtime: Runtime, conversation: tuple[Message, ...]) -> None:
    """Make messages the conversation of a session over a store in memory."""
    conversation_id = "edited"
    result = TurnResult(turn_id="t", conversation_id=conversation_id, role="direct", stop_reason="completed")
    record = TurnRecord(
        turn_id="t",
        conversation_id=conversation_id,
        project_id="p",
        cwd="/work",
        started_at=NOW,
        messages=conversation,
        result=result,
    )
    await runtime.services.persistence.persist_turn(record)
    runtime.services.conversation.reset(conversation_id, conversation, "Fix the parser")


def engine(folder: Path, *answers: Any, **settings: Any) -> Runtime:
    """Return an engine whose window elides old results early."""
    window = {"tool_output_keep_rounds": 1, "tool_output_elide_over_chars": 500}
    return open_engine(folder, ScriptedClient(*(answers or ("fine",))), {"context_management": window, **settings})
