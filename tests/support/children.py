"""Dispatched children as the engine reports them: streams of events for screens, without an engine."""

import json
from collections.abc import Iterator

from smith_core.events import (
    AnyEvent,
    ChildEnded,
    ChildEvent,
    ChildStarted,
    ReasoningDelta,
    RequestStarted,
    TextDelta,
    ToolEnded,
    ToolOutput,
    ToolStarted,
    TurnStarted,
    UsageReported,
)
from smith_core.messages import ToolMetadata, ToolResult, Usage
from smith_core.report import DispatchResult, ReportStatus

TASKS = (
    ("explorer", "Find every place that rounds a price, and say which rule each one follows."),
    ("worker", "Make the discount in prices.py subtract, and prove it with a test."),
    ("explorer", "Read the history of prices.py and find out since when the sign has been wrong."),
    ("worker", "Write down the rounding rule in docs/prices.md, with one example."),
)
DIFF = "--- prices.py\n+++ prices.py\n@@ -1,3 +1,3 @@\n def total():\n-    return 1 + 1\n+    return 1 - 1\n done\n"
PROSE = (
    "There are **three** places that round:\n\n"
    "- `prices.py:12` rounds half to even, as Python does\n"
    "- `cart.py:40` cuts off, which loses up to a cent\n"
    "- `invoice.py:7` uses `Decimal` with `ROUND_HALF_UP`\n\n"
    "The rule of the invoice is the one that the documentation names:\n\n"
    '```python\ndef rounded(price):\n    return price.quantize(Decimal("0.01"), ROUND_HALF_UP)\n```\n'
)


def turn(count: int, role: str = "orchestrator") -> Iterator[AnyEvent]:
    """A turn that has dispatched so many of TASKS; job ids are j1, j2, …, call ids d1, d2, …"""
    yield TurnStarted(turn_id="t", conversation_id="c", role=role, text="Find out why the totals are wrong, and fix it")
    yield RequestStarted(turn_id="t", model="scripted")
    for number in range(1, count + 1):
        yield from start(number, *TASKS[(number - 1) % len(TASKS)])


def start(number: int, role: str, task: str) -> Iterator[AnyEvent]:
    """A dispatch call and the begin of its child."""
    yield ToolStarted(call_id=f"d{number}", name="dispatch", arguments=json.dumps({"role": role, "task": task}))
    yield ChildStarted(job_id=f"j{number}", call_id=f"d{number}", role=role, task=task, model="scripted")


def inside(number: int, *events: AnyEvent, role: str = "worker") -> Iterator[AnyEvent]:
    """Events of a child."""
    for event in events:
        yield ChildEvent(job_id=f"j{number}", role=role, event=event)


def work(number: int) -> Iterator[AnyEvent]:
    """What child 1, 2, 3 or 4 of TASKS does: writes, edits, runs a command, thinks."""
    role = TASKS[number - 1][0]
    begun = RequestStarted(turn_id="t1", model="scripted", source_role=role)
    used = UsageReported(usage=Usage(input_tokens=3100 * number, output_tokens=240 * number, requests=1))
    grep = ToolStarted(call_id="g", name="code_grep", arguments='{"pattern": "round\\\\(", "path": "."}')
    found = ToolResult(call_id="g", ok=True, content="cart.py:40: int(price * 100)\nprices.py:12: round(x)")
    edit = ToolStarted(call_id="e", name="edit", arguments='{"path": "prices.py", "operation": "replace"}')
    edited = ToolResult(call_id="e", ok=True, content="replaced", metadata=ToolMetadata(diff=DIFF, duration_s=0.02))
    test = ToolStarted(call_id="b", name="bash", arguments='{"command": "pytest -q tests/test_prices.py"}')
    output = b"\x1b[32m....\x1b[0m\r\n4 passed in 0.1s\r\n"
    log = ToolStarted(call_id="l", name="bash", arguments='{"command": "git log --oneline -- prices.py"}')
    steps: tuple[tuple[AnyEvent, ...], ...] = (
        (grep, ToolEnded(name="code_grep", result=found), begun, TextDelta(text=PROSE)),
        (edit, ToolEnded(name="edit", result=edited), test, ToolOutput(call_id="b", chunk=output)),
        (log, ToolOutput(call_id="l", chunk=b"9c2caca Add a discount\r\nf77a420 Begin\r\n")),
        (ReasoningDelta(text="The docs have no page on prices yet. I'll begin one, and keep it short."),),
    )
    yield from inside(number, begun, used, *steps[number - 1], role=role)


def end(
    number: int, status: ReportStatus = "ok", summary: str = "", *, cancelled: bool = False, role: str = ""
) -> Iterator[AnyEvent]:
    """The end of a child, and of the call that dispatched it."""
    result = DispatchResult(
        job_id=f"j{number}",
        role=role or TASKS[(number - 1) % len(TASKS)][0],
        status=status,
        summary=summary or "The rule is ROUND_HALF_UP; two of three places do not follow it.",
        findings=("cart.py cuts off",),
        evidence=("cart.py:40",),
        cancelled=cancelled,
        usage=Usage(input_tokens=9000, output_tokens=700, requests=3),
    )
    yield ChildEnded(job_id=f"j{number}", call_id=f"d{number}", result=result, duration_s=12.0 * number, tool_calls=3)
    outcome = ToolResult(
        call_id=f"d{number}",
        ok=not cancelled,
        content=json.dumps({"job_id": f"j{number}", "role": result.role, "status": status, "summary": result.summary}),
        cancelled=cancelled,
        metadata=ToolMetadata(job_id=f"j{number}", duration_s=12.0 * number),
    )
    yield ToolEnded(name="dispatch", result=outcome)
