"""Turns as the engine reports them: streams of events for screens, without an engine."""

from collections.abc import Iterator
from typing import Any

from smith_core.errors import AgentError
from smith_core.events import (
    AnyEvent,
    CommandOutput,
    MessageAdded,
    Notice,
    ReasoningDelta,
    RequestStarted,
    RetryWaiting,
    TextDelta,
    ToolEnded,
    ToolOutput,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from smith_core.messages import Message, StopReason, ToolMetadata, ToolResult, TurnResult
from tests.support.demo_task import ANSWER, TASK

DIFF = "--- prices.py\n+++ prices.py\n@@ -1,3 +1,3 @@\n def total():\n-    return 1 + 1\n+    return 1 - 1\n done\n"
REFUSED = AgentError(
    kind="protocol", code="unauthorized", message="401: the key in LLM_API_KEY was refused; set a valid key"
)
PAGE = """\
# What was wrong

The *discount* was **added**, see `prices.py:3` and [the rule](https://example.org/rule):

> A discount is what a price is lowered by.

1. read the file
2. changed one line
   - `+` became `-`

| place | rule | cents |
| --- | :-: | --: |
| prices.py | half even | 12 |
| 漢字.py | **cut off** | -3 |

```python
@cached
def total(prices: list[int], rate=0.5) -> float:
    \"\"\"Sum them up.\"\"\"
    return sum(prices) - rate  # one line
```

---

~~Nothing~~ All else is [/foo] as it was.
"""


def started() -> Iterator[AnyEvent]:
    """The begin of a turn."""
    yield TurnStarted(turn_id="t", conversation_id="c", role="direct", text=TASK)
    yield RequestStarted(turn_id="t", model="scripted")


def tool(name: str, arguments: str, content: str, ok: bool = True, **metadata: Any) -> Iterator[AnyEvent]:
    """One call from begin to end."""
    yield ToolStarted(call_id=name, name=name, arguments=arguments)
    if name == "bash":
        yield ToolOutput(call_id=name, chunk=content.encode())
    result = ToolResult(call_id=name, ok=ok, content=content, metadata=ToolMetadata(duration_s=0.25, **metadata))
    yield ToolEnded(name=name, result=result)


def ended(reason: StopReason, error: AgentError | None = None) -> Iterator[AnyEvent]:
    """The end of a turn."""
    result = TurnResult(turn_id="t", conversation_id="c", role="direct", stop_reason=reason, error=error)
    yield TurnEnded(result=result)


def finished(answer: str = ANSWER) -> Iterator[AnyEvent]:
    """A turn that thinks, reads, edits, runs and answers."""
    yield from started()
    yield ReasoningDelta(text="Let me look at the file.")
    yield MessageAdded(message=Message(role="assistant", content="", reasoning="Let me look at the file."))
    yield from tool("read", '{"path": "prices.py"}', "prices.py: lines 1-7 of 7", lines=7)
    yield from tool("edit", '{"path": "prices.py", "operation": "replace"}', "replaced", diff=DIFF)
    yield from tool("bash", '{"command": "python3 prices.py"}', "15.0\n", exit_code=0)
    yield TextDelta(text=answer)
    yield MessageAdded(message=Message(role="assistant", content=answer))
    yield from ended("completed")


def streaming() -> Iterator[AnyEvent]:
    """An answer in the middle of its code."""
    yield from started()
    yield TextDelta(text="It goes like **this**:\n\n```python\ndef total(prices):\n    return sum(pri")


def failed() -> Iterator[AnyEvent]:
    """A turn whose request was refused."""
    yield from started()
    yield from ended("error", REFUSED)


def cancelled() -> Iterator[AnyEvent]:
    """A turn that ends in the middle of its answer."""
    yield from started()
    yield TextDelta(text="Half an ans")
    yield MessageAdded(message=Message(role="assistant", content="Half an ans", interrupted=True))
    yield from ended("cancelled")


def retrying() -> Iterator[AnyEvent]:
    """A turn that waits for its next attempt."""
    yield from started()
    error = AgentError(kind="transport", code="rate_limited", message="429 from scripted: too many requests")
    yield RetryWaiting(layer="transport", attempt=2, max_attempts=3, wait_s=7200.0, error=error)


def everything() -> Iterator[AnyEvent]:
    """All that a transcript can hold."""
    yield from finished(PAGE)
    yield from tool("bash", '{"command": "make test"}', "\x1b[31m1 failed\x1b[0m\n", ok=False, exit_code=2)
    yield from failed()
    yield from cancelled()
    yield Notice(level="info", text="The model is scripted.")
    yield Notice(level="warning", text="Some settings are ignored:\n  - contxt is not a setting")
    yield Notice(level="error", text="The turn could not be saved.")
    yield CommandOutput(command="usage", text="this session: 10 tokens in (0 cached), 5 out, 1 requests")
